import subprocess
import sys
from collections.abc import Collection

from driftwatch.demo.sample import SampleServer

SERVICE = {"apprise", "apscheduler", "jinja2", "sqlalchemy", "sqlite3", "sqlmodel", "starlette", "uvicorn"}
REMEMBERING = {f"driftwatch.{room}" for room in ("alerts", "deploys", "observe", "store", "transitions")}


def loaded_of(names: Collection[str], *words: str) -> tuple[set[str], str]:
    """Those of the modules that a command loads, and what it prints."""
    script = (
        f"import sys; sys.argv = {['driftwatch', *words]!r}\n"
        "from driftwatch.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(names) & set(ended.stderr.split()), ended.stdout


def test_help_loads_neither_what_probes_nor_what_judges() -> None:
    heavy = {"asyncio", "cryptography", "httpcore", "httpx", "pydantic", "rich", "ssl"}
    ours = {f"driftwatch.{room}" for room in ("checks", "config", "evidence", "model", "report")}
    loaded, said = loaded_of(SERVICE | REMEMBERING | heavy | ours, "--help")
    assert loaded == set()
    assert "probe" in said


def test_a_probe_loads_nothing_of_the_service_and_nothing_that_remembers(
    sample: tuple[SampleServer, str],
) -> None:
    loaded, said = loaded_of(SERVICE | REMEMBERING | {"cryptography", "rich"}, "probe", sample[1])
    assert loaded == set()
    assert "verified" in said
