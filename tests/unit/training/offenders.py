"""Methods that change what all jobs share, each in a way of its own, and where they are trained."""

from __future__ import annotations

from pathlib import Path

import torch

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, StateKey
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

MEDDLER = """
import os, random, signal, sys
from dataclasses import dataclass
import numpy as np
import torch
from seqsearch.methods.config import Config as BaseConfig, param
from seqsearch.methods.simplecil import build as SimpleCIL

KEPT = []

class Meddler(SimpleCIL):
    @dataclass(frozen=True)
    class Config(BaseConfig):
        does: str = param("", "what it does wrong")
        when: str = param("fit", "in which call")

    def __init__(self, context, config):
        super().__init__(context, config)
        self.does("make")

    def does(self, when):
        if self.config.when == when and self.config.does:
            getattr(self, self.config.does)()

    def fit_task(self, task):
        self.batch = task.train
        self.does("fit")
        return super().fit_task(task)

    def predict(self, batch):
        self.does("predict")
        return super().predict(batch)

    def features(self, batch):
        self.does("features")
        return super().features(batch) if self.config.does != "network" else self.lent(batch.images)

    def feature_space(self):
        return None if self.config.when == "features" else super().feature_space()

    @property
    def lent(self):
        return self.context.frozen_backbone()

    def weight(self):
        return self.lent.blocks[0].mlp.fc1.weight

    def network(self):
        with torch.no_grad():
            self.weight().add_(0.1)

    def data(self):
        self.weight().data[3, 4] += 1e-3

    def through_numpy(self):
        self.weight().detach().numpy()[0, 0] += 1e-3

    def buffer(self):
        self.lent.register_buffer("mine", torch.zeros(1))

    def hook(self):
        self.lent.blocks[1].register_forward_hook(lambda module, inputs, outputs: outputs + 1)

    def forward(self):
        inner = self.lent.forward
        self.lent.forward = lambda images: inner(images) + 1

    def class_forward(self):
        kind = type(self.lent)
        inner = kind.forward
        kind.forward = lambda network, images: inner(network, images) + 1

    def class_call(self):
        inner = torch.nn.Module.__call__
        type(self.lent).__call__ = lambda network, *given: inner(network, *given) + 1

    def class_within(self):
        type(self.lent.blocks[0]).forward = lambda block, values: values

    def mode(self):
        self.lent.train()

    def gradients(self):
        self.lent.requires_grad_(True)

    def submodule(self):
        self.lent.norm = torch.nn.Identity()

    def keeps(self):
        KEPT.append(self.lent)

    def later(self):
        with torch.no_grad():
            KEPT[-1].blocks[0].mlp.fc1.weight.add_(0.1)

    def of_network(self, network):
        with torch.no_grad():
            network.blocks[0].mlp.fc1.weight.add_(0.1)

    def through_a_batch(self):
        self.of_network(self.batch._source.features.network.module)

    def through_the_context(self):
        self.of_network(self.context._source.features.network.module)

    def out_of_the_network(self):
        network = self.context._source.features.network
        self.of_network(next(v for v in vars(network).values() if isinstance(v, torch.nn.Module)))

    def takes(self):
        KEPT.append(self.context._source.features.network.module)

    def dtype(self):
        torch.set_default_dtype(torch.float64)

    def device(self):
        torch.set_default_device("meta")

    def grad(self):
        torch.set_grad_enabled(False)

    def inference(self):
        KEPT.append(torch.inference_mode())
        KEPT[-1].__enter__()

    def autocast(self):
        torch.set_autocast_enabled("cpu", True)

    def threads(self):
        torch.set_num_threads(2)

    def faiss(self):
        import faiss
        faiss.omp_set_num_threads(2)

    def blas(self):
        from threadpoolctl import threadpool_limits
        threadpool_limits(2, user_api="blas")

    def deterministic(self):
        torch.use_deterministic_algorithms(True)

    def precision(self):
        torch.set_float32_matmul_precision("medium")

    def newer_precision(self):
        if hasattr(torch.backends, "fp32_precision"):
            torch.backends.mkldnn.matmul.fp32_precision = "bf16"
        else:
            self.precision()

    def attention(self):
        torch.backends.cuda.enable_flash_sdp(False)

    def onednn(self):
        torch.backends.mkldnn.set_flags(False)

    def einsum(self):
        torch.backends.opt_einsum.strategy = "optimal"

    def fastpath(self):
        torch.backends.mha.set_fastpath_enabled(False)

    def function(self):
        inner = torch.nn.functional.linear
        torch.nn.functional.linear = lambda *given: inner(*given) * 2

    def argmax(self):
        torch.Tensor.argmax = lambda scores, *_: torch.arange(len(scores)) % scores.shape[1]

    def tensor_numpy(self):
        inner = torch.Tensor.numpy
        torch.Tensor.numpy = lambda scores: inner(scores) * 0

    def recursion(self):
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)

    def deaf(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def denormal(self):
        torch.set_flush_denormal(True)

    def global_hook(self):
        torch.nn.modules.module.register_module_forward_hook(lambda module, inputs, outputs: outputs)

    def numpy_errors(self):
        np.seterr(all="raise")

    def folder(self):
        os.chdir("/")

    def environment(self):
        os.environ["HOME"] = "/nowhere"

    def removes(self):
        os.environ.pop("HOME", None)

    def adds(self):
        os.environ["SEQSEARCH_TEST_NEW"] = "1"

    def draws(self):
        random.random(), np.random.rand(), torch.rand(1)
        self.prototypes = self.prototypes + torch.rand(1) + random.random() + np.random.rand()
"""
PARTS = """
import torch
from seqsearch.methods.simplecil import build as SimpleCIL

class Parts(SimpleCIL):
    def learn(self, task):
        torch.set_autocast_enabled("cpu", True)
        return super().learn(task)
"""
NETWORK = ("network", "data", "through_numpy", "buffer", "hook", "forward", "mode", "gradients", "submodule",
           "class_forward", "class_call", "class_within")  # fmt: skip
