"""A transport that bounds what a provider sends before an SDK buffers or parses it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping

import httpx2

from apps.providers import limits

_LINE_END = re.compile(rb"[\r\n]")
_HEAD_BYTES = 32
# Everything else that an SDK, or its environment variables, would add stays here.
_SENT_HEADERS = frozenset({"host", "accept", "content-type", "content-length", "connection"})
SCANNER = "gatehouse_scanner"
_NOT_A_STREAM = ("text/html", "application/json")


class BoundExceeded(Exception):
    """A request or a response went over one of the bounds in ``limits``."""


class NotAStream(Exception):
    """The provider answered with something other than a stream of events."""


class EventScanner:
    """Measures events as they pass: LF, CR or CRLF, however they are cut into chunks.

    ``done`` turns true at the line ``data: [DONE]``.
    """

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._event = 0
        self._line = 0
        self._head = bytearray()
        self._after_cr = False
        self._finished = False

    @property
    def done(self) -> bool:
        return self._finished or self._is_done(self._head)

    def feed(self, chunk: bytes) -> None:
        """Count one chunk; :class:`BoundExceeded` as soon as an event is over the bound."""
        start = 0
        for match in _LINE_END.finditer(chunk):
            end = match.start()
            if self._after_cr and end == start and chunk[end] == 0x0A:
                self._after_cr = False
                self._count(1 if self._event else 0)
                start = end + 1
                continue
            self._add(chunk, start, end)
            self._end_line()
            self._after_cr = chunk[end] == 0x0D
            start = end + 1
        if start < len(chunk):
            self._add(chunk, start, len(chunk))

    def _add(self, chunk: bytes, start: int, end: int) -> None:
        self._after_cr = False
        self._line += end - start
        self._count(end - start)
        if len(self._head) < _HEAD_BYTES:
            self._head += chunk[start : min(end, start + _HEAD_BYTES)]

    def _end_line(self) -> None:
        self._finished = self._finished or self._is_done(self._head)
        if self._line == 0:
            self._event = 0
        else:
            self._count(1)
        self._line = 0
        self._head.clear()

    def _count(self, size: int) -> None:
        self._event += size
        if self._event > self._bound:
            raise BoundExceeded(f"an event of the stream is over {self._bound} bytes")

    @staticmethod
    def _is_done(head: bytearray) -> bool:
        return head.startswith(b"data:") and head[5:].lstrip(b" ").startswith(b"[DONE]")


class BoundedStream(httpx2.AsyncByteStream):
    """A response's raw bytes within bounds; the response below is closed exactly once."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, scanner: EventScanner) -> None:
        self._inner = inner
        self._closed = False
        self.scanner = scanner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self.scanner.feed(chunk)
            yield chunk

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            await self._inner.aclose()


class CutStream(BoundedStream):
    """The beginning of a refusal's body: its reason is there, the rest is never read."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = limits.ERROR_BODY_BYTES
        async for chunk in self._inner:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return


class BoundedBody(httpx2.AsyncByteStream):
    """A whole answer of bounded size."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, bound: int) -> None:
        self._inner = inner
        self._bound = bound

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._bound:
                raise BoundExceeded(f"the answer is over {self._bound} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends requests of bounded size with the key, and bounds every response.

    ``key_headers`` carry the key and live here alone: the SDK above never holds it, so
    neither its errors nor its logs can. ``whole`` is the bound of an answer in one piece;
    without it only a stream of events is an answer. Compressed answers are not asked for,
    and refused, since a bound on them would bound nothing.
    """

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        *,
        key_headers: Mapping[str, str],
        whole: int | None = None,
    ) -> None:
        self._inner = inner
        self._whole = whole
        self.__key_headers = key_headers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if int(request.headers.get("content-length", "0")) > limits.REQUEST_BYTES:
            raise BoundExceeded(f"the request is over {limits.REQUEST_BYTES} bytes")
        kept = [pair for pair in request.headers.items() if pair[0].lower() in _SENT_HEADERS]
        request.headers = httpx2.Headers(
            [*kept, ("accept-encoding", "identity"), ("user-agent", "gatehouse")]
        )
        request.headers.update(self.__key_headers)
        try:
            response = await self._inner.handle_async_request(request)
        finally:
            # The request outlives the call in an SDK's errors; the key does not.
            for name in self.__key_headers:
                del request.headers[name]
        return await self._bound(response)

    async def _bound(self, response: httpx2.Response) -> httpx2.Response:
        stream = response.stream
        if not isinstance(stream, httpx2.AsyncByteStream):
            raise NotAStream("the provider's answer cannot be read as it arrives")
        scanner = EventScanner(limits.SSE_EVENT_BYTES)
        if response.status_code >= 300:
            response.stream = CutStream(stream, scanner=scanner)
            return response
        if refused := self._refused(response):
            await stream.aclose()
            raise NotAStream(f"the provider answered with {refused}")
        if self._whole is not None:
            response.stream = BoundedBody(stream, bound=self._whole)
            return response
        response.stream = BoundedStream(stream, scanner=scanner)
        response.extensions[SCANNER] = scanner
        return response

    def _refused(self, response: httpx2.Response) -> str:
        """What came instead of an answer, or nothing."""
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in {"", "identity"}:
            return "compressed data"
        kind: str = response.headers.get("content-type", "").split(";")[0].strip().lower()
        return kind if kind in _NOT_A_STREAM and self._whole is None else ""

    async def aclose(self) -> None:
        await self._inner.aclose()
