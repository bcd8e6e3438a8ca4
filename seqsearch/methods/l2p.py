"""L2P: a pool of prompts; each image picks the few whose keys are nearest to its frozen feature.

"Learning to Prompt for Continual Learning".

Let q be the image's query (its feature by the frozen network), k_m ``[d]`` the keys and P_m ``[length, D]``
the prompts of a pool of ``size``. The ``top_k`` keys nearest to q by cosine are chosen. Their prompts enter
the first block as further tokens. The mean of the PROMPTS' output tokens is the feature
(``readout=prompts``). The loss of an image is

    CE among the new classes - lambda * sum over its chosen keys of cos(q, k_m).

Trainable: prompts, keys and new head rows. Stored: the same, and old head rows. The pool does not grow: all
tasks share it. On a network without class token the query is the mean of the tokens.

``readout=backbone`` is the ``head_type=token`` of public code. The head then reads what the backbone pools:
the class token or the mean of the image's own tokens. It is the default on the embedded network, which has no
class token and was pre-trained with such a mean. In a comparison there (5 x 10 glyph classes, one sequence,
36 settings, reward part) a head on the outputs of prompts reached 0.44 to 0.64 with prompts that did not
learn, and at most 0.74 with prompts that did. On the mean of the tokens it reached 0.82. The same head
reaches that value without any prompt, on frozen features: see `dualprompt`.

Keys learn from the second term alone, prompts and head from the first. The steps of Adam depend little on the
scale of a gradient, so lambda has almost no effect with it (without decay). With SGD lambda is the learning
rate of the keys. Nothing keeps the keys apart, so they can collapse onto few. `FitReport.notes` has
``prompts_used``, the number of prompts that any training image of the task picks, and ``largest_share``, the
share of images that pick the most popular prompt.

Departures from the public code, and why (effects are not measured unless given):

- each image picks its own prompts. PILOT lets a batch pick by majority, in training and in testing. With test
  images in class order that nearly reveals the task (`reference_compat`). A score then depends on the batch.
- prompts have no position, as in the authors' JAX code. PILOT stretches the table of positions to give them
  some. Prompts stand behind the other tokens, not in front, which does not matter to attention.
- there is no second copy of the network. The query is read from the store of frozen features.
- a schedule, where chosen, acts in every task. PILOT ties it to an optimiser that it replaces after the first
  task.
- new head rows start at N(0, 0.01^2). There is no augmentation.

Keys and prompts start uniform in (-init, init): 1 in the PyTorch ports, (0, 0.01) in the authors' JAX code.
The start matters where steps are few, because Adam moves a key by about lr per step.

``reference_compat`` repeats the majority vote over batches of ``batch_size`` images in the order given. If
test images come task by task, as here and in public code, it inflates accuracy. On the glyphs (5 x 10
classes, 3 sequences, test part), with readout=prompts, init=0.5, lr=0.005, top_k=3, accuracy is 0.733 (std
0.021) with it and 0.701 (0.028) without, and higher in each sequence. With the embedded defaults, whose
prompts do almost nothing, it is 0.803 (0.009) and 0.805 (0.011).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from seqsearch.methods.base import FitReport
from seqsearch.methods.config import Conflict, param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.network import CHUNK
from seqsearch.methods.parts.prompts import EMBEDDED_LR, Prompted, Prompts, PromptTraining, cosines, majority, nearest


class L2P(Prompted):
    """Prompts as input tokens, chosen from a pool; see the module."""

    @dataclass(frozen=True)
    class Config(PromptTraining):
        lr: float = param(
            0.001875,
            "learning rate of prompts, keys and head",
            minimum=0.0,
            maximum=1e30,
            search=gtep.PROMPT_LR,
            embedded=0.003,
            embedded_search=EMBEDDED_LR,
        )
        size: int = param(10, "prompts in the pool", minimum=1, maximum=10_000, search=gtep.POOL)
        length: int = param(5, "tokens of a prompt", minimum=1, maximum=10_000, search=gtep.TOKENS, embedded=2)
        top_k: int = param(5, "prompts of an image", minimum=1, maximum=10_000, search=gtep.TOP_K)
        pull: float = param(
            0.1, "lambda: weight of the cosines of chosen keys", minimum=0.0, maximum=1e6, search=gtep.PULL
        )
        init: float = param(1.0, "keys and prompts start uniform in (-init, init)", minimum=1e-6, maximum=1e6)
        readout: str = param(
            "prompts",
            "what the head reads: the mean output of the prompts, or of what the backbone pools",
            choices=("prompts", "backbone"),
            embedded="backbone",
        )
        reference_compat: bool = param(False, "choose prompts by majority vote in a batch, as public code does")

        def check(self) -> None:
            if self.top_k > self.size:
                raise Conflict(
                    f"top_k={self.top_k}: must be at most size={self.size}; lower the one or raise the other"
                )

    config: Config

    def initial_prompts(self, task: TaskData) -> Prompts:
        if self.prompts:
            return self.prompts
        config, draw = self.config, self.context.generator
        return {
            "keys": self.uniform(config.init, (config.size, self.context.dim), draw("keys")),
            "tokens": self.uniform(config.init, (config.size, config.length, self.vit.width), draw("prompts")),
        }

    def inject(self, tokens: Tensor, query: Tensor, own: Prompts | None) -> tuple[Tensor, Tensor]:
        prompts = self.prompts if own is None else own
        similarity = cosines(query, prompts["keys"])
        chosen = (majority if self.config.reference_compat else nearest)(similarity, self.config.top_k)
        further = prompts["tokens"][chosen].flatten(1, 2)
        outputs, count = self.vit.run(tokens, prompts=further), further.shape[1]
        from_prompts = self.config.readout == "prompts"
        features = (self.vit.pool_prompts if from_prompts else self.vit.pool)(outputs, count)
        return features, -self.config.pull * similarity.gather(1, chosen).sum(1).mean()

    def finalize(self, own: Prompts) -> Prompts:
        return own

    def evaluation_batch(self) -> int:
        return self.config.batch_size if self.config.reference_compat else CHUNK

    def after_task(self, task: TaskData) -> FitReport:
        chosen = nearest(cosines(task.train.frozen, self.prompts["keys"]), self.config.top_k)
        picks = torch.bincount(chosen.flatten(), minlength=self.config.size)
        share = float(picks.max()) / len(task.train)
        return FitReport(notes={"prompts_used": float((picks > 0).sum()), "largest_share": share})


build = L2P
