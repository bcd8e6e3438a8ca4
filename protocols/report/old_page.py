"""The frame of a report page: one file, no scripts, nothing loaded from elsewhere, light and dark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from protocols.report.contamination import pretraining
from protocols.report.old_terminal import bullets
from protocols.running.provenance import STAND_IN, stand_in
from seqsearch.core.text import shown_lines
from seqsearch.pools.base import Pool
from seqsearch.storage.files import atomic_path

CSS = """
:root { color-scheme: light dark;
  --page: #ffffff; --card: #f7f7f5; --rule: #dedcd6; --text: #1d1d1b; --soft: #66645e;
  --found: #b8430c; --random: #2a5fb4; --easy: #1f7a45; --given: #7b4aa8; --paper: #8a6d00; }
@media (prefers-color-scheme: dark) { :root {
  --page: #161615; --card: #20201e; --rule: #3a3935; --text: #ecebe6; --soft: #a3a099;
  --found: #f08a4b; --random: #7fa9ee; --easy: #62c28b; --given: #c39be6; --paper: #d9b945; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1100px; margin: 0 auto; padding: 40px 24px 72px; }
.eyebrow { color: var(--soft); font-size: 13px; margin: 0; }
h1 { font-size: 32px; line-height: 1.25; margin: 4px 0 22px; letter-spacing: -.01em; text-wrap: balance; }
h2 { font-size: 20px; margin: 48px 0 4px; }
h3 { font-size: 15px; margin: 0 0 6px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 76ch; }
.lead, .legend { color: var(--soft); font-size: 14px; }
.figures { display: flex; flex-wrap: wrap; gap: 14px; margin: 0 0 8px; }
.figures div { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px 18px 10px; }
.figures b { display: block; font-size: 27px; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
.figures span { color: var(--soft); font-size: 13px; }
.found { --c: var(--found); } .random { --c: var(--random); } .easy { --c: var(--easy); }
.given { --c: var(--given); } .paper { --c: var(--paper); } .soft { --c: var(--soft); }
b.found, b.random, .key { color: var(--c); }
.key { font-weight: 650; margin-right: 14px; white-space: nowrap; }
.key::before { content: ""; display: inline-block; width: 20px; margin-right: 6px; vertical-align: 4px;
  border-top: 3px solid var(--c); }
.key.masked::before { border-top-style: dashed; border-top-width: 2px; }
.key.dot:not(.line)::before { width: 9px; height: 9px; border: 0; border-radius: 50%; background: var(--c);
  vertical-align: 0; }
.key.range::before { width: 16px; height: 10px; border: 0; background: var(--c); opacity: .55; vertical-align: -1px; }
.key.mark::before { width: 0; height: 14px; border: 0; border-left: 3px solid var(--c); vertical-align: -2px; }
.scroll { overflow-x: auto; margin-right: min(0px, calc((1100px - 100vw) / 2)); }
table { border-collapse: collapse; font-size: 14.5px; margin: 10px 0 8px; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 0 7px 16px; text-align: right; border-bottom: 1px solid var(--rule); vertical-align: middle; }
th { color: var(--soft); font-weight: 500; font-size: 13px; line-height: 1.3;
  vertical-align: bottom; }
th small { display: block; font-size: 12px; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; overflow-wrap: break-word;
  min-width: 110px; max-width: 34ch; }
tr.mean td { font-weight: 650; border-top: 2px solid var(--soft); }
ul.notes { color: var(--soft); font-size: 14px; padding-left: 18px; max-width: 92ch; margin: 10px 0; }
ul.notes li { margin: 2px 0; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(310px, 1fr)); gap: 22px 26px;
  margin-top: 14px; }
.charts > div { max-width: 400px; min-width: 0; }
svg { display: block; width: 100%; height: auto; }
.wide svg { min-width: var(--least); }
.charts:has(.wide) { display: block; } .charts:has(.wide) > div { max-width: none; }
.step { display: grid; grid-template-columns: 92px 1fr; gap: 14px; padding: 14px 0; border-top: 1px solid var(--rule); }
.step .label { font-size: 14px; font-weight: 650; }
.step .label span { display: block; font-weight: 400; color: var(--soft);
  font-size: 13px; font-variant-numeric: tabular-nums; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(80px, 1fr)); gap: 12px 10px; }
figure { margin: 0; min-width: 0; }
figure img, figure .none { width: 64px; height: 64px; border-radius: 5px; display: block; background: var(--card);
  border: 1px solid var(--rule); }
.drawn img, .drawn .none { width: 48px; height: 48px; }
figcaption { font-size: 10.5px; line-height: 1.25; margin-top: 4px; overflow-wrap: anywhere; }
figcaption span { display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
figcaption i { color: var(--soft); font-style: normal; -webkit-line-clamp: 2; display: -webkit-box;
  -webkit-box-orient: vertical; overflow: hidden; }
details { margin-top: 20px; } summary { cursor: pointer; font-weight: 600; margin-bottom: 8px;
  overflow-wrap: anywhere; }
.identity td { text-align: left; white-space: normal; overflow-wrap: anywhere; vertical-align: top; font-size: 13.5px; }
.identity td:first-child { color: var(--soft); padding-right: 24px; min-width: 200px; }
.standin { position: fixed; inset: auto 0 0 0; max-width: none; margin: 0; padding: 8px 24px; text-align: center;
  font-weight: 650; background: var(--found); color: var(--page); }
@media (max-width: 620px) { th:first-child, td:first-child { overflow-wrap: anywhere; }
  .step { grid-template-columns: 1fr; gap: 6px; } main { padding: 24px 16px 48px; } }
@media print { .identity { display: none; } main { padding: 0; } }
"""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, body: str) -> str:
    """A whole HTML document; ``body`` is markup, ``title`` is text."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def write_page(path: Path, title: str, sections: Sequence[str]) -> Path:
    """Write a page of the sections that are not empty, whole or not at all; returns ``path``. Every character in it shows."""
    text = shown_lines(page(title, "\n".join(filter(None, sections))))
    with atomic_path(path, durable=True) as temporary:
        temporary.write_text(text, "utf-8", "backslashreplace")
    return path


def write_summary(
    run: Path,
    kind: str,
    said: tuple[str, Sequence[str], Sequence[str]],
    figures: tuple[Sequence[str], Sequence[str]],
    how: str,
    config: dict[str, Any],
    pools: Sequence[Pool],
) -> Path:
    """Write ``report.html`` into a finished run and return its path.

    Args:
        run: its folder.
        kind: what its title says.
        said: headline, findings, notes.
        figures: tables and charts, as HTML.
        how: the section on how it was computed.
        config: of the run; ``pools``: that it used.
    """
    name, (headline, findings, notes), (tables, charts) = str(config.get("run_id") or "-"), said, figures
    sections = [
        f'<p class="eyebrow">seqsearch run {escape(name)}</p>\n<h1>{escape(headline)}</h1>',
        *tables, f"<h2>What it says</h2>\n<ul>{bullets(findings)}</ul>" if findings else "", *charts,
        f'<ul class="notes">{bullets(notes)}</ul>', how, identity(config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{name}: {kind}", sections)


def identity(config: dict[str, Any], pools: Sequence[Pool] = ()) -> str:
    """Everything that ``config.json`` says, folded up, below a note on what pre-training may have shown of the ``pools``.

    A run on stand-in data has a banner that stays in view.
    """
    warned = f'<p class="standin">{escape(STAND_IN)}</p>\n' if stand_in(config) else ""
    rows = "".join(f"<tr><td>{escape(k)}</td><td>{escape(v)}</td></tr>" for k, v in _flat("", config))
    title = "Settings and identity of the run"
    return (
        f"{warned}{_note(config, pools)}"
        f"<details class='identity'><summary>{title}</summary>\n<table><tbody>{rows}</tbody></table></details>"
    )


def _note(config: dict[str, Any], pools: Sequence[Pool]) -> str:
    said = pretraining(config, pools)
    return f"<h2>Pre-training</h2>\n<p>{escape(said)}</p>" if said else ""


def _flat(prefix: str, value: Any) -> list[tuple[str, str]]:
    """Nested settings as ``a.b`` and text."""
    if isinstance(value, dict) and value:
        return [pair for k, v in value.items() for pair in _flat(f"{prefix}.{k}" if prefix else str(k), v)]
    return [(prefix, value if isinstance(value, str) else json.dumps(value))]
