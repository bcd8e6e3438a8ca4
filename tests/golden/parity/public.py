"""Run the public code from the common starts: ``python -m tests.golden.parity.public FOLDER`` writes ``public.npz``.

FOLDER holds the toolbox LAMDA-PILOT, which is no part of this repository; docs/parity_setup.md says which files of which commits.
What has to be otherwise than there is put in its place from here, each time with the reason:

- `backbone_of`: the network is that of `starts`, not a downloaded one.
- `Ordered` in place of `DataLoader`: images come in the common orders.
- classifiers, adapters, prompts and random numbers have the common values: `place_starts`, `Tape`.
- dropout in adapters is off, the width 768 is that of the small network: `place_starts`, `small_coda`.
- SLCA's alignment lowers its rate by step, not by epoch, as this package does: `ByStep`.
- the sum of CODA's penalties begins with a zero that is no leaf, as on a GPU; on a CPU the public code fails: `place_starts`.
- accuracies in between are not computed: they are printed and change nothing.

Written are ``CASE/scores.T`` ``[n, classes seen]``: after task T, of the test images of all classes seen, in the order of
arrival; and some of what is on the way there (`more`, `components`).
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from timm.models.vision_transformer import VisionTransformer

from tests.golden.parity.cases import CASES, Case
from tests.golden.parity.starts import (
    BOTTLENECK,
    CLASSES,
    COMPONENTS,
    DEPTH,
    HEADS,
    PATCH,
    POOL,
    SIDE,
    TOKENS,
    WIDTH,
    Array,
    digest,
    starts,
)

FILE = Path(__file__).with_name("public.npz")
START = {name: torch.from_numpy(array) for name, array in starts().items()}
SHAPE: dict[str, Any] = {"img_size": SIDE, "patch_size": PATCH, "embed_dim": WIDTH, "depth": DEPTH, "num_heads": HEADS}


def scaled(images: torch.Tensor) -> torch.Tensor:
    """uint8 images as networks read them, float32 from -1 to 1."""
    return images.float() / 127.5 - 1


class Images:
    """Images of some classes in the order of arrival, labelled by it; ``labels`` as public code wants them."""

    def __init__(self, tasks: tuple[tuple[int, ...], ...], columns: Array, part: str) -> None:
        arrival = [c for task in tasks for c in task]
        chosen = START[f"images.{part}"][[arrival[k] for k in columns]]
        self.images = scaled(chosen.flatten(0, 1))
        self.labels = np.repeat(columns, chosen.shape[1])


class Data:
    """What public code asks for its data."""

    dataset_name = "starts"

    def __init__(self, tasks: tuple[tuple[int, ...], ...]) -> None:
        self.tasks = tasks

    def get_task_size(self, task: int) -> int:
        return len(self.tasks[task])

    def get_dataset(self, columns: Array, source: str, mode: str, appendent: Any = None, ret_data: bool = False) -> Any:
        found = Images(self.tasks, columns, source)
        return (found.images, found.labels, found) if ret_data else found


class Ordered:
    """Batches ``(numbers, images, labels)``; each pass over shuffled images is the next of the common orders."""

    starts = START

    def __init__(
        self, data: Any, batch_size: int, shuffle: bool = False, drop_last: bool = False, **of_workers: Any
    ) -> None:
        self.data, self.size, self.shuffle, self.passes = data, batch_size, shuffle, 0
        assert not drop_last or len(data.labels) % batch_size == 0

    def __len__(self) -> int:
        return math.ceil(len(self.data.labels) / self.size)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, ...]]:
        n = len(self.data.labels)
        order = self.starts[f"order.{n}"][self.passes] if self.shuffle else torch.arange(n)
        self.passes += 1
        for part in order.split(self.size):
            yield self.batch(part)

    def batch(self, part: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The images at some positions."""
        return part, self.data.images[part], torch.from_numpy(self.data.labels)[part]


class Tape:
    """Given numbers in place of drawn ones, in the order in which they are asked for."""

    def __init__(self, numbers: torch.Tensor) -> None:
        self.numbers = numbers.flatten()

    def next(self, *shape: int) -> torch.Tensor:
        count = math.prod(shape)
        assert len(self.numbers) >= count
        taken, self.numbers = self.numbers[:count], self.numbers[count:]
        return taken.reshape(shape).clone()


