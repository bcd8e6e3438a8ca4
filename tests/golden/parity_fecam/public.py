"""Run the authors' functions of FeCAM on the common features: ``python -m tests.golden.parity_fecam.public FOLDER``.

FOLDER holds the public code, which is no part of this repository; docs/parity_setup.md says which commit. Its scripts for
vision transformers train on published data when they are imported, so that only their functions are taken: shrinkage,
correlation matrices and distances. Features are those of the frozen network of `tests.golden.parity.starts`, divided by
their norms as in the scripts. ``public.npz`` has ``CASE`` ``[n, classes]``, distances of all test images.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
from torch.nn import functional

from tests.golden.parity.ours import Source
from tests.golden.parity.starts import CLASSES, TRAIN, digest, starts

FILE = Path(__file__).with_name("public.npz")
SCRIPTS = {"cifar100": (1.0, 0.0), "imagenet-r": (10.0, 10.0)}
"""Scripts by the end of their names, and their alpha1 and alpha2."""


def functions(script: Path) -> dict[str, Any]:
    """The functions of a script, which is not run."""
    parsed = ast.parse(script.read_text())
    parsed.body = [node for node in parsed.body if isinstance(node, ast.FunctionDef)]
    found: dict[str, Any] = {"np": np}
    exec(compile(parsed, script.name, "exec"), found)
    return found


def features() -> np.ndarray[Any, Any]:
    """Of the common images, training images first, divided by their norms."""
    found: np.ndarray[Any, Any] = functional.normalize(Source().features).numpy()
    return found


def main(folder: str) -> None:
    """Write the distances that the public functions give."""
    x, kept = features(), {"digest": np.array(digest(starts()))}
    classes = x[: CLASSES * TRAIN].reshape(CLASSES, TRAIN, -1)
    for name in SCRIPTS:
        public = functions(Path(folder, f"FeCAM_vit_{name}.py"))
        shrunk = [public["shrink_cov"](np.cov(own.T)) for own in classes]
        each = zip(classes.mean(1), public["normalize_cov"](shrunk), strict=True)
        asked = x[CLASSES * TRAIN :]
        distances = [public["_mahalanobis"](asked - mean, correlation) for mean, correlation in each]
        kept[name] = np.stack(distances, 1).astype(np.float32)
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
