"""Tables 1 and 4 of the CLDyB paper: the correlations that it prints below them, from the accuracies above, through the command.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main

HERE = Path(__file__).parent
PRINTED = {
    "cldyb_table1.csv": (("0.643", "0.643", "0.964*"), ("0.429", "0.429", "0.905*")),
    "cldyb_table4.csv": (("0.867*", "0.833*", "0.983*"), ("0.722*", "0.667*", "0.944*")),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_command_prints_what_the_paper_prints(name: str) -> None:
    ran = CliRunner().invoke(main, ["compare", "--table", str(HERE / name)])
    assert ran.exit_code == 0, ran.output
    rows = {line[:4]: tuple(line.split()[-4:]) for line in ran.output.splitlines() if "with Held-out" in line}
    srcc, krcc = PRINTED[name]
    assert rows["SRCC"] == (*srcc, "N/A")
    assert rows["KRCC"] == (*krcc, "N/A")
