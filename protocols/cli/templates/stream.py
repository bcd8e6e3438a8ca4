"""Frames of a camera that ages: ``--stream stream.py:drifting_stripes:samples=4000,burst=20``"""

import numpy as np
from PIL import Image

from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.pools.base import SplitSizes, checked_rows
from seqsearch.streams import base
from seqsearch.streams.rows import by_class, counted, rows_of

CLASSES = ("flat", "steep", "falling", "upright", "narrow", "wide")
ANGLES = 0.1, 0.6, -0.6, 1.5, 0.1, 1.5
WIDTHS = 3, 3, 3, 3, 1.5, 6


def drifting_stripes(samples: int = 2000, burst: int = 10, seed: int = 0) -> base.Stream:
    if samples < 1 or burst < 1:
        raise UserError(f"samples={samples} and burst={burst} must be at least 1")
    draw = seeded_numpy("stripes", seed)  # the same numbers wherever it is made: each worker makes it again
    # Replace these three lines by labels and times of your own, in order of time.
    of_bursts = draw.integers(len(CLASSES), size=-(-samples // burst))
    labels = np.repeat(of_bursts, burst)[:samples]  # [n] class of each sample, in 0 .. C-1
    times = np.cumsum(draw.integers(1, 60, size=samples))  # [n] whole numbers of any unit, not decreasing
    # Results are stored under the digest: other labels, times or images must give another one.
    digest = digest_of("stripes", seed, labels, times)
    return base.Stream(
        name="stripes",
        digest=digest,
        classes=CLASSES,
        labels=labels,
        times=times,
        pool=Frames(digest, labels, seed),
        rows=rows_of(by_class(labels)),  # [n] row of each sample in the pool
    )


class Frames:
    """The images: one for each sample. Rows lie class by class, and within a class in order of time."""

    name = "stripes"
    native_size = 32  # side of the images in pixels; 0 if it varies
    given = None
    split_sizes = SplitSizes()

    def __init__(self, digest, labels, seed):
        self.digest, self.labels, self.seed = digest, labels, seed
        self.classes = counted(CLASSES, labels, groups="stripes")
        self.samples = by_class(labels)  # [n] sample at each row

    def images(self, rows, view):  # uint8 [n, 3, view.size, view.size], one image for each row
        rows = checked_rows(rows, self.name, len(self.samples))
        out = np.empty((len(rows), 3, view.size, view.size), dtype=np.uint8)
        for target, sample in zip(out, self.samples[rows].tolist(), strict=True):
            target[:] = np.asarray(self.frame(sample).resize((view.size, view.size))).transpose(2, 0, 1)
        return out

    def frame(self, sample):
        """Replace this by reading a frame of yours. What it returns must depend on the sample alone."""
        draw, label = seeded_numpy("frame", self.seed, sample), int(self.labels[sample])
        across, down = np.meshgrid(np.arange(32), np.arange(32))
        angle = ANGLES[label] + draw.normal(0, 0.1)
        waves = np.sin((across * np.sin(angle) + down * np.cos(angle)) / WIDTHS[label] + draw.uniform(0, 6))
        dust = 20 + 40 * sample / len(self.labels)  # the camera ages
        pixels = 128 + 70 * waves[..., None] + draw.normal(0, dust, (32, 32, 3))
        return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
