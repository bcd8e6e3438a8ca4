"""Commands in process, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from protocols.cli.main import main
from tests.commands import seqsearch_here


def ran(command: str, *arguments: object) -> Result:
    """A command that trains, in this process and without progress."""
    return CliRunner().invoke(main, [command, *map(str, arguments), "--workers", "0", "--quiet"])


def told(command: str, out: Path, *arguments: object) -> dict[str, Any]:
    """Its summary as JSON."""
    result = seqsearch_here(command, *arguments, "--out", out, "--json", "--workers", "0", "--quiet")
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def rows(run: Path, name: str = "results") -> list[dict[str, Any]]:
    """Of a Parquet file of a run."""
    found: list[dict[str, Any]] = pq.read_table(run / f"{name}.parquet").to_pylist()
    return found
