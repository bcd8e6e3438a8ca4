"""Cost and parity of the methods, as ``seqsearch methods`` prints them: ``protocols/report/commands/method_facts.json``.

    python -m tools.method_facts

Costs are those of ``benchmarks/results/method_costs.json`` (`benchmarks.speed.costs`). A method has parity with public code
if a folder ``tests/golden/parity*`` compares it; the folder's ``agreement.json`` names its cases. A test compares the file
with what this writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from protocols.report.commands.methods import FACTS
from seqsearch.core.registry import names

ROOT = Path(__file__).parents[1]
COSTS = ROOT / "benchmarks" / "results" / "method_costs.json"
CODES = {
    "parity": "PILOT",
    "parity_scratch": "PyCIL",
    "parity_mammoth": "Mammoth",
    "parity_fecam": "authors",
    "parity_lora": "LibContinual",
}
"""The public code that a folder compares with."""
ALSO = {"gddsg": "authors", "zero_shot": "open_clip"}
"""Methods of folders that have no ``agreement.json``: ``parity_gddsg`` and ``parity_clip``."""
CALLED = {"aper": "aper_adapter"}
"""Methods of cases that have another name."""


def parity() -> dict[str, str]:
    """The public code of each method that is compared with any."""
    found = dict(ALSO)
    for folder, code in CODES.items():
        cases = json.loads((ROOT / "tests" / "golden" / folder / "agreement.json").read_text())["cases"]
        found |= {CALLED.get(method, method): code for method in (case.partition(",")[0] for case in cases)}
    return found


def facts() -> dict[str, dict[str, Any]]:
    """Cost and parity of each method, if known."""
    costs = json.loads(COSTS.read_text())["methods"]
    compared, found = parity(), dict[str, dict[str, Any]]()
    for name in names("method"):
        own = costs.get(name, {})
        found[name] = own | ({"parity": compared[name]} if name in compared else {})
    return found


def text() -> str:
    """The file, one method a line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(own)}" for name, own in facts().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FACTS.write_text(text())
