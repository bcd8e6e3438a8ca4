"""The README of an export: what is there, which way its orders run, how to run it, and what the toolbox cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seqsearch.core.text import json_line
from seqsearch.formats.base import Order, Toolbox
from seqsearch.formats.folder import alike

IMAGES = {
    "copy": "`images/`: every image once, as the pool has it, or as lossless PNG; paths are relative to the manifest.",
    "paths": "Paths in manifests are absolute and lead to the pool's own files, as they are, on this machine.",
    "none": "No images: class ids count the classes as `pool` in `sequence.json` says.",
}


USUAL = 224
"""Pixels of the images that networks usually take, for pools whose images differ in size."""


def readme(toolbox: Toolbox, orders: Mapping[str, tuple[str, Order]], images: str, size: int = 0) -> str:
    """Markdown.

    Args:
        orders: ids of sequences and their numbers by the names of their folders.
        size: height and width of all images in pixels; 0 if they differ, or if there are none.
    """
    has = images != "none"
    lines = [
        f"# Sequences for {toolbox.title}",
        "",
        "Written by `seqsearch export`. `DIR` below is this folder. Nothing here needs seqsearch.",
        "",
        "| folder | sequence | tasks | classes of each | classes in all |",
        "|---|---|---|---|---|",
        *(f"| `{f}` | {_cell(name)} | {len(o.task_sizes)} | {_sizes(o)} | {_classes(o)} |" for f, (name, o) in orders.items()),
        "",
        "## What is there",
        "",
        "- `FOLDER/sequence.json`: the tasks with names, groups and ids of their classes; `class_order[label] = class_id`.",
        *(
            ["- `FOLDER/manifest.csv`: a row an image: path, label (by arrival, from 0), task (from 0), split, part, class_name. "
             "A name that a spreadsheet would compute has an apostrophe before it."]
            if has else []
        ),
        f"- {IMAGES[images]}",
        *([f"- {_size_of_images(size)}"] if has else []),
        f"- Order of {toolbox.title}'s own files: {toolbox.direction}.",
        "",
        "`split` train is all images but those of test, as seqsearch itself learns from where it reports test accuracy;",
        "`part` says which of them its methods validate on (val), and its searches are rewarded on (reward).",
        "",
        f"## How to run it in {toolbox.title}",
        "",
    ]  # fmt: skip
    for folder in orders:
        lines += [_filled(toolbox.usage[has], folder), ""]
        if "{folder}" not in toolbox.usage[has]:
            break
    if has and toolbox.example and orders:
        lines += [*_example(toolbox, orders, size), ""]
    lines += [f"## What {toolbox.title} keeps, and what it cannot do", ""]
    lines += [*(f"- {limit}" for limit in toolbox.limits), "", f"Tried: {toolbox.tried}.", ""]
    return "\n".join(lines)


def _size_of_images(size: int) -> str:
    if size:
        return f"Images have {size} x {size} pixels."
    return "Images differ in size: resize them, and normalise them as your network's pre-training did."


def _example(toolbox: Toolbox, orders: Mapping[str, tuple[str, Order]], size: int) -> Iterator[str]:
    """The script for the first sequence."""
    folder, (_, order) = next(iter(orders.items()))
    yield f"A whole script, with a strategy and a network of {toolbox.title} that you replace by yours:"
    yield ""
    yield "```python"
    yield toolbox.example.format(folder=folder, size=size or USUAL, classes=len(order.class_order))
    yield "```"


def _filled(usage: str, folder: str) -> str:
    """Lines for a sequence; a name that Python imports has no dash, and to Mammoth no two underscores."""
    dataset = f"seq-{alike(folder)}"
    return usage.format(folder=folder, module=dataset.replace("-", "_"), dataset=dataset)


def _cell(name: str) -> str:
    """A name in a table, in which nothing of Markdown acts."""
    text = json_line(name)
    return "`" + text.replace("`", "\\u0060").replace("|", "\\u007c") + "`"


def _sizes(o: Order) -> str:
    if len(set(o.task_sizes)) == 1:
        return str(o.task_sizes[0])
    text = ", ".join(map(str, o.task_sizes[:20]))
    return f"{text}, ..." if len(o.task_sizes) > 20 else text


def _classes(o: Order) -> str:
    return f"{len(o.class_order)} of {o.classes}"
