"""Which addresses a probe may connect to. Pure: an address in, a reason to refuse it out."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IP = IPv4Address | IPv6Address

_METADATA = frozenset(
    {
        IPv4Address("169.254.169.254"),  # AWS, Azure, Google Cloud, Oracle, DigitalOcean, Hetzner
        IPv4Address("169.254.170.2"),  # AWS container credentials
        IPv4Address("100.100.100.200"),  # Alibaba Cloud
        IPv4Address("168.63.129.16"),  # Azure wire server
        IPv4Address("192.0.0.192"),  # Oracle Cloud, classic
        IPv6Address("fd00:ec2::254"),  # AWS
        IPv6Address("fd00:ec2::23"),  # AWS pod identity
        IPv6Address("fd20:ce::254"),  # Google Cloud
        IPv6Address("fd00:42::42"),  # Scaleway
        IPv6Address("fd00:c1::a9fe:a9fe"),  # Oracle Cloud
        IPv6Address("fd00:a9fe:a9fe::1"),  # Akamai (Linode)
        IPv6Address("fd00:100::100:200"),  # Alibaba Cloud
    }
)
"""Where clouds hand out credentials to whoever asks from inside."""

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")  # RFC 8215
_LAST_QUARTER = (12, 13, 14, 15)
_PLACES = ((6, 7, 9, 10), (7, 9, 10, 11), (9, 10, 11, 12), _LAST_QUARTER)
"""The bytes in which IPv4 may stand, for prefixes of 48, 56, 64 and 96 bits (RFC 6052 section 2.2)."""
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")  # RFC 2765
_COMPATIBLE = IPv6Network("::/96")  # RFC 4291, deprecated
_ISATAP = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))  # RFC 5214, the third quarter of the address
_THIS_NETWORK = IPv4Network("0.0.0.0/8")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a TCP connection goes."""

    ip: IP
    port: int

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if self.ip.version == 6 else f"{self.ip}:{self.port}"  # noqa: PLR2004


@lru_cache(maxsize=1024)
def refusal(ip: IP, *, named_by_server: bool) -> str | None:
    """Why no connection to this address may be made, or None when it may.

    A host of the configuration may be private or this machine, but never link-local or a cloud's metadata
    service; a host that a server named must be public. IPv4 inside IPv6 (mapped, translated, NAT64, 6to4,
    Teredo, ISATAP) is judged too.
    """
    for one in (ip, *_embedded(ip)):
        if one in _METADATA:
            return f"{ip} is a cloud metadata address"
        if one.is_link_local:
            return f"{ip} is a link-local address"
        if one.is_multicast:
            return f"{ip} is a multicast address"
        if named_by_server and not _public(one):
            return f"{ip} is not a public address, and the server named it"
    return None


def _public(ip: IP) -> bool:
    if isinstance(ip, IPv6Address):
        # Python's is_global says nothing about an IPv4 address inside an IPv6 one: _embedded does.
        if ip.ipv4_mapped or ip in _NAT64 or ip in _LOCAL_NAT64:
            return True
        if ip.is_site_local:
            return False
    return ip.is_global


def _embedded(ip: IP) -> Iterator[IPv4Address]:
    if isinstance(ip, IPv4Address):
        return
    if ip.ipv4_mapped:
        yield ip.ipv4_mapped
    if ip.sixtofour:
        yield ip.sixtofour
    if ip.teredo:
        yield ip.teredo[1]
    octets = ip.packed
    places: tuple[tuple[int, ...], ...] = ()
    if ip in _LOCAL_NAT64:
        places = _PLACES
    elif octets[8:12] in _ISATAP or any(ip in network for network in (_NAT64, _TRANSLATED, _COMPATIBLE)):
        places = (_LAST_QUARTER,)
    for place in places:
        inside = IPv4Address(bytes(octets[each] for each in place))
        if inside not in _THIS_NETWORK:  # ::1 and :: are no IPv4 addresses, nor is a place that is empty
            yield inside
