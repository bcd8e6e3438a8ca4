"""``seqsearch new`` and ``seqsearch demo``: what is written works as it stands, and nothing is overwritten."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli import new
from protocols.cli.demo import NAMES
from protocols.cli.main import main
from seqsearch.core.settings import Settings


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("kind", new.KINDS)
def test_a_file_of_each_kind_is_written_under_its_name(kind: str, here: Path) -> None:
    said = run("new", kind.title(), "my_own")
    assert said.exit_code == 0, said.output
    of = new.KINDS[kind]
    assert said.stdout.startswith(f"my_own{of.suffix}: {of.what}. Next: ")
    assert f"my_own{of.suffix}" in said.stdout.partition("Next: ")[2]
    text = (here / f"my_own{of.suffix}").read_text()
    if of.suffix == ".py":
        compile(text, kind, "exec")
    if of.named:
        assert re.search(r"^class MyOwn[(:]|^def my_own\(", text, re.MULTILINE)
        assert of.named not in text
        assert f"{kind}.py" not in text
    assert [p.name for p in here.iterdir()] == [f"my_own{of.suffix}"]


def test_what_is_there_stays(here: Path) -> None:
    (here / "mine.py").write_text("precious")
    (here / "link.py").symlink_to(here / "elsewhere.py")
    for name in ("mine", "link"):
        said = run("new", "method", name)
        assert (said.exit_code, said.stderr.count("\n")) == (2, 1)
        assert f"{name}.py is there already" in said.stderr
    assert (here / "mine.py").read_text() == "precious"
    assert not (here / "elsewhere.py").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("method", "../mine"), "letters, digits and _"),
        (("method", "torch"), "would hide the installed module torch"),
        (("mehtod", "mine"), "Did you mean method?"),
    ],
)
def test_other_names_and_kinds_are_refused(words: tuple[str, ...], says: str, here: Path) -> None:
    said = run("new", *words)
    assert (said.exit_code, said.stderr.count("\n")) == (2, 1)
    assert says in said.stderr
    assert not list(here.iterdir())


def test_a_folder_that_cannot_be_written_into_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "gone").mkdir()
    monkeypatch.chdir(here / "gone")
    os.rmdir(here / "gone")
    said = run("new", "cluster")
    assert (said.exit_code, said.stderr.count("\n")) == (2, 1)
    assert "cluster.yaml cannot be written into this folder" in said.stderr


@pytest.mark.parametrize("kind", ["pool", "stream"])
def test_data_that_is_written_keeps_its_contracts_and_is_described(kind: str, here: Path) -> None:
    then = run("new", kind).stdout.partition("Next: ")[2]
    assert then.startswith(f"seqsearch check my_{kind}.py:")
    said = run(*shlex.split(then)[1:])
    assert said.exit_code == 0, said.output
    assert said.stdout.count(": ok\n") == 6
    *_, last = said.stdout.splitlines()
    shown = run(*last.partition("; seqsearch ")[2].removesuffix(" describes it.").split())
    assert shown.exit_code == 0, shown.output
    assert "digest " in shown.stdout


def test_a_name_that_the_code_of_the_file_uses_is_refused_and_a_word_of_its_comments_is_not(here: Path) -> None:
    said = run("new", "stream", "labels")
    assert (said.exit_code, said.stderr.count("\n")) == (2, 1)
    assert "labels means something else in the file" in said.stderr
    assert run("new", "stream", "camera").exit_code == 0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["method", "replay", "pairs", "learner"])
def test_what_is_written_passes_the_check_that_is_named(kind: str, here: Path) -> None:
    then = run("new", kind, "mine").stdout.partition("Next: ")[2]
    said = run(*shlex.split(then)[1:])
    assert said.exit_code == 0, said.output


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_is_its_command_with_its_settings(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``--config`` with the file that ``new`` writes; flags win."""
    ran: list[Settings] = []
    monkeypatch.setattr("protocols.cli.run_commands.run", lambda launch, *_: ran.append(launch.settings))
    assert run("new", name, "study").exit_code == 0
    for words in ((name, "--config", "study.yaml"), ("demo", name), ("demo", name, "--seed", "3")):
        said = run(*words, "--out", f"run-{len(ran)}")
        assert said.exit_code == 0, said.output
    written, demo, other = ran
    assert written == demo
    assert demo != other


def test_demos_and_kinds_are_completed(here: Path) -> None:
    def offered(line: str) -> list[str]:
        words = line.split(" ")
        environment = {"_MAIN_COMPLETE": "zsh_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        said = CliRunner().invoke(main, env=environment, prog_name="main")
        return said.stdout.split("\n")[1::3]

    assert offered("main demo ") == list(NAMES)
    assert offered("main new me") == ["method"]


def test_the_first_example_of_each_help_is_there() -> None:
    for name in NAMES:
        assert f"seqsearch demo {name} --dry-run" in run("demo", name, "--help").stdout
    assert "seqsearch new method mine" in run("new", "--help").stdout
