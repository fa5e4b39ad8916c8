"""The Anthropic wire: the messages API, streamed."""

from __future__ import annotations

import anthropic
import anthropic.resources.messages  # loaded with this module, not by the first call

from apps.providers.types import ChatRequest

from . import anthropic_wire
from .anthropic_assembly import MessagesAssembly
from .assembly import Assembly
from .calling import SdkStream, WireClient
from .failures import SdkErrors


class AnthropicMessages(WireClient):
    """A client of the messages wire. Its base URL may end in ``/v1`` or not."""

    wire = "anthropic"
    speaks = "Anthropic"
    sdk = SdkErrors(anthropic.APIStatusError, anthropic.APIConnectionError, anthropic.APIError)
    assembly = MessagesAssembly

    async def _open(self, request: ChatRequest) -> SdkStream:
        # Spans of the SDK could carry what is said.
        client = self._sdk_client(anthropic.AsyncAnthropic, open_telemetry=False)
        body = anthropic_wire.payload(request, options=self._options)
        stream: SdkStream = await client.messages.create(**body)
        return stream

    def _is_whole(self, stream: SdkStream, assembly: Assembly) -> bool:
        return isinstance(assembly, MessagesAssembly) and assembly.stopped
