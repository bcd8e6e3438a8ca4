"""benchmarks/README.md has a line for each script and names each file of results. Scripts that any text names exist."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGE = (BENCHMARKS / "README.md").read_text()
LINE = re.compile(r"^\| \[`(?P<name>\w+)`\]\((?P<path>[\w/]+\.py)\)(?P<often>\*?) \|(?P<rest>.*)$", re.M)
LINES = {m["path"]: m for m in LINE.finditer(PAGE)}
COMMAND = re.compile(r"(?<![\w./])(?:benchmarks|tools)(?:(?:\.[a-z]\w*)+|/[\w/]+\.py\b)")
"""A module or file of these folders, as texts name it."""


def python_files() -> list[Path]:
    return sorted(BENCHMARKS.rglob("*.py"))


def texts() -> Iterator[tuple[str, str]]:
    """Files of the repository that may name a script."""
    kept = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for name in kept.stdout.split("\n"):
        if name.endswith((".md", ".py", ".toml", ".json", "Makefile")) and (ROOT / name).is_file():
            yield name, (ROOT / name).read_text()


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names)


def test_every_script_has_its_line_and_every_line_its_script() -> None:
    scripts = {str(p.relative_to(BENCHMARKS)) for p in python_files() if '__name__ == "__main__"' in p.read_text()}
    assert scripts == set(LINES)
    assert all(Path(path).stem == line["name"] for path, line in LINES.items())


def test_every_results_file_is_named_and_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert {p.name for p in (BENCHMARKS / "results").iterdir()} == {
        Path(link).name for link in links if link.startswith("results/")
    }
    for link in links:
        assert (BENCHMARKS / link).exists(), link


def test_a_page_that_a_line_names_names_the_script_or_its_results() -> None:
    for path, line in LINES.items():
        folder, stem = path.removesuffix(".py").split("/")
        known = [f"benchmarks.{folder}.{stem}", f"benchmarks/{path}", *re.findall(r"/(\w+\.json)\)", line["rest"])]
        for page in re.findall(r"\((\.\./[^)]+\.md)\)", line["rest"]):
            text = (BENCHMARKS / page).read_text()
            assert any(name in text for name in known), f"{page} has nothing of {path}"


def test_an_asterisk_is_at_the_scripts_of_make_bench() -> None:
    run = set(re.findall(r"-m benchmarks\.(\w+)\.(\w+)", (ROOT / "Makefile").read_text()))
    assert run == {tuple(path.removesuffix(".py").split("/")) for path, line in LINES.items() if line["often"]}


def there(named: str) -> bool:
    """Whether a name is that of a folder or module, or of something in a module."""
    place = ROOT
    for part in named.removesuffix(".py").replace("/", ".").split("."):
        place /= part
        if place.with_suffix(".py").is_file():
            return True
        if not place.is_dir():
            return False
    return True


def test_modules_that_texts_name_are_there() -> None:
    found = [(name, said) for name, text in texts() for said in COMMAND.findall(text)]
    assert len(found) > 400
    assert [(name, said) for name, said in found if not there(said)] == []


def test_folders_import_their_own_modules_and_the_common_ones() -> None:
    for path in python_files():
        for module in imported(path):
            top, folder, *_ = (*module.split("."), "", "")
            if top == "benchmarks":
                assert folder in (path.parent.name, "common"), f"{path.relative_to(ROOT)} imports {module}"
