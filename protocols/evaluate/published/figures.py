"""Printed figures, ours beside them, and the verdict on each."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from protocols.evaluate.published.records import Derived, Entry, How, Read
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief

_PRINTED = re.compile(r"(?P<value>-?\d[\d,]*(?:\.(?P<decimals>\d+))?)\s*(?:\(\s*\d+(?:\.\d+)?\s*\)|\*)?\s*%?")
_STEP = re.compile(r"(?:[^/\[]|\[[^\]]*\])+")
_BOTH = math.sqrt(2)
"""Half-width of the 95 % interval of a difference, over that of our figure.

The published figure is taken to be as noisy as ours: no paper prints the noise of a figure that has an interval here.
"""
_NARROWER = 1.6449 / 1.9600
"""Half-width of a 90 % interval over that of a 95 % one, by normal quantiles: too wide for Student's, whose ratio is smaller."""
Verdict = Literal["reproduced", "compatible", "differs"]
_ONE = re.compile(r"\[([^=\]]+)=([^\]]*)\]")
_CLAIM = re.compile(r">\s*(-?\d+(?:\.\d+)?)")
_SHARE = re.compile(r"share of (.+) above (.+)")


@dataclass(frozen=True)
class Figure:
    """A printed figure and ours.

    Attributes:
        row: of the entry's table; ``column`` too.
        printed: as it is printed; ``> X``: the text claims that it is above X, and prints no figure.
        ours: what the command gave; None: nothing.
        low: end of our 95 % interval; None: there is none. ``high`` is the other one.
        slack: how much the rounding of printed figures that it is computed from may change it.
        margin: largest difference that counts as reproduced, in the unit of the printed figure, where ours has an interval.
    """

    row: str
    column: str
    printed: str
    ours: float | None
    low: float | None = None
    high: float | None = None
    slack: float = 0.0
    margin: float = 1.0

    @property
    def difference(self) -> float | None:
        """Ours minus the printed one; None where one of them is no number."""
        there = number(self.printed)
        return None if there is None or self.ours is None else self.ours - there[0]

    @property
    def verdict(self) -> Verdict:
        """The verdict on our figure.

        With an interval of ours: ``reproduced`` if the 90 % interval of the difference lies within the margin (two one-sided
        tests, Schuirmann, 1987); else ``differs`` if its 95 % interval excludes 0, and ``compatible`` if not. Without one:
        ``reproduced`` if ours rounds to the printed figure, else ``differs``. A claim ``> X`` is ``reproduced`` if ours, or all
        of our interval, is above X, ``differs`` if nothing of it is, and else ``compatible``.

        >>> Figure("a", "b", "0.643", 0.64286).verdict, Figure("a", "b", "64.3", 64.1, 63.8, 64.4).verdict
        ('reproduced', 'reproduced')
        >>> Figure("a", "b", "70", 61, 50, 72).verdict, Figure("a", "b", "70", 61, 60, 62).verdict
        ('compatible', 'differs')
        >>> [Figure("a", "b", "> 0", 3, low, 7).verdict for low in (1, -1)], Figure("a", "b", "> 50", 40).verdict
        (['reproduced', 'compatible'], 'differs')
        """
        if claim := _CLAIM.fullmatch(self.printed.strip()):
            return self._claimed(float(claim[1]))
        there, difference = number(self.printed), self.difference
        if there is None or difference is None:
            return "differs"
        rounding = 0.5 * 10.0 ** -there[1] + self.slack + 1e-9
        if self.ours is None or self.low is None or self.high is None:
            return "reproduced" if abs(difference) <= rounding else "differs"
        below, above = _BOTH * (self.ours - self.low), _BOTH * (self.high - self.ours)
        if max(_NARROWER * below - difference, _NARROWER * above + difference) <= self.margin:
            return "reproduced"
        return "compatible" if -above - rounding <= difference <= below + rounding else "differs"

    def _claimed(self, bound: float) -> Verdict:
        if self.ours is None:
            return "differs"
        low, high = (self.ours, self.ours) if self.low is None or self.high is None else (self.low, self.high)
        return "reproduced" if low > bound else "compatible" if high > bound else "differs"


def number(printed: str) -> tuple[float, int] | None:
    """A printed figure and its decimals, without a standard deviation in brackets, a star and a percent sign; None: no number.

    >>> number("69.93(0.39)"), number("2,403"), number("NaN")
    ((69.93, 2), (2403.0, 0), None)
    """
    read = _PRINTED.fullmatch(printed.strip())
    return (float(read["value"].replace(",", "")), len(read["decimals"] or "")) if read else None


def found(answer: Any, path: str) -> Any:
    """Return the value at a path in plain values, such as ``columns[column=CIFAR-100]/correlations/srcc``.

    Steps are keys. A step may be followed by one or more ``[key=value]``, each of which keeps the records of a list
    whose ``key`` has this value. Exactly one record must remain.

    >>> found({"a": [{"n": "x/y", "v": 1}, {"n": "z", "v": 2}]}, "a[n=x/y]/v")
    1

    Raises:
        UserError: no record or several records match.
    """
    fit = every(answer, path)
    if len(fit) != 1:
        raise UserError(f"the command's answer has {len(fit)} of {brief(path)}")
    return fit[0]


