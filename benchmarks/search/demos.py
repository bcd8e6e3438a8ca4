"""Output, key figure and time of each demo; with ``--write`` they go into README.md and the protocols' pages, too.

Times are of the whole command: import, Ray's start, trainings, tables and page.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import seqsearch as ss
from benchmarks.common.results import RESULTS, seqsearch, write_result
from protocols.cli.new import template
from protocols.report.figure_files import distinct
from protocols.report.figures import COLOURS, styled

ROOT = RESULTS.parents[1]
KEY_FIGURES: dict[str, dict[str, str]] = {
    "cldyb": {
        "tasks-3": "er, one epoch a task: accuracy as tasks arrive",
        "placed": "Mean over methods: final accuracy",
    },
    "edge": {"strips": ""},
    "gtep": {"ranks": "Rank as chosen, and on the other half", "best-of": "The best of so many settings"},
    "online": {"ranking": ""},
    "mcil": {"experiences-1": "The five best strategies", "experiences-2": "The other two"},
}
"""Figures of each protocol's page that its picture shows side by side, and their titles."""
WIDTH = "106"
"""Columns of the output."""


def measured(name: str, run: Path) -> dict[str, Any]:
    """Run a demo into a folder that does not exist yet.

    Returns:
        ``settings`` (the file of the demo), ``seconds`` [s], ``output`` (lines of ``seqsearch show``) and ``summary`` (of
        ``seqsearch show --json``).
    """
    begun = time.perf_counter()
    seqsearch("demo", name, "--out", str(run))
    seconds = time.perf_counter() - begun
    output = seqsearch("show", str(run)).rstrip().split("\n")
    summary = json.loads(seqsearch("show", str(run), "--json"))
    return {"settings": template(name).read_text(), "seconds": round(seconds), "output": output, "summary": summary}


def draw(name: str, run: Path, path: Path) -> None:
    """Write the picture of a demo as SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    found = ss.open(run)
    with rc_context({"svg.hashsalt": name}), styled():
        figure = Figure(figsize=(9, 2.8), layout="constrained", facecolor=COLOURS["page"])
        axes = figure.subplots(1, len(KEY_FIGURES[name]), squeeze=False)[0]
        for (key, title), ax in zip(KEY_FIGURES[name].items(), axes, strict=True):
            found.plot(key, ax=ax)
            ax.set_title(title)
        distinct(figure, "")
        path.parent.mkdir(exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def marked(name: str) -> tuple[str, str]:
    """The comments between which a page has a demo's output."""
    return (
        f"<!-- output of seqsearch demo {name}, by python -m benchmarks.search.demos --write -->",
        "<!-- end of the output -->",
    )


def pages(name: str, output: list[str]) -> dict[str, str]:
    """Text by page: the protocol's page has picture and output, README.md has the output of CLDyB up to its notes."""
    whole = _block(output)
    found = {f"docs/{name}.md": f"![Key figure of seqsearch demo {name}](pictures/{name}.svg)\n\n{whole}"}
    if name == "cldyb":
        found["README.md"] = _block(output[: next(i for i, line in enumerate(output) if line.startswith("- "))])
    return found


def _block(lines: list[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return f"```text\n{text}\n```"


def with_output(page: str, name: str, shown: str) -> str:
    """A page with a demo's output between its comments.

    Raises:
        ValueError: the page has no such comments.
    """
    begin, end = marked(name)
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no {begin} ... {end}")
    return f"{before}{begin}\n{shown}\n{end}{after}"


def write(name: str, run: Path, result: dict[str, Any]) -> None:
    """Write a demo's figures, picture and pages."""
    path = RESULTS / "demos.json"
    kept = json.loads(path.read_text())["demos"] if path.exists() else {}
    write_result("demos", {"demos": {n: {**kept, name: result}[n] for n in KEY_FIGURES if n in {**kept, name: result}}})
    draw(name, run, ROOT / "docs" / "pictures" / f"{name}.svg")
    for page, shown in pages(name, result["output"]).items():
        file = ROOT / page
        file.write_text(with_output(file.read_text(), name, shown))


def main() -> None:
    """Run the demos that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*KEY_FIGURES, []], help="demos; all if none is named")
    parser.add_argument("--write", action="store_true", help="write results, pictures and pages")
    arguments = parser.parse_args()
    os.environ["COLUMNS"] = WIDTH
    for name in arguments.names or KEY_FIGURES:
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "demo"
            result = measured(name, run)
            print(f"{name}: {result['seconds']} s", *result["output"], sep="\n")
            if arguments.write:
                write(name, run, result)


if __name__ == "__main__":
    main()
