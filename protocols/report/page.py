"""A page of a run: one file, no scripts, nothing loaded from elsewhere, light and dark. Its layout is ``page.html.j2``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from protocols.report.pools.contamination import pretraining
from protocols.report.terminal import WHOLE
from protocols.report.text import Bold
from protocols.report.view import View, view_of
from protocols.running.protocol import MARK, Exported, Protocol
from protocols.running.provenance import STAND_IN, stand_in
from protocols.running.run import WriteReport
from seqsearch.core.text import shown_lines
from seqsearch.pools.base import Pool
from seqsearch.storage.files import atomic_path


def reporter(protocol: Protocol) -> WriteReport | None:
    """Writes ``report.html`` into a finished run; pictures of tasks come from the pools. None for runs that have no report."""
    if MARK not in protocol.marks:
        return None

    def write(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
        view = view_of(protocol, exported)
        return write_page(run / MARK, view, f"seqsearch run {view.name}", pools)

    return write


def write_page(path: Path, view: View, eyebrow: str, pools: Sequence[Pool] = ()) -> Path:
    """Write a page, whole or not at all; returns ``path``."""
    content = page_of(view, eyebrow, pools)
    with atomic_path(path, durable=True) as temporary:
        temporary.write_bytes(content)
    return path


def page_of(view: View, eyebrow: str, pools: Sequence[Pool] = ()) -> bytes:
    """A page as UTF-8, in which every character shows."""
    return shown_lines(html(view, eyebrow, pools)).encode("utf-8", "backslashreplace")


def html(view: View, eyebrow: str, pools: Sequence[Pool] = ()) -> str:
    """A whole document; ``eyebrow`` stands above the headline."""
    figures = [f for f in view.draws() if f.panels]
    warning = pretraining(view.configs[0], pools) if view.configs else ""
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            eyebrow=eyebrow,
            figures=figures,
            pictures_shown=view.pictures(pools),
            more_shown=view.details or view.how or warning or len(figures) > view.key_figures,
            pretraining=warning,
            identities=[list(_flat("", config)) for config in view.configs],
            stand_in=STAND_IN if any(map(stand_in, view.configs)) else "",
        )
    )


@cache
def environment() -> Environment:
    """Templates; values are text and escaped, unless they are `Markup`."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=laid_out,
    )
    made.tests["bold"] = lambda text: isinstance(text, Bold)
    made.tests["long"] = lambda text: len(text) > WHOLE
    return made


_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_APART = re.compile(rf"(?P<bdi>{_RIGHT_TO_LEFT}(?: {_RIGHT_TO_LEFT})*)|--[a-z][a-z-]{{,30}}|\[95 %\]")


def laid_out(value: Any) -> Any:
    """Text of a page: options and ``[95 %]`` are never broken, and words from right to left do not move their neighbours.

    In attributes, which hold no markup, a template escapes a text itself.
    """
    if not isinstance(value, str) or isinstance(value, Markup) or not _APART.search(value):
        return value
    return Markup(_APART.sub(_apart, escape(value)))  # escaped


def _apart(found: re.Match[str]) -> str:
    return f"<bdi>{found[0]}</bdi>" if found["bdi"] else f'<span class="whole">{found[0]}</span>'


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    """Nested settings as ``a.b`` and text."""
    if isinstance(value, Mapping) and value:
        for k, v in value.items():
            yield from _flat(f"{prefix}.{k}" if prefix else str(k), v)
    else:
        yield prefix, value if isinstance(value, str) else json.dumps(value)
