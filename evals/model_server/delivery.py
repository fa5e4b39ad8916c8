"""How an answer reaches the client: pauses, cuts, odd bytes, and what was written."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from typing import Any, Protocol

from aiohttp import web

from evals.model_server.conversation import Body
from evals.model_server.record import Received
from evals.model_server.script import ErrorReply, Reply
from evals.model_server.speech import LINE_ENDS, PAD, Event, Speech

BLOCK = 65_536
SSE = "text/event-stream; charset=utf-8"
HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>\n"
RUBBISH = bytes(range(128, 256)) + b"\x00\xff\xfe: not a stream\n\n" + bytes(range(1, 32))
INSIDE_A_CHARACTER = re.compile(rb"[\xc2-\xf4](?=[\x80-\xbf])|\r(?=\n)|(?<=\ndata: \{)")


class Wire(Protocol):
    """What a wire module offers."""

    LAST: Event

    def refusal(self, body: Body) -> str | None: ...
    def error(self, reply: ErrorReply) -> Body: ...
    def error_event(self, reply: ErrorReply) -> Event: ...
    def stray_event(self) -> Event: ...
    def broken_event(self) -> Event: ...
    def events(self, speech: Speech) -> Iterator[Event]: ...
    def message(self, speech: Speech) -> Body: ...


class Ended(Exception):
    """The script says that the stream stops here."""


class Delivery:
    """One response on its way."""

    def __init__(self, request: web.Request, record: Received, wire: Wire, reply: Reply) -> None:
        self.request = request
        self.record = record
        self.wire = wire
        self.reply = reply
        self.response = web.StreamResponse()
        self.deltas = 0
        self._done: set[str] = set()

    async def send(self, speech: Speech) -> web.StreamResponse:
        """Answer as scripted; CancelledError or ConnectionResetError when the client left."""
        await self._silence("request")
        if self.reply.redirect:
            location = self.reply.redirect.to.replace("${base_url}", str(self.request.url.origin()))
            return await self._whole(self.reply.redirect.status, b"", {"Location": location})
        if self.reply.error and self.reply.error.after is None:
            return await self._refuse(self.reply.error)
        if self.reply.garbage and self.reply.garbage.kind in ("html", "bytes", "empty"):
            return await self._rubbish(speech, self.reply.garbage.kind)
        if speech.conversation.stream:
            return await self._stream(speech)
        return await self._message(speech)

    async def _refuse(self, error: ErrorReply) -> web.StreamResponse:
        body = self.wire.error(error) if error.body is None else error.body
        wait = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
        kind = "text/html" if isinstance(body, str) else "application/json"
        sent = body if isinstance(body, str) else json.dumps(body)
        return await self._whole(error.status, sent.encode(), {"Content-Type": kind, **wait})

    async def _rubbish(self, speech: Speech, kind: str) -> web.StreamResponse:
        expected = SSE if speech.conversation.stream else "application/json"
        body = {"html": HTML, "bytes": RUBBISH, "empty": b""}[kind]
        shown = "text/html" if kind == "html" else expected
        return await self._whole(200, body, {"Content-Type": shown})

    async def _message(self, speech: Speech) -> web.StreamResponse:
        body = json.dumps(self.wire.message(speech), ensure_ascii=False).encode()
        if self.reply.garbage:
            body = b'{"hello": [1, null]}' if self.reply.garbage.kind == "shape" else body[:40]
        if self.reply.huge_event is not None:
            body = body.ljust(self.reply.huge_event)
        return await self._whole(200, body, {"Content-Type": "application/json"})

    async def _whole(self, status: int, body: bytes, headers: dict[str, str]) -> web.StreamResponse:
        """An answer in one piece; with `cut` the connection closes in the middle of it."""
        await self._open(status, headers | {"Content-Length": str(len(body))})
        await self._pause(self.reply.first_ms)
        if self.reply.cut is not None:
            await self._write(body[: len(body) // 2])
            self._hang_up()
            return self.response
        await self._write(body)
        await self.response.write_eof()
        return self.response

    async def _stream(self, speech: Speech) -> web.StreamResponse:
        await self._open(200, {"Content-Type": SSE, "Cache-Control": "no-cache"})
        await self._pause(self.reply.first_ms)
        try:
            for event in self.wire.events(speech):
                await self._interrupt()
                await self._say(event)
            await self._interrupt()
        except Ended:
            return self.response
        if self.reply.done:
            await self._event(self.wire.LAST)
        await self.response.write_eof()
        return self.response

    async def _open(self, status: int, headers: dict[str, str]) -> None:
        self.response.set_status(status)
        self.response.headers.update(headers | self.reply.headers)
        self.record.status = status
        await self.response.prepare(self.request)
        await self._silence("headers")

    async def _interrupt(self) -> None:
        """What the script does once so many deltas are out."""
        reply = self.reply
        if reply.cut is not None and self.deltas >= reply.cut:
            self._hang_up()
            raise Ended
        if reply.error and reply.error.after is not None and self.deltas >= reply.error.after:
            await self._event(self.wire.error_event(reply.error))
            await self.response.write_eof()
            raise Ended
        if reply.garbage and self.deltas == reply.garbage.after and self._first("garbage"):
            shape = reply.garbage.kind == "shape"
            await self._event(self.wire.stray_event() if shape else self.wire.broken_event())
        await self._silence(self.deltas)

    async def _say(self, event: Event) -> None:
        if self.reply.comments:
            await self._comment()
        if event.is_delta and self.deltas:
            await self._pause(self.reply.delta_ms)
        await self._event(event)
        self.deltas += event.is_delta

    async def _event(self, event: Event) -> None:
        encoded, end = event.encoded(self.reply.line_end), LINE_ENDS[self.reply.line_end]
        if event.size is None:
            await self._write(encoded + end)
            return
        head, tail = encoded.split(PAD.encode())
        await self._write(head)
        left = event.size - len(head) - len(tail)
        while left > 0:
            await self._write(b"x" * min(left, BLOCK))
            left -= BLOCK
        await self._write(tail + end)

    async def _comment(self) -> None:
        end = LINE_ENDS[self.reply.line_end]
        await self._write(b": SCRIPTED PROCESSING" + end + end)

    async def _silence(self, at: Any) -> None:
        """Fall silent when the script says here."""
        silence = self.reply.silence
        if silence and silence.at == at and self._first("silence"):
            await self._pause(silence.seconds * 1000)

    def _first(self, what: str) -> bool:
        """True once: several events pass at one count of deltas."""
        known = what in self._done
        self._done.add(what)
        return not known

    async def _pause(self, milliseconds: float) -> None:
        """Wait; keep-alive comments go out meanwhile where the script asks for them."""
        until = time.monotonic() + milliseconds / 1000
        step = self.reply.keep_alive_ms
        while step and self.response.prepared and until - time.monotonic() > step / 1000:
            await asyncio.sleep(step / 1000)
            await self._comment()
        if milliseconds:
            await asyncio.sleep(max(until - time.monotonic(), 0))

    async def _write(self, data: bytes) -> None:
        for piece in self._split(data):
            await self.response.write(piece)
            self.record.bytes_sent += len(piece)
            self.record.first_byte_at = self.record.first_byte_at or time.monotonic()

    def _split(self, data: bytes) -> Iterator[bytes]:
        """Each piece is a chunk of its own on the wire."""
        size = self.reply.split
        if size == "inside":
            ends = [found.end() for found in INSIDE_A_CHARACTER.finditer(data)]
        else:
            ends = list(range(size, len(data), size)) if size else []
        return (data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True) if a < b)

    def _hang_up(self) -> None:
        """Close the socket without the end that HTTP promises."""
        self.record.cut = True
        if self.request.transport is not None:
            self.request.transport.close()
