"""Run LibContinual from the common starts: ``python -m tests.golden.parity_lora.public FOLDER`` writes ``public.npz``.

FOLDER holds LibContinual, which is no part of this repository; docs/parity_setup.md says which commit. What has to be
otherwise than there is put in its place from here, each time with the reason:

- `package`: files are imported one by one, since the toolbox as a whole needs libraries that these methods do not. CLIP, which
  no case uses, is an empty class.
- `Small`: the network is that of `starts`, of width 16, not a downloaded one of width 768. Norms within blocks have the epsilon
  of timm's vision transformers, 1e-6; in LibContinual they have 1e-5.
- `batches`: images come from memory in the common orders, without augmentation.
- rows of the classifier, and the factors A of SD-LoRA, have the common values (`place_head`, `place_starts`).
- numpy's singular value decomposition gets arrays. Given tensors it returns tensors, which InfLoRA's branch for complements
  cannot subtract from arrays (`with_arrays`).
- the loop over epochs and batches, which is the toolbox's trainer, with a constant rate (`trained`).

Written are ``CASE/scores.T`` ``[n, classes seen]``, of the test images of all classes seen after task T, and what `more` says.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from tests.golden.parity.cases import Case
from tests.golden.parity.public import scaled, weights
from tests.golden.parity.starts import DEPTH, HEADS, PATCH, SIDE, TRAIN, WIDTH, Array, digest
from tests.golden.parity_lora.cases import CASES
from tests.golden.parity_lora.starts import starts

FILE = Path(__file__).with_name("public.npz")
START = {name: torch.from_numpy(array) for name, array in starts().items()}
LAYERS = {"InfLoRA_opt": "MultiHeadAttention_LoRA", "sd_lora": "MultiHeadAttention_SDLoRA"}
BUILDS = {"InfLoRA_opt": "InfLoRA_OPT", "sd_lora": "SD_LoRA"}
Batches = list[dict[str, torch.Tensor]]


def package(folder: str) -> None:
    """The packages of LibContinual without what their ``__init__`` imports, and without CLIP."""
    for name in ("core", "core.model", "core.model.backbone"):
        module = ModuleType(name)
        module.__path__ = [str(Path(folder, *name.split(".")))]
        sys.modules[name] = module
    clip: Any = ModuleType("core.model.backbone.clip")
    clip.CLIP, clip.tokenize = type("CLIP", (), {}), None
    sys.modules[clip.__name__] = clip


def with_arrays() -> Any:
    """Numpy whose ``linalg.svd`` takes and returns arrays."""
    linalg = SimpleNamespace(svd=lambda a, **settings: np.linalg.svd(np.asarray(a), **settings))
    return SimpleNamespace(**{**vars(np), "linalg": linalg})


def small(case: Case) -> torch.nn.Module:
    """The public network around the common weights."""
    zoo = importlib.import_module("core.model.backbone.vit").ViTZoo
    build = importlib.import_module("core.model.backbone.transformer").VisionTransformer

    class Small(zoo):
        def __init__(self) -> None:
            torch.nn.Module.__init__(self)
            self.feat = build(
                img_size=SIDE,
                patch_size=PATCH,
                embed_dim=WIDTH,
                depth=DEPTH,
                num_heads=HEADS,
                attn_layer=LAYERS[case.module],
                lora_rank=case.public["lora_rank"],
                norm_layer_eps=1e-6,
            )
            self.prompt, self.prompt_flag, self.task_id, self.feat_dim = None, "", None, WIDTH

    network = Small()
    renamed = {".norm1.": ".ln_1.", ".norm2.": ".ln_2.", "blocks.": "transformer.blocks."}
    placed = {}
    for name, weight in weights().items():
        for old, new in renamed.items():
            name = name.replace(old, new)
        placed[name] = weight
    left = network.feat.load_state_dict(placed, strict=False)
    assert not left.unexpected_keys
    assert all("lora" in name for name in left.missing_keys)
    return network


def batches(case: Case, task: int, order: torch.Tensor) -> Batches:
    """The training images of a task in this order."""
    images = scaled(START["images.train"][list(case.tasks[task])].flatten(0, 1))
    first = sum(map(len, case.tasks[:task]))
    labels = torch.arange(first, first + len(case.tasks[task])).repeat_interleave(TRAIN)
    return [{"image": images[part], "label": labels[part]} for part in order.split(TRAIN)]


def place_head(learner: Any, first: int, classes: int) -> None:
    """The common rows for the classifier of new classes."""
    network = learner._network
    if hasattr(network, "classifier_pool"):
        layer, at = network.classifier_pool[network._cur_task_id], 0
    else:
        layer, at = network.classifier, first
    layer.weight.data[at:] = START["head"][first : first + classes]
    layer.bias.data[at:] = 0


def place_starts(learner: Any, case: Case, task: int) -> None:
    """The common factors A of SD-LoRA; those of InfLoRA are computed."""
    if case.module != "sd_lora":
        return
    for module, (q, v) in zip(learner.attention_modules, START["low_rank"][task], strict=True):
        rank = module.lora_rank
        module.lora_A_q_list[-1].weight.data.copy_(q[:rank])
        module.lora_A_v_list[-1].weight.data.copy_(v[:rank])


def trained(learner: Any, case: Case, task: int) -> None:
    """One task: as the trainer of LibContinual does, and `BUILDS` say."""
    n = TRAIN * len(case.tasks[task])
    plain = batches(case, task, torch.arange(n))
    loaders = [SimpleNamespace(dataset=SimpleNamespace(trfms=None))]
    learner.before_task(task, None, plain, loaders)
    place_head(learner, sum(map(len, case.tasks[:task])), len(case.tasks[task]))
    place_starts(learner, case, task)
    parameters = [p for p in learner.get_parameters(None) if p.requires_grad]
    rate = case.public["lr"]
    sgd = case.module == "sd_lora"
    optimizer = torch.optim.SGD(parameters, rate, momentum=0.9) if sgd else torch.optim.Adam(parameters, rate)
    for order in START[f"order.{n}"][: case.public["epochs"]]:
        for batch in batches(case, task, order):
            _, _, loss = learner.observe(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    learner.after_task(task, None, plain, loaders)


@torch.no_grad()
def scores(learner: Any, case: Case, task: int) -> torch.Tensor:
    """Of the test images of all classes seen, ``[n, seen]``."""
    seen = [c for classes in case.tasks[: task + 1] for c in classes]
    found: torch.Tensor = learner._network(scaled(START["images.test"][seen].flatten(0, 1)), inference=True)
    return found


def more(learner: Any, case: Case, task: int) -> Iterator[tuple[str, torch.Tensor]]:
    """InfLoRA's projections on what past inputs occupy ``[B, D, D]``, whichever way they are kept."""
    if case.module == "InfLoRA_opt":
        found = []
        for basis, kind in zip(learner.feature_list, learner.project_type, strict=True):
            spanned = torch.from_numpy(np.asarray(basis @ basis.T))
            found.append(spanned if kind == "remove" else torch.eye(WIDTH) - spanned)
        yield f"occupied.{task}", torch.stack(found).float()
        yield f"complement.{task}", torch.tensor([float(kind == "retain") for kind in learner.project_type])


