"""Time and size of the page, the figures and the tables of a large run: 10 tasks of 20 classes, 9 methods.

    python -m benchmarks.speed.large_page [--write]

The run is a real one, of methods that learn from frozen features in moments. The page has pictures of its tasks. Figures are
PDF, once with letters of STIX and, where LaTeX is installed, once set by LaTeX.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import seqsearch as ss
from benchmarks.common.results import write_rows
from protocols.report.figure_files import has_latex, write_figures
from protocols.report.page import reporter
from protocols.report.table_files import Wanted, files, tables_of
from protocols.report.view import protocol_of
from seqsearch.study.run_images import images_of_run

METHODS = ",".join(["simplecil", *(f"ranpac:M={16 + 8 * i},ridge=1" for i in range(8))])

STUDY: dict[str, Any] = {
    "methods": METHODS, "pool": "glyphs:classes=400", "tasks": 10, "classes_per_task": 20, "candidates": 3, "condensed": 2,
    "simulations": 2, "score_seeds": 2, "random_sequences": 10, "workers": 0, "quiet": True,
}  # fmt: skip


def timed(what: str, work: Callable[[], Any]) -> dict[str, Any]:
    """Wall seconds of a piece of work."""
    begin = time.perf_counter()
    work()
    return {"what": what, "seconds": round(time.perf_counter() - begin, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        run = ss.cldyb(**STUDY, out=out / "run").path
        protocol, pools = protocol_of(run), images_of_run(run).world.images.parts
        write = reporter(protocol)
        assert write is not None
        rows = [timed("page", lambda: write(run, protocol.read(run), pools))]
        rows[0]["megabytes"] = round((run / "report.html").stat().st_size / 1e6, 2)
        for latex in (False, True) if has_latex("pdf") else (False,):
            name = f"figures as PDF, {'by LaTeX' if latex else 'in STIX'}"
            figures = out / f"figures{latex}"
            rows.append(timed(name, partial(write_figures, [run], "icml", "pdf", figures, latex=latex)))
            rows[-1]["figures"] = len(list(figures.glob("*.pdf")))

        def tables() -> None:
            found, notes = tables_of([run], Wanted(("all",)))
            list(files(found, notes, "latex", "brackets", with_macros=True))

        rows.append(timed("all tables as LaTeX", tables))
    for row in rows:
        print("  ".join(f"{k} {v}" for k, v in row.items()))
    if given.write:
        write_rows("large_page", {"rows": rows})


if __name__ == "__main__":
    main()
