"""The record of duels: two methods paired over many sequences, and the sequence that separates them most."""

from protocols.evaluate.duel.settings import DuelSettings
from protocols.running.protocol import Protocol
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRACE, TRAININGS

ABOUT = """\
Pair methods A and B (NAME or FILE.py:CLASS) over random task sequences: which is more accurate, how often, by how much.

\b
seqsearch duel ranpac simplecil --pool glyphs:classes=50 --tasks 3 --classes-per-task 5 --sequences 6
seqsearch duel ranpac slca --pool photos/ --tasks 5 --classes-per-task 10 --sequences 50
seqsearch duel ranpac mine.py:Mine:lr=0.01 --find both     # and the sequences that separate them most
seqsearch duel ranpac slca --on runs/mine                  # on the sequences of a run
seqsearch duel --resume runs/duel
"""
DUEL = Protocol(
    DuelSettings,
    package="protocols.evaluate.duel",
    view="protocols.report.duel.view",
    about=ABOUT,
    settling="options:settle",
    opening="inputs:look",
    source="inputs:taken_over",
    study="study:prepare",
    remarks="costs:remarks",
    count="run:expected",
    pricing="costs:cost",
    session="run:DuelRun",
    reader="summary:read",
    exports=(SEQUENCES.file, RESULTS.file, TRACE.file, TRAININGS.file, STATS),
)
PROTOCOLS = (DUEL,)
