"""The OpenAI-compatible wire: any base URL that speaks chat completions over SSE."""

from __future__ import annotations

import openai
import openai.resources.chat.completions  # loaded with this module, not by the first call

from apps.providers.types import ChatRequest

from . import openai_wire
from .assembly import Assembly, ChatAssembly
from .bounded import SCANNER
from .calling import SdkStream, WireClient
from .failures import SdkErrors


class OpenAIChat(WireClient):
    """A client of the chat-completions wire."""

    wire = "openai"
    speaks = "OpenAI"
    sdk = SdkErrors(openai.APIStatusError, openai.APIConnectionError, openai.APIError)
    assembly = ChatAssembly

    async def _open(self, request: ChatRequest) -> SdkStream:
        client = self._sdk_client(openai.AsyncOpenAI)
        body = openai_wire.payload(request, provider=self._provider, options=self._options)
        stream: SdkStream = await client.chat.completions.create(**body)
        return stream

    def _is_whole(self, stream: SdkStream, assembly: Assembly) -> bool:
        # The SDK swallows the last mark, so it is looked for below it.
        scanner = stream.response.extensions.get(SCANNER)
        return scanner is not None and scanner.done
