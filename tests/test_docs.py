from pathlib import Path

import pytest

from driftwatch import checks, docs
from driftwatch.errors import UsageError


def project(
    tmp_path: Path,
    readme: str = "# driftwatch\n\n<!-- checks:start -->\nstale\n<!-- checks:end -->\n\nEnd.\n",
) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    return tmp_path


def test_what_is_committed_is_what_would_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    code = docs.main(["--check"])
    assert (code, capsys.readouterr().out) == (0, "")


def test_check_mode_names_what_is_out_of_date_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path)
    before = (root / "README.md").read_bytes()
    assert docs.main(["--check", "--root", str(root)]) == 1
    said = capsys.readouterr().out
    assert "README.md is out of date" in said
    assert "docs/checks.md is out of date" in said
    assert (root / "README.md").read_bytes() == before
    assert not (root / "docs").exists()


def test_what_was_written_passes_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path)
    assert docs.main(["--root", str(root)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "docs/api.md written",
        "docs/checks.md written",
        "docs/configure.md written",
        "docs/report.md written",
        "README.md written",
    ]
    assert docs.main(["--check", "--root", str(root)]) == 0
    assert docs.main(["--root", str(root)]) == 0
    assert capsys.readouterr().out == ""


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    root = project(tmp_path)
    docs.write(root)
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# driftwatch\n\n<!-- checks:start -->\n| check |")
    assert readme.endswith("<!-- checks:end -->\n\nEnd.\n")
    assert "stale" not in readme


def test_a_readme_without_markers_gets_them_at_its_end(tmp_path: Path) -> None:
    root = project(tmp_path, "# driftwatch\n")
    docs.write(root)
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# driftwatch\n\n<!-- checks:start -->\n")
    assert readme.endswith("<!-- checks:end -->\n")


def test_an_installed_package_has_no_docs_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert docs.main(["--root", str(tmp_path)]) == 2
    assert "no pyproject.toml" in capsys.readouterr().err


def test_every_check_is_on_the_page_with_all_its_prose() -> None:
    page = docs.checks_page()
    for declaration in checks.catalogue:
        assert f"\n### {declaration.id}\n" in page
        for prose in (declaration.title, declaration.summary, declaration.why, declaration.fix):
            assert prose in page


def test_the_table_links_to_the_headings_of_the_page() -> None:
    page = docs.checks_page()
    headings = {line.removeprefix("### ") for line in page.splitlines() if line.startswith("### ")}
    for heading in headings:
        assert f"[`{heading}`](docs/checks.md#{heading.lower().replace('/', '')})" in docs.readme_table()


def test_ids_of_our_own_are_marked() -> None:
    page = docs.checks_page()
    assert "HeyMCP checks reference, rule 4 (the id is driftwatch's own)" in page
    assert "HeyMCP checks reference, rule 1;" in page


def test_the_listing_has_every_check_once() -> None:
    listing = docs.listing_json()
    assert [row["id"] for row in listing] == [declaration.id for declaration in checks.catalogue]
    text = docs.listing_text()
    for row in listing:
        assert f"  {row['id']} " in text
        assert row["title"] in text


@pytest.mark.parametrize("width", [80, 100, 140])
def test_what_a_terminal_shows_of_the_catalogue_is_no_wider_than_it(width: int) -> None:
    texts = [docs.listing_text(width), *(docs.explain_text(each.id, width) for each in checks.catalogue)]
    assert max(len(line) for text in texts for line in text.splitlines()) <= width


def test_explain_tells_everything_about_a_check() -> None:
    told = docs.explain_json("schema/semantic-format")
    assert told["severity"] == "heads up"
    assert told["sources"] == [
        {
            "document": "checks-reference",
            "number": 8,
            "title": "HeyMCP checks reference",
            "url": "https://docs.heymcp.dev",
            "own_id": True,
        }
    ]
    assert told["parameters"] == ["tools"]
    source = docs.PACKAGE.parent / told["file"]
    assert source.read_text(encoding="utf-8").splitlines()[told["line"] - 1] == "@check("
    text = docs.explain_text("schema/semantic-format")
    assert text.startswith("schema/semantic-format: A string parameter means something specific")
    for heading in ("Why it matters", "How to fix it", f"{told['file']}:{told['line']}"):
        assert heading in text
    assert max(map(len, text.splitlines())) <= docs.WIDTH


def test_a_check_of_driftwatchs_own_has_no_document_behind_it() -> None:
    (source,) = docs.explain_json("mcp/envelope")["sources"]
    assert source == {"document": "driftwatch", "number": None, "title": None, "url": None, "own_id": False}


def test_a_mistyped_id_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no check 'tls/chian'; did you mean tls/chain\?"):
        docs.explain_text("tls/chian")
    with pytest.raises(UsageError, match="`driftwatch checks` lists them"):
        docs.explain_json("something else entirely")
