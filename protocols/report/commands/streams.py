"""The output of ``seqsearch stream build`` and ``seqsearch stream show``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.report.table import COUNT, NEITHER, OURS, Column, Layout, Scale, Table, table
from protocols.report.terminal import columns_of, stacked
from protocols.report.text import unbroken
from seqsearch.core.text import counted, shortened, shown

OWN = f"{OURS}, docs/streams.md"
CORRELATED = "higher: labels are more correlated"
LONGEST = 16
"""Characters of a class's name."""


def _share(bounds: str, digits: int) -> Scale:
    return Scale("1", bounds, lambda share: f"{share:.{digits}f}")


AGREEMENT = Layout(
    "agreement",
    "Labels that agree",
    (
        Column("lag", "lag"),
        Column(
            "autocorrelation",
            "autocorrelation",
            "how often labels that are lag samples apart agree, beyond chance",
            _share("-1 to 1", 4),
            CORRELATED,
            OWN,
            "a - e: share of pairs that agree, less what independent labels would",
        ),
        Column(
            "of_its_most",
            "of its most",
            "the same as a share of what it can be at most",
            _share("at most 1", 4),
            CORRELATED,
            OWN,
            "(a - e) / (1 - e), e the sum of squared shares of the classes",
        ),
    ),
)
SHARE = Column("share_...", "...", "share of a class in the span", _share("0 to 1", 4), NEITHER, OWN)
PRIOR = Layout(
    "prior",
    "Classes over the stream",
    (
        Column("from_sample", "from sample"),
        Column("time", "time"),
        Column("classes", "classes", "classes in a tenth of the stream", COUNT, NEITHER, OWN),
        Column("new", "new", "classes in a tenth of the stream that were not seen before", COUNT, NEITHER, OWN),
        Column(
            "moved",
            "moved",
            "total variation between the classes of a span and the one before",
            _share("0 to 1", 3),
            "higher: the classes drift",
            OWN,
            "1/2 sum over classes c of abs(share_c - share_c before)",
        ),
        SHARE,
    ),
)
LAYOUTS = (AGREEMENT, PRIOR)


def build_lines(record: dict[str, Any], out: Path) -> list[str]:
    """The stream that was built."""
    lines = [f"{out}: {record['samples']} samples of {record['classes']} classes, digest {record['digest']}"]
    if record["missing"]:
        lines.append(f"{counted(record['missing'], 'sample')} left out: their images are missing")
    return [shown(text) for text in lines]


def render(record: dict[str, Any]) -> RenderableType:
    """A stream for a terminal."""
    r = record
    unseen = r["classes"] - r["classes_seen"]
    lines = [
        f"{r['stream']}: {r['samples']} samples ({r['content']}) of {r['classes']} classes"
        + (f", {unseen} of which never come" if unseen else ""),
        f"digest {r['digest']}; times {r['times'][0]} to {r['times'][1]}",
        f"most frequent class: {r['majority']['class']}, {r['majority']['share']:.3f} of all samples",
    ]
    parts = r["parts"]
    lines.append(
        "parts: " + (", ".join(f"{n} {c}" for n, c in parts.items()) if parts else "not given, drawn by a run")
    )
    if r["known"]:
        lines.append("by construction: " + ", ".join(f"{n} {v:g}" for n, v in r["known"].items()))
    lines += [_lengths("runs of one class", r["runs"])]
    lines += [_lengths(f"bursts (a class again within {r['bursts']['gap']} samples)", r["bursts"])]
    return Group(
        *map(unbroken, lines), *stacked([_agreement(r["agreement"]), _prior(r["prior"])]), columns_of("streams")
    )


def _agreement(by_lag: list[dict[str, float]]) -> Table:
    return table(AGREEMENT, "", [(str(a["lag"]), a["autocorrelation"], a["kappa"]) for a in by_lag])


def _lengths(what: str, r: dict[str, float]) -> str:
    return (
        f"{what}: {r['count']:.0f}, length mean {r['mean']:.2f}, median {r['median']:.0f}, 90th percentile {r['p90']:.0f}, "
        f"longest {r['longest']:.0f}"
    )


def _prior(spans: list[dict[str, Any]]) -> Table:
    """A row for each tenth of the stream, with the shares of its most frequent classes."""
    shares = [SHARE.named(shortened(name, LONGEST), name) for name in spans[0]["shares"]]
    rows = [
        (str(s["first"]), str(s["time"]), s["classes"], s["new"], s["distance"], *s["shares"].values()) for s in spans
    ]
    return table(PRIOR, "", rows, (*PRIOR.columns[:-1], *shares))
