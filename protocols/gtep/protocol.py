"""The record of GTEP: hyperparameters chosen on one pool, methods evaluated with them on another."""

from protocols.gtep.settings import GtepSettings
from protocols.running.protocol import Protocol
from seqsearch.results.schema import CHOSEN, NEAR_DUPLICATES, RESULTS, SEQUENCES, STATS, TABLE, TRAININGS, TRIALS

ABOUT = """\
Choose hyperparameters on one pool, evaluate methods with them on others (GTEP), on Ray Tune.

\b
seqsearch gtep --tune-pool glyphs:classes=20,half=1 --pool glyphs:classes=20,half=2 --methods ranpac --tasks 2 --trials 3
seqsearch gtep --tune-pool photos/:half=1 --pool photos/:half=2 --methods wa,der --backbone scratch:resnet32
seqsearch gtep --tune-pool a/ --pool b/ --pool c/ --methods wa,der,ranpac --tasks 10 --classes-per-task 10 --trials 30
seqsearch gtep --tune-pool a/ --pool b/ --methods wa --params original      # no first phase
seqsearch gtep --resume runs/mine
"""
GTEP = Protocol(
    GtepSettings,
    package="protocols.gtep",
    view="protocols.report.gtep.view",
    about=ABOUT,
    opening="scenario:look",
    study="study:prepare",
    remarks="costs:remarks",
    count="run:expected",
    pricing="costs:cost",
    session="run:GtepRun",
    reader="summary:read",
    exports=(
        SEQUENCES.file,
        RESULTS.file,
        TRIALS.file,
        TABLE.file,
        NEAR_DUPLICATES.file,
        TRAININGS.file,
        CHOSEN,
        STATS,
    ),
)
PROTOCOLS = (GTEP,)
