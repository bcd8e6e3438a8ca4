"""The record of the online protocol: learners of a stream, evaluated online, in the near future, and on a holdout."""

from protocols.online.settings import OnlineSettings
from protocols.running.protocol import Protocol
from seqsearch.results.schema import STATS, TRAININGS
from seqsearch.results.stream_schema import BLIND, CURVES, FIGURES, SHIFT

ABOUT = """\
Evaluate learners of a stream online, on the near future, and on a holdout (online continual learning).

\b
seqsearch online --methods er,acm,ncm                                # the embedded stream, S chosen
seqsearch online --stream photos.parquet --methods er,ace,acm --budget 1,10 --samplers uniform,fifo,mixed
seqsearch online --stream cloc.parquet --methods acm,fc_only --shift cloc
seqsearch online --stream pool:glyphs --methods er,ncm --shift 256 --windows 256,1024,4096
seqsearch online --resume runs/mine
"""
ONLINE = Protocol(
    OnlineSettings,
    package="protocols.online",
    view="protocols.report.online.view",
    about=ABOUT,
    settling="options:settle",
    opening="opened:look",
    study="study:prepare",
    count="run:expected",
    pricing="costs:cost",
    session="run:OnlineRun",
    reader="summary:read",
    exports=(FIGURES.file, CURVES.file, BLIND.file, TRAININGS.file, SHIFT, STATS),
)
PROTOCOLS = (ONLINE,)
