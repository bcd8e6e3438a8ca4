"""Files of somebody that must stay as they are, whatever leads to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from protocols.cli.main import main


def bait(folder: Path) -> Path:
    """A folder of precious files, some with names like ours."""
    (folder / "packs").mkdir(parents=True)
    for name in ("weights.safetensors", f"{'d' * 32}.safetensors", f"{'e' * 32}.json", "precious.jsonl", "x.npy"):
        (folder / name).write_bytes(b"precious " + name.encode())
        (folder / "packs" / name).write_bytes(b"precious, too " + name.encode())
    return folder


def look(folder: Path) -> dict[str, Any]:
    """All that is in a folder: content and time of change."""
    return {
        str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns) if p.is_file() else None
        for p in sorted(folder.rglob("*"))
    }


def call(*arguments: Any) -> Result:
    """A command; a traceback fails the test."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, (SystemExit, click.exceptions.Exit)):
        raise result.exception
    assert result.exit_code in (0, 2), result.output
    return result
