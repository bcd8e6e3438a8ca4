"""``seqsearch pool build --captions``: its flags, and the sources with what they say. Heavy imports are inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqsearch.core.errors import UserError

if TYPE_CHECKING:
    from seqsearch.building.captioned import CaptionOptions, Found
    from seqsearch.pools.base import Pool


def caption_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of captions, in the order of the help."""
    flags = (
        click.option(
            "--captions", type=click.Path(path_type=Path), metavar="FILE|DIR",
            help="Texts of the images of SRC: .jsonl, .csv, .parquet, or a folder with a .txt for each image.",
        ),
        click.option(
            "--caption-columns", "columns", metavar="NAMES|default|all",
            help="Make them of these columns of --captions: the [name] is [value]; default: those of DVM-CAR.",
        ),
        click.option(
            "--bound", metavar="COLUMN",
            help="Field of --captions that says what an image is of: those of one value stay in one part of a split.",
        ),
        click.option(
            "--leaks", type=click.Choice(["full", "head", "keep"]),
            help="Drop captions that hold the class's name (full), or its last word (head).  [default: full with --captions]",
        ),
        click.option(
            "--synonyms", type=click.Path(path_type=Path), metavar="FILE.json",
            help='Other names of classes, looked for as their names are: {"class": ["other name", ...]}.',
        ),
        click.option(
            "--captioned-only", is_flag=True, help="Leave out images without a caption, and captions without an image."
        ),
    )  # fmt: skip
    for flag in reversed(flags):
        command = flag(command)
    return command


def asked_captions(
    captions: Path | None,
    columns: str | None,
    bound: str | None,
    leaks: str | None,
    synonyms: Path | None,
    captioned_only: bool,
) -> CaptionOptions | None:
    """What the flags ask for; None if they ask for nothing.

    Raises:
        UserError: a flag of ``--captions`` without it.
    """
    from seqsearch.building.captioned import CaptionOptions

    if captions is None and (columns is not None or bound is not None or captioned_only):
        flag = "--caption-columns" if columns is not None else "--bound" if bound is not None else "--captioned-only"
        raise UserError(f"{flag} belongs to --captions FILE: give that too, or leave it out")
    if synonyms is not None and leaks == "keep":
        raise UserError(
            "--synonyms are names that --leaks looks for, and --leaks keep looks for none: leave one of them out"
        )
    if captions is None and leaks is None and synonyms is None:
        return None
    return CaptionOptions(captions, columns, bound, leaks or "full", synonyms, captioned_only)


def captioned_sources(
    named: Sequence[tuple[str, Pool]], asked: CaptionOptions | None
) -> tuple[list[tuple[str, Pool]], dict[str, Found]]:
    """The sources with their captions, and what was seen of these by source.

    Raises:
        UserError: ``--captions`` with several sources, ``--leaks`` with sources that have no captions, or see
            `seqsearch.building.captioned.captioned`.
    """
    from seqsearch.building.captioned import captioned

    if asked is None:
        return list(named), {}
    if asked.source is not None and len(named) > 1:
        raise UserError(
            f"--captions {asked.source} is of one SRC, here are {len(named)}: make a file of each, then one of these files "
            "(captions stay)"
        )
    asking = "--leaks" if asked.synonyms is None else "--synonyms"
    sources: list[tuple[str, Pool]] = []
    said = {}
    for name, pool in named:
        if asked.source is None and not getattr(pool, "captioned", False):
            raise UserError(
                f"{asking}: source {name!r} has no captions: give them with --captions, or leave {asking} out"
            )
        told, said[name] = captioned(pool, asked)
        sources.append((name, told))
    return sources, said
