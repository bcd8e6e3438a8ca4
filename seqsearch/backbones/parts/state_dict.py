"""The tensors in a file of weights: safetensors, or a plain state dict of torch. Nothing in it is ever executed.

``torch.load(weights_only=True)`` calls harmless functions only, but some of them allocate any memory that they are asked for
(``bytearray(10**11)``), and an archive may unpack to far more than it is. So a torch file is looked through before it is loaded:
what it calls must be what a state dict of tensors needs.
"""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

from seqsearch.core.errors import UserError
from seqsearch.storage.pickles import BadPickle, check_calls
from seqsearch.storage.reading import open_regular

if TYPE_CHECKING:
    from torch import Tensor

NEEDED = re.compile(
    r"collections OrderedDict|torch._utils _rebuild_(tensor|tensor_v2|parameter)|torch \w+Storage|torch Size|torch device"
    r"|torch (float|double|half|bfloat|int|uint|long|short|bool)\d*|_codecs encode"
)
"""Pattern of the functions and types that the pickle of a state dict may use."""
PICKLES = 5
"""In a file of the format before 1.6: magic number, version, system, state dict, keys of the storages that follow."""


def tensors(where: str, file: str) -> dict[str, Tensor]:
    """Names and tensors.

    Raises:
        UserError: it is something else; ``where`` says which file.
    """
    from timm.models import load_state_dict

    try:
        size = _size(file)
        if not file.endswith(".safetensors"):  # timm goes by the name, too
            _look_through(file, size)
        with warnings.catch_warnings(action="ignore"):  # of strange pickles torch says more than one line
            found = load_state_dict(file, weights_only=True)
    except BadPickle as error:
        raise UserError(f"{where}: neither a safetensors file nor a plain state dict of torch ({error})") from None
    except (OSError, UserError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"{where}: cannot be read ({' '.join(str(said).split())[:120]})") from None
    except Exception as error:  # unpicklers raise what they like
        kind = type(error).__name__
        raise UserError(f"{where}: neither a safetensors file nor a plain state dict of torch ({kind})") from None
    named = found.items() if isinstance(found, dict) else ()
    weights = {k: v for k, v in named if isinstance(k, str) and _is_tensor(v)}
    if not weights:
        raise UserError(f"{where}: there are no weights in it")
    if bad := next((k for k, v in weights.items() if not _is_plain(v)), None):
        raise UserError(
            f"{where}: {bad} is no plain tensor (sparse, quantised, complex, or larger than what is stored of it)"
        )
    return weights


def _size(file: str) -> int:
    descriptor = open_regular(file)
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _look_through(file: str, size: int) -> None:
    if not zipfile.is_zipfile(file):
        with open(file, "rb") as pickles:
            for _ in range(PICKLES):
                check_calls(pickles, NEEDED)
        return
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if any(e.compress_type != zipfile.ZIP_STORED for e in entries) or sum(e.file_size for e in entries) > size:
            raise BadPickle("it is compressed, and may unpack to anything")
        for entry in entries:
            if entry.filename.endswith(".pkl"):
                with archive.open(entry) as pickle:
                    check_calls(pickle, NEEDED)


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_plain(tensor: Tensor) -> bool:
    """Dense numbers in memory, each of its own: no view that is larger than what it looks at."""
    import torch

    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized or tensor.is_complex():
        return False
    return tensor.numel() * tensor.element_size() <= tensor.untyped_storage().nbytes()
