"""The record of CLDyB: find, step by step, the task sequence hardest for given methods, and show that it is."""

from protocols.cldyb.settings import CldybSettings
from protocols.running.protocol import MAY_CHANGE, Flag, Protocol
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRACE, TRAININGS, TRIALS

ABOUT = """\
Build, step by step, a task sequence that is hard for the given methods (CLDyB), and score it against random ones.

\b
seqsearch cldyb --methods ranpac,simplecil --pool glyphs:classes=50 --tasks 3 --out runs/mine
seqsearch cldyb --methods ranpac,simplecil --pool glyphs:classes=50 --tasks 3 --difficulty easy --out runs/easy
seqsearch cldyb --methods ranpac,er --tasks 5 --classes-per-task 10
seqsearch cldyb --methods mine.py:MyMethod:lr=0.01,ranpac --workers 8 --out runs/own
seqsearch cldyb --resume runs/mine
"""
CLDYB = Protocol(
    CldybSettings,
    package="protocols.cldyb",
    view="protocols.report.cldyb.view",
    about=ABOUT,
    flags=(Flag("difficulty", "Short for a --temperature of 0, 1 or inf.", ("hard", "medium", "easy")),),
    settling="options:settle",
    opening="classes:look",
    study="study:prepare",
    refusal="costs:refuse_commands",
    remarks="costs:remarks",
    count="costs:expected",
    pricing="costs:cost",
    session="run:CldybRun",
    reader="summary:read",
    exports=(SEQUENCES.file, RESULTS.file, TRACE.file, TRAININGS.file, TRIALS.file, STATS),
    may_change=MAY_CHANGE | {"surrogates"},
)
PROTOCOLS = (CLDYB,)
