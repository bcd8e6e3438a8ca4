"""A FLAVA network from its sizes: what transformers is needed for, and what may stand in a configuration that others wrote."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief

if TYPE_CHECKING:
    from seqsearch.backbones.parts.flava_network import Attention, FlavaNetwork

OLDEST = 5
"""First number of the version of transformers that this was written for."""
PARTS = ("image_config", "text_config", "multimodal_config")
SIZES: dict[str, int] = {
    "hidden_size": 8192, "num_hidden_layers": 200, "num_attention_heads": 256, "intermediate_size": 65536, "image_size": 4096,
    "patch_size": 4096, "num_channels": 3, "vocab_size": 1 << 20, "max_position_embeddings": 1 << 16, "type_vocab_size": 64,
}  # fmt: skip
"""Settings of a part of a configuration and their upper limits. Limits are needed because a network is built before its
weights are compared."""
OTHERS: dict[str, type] = {"hidden_act": str, "layer_norm_eps": float, "qkv_bias": bool}
"""Further settings of a part and their types. Dropout is not among them: it is zero in the published model, and
here."""


def flava_network(
    sizes: Mapping[str, Any], where: str, attention: Attention = "sdpa", *, empty: bool = False
) -> FlavaNetwork:
    """A network with random weights.

    Args:
        sizes: the parts of a ``FlavaConfig`` as mappings, `PARTS`; what is not said is as published.
        where: whose they are, for error messages.
        attention: see `FlavaNetwork`.
        empty: without room for weights (on torch's ``meta`` device).

    Raises:
        UserError: transformers is missing or too old, sizes that no network has.
    """
    import torch

    from seqsearch.backbones.parts.flava_network import FlavaNetwork

    kinds = _kinds(where)
    parts = {name: checked_sizes(sizes.get(name, {}), f"{where}: {name}") for name in PARTS}
    try:
        config = kinds[0](**parts, projection_dim=parts["multimodal_config"].get("hidden_size", 768))
        with torch.device("meta") if empty else contextlib.nullcontext():
            return FlavaNetwork(kinds[1](config).float(), attention).eval()
    except (ValueError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        said = " ".join(str(error).split())[:160]
        raise UserError(f"{where}: no FLAVA has these sizes ({type(error).__name__}: {said})") from None


def _kinds(where: str) -> tuple[Any, Any]:
    """``FlavaConfig`` and ``FlavaModel``."""
    mend = "pip install 'transformers>=5'"
    try:
        import transformers
        from transformers import FlavaConfig, FlavaModel
    except ImportError as error:
        raise UserError(f"{where} needs transformers, which cannot be imported ({error.name}): {mend}") from None
    if int(transformers.__version__.partition(".")[0]) < OLDEST:
        raise UserError(
            f"{where} needs transformers {OLDEST} or later, and {transformers.__version__} is there: {mend}"
        )
    return FlavaConfig, FlavaModel


def checked_sizes(said: Any, where: str) -> dict[str, Any]:
    """Return the settings of one part of a configuration that are used. All its other settings play no role here.

    Raises:
        UserError: it is no mapping, or a setting is of another type or out of range.
    """
    if not isinstance(said, Mapping):
        raise UserError(f"{where} is {brief(said)}: must be an object of sizes")
    for name, most in SIZES.items():
        value = said.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise UserError(f"{where}: {name} is {brief(value)}: must be a whole number from 1 to {most}")
    for name, kind in OTHERS.items():
        if name in said and not isinstance(said[name], kind):
            raise UserError(f"{where}: {name} is {brief(said[name])}: must be a {kind.__name__}")
    return {name: said[name] for name in (*SIZES, *OTHERS) if name in said}
