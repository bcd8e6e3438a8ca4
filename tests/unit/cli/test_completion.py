"""What the shell offers on TAB, by click's own protocol, in a process of its own: nothing that computes is imported for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class, split_arg_string
from click.testing import CliRunner

from protocols.cli.completion import LOOKED_AT, MOST
from protocols.cli.main import main
from protocols.cli.shells import Bash, Fish
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
ODD = (
    "new\nline",
    "esc\x1b[31m",
    "a b",
    "$(touch x)",
    "`x`",
    "x;y",
    "x'y",
    'x"y',
    "-rf",
    "a:b",
    "a,b",
    "k=v",
    "~",
    "\u202ex",
    "*",
)


def asked(line: str, shell: str = "bash") -> dict[str, str]:
    """The environment in which a shell asks, with the cursor behind a line."""
    words = split_arg_string(line) + [""] * line.endswith(" ")
    last = words[-1] if shell == "fish" else str(len(words) - 1)
    return {"_SEQSEARCH_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": last}


def offered(line: str, folder: Path | None = None, shell: str = "bash", **more: str) -> list[str]:
    """What is offered behind a line."""
    before = Path.cwd()
    os.chdir(folder or before)
    try:
        done = CliRunner().invoke(main, [], prog_name="seqsearch", env={**asked(line, shell), **more})
    finally:
        os.chdir(before)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return [text.partition(",")[2] for text in done.stdout.splitlines() if text]


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("seqsearch cldyb --methods ranpac:M=5,rid", {"ranpac:M=5,ridge="}),
        ("seqsearch online --methods er,fc", {"er,fc_only"}),
        ("seqsearch cldyb --pool glyphs:half=", {"glyphs:half=1", "glyphs:half=2"}),
        ("seqsearch online --stream pool:glyphs:bur", {"pool:glyphs:burst="}),
        ("seqsearch show ", {"runs/mine"}),
        ("seqsearch export runs/mine --to p", {"pilot", "pycil"}),
        ("seqsearch check mine.py:", {"mine.py:Mine"}),
    ],
)
def test_torch_is_not_imported_for_it(tmp_path: Path, line: str, offers: set[str]) -> None:
    (tmp_path / "runs/mine").mkdir(parents=True)
    (tmp_path / "runs/mine/config.json").write_text("{}")
    (tmp_path / "mine.py").write_text("raise SystemExit('it was run')\n\n\nclass Mine:\n    pass\n")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND], capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **asked(line)},
    )  # fmt: skip
    assert {text.removeprefix("plain,") for text in done.stdout.split()} == offers
    assert done.stderr == "heavy: [] exit: 0\n"


@pytest.mark.parametrize(
    ("line", "some", "none"),
    [
        ("cldyb --methods ", {"er", "ranpac", "mine.py", "photos/"}, {"glyphs", "pool.parquet", ".hidden/"}),
        ("cldyb --methods er,ran", {"er,ranpac"}, {"er,er"}),
        ("cldyb --methods ranpac:", {"ranpac:M=", "ranpac:ridge="}, set()),
        ("cldyb --methods ranpac:M=5,", {"ranpac:M=5,ridge=", "ranpac:M=5,er"}, {"ranpac:M=5,M="}),
        ("cldyb --methods er@glyph_vit:lr=.1,", {"er@glyph_vit:lr=.1,epochs="}, {"er@glyph_vit:lr=.1,lr="}),
        ("cldyb --backbone scratch:r", {"scratch:resnet18", "scratch:resnet32"}, {"er"}),
        ("cldyb --methods er@", {"er@glyph_vit", "er@scratch:tiny"}, {"er@scratch"}),
        ("cldyb --methods=er,ran", {"er,ranpac"}, set()),
        ("cldyb --surrogate simp", {"simplecil"}, set()),
        ("edge --similarity-method ea", {"ease"}, set()),
        ("cldyb --methods nowhere:", set(), {"nowhere:"}),
        ("cldyb --methods mine.py:Mine:", set(), {"mine.py:Mine:"}),
        ("cldyb --pool ", {"glyphs", "photos/", "pool.parquet"}, {"folder", "parquet"}),
        ("cldyb --pool photos/:", {"photos/:half=", "photos/:min_images="}, {"photos/:path=", "photos/:captions="}),
        ("cldyb --pool shards/:cap", {"shards/:captions="}, set()),
        ("cldyb --pool pool.parquet:cap", {"pool.parquet:captions="}, set()),
        ("cldyb --pool glyphs:classes=5,", {"glyphs:classes=5,half="}, {"glyphs:classes=5,classes="}),
        ("gtep --tune-pool gl", {"glyphs"}, set()),
        ("cldyb --grow 3:gl", {"3:glyphs"}, set()),
        ("online --stream ", {"glyphs", "pool:", "pool.parquet"}, {"pool", "parquet"}),
        ("online --stream pool:gl", {"pool:glyphs"}, set()),
        ("online --methods ", set(names("learner")), {"ranpac"}),
        ("check --learner ac", {"ace", "acm"}, set()),
        ("check e", {"ease"}, set()),
        ("methods ran", {"ranpac"}, set()),
        ("duel er ranp", {"ranpac"}, set()),
        ("cldyb --resume ", {"here", "runs/mine"}, {"photos/", "runs/none", "runs/link"}),
        ("show runs/", {"runs/mine"}, {"runs/none", "here"}),
        ("status ./r", {"./runs/"}, set()),
        ("compare here ru", {"runs/mine"}, set()),
        ("extend ", {"here"}, set()),
        ("score ", {"here", "orders.json"}, {"mine.py"}),
        ("duel er ranpac --on ", {"here", "orders.json"}, set()),
        ("export here --to ", {"avalanche", "pilot"}, {"lae"}),
        ("import orders.json --from ", {"lae"}, set()),
        ("pool show gl", {"glyphs"}, set()),
        ("stream show gl", {"glyphs"}, set()),
        ("edge --objective ", {"adjacent", "lags"}, {"glyphs"}),
        ("cldyb --difficulty h", {"hard"}, set()),
        ("cldyb --meth", {"--methods"}, set()),
        ("pool sh", {"show"}, set()),
    ],
)  # fmt: skip
def test_what_is_offered(tmp_path: Path, line: str, some: set[str], none: set[str]) -> None:
    for folder in ("runs/mine", "runs/none", "here", "photos", ".hidden", "shards"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("runs/mine/config.json", "here/config.json", "pool.parquet", "shards/0.parquet", "orders.json"):
        (tmp_path / file).write_text("{}")
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    (tmp_path / "runs/link").symlink_to(tmp_path / "here")
    found = offered(f"seqsearch {line}", tmp_path)
    assert some <= set(found)
    assert not none & set(found)
    assert found or not some


def test_names_that_a_shell_or_a_terminal_would_act_on_are_not_offered(tmp_path: Path) -> None:
    for name in (*ODD, "good"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / f"{name}.py").write_text("class Mine: pass\n")
    assert offered("seqsearch show ", tmp_path) == ["good"]
    found = offered("seqsearch cldyb --methods ", tmp_path)
    assert [w for w in found if not re.fullmatch(r"\w+", w)] == ["good.py", "good/"]
    assert {w for w in offered("seqsearch cldyb --pool ", tmp_path) if w.endswith(("/", ".py"))} == {"good.py", "good/"}


def test_large_folders_are_not_read_to_their_end(tmp_path: Path) -> None:
    assert MOST < LOOKED_AT
    for number in range(MOST + 10):
        (tmp_path / f"p{number}").mkdir()
    assert len(offered("seqsearch cldyb --pool p", tmp_path)) == MOST


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_given_whole_words(shell: str) -> None:
    line = "seqsearch cldyb --methods er,ranpac:ridg"
    done = CliRunner().invoke(main, [], prog_name="seqsearch", env=asked(line, shell))
    assert "er,ranpac:ridge=" in done.stdout


@pytest.mark.parametrize(
    ("line", "breaks", "replaced"),
    [
        ("seqsearch cldyb --methods ranpac:M=5,rid", None, "5,ridge="),
        ("seqsearch cldyb --methods er@scratch:t", None, "tiny"),
        ("seqsearch cldyb --methods er@scratch:t", " \t\n@", "scratch:tiny"),
        ("seqsearch cldyb --methods=er@scratch:t", " \t\n", "--methods=er@scratch:tiny"),
        ('seqsearch cldyb --methods "er@scratch:t', None, "er@scratch:tiny"),
        ("seqsearch cldyb --pool glyphs:strengt", None, "strength="),
    ],
)
def test_bash_is_given_what_it_replaces(line: str, breaks: str | None, replaced: str) -> None:
    more = {"COMP_LINE": line} | ({"COMP_WORDBREAKS": breaks} if breaks else {})
    assert offered(line, **more) == [replaced]


def test_bash_itself_takes_it(tmp_path: Path) -> None:
    """Its function is called as bash calls it on TAB, with a program that asks this checkout."""
    bash = shutil.which("bash")
    assert bash, "the tests need bash"
    program = tmp_path / "seqsearch"
    program.write_text(
        f'#!{bash}\nexec {sys.executable} -c \'from protocols.cli.main import main; main(prog_name="seqsearch")\' "$@"\n'
    )
    program.chmod(0o755)
    script = (
        'eval "$(_SEQSEARCH_COMPLETE=bash_source seqsearch)"; compopt() { echo "option $*"; }\n'
        'COMP_LINE="seqsearch cldyb --methods er,ranpac:ridg and more"; COMP_POINT=40\n'
        '_seqsearch_completion seqsearch; printf "%s\\n" "${COMPREPLY[@]}"; complete -p seqsearch\n'
    )
    done = subprocess.run(
        [bash, "--norc", "-c", script], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.splitlines()[:2] == ["option -o nospace", "ridge="], done.stderr
    assert "-F _seqsearch_completion seqsearch" in done.stdout


def test_fish_does_not_cut_at_commas() -> None:
    assert (get_completion_class("bash"), get_completion_class("fish")) == (Bash, Fish)
    assert "split -m 1" in Fish(main, {}, "seqsearch", "_SEQSEARCH_COMPLETE").source()


def test_every_setting_that_names_something_is_completed() -> None:
    context = click.Context(main)
    for name in ("cldyb", "duel", "edge", "gtep", "mcil", "online", "score"):
        command = main.get_command(context, name)
        assert command is not None
        options = {p.name: p for p in command.params}
        for option in ("methods", "backbone", "pool", "tune_pool", "stream", "on", "resume"):
            if option in options:
                assert options[option]._custom_shell_complete is not None, (name, option)
