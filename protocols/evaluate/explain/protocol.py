"""The record of explaining: whether the classes, the grouping or the order of the tasks make found sequences hard."""

from protocols.evaluate.explain.settings import ExplainSettings
from protocols.running.protocol import MAY_CHANGE, Protocol
from seqsearch.results.schema import EFFECTS, RESULTS, SEQUENCES, STATS, TRAININGS

ABOUT = """\
Explain why the sequences found in RUN are hard: by their classes, by how these are grouped, or by the order of the tasks.

Methods are trained on the found classes regrouped at random, and on the found tasks in random order; what RUN has is not
trained again.

\b
seqsearch explain runs/mine
seqsearch explain runs/mine --methods ranpac --draws 20 --no-bound
seqsearch explain --resume runs/explain-20260101-120000
"""
EXPLAIN = Protocol(
    ExplainSettings,
    package="protocols.evaluate",
    view="protocols.report.explain.view",
    about=ABOUT,
    settling="explain.options:settle",
    opening="common.placed:look",
    source="common.source:taken_over",
    study="explain.study:prepare",
    remarks="explain.costs:remarks",
    count="explain.costs:expected",
    pricing="explain.costs:cost",
    session="explain.run:ExplainRun",
    reader="explain.export:read",
    exports=(SEQUENCES.file, RESULTS.file, EFFECTS.file, TRAININGS.file, "common.json", STATS),
    may_change=MAY_CHANGE | {"bounds"},
)
PROTOCOLS = (EXPLAIN,)
