"""What an opening result, of whatever era, says about its surface. Pure."""

from driftwatch.evidence import Missing
from driftwatch.model import Era, Json

MAX_INSTRUCTIONS = 64 * 1024
"""Characters of a server's instructions that are kept."""

NO_TOOLS = Missing("the server declares no tools capability", "no-tools-capability")


def instructions(result: dict[str, Json]) -> str | None:
    """The instructions that a model reads, at most ``MAX_INSTRUCTIONS`` characters of them."""
    text = result.get("instructions")
    return text[:MAX_INSTRUCTIONS] if isinstance(text, str) else None


def server_info(result: dict[str, Json], era: Era) -> Json:
    """The server's own name and version; the modern era keeps them in ``_meta``."""
    if era is not Era.MODERN:
        return result.get("serverInfo")
    meta = result.get("_meta")
    return meta.get("io.modelcontextprotocol/serverInfo") if isinstance(meta, dict) else None


def declares_tools(result: dict[str, Json]) -> bool:
    """Whether ``tools/list`` may be asked.

    Capabilities that are no object declare nothing, neither that there are tools nor that there are none:
    then it is asked.
    """
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        return True
    tools = capabilities.get("tools")
    return tools is not None and tools is not False
