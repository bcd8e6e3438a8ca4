"""DualPrompt: attention prefixes of two kinds: general prefixes for all tasks, and expert prefixes for each task.

"DualPrompt: Complementary Prompting for Rehearsal-free Continual Learning".

In a block with a prompt (p_K, p_V), ``[L, D]`` each, attention is
``softmax(Q [p_K; K]^T / sqrt(d_head)) [p_V; V]`` in every head. The G-prompt is in blocks 0 and 1 and learns
with every task. Task t has an E-prompt in blocks 2, 3 and 4, and a key k_t. The loss of an image with query q
(its feature by the frozen network) is

    CE among the new classes - lambda * cos(q, k_t),

At prediction an image gets the E-prompt of the nearest key, argmax_t cos(q, k_t).

Trainable: the G-prompt, the task's E-prompt and key, and new head rows. Stored: the same, and those of all
tasks. On a network without class token the query, like the feature, is the mean of the tokens. Prompts are in
those of the named blocks that the network has. With two blocks or fewer, the last block has the E-prompt and
the others the G-prompt.

The number of tasks has no limit. An E-prompt is made with its task, by default as a copy of the one before
(``copy_prompt``). Its key, like the first prompts, is drawn in (-init, init): 1 in the PyTorch ports, (0,
0.01) in the authors' JAX code. The start matters where steps are few, because Adam moves a key by about lr
per step. The second term of the loss moves only the key, and the first term moves all else. With Adam, lambda
has almost no effect (without decay). With SGD it is the key's rate.

Departures from the public code, and why (effects are not measured unless given):

- each image picks its own prompt. In PILOT the batch picks one by majority (`reference_compat`).
- the prefixes of an image are its own. The PyTorch ports (PILOT among them) store the chosen prompts as [keys
  or values, image] and read them as [image, keys or values]. So the first half of a batch gets keys as keys
  AND values, and the second half values.
- keys of future tasks do not exist, so no image can pick them. Public code has a pool of ``size`` prompts
  from the start. With more tasks, it silently trains whichever prompt is nearest.
- the optimiser holds only what the task trains, so weight decay cannot shrink anything else.
- a schedule, where chosen, acts in every task. PILOT ties it to an optimiser that it replaces after the first
  task.
- there is no second copy of the network. New head rows start at N(0, 0.01^2). There is no augmentation.
  ``top_k`` is 1.

``reference_compat`` repeats public code: majority vote over batches of ``batch_size`` images in the order
given, the mixed-up prefixes in training too, and ``size`` keys from the start. It refuses more tasks than
``size`` (`Caps.capacity`). If test images come task by task, as here and in public code, the vote predicts
the task more often than an image alone does, and a score depends on the batch. On the glyphs (5 x 10 classes,
3 sequences, test part) prompts and keys learn with init=0.02, lr=0.01, epochs=10. There an image alone picks
its own task's prompt in 0.45 to 0.53 of the cases, and by vote in 0.64 to 0.75 (chance is 0.20). Accuracy is
not inflated, though: 0.779 (std 0.025) with the vote, 0.786 (0.026) without.

Prompts do not help on the glyphs. The embedded defaults were chosen by final accuracy, and such prompts do
almost nothing: 0.799 (std 0.005), against 0.797 (0.006) for the same head on frozen features without any
prompt. At rates at which prompts learn, the training loss goes to zero with 16 images per class. Accuracy
then falls to 0.738 to 0.784 in three settings, from 0.824 without prompts (one sequence, reward part). L2P,
CODA-Prompt and PGP are no better than that head either.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from torch import Tensor

from seqsearch.backbones.inject import Injection
from seqsearch.methods.base import Caps, Context
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import Conflict, param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.network import CHUNK
from seqsearch.methods.parts.prompts import (
    Prompted,
    Prompts,
    PromptTraining,
    blocks_of,
    cosines,
    majority,
    nearest,
    prefix,
    untransposed,
)


class DualPrompt(Prompted):
    """General and expert prefixes; see the module."""

    @dataclass(frozen=True)
    class Config(PromptTraining):
        batch_size: int = param(24, "images per step", minimum=1, maximum=100_000, search=gtep.BATCH_SIZE)
        g_length: int = param(
            5, "keys (and values) of the G-prompt in a block", minimum=1, maximum=10_000, search=gtep.PREFIX
        )
        length: int = param(
            5, "keys (and values) of an E-prompt in a block", minimum=1, maximum=10_000, search=gtep.PREFIX
        )
        pull: float = param(
            0.1, "lambda: weight of the cosine with the task's key", minimum=0.0, maximum=1e6, search=gtep.PULL
        )
        init: float = param(1.0, "prompts and keys start uniform in (-init, init)", minimum=1e-6, maximum=1e6)
        copy_prompt: bool = param(True, "a new E-prompt starts as a copy of the one before")
        size: int = param(
            10, "E-prompts in the pool (reference_compat only; else each task makes one)", minimum=1, maximum=10_000
        )
        reference_compat: bool = param(False, "majority vote in a batch and mixed-up prefixes, as in public code")

    config: Config
    caps = Caps(backbones="vit", augmentation="pilot", design=("parameter-efficient", "expansion"))

    @classmethod
    def capabilities(cls, config: BaseConfig) -> Caps:
        if isinstance(config, DualPrompt.Config) and config.reference_compat:
            return dataclasses.replace(cls.caps, capacity=config.size)
        return cls.caps

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.g_blocks, self.e_blocks = blocks_of(self.vit.depth)

    def initial_prompts(self, task: TaskData) -> Prompts:
        """``g`` ``[G, 2, L, D]`` by block, keys and values; ``e`` ``[E, 2, L, D]`` and ``key`` ``[d]`` of the task."""
        config, draw = self.config, task.generator
        first = not self.prompts
        if config.reference_compat and task.depth >= config.size:
            raise Conflict(
                f"size={config.size}: too few prompts for task {task.depth + 1}; raise it, or reference_compat=false"
            )
        if config.reference_compat:
            fresh = {name: pool[task.depth] for name, pool in self.pool().items()}
        else:
            fresh = {name: self.drawn(name, 1, draw(name))[0] for name in ("e", "keys")}
        return {
            "g": self.drawn("g", 1, draw("g"))[0] if first else self.prompts["g"],
            "e": fresh["e"] if first or not config.copy_prompt else self.prompts["e"][-1],
            "key": fresh["keys"],
        }

    def drawn(self, name: str, count: int, generator: torch.Generator) -> Tensor:
        """``count`` untrained G-prompts ``g``, E-prompts ``e`` or ``keys``."""
        shape = {
            "g": (len(self.g_blocks), 2, self.config.g_length, self.vit.width),
            "e": (len(self.e_blocks), 2, self.config.length, self.vit.width),
            "keys": (self.context.dim,),
        }[name]
        return self.uniform(self.config.init, (count, *shape), generator)

    def pool(self) -> Prompts:
        """Return the prompts that public code starts from: E-prompts and keys of ``size`` tasks."""
        return {name: self.drawn(name, self.config.size, self.context.generator(name)) for name in ("e", "keys")}

    def finalize(self, own: Prompts) -> Prompts:
        """``g``; ``e`` ``[T, E, 2, L, D]`` and ``keys`` ``[T, d]`` of all tasks so far."""
        e, keys = own["e"][None], own["key"][None]
        if self.prompts:
            e, keys = torch.cat([self.prompts["e"], e]), torch.cat([self.prompts["keys"], keys])
        return {"g": own["g"], "e": e, "keys": keys}

    def inject(self, tokens: Tensor, query: Tensor, own: Prompts | None) -> tuple[Tensor, Tensor]:
        if own is None:
            g, (e, extra) = self.prompts["g"], self.chosen(query)
        else:
            g, e = own["g"], own["e"].expand(len(query), *own["e"].shape)
            extra = -self.config.pull * cosines(query, own["key"][None]).mean()
        if self.config.reference_compat:
            e = torch.stack([untransposed(part) for part in e.unbind(1)], dim=1)
        return self.vit.pool(self.vit.run(tokens, self.blocks(g, e))), extra

    def blocks(self, g: Tensor, e: Tensor) -> dict[int, Injection]:
        """Where ``g`` ``[G, 2, L, D]`` and ``e`` ``[n, E, 2, L, D]`` go."""
        parts = {number: prefix(part) for number, part in zip(self.g_blocks, g, strict=True)}
        return parts | {number: prefix(part) for number, part in zip(self.e_blocks, e.unbind(1), strict=True)}

    def chosen(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """E-prompts ``[n, E, 2, L, D]`` of images to be predicted, and 0."""
        e, keys = self.prompts["e"], self.prompts["keys"]
        if self.config.reference_compat:
            spare = self.pool()
            e, keys = torch.cat([e, spare["e"][len(e) :]]), torch.cat([keys, spare["keys"][len(keys) :]])
        choose = majority if self.config.reference_compat else nearest
        return e[choose(cosines(query, keys), 1)[:, 0]], query.new_zeros(())

    def evaluation_batch(self) -> int:
        return self.config.batch_size if self.config.reference_compat else CHUNK


build = DualPrompt
