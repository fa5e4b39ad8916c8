"""Where a stored base URL may lead: to public addresses, or to a host that the operator named."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from . import limits
from .errors import ProviderError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_PORTS = {"http": 80, "https": 443}
# Not public though Python's registry, or an older copy of it, takes some of them for global.
_NEVER = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


class UnsafeAddress(ProviderError):
    """A base URL that is never called. The message names cause and next step."""

    def __init__(self, words: str) -> None:
        super().__init__("unreachable", words, retryable=False)


def checked(base_url: str) -> str:
    """The base URL in its one spelling, if it may ever be called; UnsafeAddress if not.

    No name is looked up here: what a name leads to is checked again at every connect.
    """
    parts = _split(base_url)
    if parts.query or parts.fragment or "?" in base_url or "#" in base_url:
        raise UnsafeAddress("A base URL ends with its path: leave out what follows ? or #.")
    host, port = _host(parts), parts.port
    permit(parts.scheme, host, port or _PORTS.get(parts.scheme, 0))
    shown = f"[{host}]" if ":" in host else host
    place = f"{shown}:{port}" if port and port != _PORTS[parts.scheme] else shown
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def permit(scheme: str, host: str, port: int) -> None:
    """UnsafeAddress unless this host may be called so, as far as its spelling tells."""
    if is_allowed(host, port) and scheme in _PORTS:
        return
    if scheme != "https":
        raise UnsafeAddress(
            "A base URL must begin with https://. For a server on a private network the operator "
            "can list its host in PROVIDER_ALLOWED_HOSTS."
        )
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return
    if not is_public(literal):
        raise _private(host)


async def resolve(host: str, port: int) -> tuple[str, ...]:
    """The addresses that a host has now; UnsafeAddress unless every one of them is public.

    A host that the operator listed may have any. ProviderError when the name is not known.
    """
    try:
        async with asyncio.timeout(limits.CONNECT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM
            )
    except (OSError, UnicodeError, TimeoutError):
        raise ProviderError(
            "unreachable", f"The name {host} is not known. Check the base URL and the network."
        ) from None
    addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not is_allowed(host, port) and not all(_is_public_text(each) for each in addresses):
        raise _private(host)
    return addresses


def is_allowed(host: str, port: int) -> bool:
    """True when the operator listed this host, with this port or without any."""
    listed = (_split_entry(entry) for entry in settings.PROVIDER_ALLOWED_HOSTS)
    return any(name == host.lower() and at in (None, port) for name, at in listed)


def is_public(address: Address) -> bool:
    """True for an address of the internet, also when it is wrapped in an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        if (inner := _wrapped(address)) is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    if address.is_multicast or any(address in network for network in _NEVER):
        return False
    return address.is_global and not address.is_reserved


def _wrapped(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for, which is where the packets would go."""
    if address in _TRANSLATED or (int(address) >> 32 == 0 and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_public_text(address: str) -> bool:
    try:
        return is_public(ipaddress.ip_address(address))
    except ValueError:
        return False


def _private(host: str) -> UnsafeAddress:
    return UnsafeAddress(
        f"{host} does not lead to a public address, so it is not called. The operator can list it "
        "in PROVIDER_ALLOWED_HOSTS."
    )


def _split(base_url: str) -> SplitResult:
    """The URL's parts. urlsplit drops some characters in silence, so they are refused first."""
    wrong = UnsafeAddress(
        "A base URL looks like https://models.example.com/v1, without a user name or spaces."
    )
    if not base_url.isprintable() or any(mark in base_url for mark in " \\@"):
        raise wrong
    try:
        parts = urlsplit(base_url)
        if parts.port == 0 or not parts.hostname:
            raise wrong
    except ValueError:
        raise wrong from None
    return parts


def _host(parts: SplitResult) -> str:
    """The host as DNS spells it, without a zone: a zone names an interface of this machine."""
    host = parts.hostname or ""
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        host = "%"
    if "%" in host:
        raise UnsafeAddress("The host in this base URL is no host name. Check its spelling.")
    return host


def _split_entry(entry: str) -> tuple[str, int | None]:
    """Host and port of an entry such as ``localhost``, ``10.0.0.5:80``, ``::1`` or ``[::1]:80``."""
    entry = entry.strip()
    place = f"[{entry}]" if entry.count(":") > 1 and "[" not in entry else entry
    try:
        parts = urlsplit(f"//{place}")
        return parts.hostname or "", parts.port
    except ValueError:
        return "", None
