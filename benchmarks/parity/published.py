"""Published results that need no download, run and compared.

    python -m benchmarks.parity.published [--write] [NAME ...]

Runs the entries of ``protocols/evaluate/published/published.yaml`` that name no data (or those that are named), prints printed
figures beside ours, and keeps all in ``published.json`` there. Results of other entries stay as they are there.
"""

from __future__ import annotations

import argparse
import datetime
import tempfile
from importlib.metadata import version
from pathlib import Path

from benchmarks.common.results import write_result
from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.records import Entry
from protocols.evaluate.published.results import Result, read_results, to_json
from protocols.evaluate.published.running import Places, run
from protocols.evaluate.published.where import LEDGER, RESULTS
from seqsearch.core.errors import UserError


def result_of(entry: Entry) -> Result:
    """Run it."""
    with tempfile.TemporaryDirectory() as folder:
        figures = run(entry, Places(None, Path(folder)), print)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return Result(entry.name, entry.commands, entry.digest, today, version("seqsearch"), tuple(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    ledger = read_ledger(LEDGER)
    try:
        results = read_results(RESULTS)
    except UserError:
        results = {}
    names = asked.names or [e.name for e in ledger.entries if not e.data and not e.needs]
    for name in names:
        results[name] = result_of(ledger.entry(name))
        r = results[name]
        print(f"{name}: {r.status}")
        for f in r.figures:
            print(f"  {f.row}, {f.column}: {f.printed}, ours {f.ours}: {f.verdict}")
    if asked.write:
        there = {e.name for e in ledger.entries}
        write_result(RESULTS.stem, to_json({n: r for n, r in results.items() if n in there}), RESULTS.parent)


if __name__ == "__main__":
    main()
