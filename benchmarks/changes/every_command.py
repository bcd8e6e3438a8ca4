"""Every command that makes or reads runs, once and small: `benchmarks.changes.same_results` compares two such folders.

    python -m benchmarks.changes.every_command FOLDER [NAME ...]

FOLDER/NAME then has the run of a command (``run``), the text that it prints and that of ``show --details`` (``terminal.txt``),
its answer to ``--json`` (``answer.json``), and the same of ``--dry-run`` (``cost.txt``, ``cost.json``). All commands run in this
process, one after the other. Some read the runs of earlier ones. With names, only these commands run, and the runs that they
read must be there.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from click.testing import CliRunner

from protocols.cli.main import main as seqsearch

POOL = "glyphs:classes=18,train=6,reward=4,test=8"
HALF = "glyphs:classes=24,train=6,reward=4,test=8,half="
METHODS = "--methods simplecil,er:epochs=1,buffer_size=12 --seed 1"
TASKS = "--tasks 3 --classes-per-task 3"
SEARCH = "--candidates 6 --condensed 3 --clusters 2 --simulations 3"
STREAM = "pool:glyphs:classes=6,train=24,reward=1,test=6 --batch 8 --shift 16 --seeds 2"
CLDYB = f"cldyb {METHODS} --pool {POOL} {TASKS} {SEARCH} --score-seeds 2 --random-sequences 6"
PLAN = f"--pool {POOL} --classes 9 --tasks 3 --moves 500 --budget 0 --random-sequences 6"
COMMANDS = {
    "cldyb": CLDYB,
    "easy": f"{CLDYB} --temperature inf",
    "edge": f"edge {METHODS} {PLAN} --similarity prototypes --rs-seeds 1993",
    "edge-plan": f"edge --plan-only {PLAN} --similarity names --seed 1",
    "gtep": f"gtep {METHODS} --tune-pool {HALF}1 --pool {HALF}2 {TASKS} --trials 2 --orders 2 --conventional --originals",
    "online": "online --methods er,ncm --seed 1 --stream " + STREAM,
    "mcil": f"mcil {METHODS} --pool {POOL} --backbone glyph_vit --experiences 3 --orders 2 --seeds 2",
    "score": "score {cldyb} --methods ranpac:M=32 --references",
    "explain": "explain {cldyb} --draws 3",
    "duel": f"duel simplecil ranpac:M=32 --seed 1 --pool {POOL} {TASKS} {SEARCH} --sequences 6 --find both",
    "compare": "compare {cldyb} {easy}",
}
HERE = ("--workers", "0", "--gpus-per-worker", "0", "--quiet")


def run_command(folder: Path, name: str) -> None:
    """Run one command and write its files into ``folder / name``.

    Raises:
        RuntimeError: the command failed.
    """
    (folder / name).mkdir(parents=True)
    with contextlib.chdir(folder):  # files name runs as they were given
        _run_here(name)


def _run_here(name: str) -> None:
    here = Path(name)
    words = COMMANDS[name].format(**{n: f"{n}/run" for n in COMMANDS}).split()
    out = ["--out", str(here / "run")]
    if name in ("cldyb", "edge", "gtep", "online", "mcil", "score", "explain", "duel"):
        (here / "cost.txt").write_text(_printed([*words, *HERE, "--dry-run"]))
        (here / "cost.json").write_text(_printed([*words, *HERE, "--dry-run", "--json"]))
    brief = _printed([*words, *out, *(HERE if name != "compare" else ())])
    again = ["show", str(here / "run")] if name != "compare" else words
    (here / "terminal.txt").write_text(f"{brief}\n{_printed([*again, '--details'])}")
    (here / "answer.json").write_text(_printed([*again, "--json"]))


def _printed(words: list[str]) -> str:
    """Return the standard output of a command."""
    ended = CliRunner(env={"COLUMNS": "120"}).invoke(seqsearch, words, catch_exceptions=False)
    if ended.exit_code:
        raise RuntimeError(f"{' '.join(words)}: {ended.stderr}")
    return ended.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *COMMANDS], metavar="NAME")
    given = parser.parse_args()
    for name in given.names or COMMANDS:
        print(name, file=sys.stderr)
        run_command(given.folder, name)


if __name__ == "__main__":
    main()
