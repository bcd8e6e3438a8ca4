"""What the shell offers on TAB, by click's own protocol: nothing that computes is imported for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.core.registry import names
from tests.unit.cli.test_refused_at_once import HEAVY

COMMAND = f"""
import sys
from protocols.cli.main import main
try:
    main(prog_name="seqsearch")
except SystemExit as ended:
    code = ended.code
print("heavy:", [m for m in {HEAVY!r} if m in sys.modules], "exit:", code or 0, file=sys.stderr)
"""


def asked(line: str) -> dict[str, str]:
    """The environment in which bash asks, with the cursor behind a line."""
    words = line.split(" ")
    return {"_SEQSEARCH_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


def offered(line: str, folder: Path) -> set[str]:
    """What is offered behind a line; of an item for which the shell offers files, its type."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(main, [], prog_name="seqsearch", env=asked(line))
    finally:
        os.chdir(before)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    items = [text.partition(",") for text in done.stdout.splitlines() if text]
    return {value if kind == "plain" else kind for kind, _, value in items}


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("seqsearch cldyb --methods er,ranp", {"er,ranpac"}),
        ("seqsearch online --methods er,fc", {"er,fc_only"}),
        ("seqsearch show ", {"runs/mine"}),
        ("seqsearch export runs/mine --to pi", {"pilot"}),
    ],
)
def test_torch_is_not_imported_for_it(tmp_path: Path, line: str, offers: set[str]) -> None:
    (tmp_path / "runs/mine").mkdir(parents=True)
    (tmp_path / "runs/mine/config.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **asked(line)},
    )
    assert {text.removeprefix("plain,") for text in done.stdout.split()} == offers
    assert done.stderr == "heavy: [] exit: 0\n"


@pytest.mark.parametrize(
    ("line", "some", "none"),
    [
        ("cldyb --methods ", {"er", "ranpac"}, {"glyphs", "file"}),
        ("cldyb --methods er,ran", {"er,ranpac"}, {"er,er"}),
        ("cldyb --methods mine", {"file"}, {"er"}),
        ("cldyb --backbone glyph", {"glyph_vit"}, {"er"}),
        ("cldyb --surrogate simp", {"simplecil"}, set()),
        ("cldyb --pool ", {"glyphs"}, {"folder", "parquet", "cifar"}),
        ("cldyb --pool photos/", {"file"}, set()),
        ("gtep --tune-pool gl", {"glyphs"}, set()),
        ("online --stream gl", {"glyphs"}, set()),
        ("online --methods ", set(names("learner")), {"ranpac"}),
        ("check --learner ac", {"ace", "acm"}, set()),
        ("check e", {"ease"}, set()),
        ("methods ran", {"ranpac"}, set()),
        ("duel er ranp", {"ranpac"}, set()),
        ("cldyb --resume ", {"here", "runs/mine"}, {"photos", "runs/none", "runs/link", "a b", "$(touch x)"}),
        ("show runs/", {"runs/mine"}, {"runs/none", "here"}),
        ("compare here ru", {"runs/mine"}, set()),
        ("extend ", {"here"}, set()),
        ("score or", {"file"}, set()),
        ("duel er ranpac --on ", {"here"}, set()),
        ("export here --to ", {"avalanche", "pilot"}, {"lae"}),
        ("pool show gl", {"glyphs"}, set()),
        ("edge --objective ", {"adjacent", "lags"}, {"glyphs"}),
        ("cldyb --difficulty h", {"hard"}, set()),
        ("cldyb --meth", {"--methods"}, set()),
        ("pool sh", {"show"}, set()),
    ],
)
def test_what_is_offered(tmp_path: Path, line: str, some: set[str], none: set[str]) -> None:
    for folder in ("runs/mine", "runs/none", "here", "photos", "a b", "$(touch x)"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("runs/mine", "here", "a b", "$(touch x)"):
        (tmp_path / folder / "config.json").write_text("{}")
    (tmp_path / "runs/link").symlink_to(tmp_path / "here")
    found = offered(f"seqsearch {line}", tmp_path)
    assert some <= found
    assert not none & found


def test_every_setting_that_names_something_is_completed() -> None:
    context = click.Context(main)
    for name in ("cldyb", "duel", "edge", "gtep", "mcil", "online", "score"):
        command = main.get_command(context, name)
        assert command is not None
        options = {p.name: p for p in command.params}
        for option in ("methods", "backbone", "pool", "tune_pool", "stream", "on", "resume"):
            if option in options:
                assert options[option]._custom_shell_complete is not None, (name, option)
