"""Names to addresses, which addresses may be reached, and the connection to one of them."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Address:
    """Where a TCP connection goes."""

    ip: IPv4Address | IPv6Address
    port: int

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if self.ip.version == 6 else f"{self.ip}:{self.port}"


class Resolver(Protocol):
    """Turns a host into addresses, best first. Raises OSError or TimeoutError when it cannot."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Every address of the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressFault:
    """An address that gave no connection."""

    address: str
    """``ip:port``."""
    code: str
    """refused, unreachable, timeout, reset or address (not allowed)."""
    message: str
