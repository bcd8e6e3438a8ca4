"""An entry made small: its commands on stand-in data, with embedded or tiny networks, few tasks, trials and epochs.

It shows that an entry runs to its end here. Its figures are of stand-in data, and are compared with none.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protocols.evaluate.published.records import Entry, Ledger, Read
from protocols.evaluate.published.stand_in import Size, write_stand_in
from seqsearch.core.grammar import Item, parse_item, parse_items
from seqsearch.core.registry import load

SHIFT = "64"
FLAGS: dict[str, dict[str, str]] = {
    "cldyb": {"--tasks": "2", "--classes-per-task": "2", "--searches": "1", "--score-seeds": "1"},
    "edge": {"--classes": "first:4", "--tasks": "2"},
    "gtep": {"--tasks": "2", "--first-task": "4", "--classes-per-task": "2", "--trials": "2", "--orders": "2"},
    "mcil": {"--seeds": "1"},
    "online": {"--shift": SHIFT, "--batch": "32", "--seeds": "1"},
}
"""Miniature values of flags, by command; they replace the values of flags that a command has."""
MORE: dict[str, dict[str, str]] = {
    "cldyb": {"--candidates": "2", "--condensed": "2", "--simulations": "2"},
    "edge": {"--random-sequences": "5"},
    "score": {"--heldout-sequences": "2"},
    "pool": {"--min-images": "4"},
}
"""Flags that are added, or become this."""
NETWORKS = {"online": "glyph_vit", "mcil": "glyph_flava"}
"""Small network that replaces a pretrained one, by command; glyph_vit for all other commands."""
SCRATCH = "scratch:tiny"
"""Network that replaces one trained from scratch."""
ENCODERS = ("--encoder", "--encoders")
"""Left out: names of classes are then compared by their n-grams."""
ALONE = ("--json", "--enumerate", "--conventional", "--dry-run", "--originals", "--separate")
"""Flags without a value."""
RUNS = ("cldyb", "edge", "gtep", "mcil", "online", "score")
SMALL = {"M": 64, "draws": 8, "tii_draws": 4, "freeze_epochs": 0}
"""Values of hyperparameters beside numbers of epochs, which become 1."""
SIZES = {"cldyb": Size(22, 12), "edge": Size(4, 12), "gtep": Size(12, 12), "mcil": Size(20, 6), "online": Size(5, 0)}
LONG = Size(20, 0, (120_000, 800, 60), side=4)
"""Of streams on which a shift is chosen; to choose it, labels alone are looked at."""
_VALUE = re.compile(r"(?<=\w)=([^\]]*)\]")


def write_data(ledger: Ledger, entry: Entry, folder: Path) -> None:
    """Write stand-in data for the data sets of an entry."""
    auto = any(b == "--shift" and w == "auto" for words in entry.words() for b, w in itertools.pairwise(words))
    size = LONG if auto else SIZES.get(entry.words()[0][1], SIZES["cldyb"])
    for data in ledger.needed(entry):
        write_stand_in(folder / data.path, data, size)


def miniature(entry: Entry) -> Entry:
    """The entry with small commands, and with paths that lead to the same figures in what these answer."""
    labels = {label: small for words in entry.words() for label, small in _labels(words).items()}
    return dataclasses.replace(
        entry,
        commands=tuple(shlex.join(_small(words)) for words in entry.words()),
        read=tuple(r for read in entry.read if (r := _read(read, labels)).rows),
        conditional="",
    )


def networks(entry: Entry) -> str:
    """Describe the small networks that replace those of an entry; empty if it has none."""
    said = {w: _network(words, w) for words in entry.words() for b, w in itertools.pairwise(words) if b == "--backbone"}
    return ", ".join(f"{small} instead of {large}" for large, small in said.items())


def _small(words: list[str]) -> list[str]:
    command, found = words[1], words[:2]
    flags, more = FLAGS.get(command, {}), dict(MORE.get(command, {}))
    pairs = iter(words[2:])
    for word in pairs:
        if not word.startswith("--") or word in ALONE:
            found.append(word)
            continue
        value = next(pairs)
        if word in ENCODERS:
            continue
        if word == "--shift" and value == "auto":
            found += [word, value]
        elif word == "--backbone":
            found += [word, _network(words, value)]
        elif word == "--methods":
            found += [word, ",".join(_labels(words).values())]
        else:
            found += [word, more.pop(word, flags.get(word, value))]
    found += [w for pair in more.items() for w in pair]
    return [*found, "--workers", "0"] if command in RUNS else found


def _network(words: list[str], backbone: str) -> str:
    return SCRATCH if backbone.startswith("scratch:") else NETWORKS.get(words[1], "glyph_vit")


def _labels(words: list[str]) -> dict[str, str]:
    """The methods of a command by what stands for them: few epochs, no backbone of their own."""
    if "--methods" not in words:
        return {}
    kind: Any = "learner" if words[1] == "online" else "method"
    return {i.text: _method(i, kind) for i in parse_items(words[words.index("--methods") + 1], kind)}


def _method(item: Item, kind: Any) -> str:
    declared = {f.name: f.default for f in dataclasses.fields(load(kind, item.target).Config)}
    epochs = {n: 1 for n, v in declared.items() if n.endswith("epochs") and v}
    small = {**epochs, **{n: v for n, v in SMALL.items() if n in declared}}
    params: Mapping[str, Any] = {**dict(item.params), **small}
    text = ",".join(f"{n}={v}" for n, v in params.items())
    return parse_item(f"{item.target}:{text}" if text else item.target, kind).text


def _read(read: Read, labels: Mapping[str, str]) -> Read:
    """Where the same figures stand among the methods of the miniature; those of text encoders are left out."""

    def path(text: str) -> str:
        text = _VALUE.sub(lambda m: f"={labels.get(m[1], m[1])}]", text)
        return re.sub(r"/as_published/\d+", f"/as_published/{SHIFT}", text)

    return dataclasses.replace(
        read,
        value=path(read.value),
        low=path(read.low),
        high=path(read.high),
        columns=tuple((name, labels.get(key, key)) for name, key in read.columns),
        rows=tuple((name, labels.get(key, key)) for name, key in read.rows if not key.startswith("encoder: ")),
    )