class ByStep:
    """A cosine from 1 to 0 over the steps of the alignment: public code lowers the rate once an epoch."""

    steps = 0
    """Of an epoch; set before each task."""

    def __init__(self, optimizer: torch.optim.Optimizer, T_max: int) -> None:
        self.group, self.top, self.done = optimizer.param_groups[0], optimizer.param_groups[0]["lr"], 0
        self.total = T_max * self.steps
        optimizer.register_step_post_hook(self.after)

    def after(self, *_: Any) -> None:
        self.done += 1
        self.group["lr"] = self.top * 0.5 * (1 + math.cos(math.pi * self.done / self.total))

    def step(self) -> None:
        """At the end of an epoch: nothing."""


def weights(split: bool = False, prompts: int = 0) -> dict[str, torch.Tensor]:
    """The network's, by the public names.

    Args:
        split: with projections to queries, keys and values apart, and MLPs without ``mlp.``, as networks with adapters have them.
        prompts: tokens behind the class token that get the position zero.
    """
    found = {name.removeprefix("vit."): w for name, w in START.items() if name.startswith("vit.")}
    if prompts:
        first, rest = found["pos_embed"][:, :1], found["pos_embed"][:, 1:]
        found["pos_embed"] = torch.cat([first, torch.zeros(1, prompts, WIDTH), rest], dim=1)
    if not split:
        return found
    apart = {}
    for name, w in found.items():
        if ".qkv." in name:
            apart |= {name.replace("qkv", f"{x}_proj"): p for x, p in zip("qkv", w.chunk(3), strict=True)}
        else:
            apart[name.replace("mlp.", "")] = w
    return apart


def plain() -> torch.nn.Module:
    """The network without head, as timm has it."""
    model = VisionTransformer(**SHAPE, num_classes=0)
    model.load_state_dict(weights())
    model.out_dim = WIDTH
    return model.eval()


def start_adapters(adapters: Any) -> None:
    """Common values for those of all blocks, without dropout."""
    for adapter, down in zip(adapters, START["adapters.down"], strict=True):
        adapter.down_proj.weight.data.copy_(down)
        adapter.dropout = 0.0


def backbone_of(args: dict[str, Any], pretrained: bool = False) -> torch.nn.Module:
    """In place of ``get_backbone``: the public network of this kind with the common weights."""
    kind = args["backbone_type"]
    if kind.endswith(("_adapter", "_ease")):
        file = importlib.import_module("backbone.vit_adapter" if kind.endswith("_adapter") else "backbone.vit_ease")
        tuning = SimpleNamespace(
            ffn_adapt=True,
            ffn_option="parallel",
            ffn_adapter_layernorm_option="none",
            ffn_adapter_init_option="lora",
            ffn_adapter_scalar="0.1",
            ffn_num=BOTTLENECK,
            d_model=WIDTH,
            vpt_on=False,
            vpt_num=0,
            _device="cpu",
        )
        model = file.VisionTransformer(**SHAPE, num_classes=0, tuning_config=tuning)
        missing = model.load_state_dict(weights(split=True), strict=False).missing_keys
        assert all("adapt" in name for name in missing)
        for name, parameter in model.named_parameters():
            parameter.requires_grad = name in missing
        if kind.endswith("_adapter"):
            start_adapters([block.adaptmlp for block in model.blocks])
        model.out_dim = WIDTH
        return model.eval()
    if kind.endswith("_l2p"):
        return prompted("backbone.vit_l2p", args, args["top_k"] * TOKENS)
    if kind.endswith("_dualprompt"):
        own = ("g_prompt_length", "g_prompt_layer_idx", "e_prompt_layer_idx", "same_key_value")
        flags = ("use_g_prompt", "use_e_prompt", "use_prefix_tune_for_g_prompt", "use_prefix_tune_for_e_prompt")
        return prompted("backbone.vit_dualprompt", args, 0, **{name: args[name] for name in (*own, *flags)})
    if kind.endswith("_coda_prompt"):
        model = importlib.import_module("backbone.vision_transformer_coda_prompt").VisionTransformer(**SHAPE)
        model.load_state_dict(weights())
        return model
    return plain()


