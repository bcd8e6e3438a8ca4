"""The record of scoring: any methods on sequences that were found, or that somebody has written down."""

from protocols.evaluate.score.settings import ScoreSettings
from protocols.running.protocol import Protocol
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRAININGS

ABOUT = """\
Score methods on the sequences of a RUN, or of a file (Parquet, JSON or CSV of class names), or frozen ones.

Only what is new is trained.

\b
seqsearch score runs/mine --methods ranpac:M=100                      # beside the methods that were searched on
seqsearch score runs/mine --methods mine.py:Mine                      # your own
seqsearch score runs/mine --methods slca,lae --references             # with upper bound and nearest class mean
seqsearch score runs/mine --heldout-pool other/                       # do found sequences rank methods as unseen data does?
seqsearch score orders.json --pool photos/ --methods ranpac,slca
seqsearch score frozen:cifar100-hard-10 --pool cifar100/ --methods ranpac,slca   # seqsearch sequences list
"""
SCORE = Protocol(
    ScoreSettings,
    package="protocols.evaluate",
    view="protocols.report.score.view",
    about=ABOUT,
    settling="score.options:settle",
    opening="common.placed:look",
    source="common.source:taken_over",
    study="score.study:prepare",
    count="score.costs:expected",
    pricing="score.costs:cost",
    session="score.run:ScoreRun",
    reader="score.summary:read",
    exports=(SEQUENCES.file, RESULTS.file, TRAININGS.file, STATS),
)
PROTOCOLS = (SCORE,)
