"""The blind baseline of a study: the mode of the last k labels, without a look at any image."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from protocols.online.counted import Counts, Evaluated, Samples, common, counted
from protocols.online.reading import BY_SAMPLE, IN_BATCHES
from protocols.online.study import OnlineStudy
from seqsearch.results.rows import Row
from seqsearch.stats.blind import SHIFTS, WINDOWS, Rates, Sweep, predictions, sweep
from seqsearch.streams.playing import Played
from seqsearch.streams.rows import up_to


def swept(study: OnlineStudy) -> Iterator[Row]:
    """Rows of ``blind.parquet``: all k and S of the paper's code that the search and the main part have room for."""
    for part in ("search", "main"):
        found = _sweep(study.played, part)
        for form, rates in (("sample", found.by_sample), ("batch", found.by_batch)) if found else ():
            if rates is not None:
                yield from _rows(part, form, rates)


def _rows(part: str, form: str, rates: Rates) -> Iterator[Row]:
    for i, k in enumerate(rates.windows):
        for j, shift in enumerate(rates.shifts):
            yield {
                "part": part,
                "form": form,
                "k": k,
                "shift": shift,
                "n": rates.n,
                "correct": int(rates.hits[i, j]),
                "accuracy": float(rates.accuracy[i, j]),
                "chance": float(rates.expected[i, j]),
                "kappa": float(rates.kappa[i, j]),
            }


@lru_cache(maxsize=4)
def _sweep(played: Played, part: str) -> Sweep | None:
    """None where the part is too short for anything."""
    labels = played.labels if part == "main" else played.stream.labels[played.search]
    n, b = len(labels), played.playing.batch
    longest = n // 4  # so that half of the part and more is evaluated
    windows, shifts = (
        [k for k in WINDOWS if k <= longest],
        sorted({*(s for s in SHIFTS if s <= longest), *_multiples(played, longest)}),
    )
    if not windows or n < 4 * b:
        return None
    return sweep(labels, windows, shifts, b, classes=played.stream_classes)


def _multiples(played: Played, longest: int) -> list[int]:
    """Shifts that learners are evaluated at, as far as there is room for them."""
    return [s for s in played.playing.shifts if s <= longest]


def chosen_windows(played: Played, by_sample: bool = False) -> dict[int, int]:
    """k for each shift that learners are evaluated at: the best on the search part, 1 where that is too short."""
    found = _sweep(played, "search")
    rates = (found.by_sample if by_sample else found.by_batch) if found else None
    best: dict[int, int] = {}
    for shift in played.playing.shifts:
        if rates is None or shift not in rates.shifts:
            best[shift] = 1
        else:
            best[shift] = rates.windows[int(rates.accuracy[:, rates.shifts.index(shift)].argmax())]
    return best


def baseline(study: OnlineStudy) -> Iterator[tuple[str, int, list[tuple[Samples, Counts]]]]:
    """Label, shift, and counts on all samples and on the common ones, of the baseline on the main part.

    In batches it has seen what learners have. By sample it has seen the labels of its own batch up to S samples before each one,
    too: in batches as long as labels repeat, only this shows what the labels give away.
    """
    played = study.played
    in_batches, by_sample = chosen_windows(played), chosen_windows(played, by_sample=True)
    forms = [
        *((IN_BATCHES, shift, k, played.playing.batch) for shift, k in in_batches.items()),
        *((BY_SAMPLE, shift, k, 1) for shift, k in by_sample.items()),
    ]
    for label, shift, k, batch in forms:
        said = predictions(played.labels, k, shift, batch)
        evaluated = Evaluated(up_to(len(played.main), shift), said[shift:] == played.labels[shift:])
        counts: list[tuple[Samples, Counts]] = [("all", counted(played, evaluated))]
        if len(played.playing.shifts) > 1:
            counts.append(("common", counted(played, evaluated, common(played))))
        yield label, shift, counts
