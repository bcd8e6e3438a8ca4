"""Notes: the sentences of a summary, as data. A note has a code and values; its sentence stands in a table of texts.

Terminal, page and JSON share them, so that a script reads the values and never the English. `MODULES` names the files that have
the sentences; docs/notes.md lists all codes.
"""

from __future__ import annotations

import importlib
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from protocols.report.plain import plain
from protocols.report.table import of_words
from protocols.report.text import duration, enumerated, interval, p_text, percent, points
from seqsearch.core.text import counted
from seqsearch.stats.interval import Interval

LEVELS = ("headline", "condition", "advice", "warning", "finding", "detail")
"""By importance; see `MEANING`."""
FIRST = 5
"""Notes of a summary that are not folded away; none of them is a detail."""
MODULES = {
    "assess": "assess.notes",
    "cldyb": "cldyb.texts",
    "compare": "compare.notes",
    "duel": "duel.notes",
    "edge": "edge.texts",
    "explain": "explain.notes",
    "gtep": "gtep.texts",
    "mcil": "mcil.notes",
    "online": "online.texts",
    "score": "score.notes",
}
"""By the first word of a code: the module of `protocols.report` whose ``TEXTS`` have its sentence. `common_notes` has all other
codes."""


class Text(NamedTuple):
    """The sentence of a code, and its importance.

    Attributes:
        level: one of `LEVELS`.
        text: the sentence; ``{name}`` and ``{name:way}`` stand for a value, see `Sentence`.
    """

    level: str
    text: str


@dataclass(frozen=True)
class Note:
    """A sentence of a summary as data.

    Attributes:
        code: a key of the texts; one that is unknown, as of a newer version, is shown as it is.
        values: what the sentence is filled with: plain values, intervals, and sequences or mappings of them.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> str:
        return known.level if (known := text_of(self.code)) else "detail"

    @property
    def text(self) -> str:
        """The sentence; the code and the values where there is none for this code, or it needs other values."""
        known = text_of(self.code)
        if known is not None:
            try:
                return Sentence().vformat(known.text, (), self.values)
            except (KeyError, ValueError, TypeError):
                pass
        return f"{self.code}: {', '.join(f'{name} = {value}' for name, value in self.values.items())}"

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {"code": self.code, "level": self.level, "values": plain(self.values), "text": self.text}


def note(code: str, **values: Any) -> Note:
    """A note with these values."""
    return Note(code, values)


@cache
def _texts(word: str) -> dict[str, Text]:
    """Those of codes whose first word is ``word``, beside others."""
    found: dict[str, Text] = importlib.import_module(f"protocols.report.{MODULES.get(word, 'common_notes')}").TEXTS
    return found


def text_of(code: str) -> Text | None:
    """None for a code that is unknown."""
    return _texts(code.partition(".")[0]).get(code)


def all_texts() -> dict[str, Text]:
    """By code."""
    return {code: text for word in ("", *MODULES) for code, text in _texts(word).items()}


def findings(notes: Iterable[Note]) -> list[str]:
    """The sentences of level finding, for JSON."""
    return [n.text for n in notes if n.level == "finding"]


def by_importance(notes: Iterable[Note]) -> tuple[list[Note], list[Note]]:
    """Those that a summary shows first, most important first, and the others in the order of their levels."""
    ordered = sorted(notes, key=lambda n: LEVELS.index(n.level))
    first = [n for n in ordered if n.level != "detail"][:FIRST]
    return first, [n for n in ordered if n not in first]


# ------------------------------------------------------------------------------------------------ sentences

WAYS: dict[str, Callable[[Any], str]] = {
    "percent": percent,
    "points": points,
    "p": p_text,
    "duration": duration,
    "seconds": lambda s: f"{s:.2g} s" if s < 60 else duration(s),
    "count": lambda n: f"{n:,}",
}


class Sentence(string.Formatter):
    """Fills a sentence.

    ``{x:percent}`` is a fraction in percent, ``{x:points}`` with its sign, both without a unit; an interval has its bounds behind
    it: ``12.3 [10.1, 14.5]``. ``{n:n training seed}`` is a number with its noun, ``{range:to class}`` a range with its noun:
    ``5 to 6 classes``. ``{n:is/are}`` is the first word where ``n`` is one, or has one item, and else the second. Sequences are
    enumerated, each item in its way, with ``{names:or}`` by "or"; mappings with the key before: ``er 3.1 and slca 2.0``.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        if "/" in format_spec:
            one, _, more = format_spec.partition("/")
            return one if (value if isinstance(value, int) else len(value)) == 1 else more
        if isinstance(value, Interval):
            return interval(value, WAYS[format_spec])
        if format_spec.startswith("to "):
            low, high = value
            return counted(high, format_spec[3:]) if low == high else f"{low:,} to {counted(high, format_spec[3:])}"
        if isinstance(value, Mapping):
            return enumerated([f"{name} {self.format_field(v, format_spec)}" for name, v in value.items()])
        if isinstance(value, Sequence) and not isinstance(value, str):
            last = " or " if format_spec == "or" else " and "
            return enumerated([self.format_field(v, "" if format_spec == "or" else format_spec) for v in value], last)
        if format_spec.startswith("n "):
            return counted(value, format_spec[2:])
        return WAYS[format_spec](value) if format_spec in WAYS else str(super().format_field(value, format_spec))


def fields(text: str) -> set[str]:
    """The values that a sentence needs."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def page() -> str:
    """docs/notes.md."""
    lines = ["# Notes", "", INTRODUCTION, ""]
    for level in LEVELS:
        lines += [f"## {level.capitalize()}", "", MEANING[level], ""]
        rows = [(f"`{code}`", text.text) for code, text in sorted(all_texts().items()) if text.level == level]
        lines.append(of_words(("code", "text"), rows).markdown())
        lines.append("")
    return "\n".join(lines)


INTRODUCTION = (
    "Each sentence of a summary is a note: a code, its level and values. `seqsearch show RUN --json` has them under `coded`, so "
    "that a script reads values instead of English. This page lists all codes. `{...}` stands for a value. The command "
    "`seqsearch metrics --notes` prints this page."
)
MEANING = {
    "headline": "The first line of a summary.",
    "condition": "What intervals and p-values hold for.",
    "advice": "What would make the result more precise.",
    "warning": "What looks wrong, or what a reader must know before quoting a figure.",
    "finding": "What else the run found.",
    "detail": "What a summary folds away: `seqsearch show RUN --details`.",
}
