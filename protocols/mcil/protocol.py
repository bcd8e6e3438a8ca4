"""The record of MCIL: methods on random class orders of image-text pairs, cut into experiences."""

from protocols.mcil.settings import McilSettings
from protocols.running.protocol import Protocol
from seqsearch.results.experience_schema import EXPERIENCES, RUN_FIGURES
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRAININGS

ABOUT = """\
Evaluate methods on random class orders of image-text pairs, or images (multimodal class-incremental learning).

\b
seqsearch mcil --pool glyphs:classes=20 --methods simplecil,ranpac --backbone glyph_vit --experiences 4
seqsearch mcil --pool birds.parquet --methods mm_lb,mm_ub,mm_er:share=.1,mm_dp,mm_dpcf --backbone flava
seqsearch mcil --pool glyphs --methods simplecil,finetune --backbone glyph_vit --seeds 5
seqsearch mcil --pool birds.parquet --methods mm_dp --orders 10 --seeds 2     # noise of orders, and of seeds
seqsearch mcil --pool birds.parquet --methods mm_ub --modalities              # what each modality is worth
seqsearch mcil --pool birds.parquet --methods mm_ub --text-at-test none       # test images without their texts
seqsearch mcil --resume runs/mine
"""
MCIL = Protocol(
    McilSettings,
    package="protocols.mcil",
    view="protocols.report.mcil.view",
    about=ABOUT,
    opening="classes:look",
    study="study:prepare",
    count="run:expected",
    pricing="costs:cost",
    session="run:McilRun",
    reader="summary:read",
    exports=(SEQUENCES.file, RESULTS.file, EXPERIENCES.file, RUN_FIGURES.file, TRAININGS.file, STATS),
)
PROTOCOLS = (MCIL,)