def every(answer: Any, path: str) -> list[Any]:
    """All that stands at a path, see `found`, in the order of the answer.

    Raises:
        UserError: a key of the path is not there.
    """
    at = [answer]
    for step in _STEP.findall(path):
        name = step.partition("[")[0]
        if not all(isinstance(a, dict) and name in a for a in at):
            raise UserError(f"the command's answer has no {brief(name)} of {brief(path)}")
        at = [a[name] for a in at]
        if conditions := _ONE.findall(step):
            records = [r for a in at for r in a or []]
            at = [r for r in records if all(isinstance(r, dict) and r.get(k) == v for k, v in conditions)]
    return at


def share(answer: Any, above: str, below: str) -> float:
    """Share of the values at one path that are above those at another, pair by pair; above the one value, or number, of it.

    A value that is null, e.g. a correlation where nothing varies, is not above.

    >>> share({"m": [{"k": "a", "v": 1, "w": 0}, {"k": "a", "v": 2, "w": 3}]}, "m[k=a]/v", "m[k=a]/w")
    0.5

    Raises:
        UserError: no values stand there, or as many do not stand at both.
    """
    first = every(answer, above)
    second = [float(below)] if number(below) else every(answer, below)
    second = second * len(first) if len(second) == 1 else second
    if not first or len(first) != len(second):
        raise UserError(f"the command's answer has {len(first)} of {brief(above)} and {len(second)} of {brief(below)}")
    higher = [a is not None and b is not None and bool(a > b) for a, b in zip(first, second, strict=True)]
    return sum(higher) / len(higher)


def from_answers(entry: Entry, answers: Sequence[Any], data: str = "DATA") -> list[Figure]:
    """Our figures beside the printed ones, from what each command answered; ``data`` stands for ``{data}``.

    Raises:
        UserError: a figure stands where no number is.
    """
    made = []
    for r in entry.read:
        answer = answers[r.command - 1]
        for (column, c), (row, k) in itertools.product(r.columns, r.rows):
            stand = {"{data}": data, "{column}": c, "{row}": k}
            paths = (_put(p, stand) for p in (r.value, r.low, r.high))
            value, low, high = (_number(answer, path, r) for path in paths)
            made.append(Figure(row, column, cell(entry, row, column), value, low, high, margin=entry.margin))
    return made


def _put(path: str, stand: Mapping[str, str]) -> str:
    for name, value in stand.items():
        path = path.replace(name, value)
    return path


def _number(answer: Any, path: str, read: Read) -> float | None:
    if not path:
        return None
    pair = _SHARE.fullmatch(path)
    value = share(answer, pair[1], pair[2]) if pair else found(answer, path)
    if isinstance(value, str) and value.isdecimal():  # whole numbers beyond what JSON keeps are texts
        value = int(value)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise UserError(f"the command's answer has {brief(value)} at {brief(path)}, where a number should be")
    return None if value is None or not math.isfinite(value) else value * read.times


def cell(entry: Entry, row: str, column: str) -> str:
    """A figure as it is printed."""
    at = entry.columns.index(column) + 1
    return next(r[at] for r in entry.rows if r[0] == row)


def derived(entry: Entry) -> list[Figure]:
    """Return figures of the printed table that follow from its other figures, computed anew.

    >>> e = Entry("x", "p", "", "", "not run", ("1", "2", "Avg"), (("LB", "90.0", "50.0", "70.0"),),
    ...           derive=(Derived("Avg", "mean", ("1", "2")),))
    >>> derived(e)[0].ours, derived(e)[0].verdict
    (70.0, 'reproduced')
    """
    return [figure for d in entry.derive for figure in _derived(entry, d)]


def _derived(entry: Entry, d: Derived) -> list[Figure]:
    if d.how == "sum of the rows above":
        above = [r[0] for r in entry.rows]
        parts = [_value(entry, row, d.column) for row in above[: above.index(d.row)]]
        return [Figure(d.row, d.column, cell(entry, d.row, d.column), _known(parts, math.fsum))]
    made = []
    for row, *_ in entry.rows:
        there = [number(cell(entry, row, c)) for c in d.of]
        step = max((10.0 ** -t[1] for t in there if t), default=0.0)
        ours = _known([t[0] if t else None for t in there], COMPUTE[d.how])
        made.append(Figure(row, d.column, cell(entry, row, d.column), ours, slack=_reach(d.how, len(d.of)) * step / 2))
    return made


def _reach(how: How, n: int) -> float:
    """Sum of the absolute weights of ``n`` figures in what is computed from them."""
    return {"mean": 1.0, "first minus last": 2.0, "first minus mean": 2.0 * (1 - 1 / n)}[how]


def _value(entry: Entry, row: str, column: str) -> float | None:
    there = number(cell(entry, row, column))
    return None if there is None else there[0]


def _known(parts: Sequence[float | None], compute: Any) -> float | None:
    whole = [p for p in parts if p is not None]
    return compute(whole) if whole and len(whole) == len(parts) else None


def _mean(parts: Sequence[float]) -> float:
    return math.fsum(parts) / len(parts)


COMPUTE: dict[How, Callable[[Sequence[float]], float]] = {
    "mean": _mean,
    "first minus last": lambda parts: parts[0] - parts[-1],
    "first minus mean": lambda parts: parts[0] - _mean(parts),
}