def run(case: Case) -> dict[str, Array]:
    """Train on all tasks; everything that is kept, by name."""
    build = getattr(importlib.import_module(f"core.model.{case.module}"), BUILDS[case.module])
    sizes = {"init_cls_num": len(case.tasks[0]), "inc_cls_num": len(case.tasks[1]), "task_num": len(case.tasks)}
    own = {k: v for k, v in case.public.items() if k not in ("lr", "epochs", "lora_rank")}
    learner = build(small(case), "cpu", dataset="cifar100", use_ca=False, embd_dim=WIDTH, **sizes, **own)
    found = {}
    for task in range(len(case.tasks)):
        trained(learner, case, task)
        found[f"scores.{task}"] = scores(learner, case, task)
        found |= dict(more(learner, case, task))
    return {name: value.numpy().astype(np.float32) for name, value in found.items()}


def main(folder: str) -> None:
    """Run every case with the code in ``folder`` and write what came of it."""
    os.environ["PYTHONHASHSEED"] = "0"  # LibContinual seeds with it; all that it draws is replaced
    package(folder)
    importlib.import_module("core.model.InfLoRA_opt").np = with_arrays()
    torch.set_num_threads(1)
    kept = {"digest": np.array(digest(starts()))}
    for name, case in CASES.items():
        kept |= {f"{name}/{key}": value for key, value in run(case).items()}
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
