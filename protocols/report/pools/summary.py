"""The output of ``seqsearch pool build`` and ``seqsearch pool show``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType

from protocols.report.pools.captions import caption_lines, captions_of, shown_captions
from protocols.report.pools.contamination import contamination, contamination_lines
from protocols.report.table import COUNT, NEITHER, OURS, Column, Layout, table
from protocols.report.terminal import Grid
from protocols.report.text import unbroken
from seqsearch.building.aliases import SAME_NAME, Alias
from seqsearch.building.pool import Report
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable, counted, shown
from seqsearch.pools.base import PARTS, Pool
from seqsearch.pools.union import Union, UnionSplit

GROUPS = Layout(
    "groups",
    "",
    (
        Column("group", "group"),
        Column("classes", "classes", "of a group", COUNT, NEITHER, f"{OURS}, docs/pools.md"),
        Column("images", "images", "of a group", COUNT, NEITHER, f"{OURS}, docs/pools.md"),
        Column(
            "per_class",
            "per class",
            "images of its smallest and of its largest class",
            COUNT._replace(text=lambda ends: str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"),
            NEITHER,
            f"{OURS}, docs/pools.md",
            parts=("_smallest", "_largest"),
        ),
    ),
)
LAYOUTS = (GROUPS,)
SHOWN = 10
"""Items of a list that are printed; all are in the file beside the pool."""
GROUPS_SHOWN = 50


def build_lines(report: Report, record: dict[str, Any], out: Path, details: Path | None) -> list[str]:
    """The summary of a build; ``details`` is the file that lists everything."""
    groups, kinds = {g for g, _, _ in report.classes}, Counter(_kind(why) for _, why in report.skipped)
    reasons = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    more = f" in {details}" if details else ""
    lines = [
        f"{out}: {report.images} images of {counted(len(report.classes), 'class')} in {counted(len(groups), 'group')}, "
        f"{record['bytes'] / 1e6:.1f} MB, digest {record['digest']}",
        *_listed("skipped", "image", [f"{where}: {why}" for where, why in report.skipped], more, f": {reasons}"),
        *_listed("dropped (--min-images)", "class", _dropped(report), more),
        *_listed("merged", "pair", [_pair(a) for a in report.merged], more, " of classes"),
        *_listed("maybe the same thing twice", "pair", [_pair(a) for a in report.aliases], more, " of classes"),
    ]
    if any(a.why == SAME_NAME for a in report.aliases):
        lines.append("  (--merge-aliases makes one class of those with the same name)")
    lines += [*report.notes, *caption_lines(report.captions)]
    if report.duplicates:
        lines.append(f"{counted(report.duplicates, 'image')} came again in their class, kept once")
    if report.shared:
        lines.append(f"in several classes: {counted(report.shared, 'image')}")
    if report.ignored_count:
        lines.append(f"no images by their names: {counted(report.ignored_count, 'file')}, e.g. {report.ignored[0]}")
    if details:
        lines.append(f"all of it is in {details}")
    return [shown(text) for text in [*lines, recommended(copyable(out), len(report.classes), bool(report.captions))]]


def recommended(pool: str, classes: int, captioned: bool) -> str:
    """A command that runs on a pool of so many classes, with sizes where the usual ones do not fit; of a search they leave
    classes to choose from."""
    if classes < 4:
        return f"{pool}: too few classes for two tasks of two ({classes}): build it of more"
    if captioned:
        sizes = "" if classes >= 20 else f" --experiences {classes // 2}"  # 10 experiences of two classes at least
        return f"use it: seqsearch mcil --pool {pool} --methods mm_dp,mm_dpcf{sizes}"
    size = max(2, min(10, classes // 10))
    sizes = "" if classes >= 50 else f" --tasks {min(5, classes // size)} --classes-per-task {size}"
    return f"use it: seqsearch cldyb --pool {pool} --methods ranpac,er{sizes}"


def _dropped(report: Report) -> list[str]:
    """Classes with too few images, and whether their captions are why."""
    lost = {(g, n): k for g, n, k in report.emptied}
    why = {key: f" (all captions of {counted(k, 'other')} hold its name: --leaks keep)" for key, k in lost.items()}
    return [f"{g}/{n}, {k} images{why.get((g, n), '')}" for g, n, k in report.dropped]


def _kind(why: str) -> str:
    """A reason without details of one image."""
    return re.sub(r"^\d+ x \d+ pixels, (more than .*)$", r"\1 pixels", why.split(" (")[0])


def _pair(alias: Alias) -> str:
    return f"{'/'.join(alias.first)} and {'/'.join(alias.second)} ({alias.why})"


def _listed(what: str, noun: str, items: list[str], where: str, behind: str = "") -> list[str]:
    if not items:
        return []
    more = [f"  ... and {len(items) - SHOWN} more{where}"] if len(items) > SHOWN else []
    return [f"{what}: {counted(len(items), noun)}{behind}", *(f"  {i}" for i in items[:SHOWN]), *more]


def described(pools: Union) -> dict[str, Any]:
    """Digests, classes, groups, and the sizes of the four parts under seed 0, in plain values."""
    split, sizes, small = UnionSplit(pools, 0), dict.fromkeys(PARTS, 0), []
    groups: dict[str, list[int]] = {}
    for index, c in enumerate(pools.classes):
        groups.setdefault(c.group, []).append(c.count)
        try:
            split.check([index])
            for part in PARTS:
                sizes[part] += len(split.rows(index, part))
        except UserError:
            small.append({"class": c.name, "group": c.group, "images": c.count})
    return {
        "pools": [
            {
                "name": p.name,
                "digest": p.digest,
                "identified_by": "path, size and time of its files" if p.digest.startswith("files-") else "content",
                "split": "drawn" if p.given is None else "given",
                "ignored_files": getattr(p, "ignored_count", 0),
                "ignored": list(getattr(p, "ignored", ())),
                "notes": list(getattr(p, "notes", ())),
                "captions": captions_of(p),
                "bound_sets": _sets(p),
            }
            for p in pools.parts
        ],
        "classes": len(pools.classes),
        "contamination": contamination(pools.classes),
        "images": int(pools.offsets[-1]),
        "parts": sizes,
        "too_small": small,
        "groups": [
            {"group": g, "classes": len(n), "images": sum(n), "smallest": min(n), "largest": max(n)}
            for g, n in groups.items()
        ],
    }


def _sets(pool: Pool) -> int | None:
    """Sets of images that are bound together, class by class."""
    bound = getattr(pool, "bound", None)
    if bound is None:
        return None
    labels = np.repeat(np.arange(len(pool.classes)), [c.count for c in pool.classes])
    return int(np.unique(np.stack([labels, bound]), axis=1).shape[1])


def render(record: dict[str, Any], all_groups: bool, more: Sequence[str] = ()) -> RenderableType:
    """The same for a terminal; ``more`` is said at its end."""
    lines = []
    for p in record["pools"]:
        lines.append(f"{p['name']}: digest {p['digest']} (by {p['identified_by']}), split {p['split']}")
        lines += [f"  {note}" for note in p["notes"]]
        if p["bound_sets"] is not None:
            lines.append(f"  its images are bound together to {p['bound_sets']} sets, which drawn splits leave whole")
        if p["captions"]:
            lines += shown_captions(p["captions"])
        if p["ignored_files"]:
            few = ", ".join(p["ignored"][:3]) + ", ..." * (p["ignored_files"] > 3)
            lines.append(f"  no images by their names, left alone: {counted(p['ignored_files'], 'file')} ({few})")
    parts = ", ".join(f"{name} {n}" for name, n in record["parts"].items())
    lines.append(
        f"{counted(record['classes'], 'class')} in {counted(len(record['groups']), 'group')}, "
        f"{counted(record['images'], 'image')}: {parts}"
    )
    if record["too_small"]:
        names = ", ".join(f"{c['class']} ({c['images']})" for c in record["too_small"][:SHOWN])
        left = len(record["too_small"]) - SHOWN
        lines.append(f"too small to be split (min_images=4 leaves them out): {names}{f' and {left} more' * (left > 0)}")
        if any(p["split"] == "given" for p in record["pools"]):
            lines.append("  or the predefined split leaves them without images of a part (split=random draws one)")
    few = record["groups"] if all_groups else record["groups"][:GROUPS_SHOWN]
    below = []
    if len(few) < len(record["groups"]):
        below.append(f"and {len(record['groups']) - len(few)} more (--groups)")
    below += contamination_lines(record["contamination"], record["classes"])
    if "sheet" in record:
        below += [f"contact sheet: {record['sheet']}", *record["unusable"]]
    rows = [(g["group"], g["classes"], g["images"], (g["smallest"], g["largest"])) for g in few]
    return Group(*map(unbroken, lines), Grid(table(GROUPS, "", rows)), *map(unbroken, (*below, *more)))
