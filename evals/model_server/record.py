"""What the server remembers of one request."""

from dataclasses import asdict, dataclass
from typing import Any

from evals.model_server.conversation import Conversation


@dataclass(slots=True)
class Received:
    """One request, and what became of its response. Times are of the monotonic clock, in seconds.

    `closed_by_client_at` is set only when the client left before the response was complete.
    """

    number: int
    method: str
    path: str
    headers: dict[str, str]
    received_at: float
    body: Any = None
    conversation: Conversation | None = None
    rule: str = ""
    attempt: int = 0
    status: int | None = None
    bytes_sent: int = 0
    first_byte_at: float | None = None
    finished_at: float | None = None
    closed_by_client_at: float | None = None
    cut: bool = False

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that were sent, or none when the body was not a conversation."""
        found = self.body.get("messages") if isinstance(self.body, dict) else None
        return found if isinstance(found, list) else []

    @property
    def question(self) -> str:
        return self.conversation.question if self.conversation else ""

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that were offered."""
        return self.conversation.tools if self.conversation else ()

    def as_json(self) -> dict[str, Any]:
        """The record without credentials, for a reader in another process."""
        secret = {"authorization", "x-api-key"}
        shown = {key: value for key, value in self.headers.items() if key not in secret}
        return asdict(self) | {"headers": shown}
