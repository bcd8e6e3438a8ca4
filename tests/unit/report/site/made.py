"""Entries for tests: of runs that were trained, and of these with other content."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from protocols.cli.main import main
from protocols.report.site.entry import Entry, digest_over

Fields = dict[str, Any]


def ended(*words: object) -> str:
    """Of a command that ends well, what it prints."""
    done = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words: object) -> str:
    """Of a command that is refused, its one line."""
    done = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 2, done.output
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def changed(path: Path, entry: Entry, change: Callable[[Fields], object], digest: bool = True) -> Path:
    """A file with an entry that was changed, and with the digest of its new content unless that is not wanted."""
    fields: Fields = json.loads(entry.text())
    change(fields)
    if digest:
        fields["digest"] = digest_over(fields)
    path.write_text(json.dumps(fields))
    return path


def with_rows(path: Path, entry: Entry, name: str, **rows: tuple[float | None, float | None, float | None]) -> Path:
    """An entry of this name whose methods have these main figures: value and bounds. Nothing was compared in pairs."""

    def change(fields: Fields) -> None:
        fields["name"], template = name, fields["rows"][0]
        none = [{**f, "value": None, "low": None, "high": None, "best": False} for f in template["figures"]]
        fields["rows"] = [
            {**template, "method": m, "figures": [{**none[0], "value": v, "low": low, "high": high}, *none[1:]]}
            for m, (v, low, high) in rows.items()
        ]

    return changed(path, entry, change)