TAKEN = ("through_a_batch", "through_the_context", "out_of_the_network")
PROCESS = {
    "dtype": "torch.set_default_dtype (torch.float32 became torch.float64)",
    "device": "torch.set_default_device",
    "grad": "torch.set_grad_enabled",
    "inference": "torch.inference_mode",
    "autocast": "torch.autocast",
    "threads": "torch.set_num_threads",
    "faiss": "faiss.omp_set_num_threads (1 became 2)",
    "blas": "threads of BLAS and OpenMP",
    "deterministic": "torch.use_deterministic_algorithms",
    "precision": "torch's float32 precision",
    "newer_precision": "torch's float32 precision",
    "attention": "scaled_dot_product_attention's kernels",
    "onednn": "torch.backends.mkldnn",
    "einsum": "torch.backends.opt_einsum",
    "fastpath": "torch.backends.mha",
    "function": "torch's functions ([] became ['torch.nn.functional.linear'])",
    "argmax": "torch's functions ([] became ['Tensor.argmax'])",
    "tensor_numpy": "torch's functions ([] became ['Tensor.numpy'])",
    "recursion": "sys.setrecursionlimit",
    "deaf": "handlers of signals",
    "denormal": "torch.set_flush_denormal",
    "global_hook": "global hooks of torch.nn.Module",
    "numpy_errors": "numpy.seterr",
    "folder": "the working directory",
    "environment": "the environment variable HOME",
    "removes": "the environment variable HOME",
}


class Lab:
    """A trainer, and edges of methods on two tasks."""

    def __init__(self, folder: Path, states: str = "states") -> None:
        (folder / "meddler.py").write_text(MEDDLER)
        self.folder = folder
        cache = str(folder / "cache")
        self.world = World("glyphs:classes=8,train=8,reward=4,test=4", 0, cache, str(folder / states))
        self.trainer = Trainer(self.world)

    def key(self, text: str) -> StateKey:
        spec = self.world.spec(parse_item(text, "method"), "glyph_vit")
        return StateKey(spec, 0, 0, (self.world.task([0, 1, 2]), self.world.task([3, 4])))

    def meddler(self, does: str, when: str = "fit") -> StateKey:
        return self.key(f"{self.folder}/meddler.py:Meddler:does={does},when={when}")

    def train(self, key: StateKey, keep: bool = False) -> EdgeResult:
        return self.trainer.train(Edge(key, keep=keep))

    def network(self) -> torch.nn.Module:
        return self.trainer.source("glyph_vit").features.network.module
