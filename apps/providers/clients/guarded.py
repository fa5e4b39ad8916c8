"""A transport that calls public addresses only, whatever a name is made to lead to."""

from __future__ import annotations

import httpx2

from apps.providers import addresses

_PORTS = {"http": 80, "https": 443}
_MOST_ADDRESSES = 3


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Checks every address of a host right before each request, and connects to a checked one.

    A name that is public when it is saved and private when it is called is so refused: it is
    not looked up a second time. TLS still proves the host's name. ``inner`` must neither
    follow redirects nor know proxies, as no transport does that is given to it here. Raises
    UnsafeAddress before anything is sent.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.raw_host.decode("ascii").strip("[]")
        port = request.url.port or _PORTS.get(request.url.scheme, 0)
        addresses.permit(request.url.scheme, host, port)
        found = (await addresses.resolve(host, port))[:_MOST_ADDRESSES]
        for address in found[:-1]:
            try:
                return await self._inner.handle_async_request(_at(request, address, host))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_at(request, found[-1], host))

    async def aclose(self) -> None:
        await self._inner.aclose()


def _at(request: httpx2.Request, address: str, host: str) -> httpx2.Request:
    """The request for one address; its Host header and the name in TLS stay."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
