"""What a host's name alone says about it."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether a host, without brackets, is this machine itself, where plain http is no risk."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