def prompted(file: str, args: dict[str, Any], positions: int, **more: Any) -> torch.nn.Module:
    """The network of L2P or DualPrompt with head, prompts and keys."""
    names = ("embedding_key", "prompt_pool", "prompt_key", "top_k", "batchwise_prompt", "head_type", "use_prompt_mask")
    model = importlib.import_module(file).VisionTransformer(
        **SHAPE,
        num_classes=CLASSES,
        prompt_length=args["length"],
        pool_size=args["size"],
        **{n: args[n] for n in names},
        **more,
    )
    own = {"head.weight": START["head"], "head.bias": torch.zeros(CLASSES)}
    if file.endswith("l2p"):
        own |= {"prompt.prompt": START["tokens"], "prompt.prompt_key": START["keys"]}
    else:
        heads = (HEADS, WIDTH // HEADS)
        by_block = START["e"].permute(1, 2, 0, 3, 4)
        own |= {"g_prompt": START["g"].reshape(2, 2, TOKENS, *heads), "e_prompt.prompt_key": START["keys"]}
        own["e_prompt.prompt"] = by_block.reshape(3, 2, POOL, TOKENS, *heads)
    model.load_state_dict(weights(prompts=positions) | own)
    return model


def bare(file: str) -> torch.nn.Module:
    """The public network of L2P or DualPrompt without prompts, which the queries come from."""
    model = importlib.import_module(file).VisionTransformer(**SHAPE, num_classes=CLASSES)
    left = model.load_state_dict(weights(), strict=False)  # its head is not read
    assert left.missing_keys == ["head.weight", "head.bias"]
    assert not left.unexpected_keys
    return model.eval()


def small_coda(nets: Any) -> type:
    """The public network of CODA-Prompt at the width of the common one, with the common start."""
    prompts = importlib.import_module("backbone.prompt").CodaPrompt

    class Small(nets.CodaPromptVitNet):
        def __init__(self, args: dict[str, Any], pretrained: bool) -> None:
            torch.nn.Module.__init__(self)
            self.args, self.backbone = args, backbone_of(args)
            self.fc = torch.nn.Linear(WIDTH, args["nb_classes"])
            self.fc.load_state_dict({"weight": START["head"], "bias": torch.zeros(CLASSES)})
            self.prompt = prompts(WIDTH, args["nb_tasks"], args["prompt_param"], key_dim=WIDTH)

    return Small


def place_starts(models: dict[str, Any]) -> None:
    """Put the common values where the public code would draw its own, and the small width where it says 768."""
    nets, linears = importlib.import_module("utils.inc_net"), importlib.import_module("backbone.linears")
    nets.get_backbone = backbone_of
    nets.PromptVitNet.get_original_backbone = lambda self, args: bare(f"backbone.vit_{args['model_name']}")
    models["coda_prompt"].CodaPromptVitNet = small_coda(nets)
    for file in models.values():
        file.DataLoader = Ordered
        file.Learner._compute_accuracy = lambda *_: 0.0

    def cosine(self: Any) -> None:
        if self.weight.shape[1] == WIDTH:
            self.weight.data.copy_(START["cosine"][: len(self.weight)])
        self.sigma.data.fill_(1)

    linears.CosineLinear.reset_parameters = linears.EaseCosineLinear.reset_parameters = cosine
    reweight = linears.EaseCosineLinear.forward_reweight
    linears.EaseCosineLinear.forward_reweight = lambda *a, **k: reweight(*a, **k, out_dim=WIDTH)
    importlib.import_module("backbone.vision_transformer_coda_prompt").torch = SimpleNamespace(
        **vars(torch) | {"zeros": zeros}
    )
    ease = importlib.import_module("backbone.vit_ease").VisionTransformer
    fresh, grow = ease.get_new_adapter, nets.SLCANet.update_fc

    def new_adapter(self: Any) -> None:
        fresh(self)
        start_adapters(self.cur_adapter)

    def update(self: Any, classes: int, freeze_old: bool = True) -> None:
        grow(self, classes, freeze_old)
        *old, new = [head[-1].weight for head in self.fc.heads]
        done = sum(map(len, old))
        new.data.copy_(START["head"][done : done + classes])

    ease.get_new_adapter, nets.SLCANet.update_fc = new_adapter, update
    models["slca"].optim = SimpleNamespace(
        SGD=torch.optim.SGD,
        lr_scheduler=SimpleNamespace(MultiStepLR=torch.optim.lr_scheduler.MultiStepLR, CosineAnnealingLR=ByStep),
    )


def zeros(*shape: Any, requires_grad: bool = False) -> torch.Tensor:
    """What ``torch.zeros`` followed by a move to another device gives: no leaf."""
    return torch.zeros(*shape, requires_grad=requires_grad).clone()


def draw_from_tapes(case: Case, task: int) -> None:
    """Put the common numbers where the public code draws while it learns."""
    normal = importlib.import_module("torch.distributions.multivariate_normal")
    if case.module == "slca" and task:
        draws, order = Tape(START[f"draws.{task}"]), iter(START[f"order.draws.{task}"])
        normal._standard_normal = lambda shape, dtype, device: draws.next(*shape)
        torch.randperm = lambda n: next(order)
        ByStep.steps = sum(map(len, case.tasks[: task + 1]))
    if case.module == "ranpac":
        torch.randn = Tape(START["projection"]).next


def args_of(case: Case) -> dict[str, Any]:
    """What the public code is told."""
    common = {"device": ["cpu"], "memory_size": 0, "seed": 1993, "nb_classes": CLASSES, "nb_tasks": len(case.tasks)}
    sizes = {"init_cls": len(case.tasks[0]), "increment": len(case.tasks[1]), "model_name": case.module}
    return {**common, **sizes, **case.public}


@torch.no_grad()
def scores(learner: Any, case: Case, seen: int) -> torch.Tensor:
    """Of the test images of all classes seen, ``[n, seen]``, as the public code would judge them."""
    learner._network.eval()
    network, found = learner._network, []
    for _, inputs, _ in learner.test_loader:
        if case.module in ("l2p", "dualprompt"):
            logits = network(inputs, task_id=learner._cur_task)["logits"]
        elif case.module == "coda_prompt":
            logits = network(inputs)
        else:
            logits = (network.forward(inputs, test=True) if case.module == "ease" else network(inputs))["logits"]
        found.append(logits[:, :seen])
    return torch.cat(found)


def more(learner: Any, case: Case, task: int) -> dict[str, torch.Tensor]:
    """What is compared beside scores: RanPAC's readout ``[classes seen, M]``, its penalty and the factor on its cosines; SLCA's
    head before the last alignment, class means ``[C, D]`` and last covariance ``[D, D]``."""
    network = learner._network
    if case.module == "ranpac":
        found = {"readout": network.fc.weight, "sigma": network.fc.sigma, "ridge": torch.tensor(learner.chosen)}
        return {f"{name}.{task}": value.detach() for name, value in found.items()}
    if case.module == "slca" and task == len(case.tasks) - 1:
        old = network.fc.old_state_dict
        head = {end: torch.cat([w for name, w in old.items() if name.endswith(end)]) for end in ("weight", "bias")}
        means = torch.from_numpy(learner._class_means_slca)
        return {**head, "means": means, "covariance": learner._class_covs_slca[-1]}
    return {}


def components(prompt: Any, stretch: float) -> dict[str, torch.Tensor]:
    """What a task's components start from, ``stretch`` times as drawn: ``k``, ``a`` ``[B, m, D]``, ``p`` ``[B, m, 2 D]``."""
    found = {}
    for name in "kap":
        each = [getattr(prompt, f"e_{name}_{b}").data for b in range(DEPTH)]
        new = [blocks[COMPONENTS * prompt.task_count :][:COMPONENTS] for blocks in each]
        found[name] = torch.stack([rows.mul_(stretch).flatten(1) for rows in new])
    return found


def watched(file: Any, case: Case) -> type:
    """The public learner, which also says which penalty it chose, and what components it began a task with."""

    class Watched(file.Learner):
        def optimise_ridge_parameter(self, *args: Any) -> float:
            self.chosen = super().optimise_ridge_parameter(*args)
            return float(self.chosen)

        def _train(self, *args: Any) -> None:
            if hasattr(self._network, "prompt"):
                self.begun = components(self._network.prompt, case.stretch)
            super()._train(*args)

    return Watched


def run(case: Case, file: Any) -> dict[str, Array]:
    """Train on all tasks; everything that is kept, by name."""
    randn_like, drawn = torch.randn_like, Tape(START["components"])
    if case.module == "coda_prompt":
        torch.randn_like = lambda like: drawn.next(*like.shape)
    learner, found, data = watched(file, case)(args_of(case)), {}, Data(case.tasks)
    for task in range(len(case.tasks)):
        draw_from_tapes(case, task)
        learner.incremental_train(data)
        seen = sum(map(len, case.tasks[: task + 1]))
        found[f"scores.{task}"] = scores(learner, case, seen)
        found |= more(learner, case, task)
        for name, value in getattr(learner, "begun", {}).items():
            found[f"start.{name}"] = torch.cat([found.get(f"start.{name}", value[None][:0]), value[None]])
        learner.after_task()
    torch.randn_like = randn_like
    return {name: value.numpy().astype(np.float32) for name, value in found.items()}


def main(folder: str) -> None:
    """Run every case with the code in ``folder`` and write what came of it."""
    sys.path.insert(0, folder)
    torch.set_num_threads(1)
    models = {case.module: importlib.import_module(f"models.{case.module}") for case in CASES.values()}
    place_starts(models)
    drawing, kept = (torch.randperm, torch.randn), {"digest": np.array(digest(starts()))}
    for name, case in CASES.items():
        kept |= {f"{name}/{key}": value for key, value in run(case, models[case.module]).items()}
        torch.randperm, torch.randn = drawing
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
