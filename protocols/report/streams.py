"""Streams in words: what ``seqsearch stream build`` made, what ``seqsearch stream show`` found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from protocols.report.terminal import explained
from seqsearch.core.text import shown


def build_lines(record: dict[str, Any], out: Path) -> list[str]:
    """What was made."""
    lines = [f"{out}: {record['samples']} samples of {record['classes']} classes, digest {record['digest']}"]
    if record["missing"]:
        lines.append(f"{record['missing']} sample(s) left out: their images are missing")
    return [shown(line) for line in lines]


def show_lines(record: dict[str, Any]) -> list[str]:
    """A stream as text."""
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
    lines += ["", *_agreement(r["agreement"]), "", *_prior(r["prior"]), "", explained("streams")]
    return [shown(line) for line in lines]


def _agreement(by_lag: list[dict[str, float]]) -> list[str]:
    headings = ("lag", "autocorrelation", "of its most")
    lines = ["{:>8}  {:>15}  {:>11}".format(*headings)]
    return [*lines, *(f"{a['lag']:>8}  {a['autocorrelation']:>15.4f}  {a['kappa']:>11.4f}" for a in by_lag)]


def _lengths(what: str, r: dict[str, float]) -> str:
    return (
        f"{what}: {r['count']:.0f}, length mean {r['mean']:.2f}, median {r['median']:.0f}, 90th percentile {r['p90']:.0f}, "
        f"longest {r['longest']:.0f}"
    )


def _prior(spans: list[dict[str, Any]]) -> list[str]:
    names = [name[:16] for name in spans[0]["shares"]]
    width = [max(6, len(shown(n))) for n in names]
    headings = ("from sample", "time", "classes", "new", "moved", *map(shown, names))
    widths = (11, 12, 7, 4, 5, *width)
    lines = ["  ".join(f"{heading:>{w}}" for heading, w in zip(headings, widths, strict=True))]
    for s in spans:
        moved = "    -" if s["distance"] is None else f"{s['distance']:.3f}"
        shares = "".join(f"  {v:>{w}.4f}" for v, w in zip(s["shares"].values(), width, strict=True))
        lines.append(f"{s['first']:>11}  {s['time']:>12}  {s['classes']:>7}  {s['new']:>4}  {moved}{shares}")
    return [*lines, "moved: total variation between the classes of a span and the one before"]
