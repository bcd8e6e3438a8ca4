"""The records of EDGE: hard, easy and random class sequences, and the distribution of accuracies; or plans alone."""

from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.settings import EdgeSettings
from protocols.running.protocol import Flag, Protocol
from seqsearch.results.schema import ESTIMATES, FITS, PLANS, RESULTS, SEQUENCES, SIMILARITY, STATS, TRAININGS

ABOUT = """\
Train methods on the hard, the easy and random class sequences, and estimate the distribution of accuracies (EDGE).

\b
seqsearch edge --methods simplecil --pool glyphs:classes=12 --tasks 3 --random-sequences 19
seqsearch edge --methods ranpac,slca --pool photos/ --tasks 10
seqsearch edge --methods slca --pool glyphs:classes=6 --tasks 3 --enumerate      # and the truth beside it
seqsearch edge --methods slca --pool cifar100/ --tasks 10 --orders frozen:cifar100-hard-10
seqsearch edge --similarity matrix.csv --tasks 10 --plan-only --out plans/mine   # no pool, no training
seqsearch edge --resume runs/mine
"""
EDGE = Protocol(
    EdgeSettings,
    package="protocols.edge",
    view="protocols.report.edge.view",
    about=ABOUT,
    settling="options:settle",
    opening="sources:look",
    study="study:prepare",
    remarks="costs:remarks",
    count="trained:expected",
    pricing="costs:cost",
    session="run:EdgeRun",
    reader="summary:read",
    exports=(SEQUENCES.file, RESULTS.file, ESTIMATES.file, TRAININGS.file, SIMILARITY, PLANS, FITS, STATS),
)
EDGE_PLAN = Protocol(
    EdgePlanSettings,
    package="protocols.edge",
    view="protocols.report.edge.plan",
    command="edge",
    chosen_by=Flag(
        "plan_only", "Find and write the sequences, train nothing; with a --similarity FILE no pool is needed."
    ),
    settling="options:settle",
    opening="plan_only:look",
    study="plan_only:prepare",
    count="plan_only:expected",
    session="plan_only:EdgePlanRun",
    reader="plan_only:read",
    exports=(SEQUENCES.file, PLANS),
    again="planned again",
    trains=False,
    marks=(SEQUENCES.file, PLANS),
)
PROTOCOLS = (EDGE, EDGE_PLAN)
