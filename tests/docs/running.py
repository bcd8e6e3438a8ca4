"""Runs the code of a page as it stands there, sizes cut, in this process, in a folder of miniature data."""

from __future__ import annotations

import hashlib
import re
import runpy
import shlex
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from protocols.cli.main import main
from tests.docs.blocks import Block, seqsearch_commands

_SEARCH = "--candidates 4 --condensed 2 --clusters 2 --simulations 2 --lookahead 0"
GLYPHS = "classes=20,train=6,reward=3,test=3"
SMALL: Mapping[str, str] = {
    "cldyb": f"--tasks 3 --classes-per-task 2 {_SEARCH} --score-seeds 1 --random-sequences 5",
    "edge": "--score-seeds 2",
    "gtep": "--tasks 2 --classes-per-task 2 --orders 1 --eval-orders 1",
    "online": "",
    "mcil": "--experiences 2 --classes 4 --seeds 2",
    "score": "",
    "duel": "",
    "explain": "--draws 3",
    "extend": "--tasks 4",
}
"""What commands that train get behind what stands there, in whose place it comes: of two equal flags the last one holds."""
IF: tuple[tuple[str, str, bool, str], ...] = (
    ("cldyb", " --pool ", False, f"--pool glyphs:{GLYPHS}"),
    ("duel", " --on ", False, f"--tasks 2 --classes-per-task 2 --sequences 6 --pool glyphs:{GLYPHS}"),
    ("duel", " --find ", True, _SEARCH),
    ("duel", "imagenet-r", True, "--dry-run"),
    ("edge", "--orders|matrix.csv|features.npy", False, "--tasks 3 --classes 9"),
    ("edge", " --budget ", True, "--budget 1"),
    ("edge", " --enumerate", True, "--tasks 2 --classes 4 --score-seeds 1"),
    ("edge", " --fit", False, "--random-sequences 5"),
    ("edge", " --fit", True, "--random-sequences 10"),
    ("edge", "mine.txt", True, "--tasks 3 --max-sequences 4 --random-sequences 3"),
    ("edge", "frozen:", True, "--random-sequences 3"),
    ("edge", "--robust-within", True, "--random-sequences 20 --crossed-orders 20"),
    ("gtep", " --params ", False, "--trials 2"),
    ("gtep", " --first-task ", True, "--first-task 3"),
    (
        "online",
        r"--shift (?!auto)|^(?!.* --stream )",
        False,
        "--shift 128",
    ),  # to choose it takes more labels than are here
    ("online", " --out ", False, "--dry-run"),
    ("online", " --stream ", False, "--stream glyphs:samples=600,ahead=200000"),
    ("online", " --budget 1,", True, "--budget 1,2"),
    ("online", "pool:glyphs ", True, "--stream pool:glyphs:classes=20,train=30,reward=20,test=20"),
    ("online", "--windows 256", True, "--windows 64,256"),
    ("pool", "--min-images 45", True, "--min-images 6"),
    ("score", "frozen:", True, "--score-seeds 1"),
    ("similarity", "--method ranpac", True, "--pool glyphs:classes=8"),
    ("similarity", "resnet50", True, "--images 1 --pool birds/"),
)
"""Further ones, if a pattern is found in the line, or if it is not."""
ONE_EPOCH = frozenset(
    (
        "er",
        "lae",
        "finetune",
        "aper_adapter",
        "wa",
        "der",
        "mm_lb",
        "mm_ub",
        "mm_er",
        "mm_l2p",
        "mm_dp",
        "mm_dpcf",
    )
)
_FIRST = ",first_epochs=1"
ALSO: Mapping[str, str] = {"wa": _FIRST, "der": _FIRST, "lae": ",freeze_epochs=0"}
"""Further settings of those that take long otherwise."""
INSTEAD = {"scratch:resnet32": "scratch:tiny", "flava": "glyph_flava", "slca": "simplecil"}
"""Networks that are small, or come with the package, and a method that is fast."""
FROZEN = {"er": "ranpac", "finetune": "ranpac"}
"""Methods that are fast in place of those that train a network, for ``edge``, which trains some thirty sequences."""


def run_blocks(blocks: list[Block], refused: Mapping[str, str]) -> list[str]:
    """Run the blocks of a page in their order, in the current folder.

    ``refused`` has what a command must say that needs what is not here, by a part of its line.

    Returns:
        For each block or command that did not end as it should: its place and how it ended.
    """
    namespace: dict[str, object] = {}
    wrong = []
    for block in blocks:
        if block.language == "python":
            try:
                namespace |= as_script(block.text, namespace)
            except Exception as error:
                wrong.append(f"{block.place}: {type(error).__name__}: {error}")
        elif block.language == "shell":
            found = (run_command(words, refused) for words in seqsearch_commands(block))
            wrong += [f"{block.place}: {said}" for said in found if said]
    return wrong


def as_script(text: str, namespace: Mapping[str, object]) -> dict[str, object]:
    """Run Python code as a script, whose classes are those of ``__main__``; returns what it defines."""
    path = Path(f"block-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}.py")
    path.write_text(text)
    return runpy.run_path(str(path), dict(namespace), "__main__")


def run_command(words: list[str], refused: Mapping[str, str]) -> str:
    """How a command ended, if not as it should; else empty. What is for a cluster is read alone."""
    line = shlex.join(words)
    if "--address" in words or "$" in line:
        return ""
    result = CliRunner().invoke(main, small(words))
    expected = next((said for part, said in refused.items() if part in line), None)
    code = 0 if expected is None else 2
    if result.exit_code == code and (expected or "") in " ".join(result.output.split()):
        return ""
    return f"seqsearch {line}\n    ended with {result.exit_code}: {result.output[-400:]}{result.exception!r}"


def small(words: list[str]) -> list[str]:
    """A command with sizes that take seconds, its trainings in this process."""
    if words[0] == "demo":  # test_help_examples times its trainings
        return [*words, "--help"]
    command, line = words[0], f" {shlex.join(words)} "
    here = ["--workers", "0"] if command in SMALL else []
    if "--resume" in words:
        return [*words, *here]
    more = [text for name, part, there, text in IF if name == command and bool(re.search(part, line)) == there]
    trains = command in SMALL and command != "online"  # learners have no epochs
    fast = INSTEAD | FROZEN if command == "edge" else INSTEAD
    cut = [_short(w, fast, "--weights" in words) for w in words] if trains else words
    return [*cut, *shlex.split(" ".join([SMALL.get(command, ""), *more])), *here]


def _short(word: str, instead: Mapping[str, str], with_weights: bool) -> str:
    if word.startswith("cmd:") or (with_weights and word in instead):
        return word
    if (found := re.match(r"glyphs:classes=(\d+)", word)) and int(found[1]) > 20:
        return word.replace(f"classes={found[1]}", GLYPHS)
    return ",".join(_item(instead.get(item, item)) for item in word.split(","))


def _item(item: str) -> str:
    name, _, settings = item.partition(":")
    if name not in ONE_EPOCH or "=" in name:
        return item
    return f"{name}:epochs=1{ALSO.get(name, '')}{settings and f',{settings}'}"
