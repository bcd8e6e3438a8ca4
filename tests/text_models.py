"""Tiny text encoders with random weights, saved as the libraries save them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


def text_models(root: Path, vocabulary: Sequence[str]) -> Path:
    """Folders ``bert`` (plain transformers), ``sentences``, ``clip`` and ``clip_text`` with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers import models as kinds
    from transformers import (
        BertConfig,
        BertModel,
        CLIPConfig,
        CLIPModel,
        CLIPTextConfig,
        CLIPTextModelWithProjection,
        PreTrainedTokenizerFast,
    )

    def tokenizer(kind: type, start: str, end: str, pad: str, longest: int) -> PreTrainedTokenizerFast:
        words = {w: i for i, w in enumerate([start, end, "[UNK]", "[PAD]", *vocabulary])}
        made = Tokenizer(kind(words, unk_token="[UNK]"))
        made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
        made.post_processor = processors.TemplateProcessing(
            single=f"{start} $A {end}", special_tokens=[(start, 0), (end, 1)]
        )
        return PreTrainedTokenizerFast(
            tokenizer_object=made,
            pad_token=pad,
            unk_token="[UNK]",
            cls_token=start,
            sep_token=end,
            model_max_length=longest,
        )

    tower = {
        "vocab_size": len(vocabulary) + 4, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 32,
    }  # fmt: skip
    torch.manual_seed(0)
    BertModel(BertConfig(**tower, max_position_embeddings=12, pad_token_id=3)).save_pretrained(root / "bert")
    tokenizer(kinds.WordPiece, "[CLS]", "[SEP]", "[PAD]", 12).save_pretrained(root / "bert")
    SentenceTransformer(str(root / "bert"), device="cpu").save(str(root / "sentences"))
    text = {**tower, "max_position_embeddings": 10, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    vision = {k: v for k, v in tower.items() if k != "vocab_size"} | {"image_size": 8, "patch_size": 4}
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=6)).save_pretrained(root / "clip")
    CLIPTextModelWithProjection(CLIPTextConfig(**text, projection_dim=6)).save_pretrained(root / "clip_text")
    for name in ("clip", "clip_text"):
        tokenizer(kinds.WordLevel, "<start>", "<end>", "<end>", 1000).save_pretrained(root / name)
    return root
