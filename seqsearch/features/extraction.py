"""A frozen backbone's network on its device: one copy for all who use it, run over images that are decoded meanwhile."""

from __future__ import annotations

import copy
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.backbones.parts.code import Code, classes_of
from seqsearch.backbones.parts.fingerprint import Fingerprint, differs, fingerprint
from seqsearch.core.errors import UserError
from seqsearch.features.inputs import byte_table, looked_up, moved_to, with_texts
from seqsearch.pools.loader import prefetched

if TYPE_CHECKING:
    import torch

    from seqsearch.backbones.base import Backbone
    from seqsearch.features.inputs import Inputs
    from seqsearch.pools.base import Pool, Rows

AHEAD = 3
"""Batches under way at a time beside a GPU: one that it computes, one that waits, one that is being decoded."""
PIECE = 16
"""Images that one thread decodes at a time: small, so that the first batch of a shard comes soon."""
ANYBODY = ""
"""To whom a network is given that was not asked for by `Network.give`."""
DECODERS = 8
"""Decoding threads beside a GPU, at most."""

Features = NDArray[np.float32]


class Network:
    """The pre-trained network of a backbone, built when it is first needed.

    Attributes:
        given_to: users that got the network and may have kept it; `ANYBODY` if it was taken.
        check: called before features are computed, or the network is built, because all later jobs rely on these. It raises if
            anything that they rest on was changed.
    """

    def __init__(self, backbone: Backbone, device: torch.device) -> None:
        self.backbone, self.device = backbone, device
        self.given_to: set[str] = set()
        self.check: Callable[[], None] = lambda: None
        self._fingerprint: Fingerprint = {}
        self._versions: list[tuple[str, torch.Tensor, int]] = []
        self._code = Code([])

    @property
    def module(self) -> torch.nn.Module:
        """On the device, in eval mode, without gradients. Whoever reads it here may change it, in this job or a later one."""
        return self.give(ANYBODY)

    @cached_property
    def _module(self) -> torch.nn.Module:
        self.check()
        module = self._fresh().to(self.device).eval().requires_grad_(False)
        tensors = chain(module.named_parameters(), module.named_buffers())
        self._versions = [(name, t, t._version) for name, t in tensors if not t.is_inference()]
        self._code = Code(classes_of(module))
        return module

    def _fresh(self) -> torch.nn.Module:
        """An ordinary module, also if who asks first is predicting; what its construction draws is nobody's business."""
        import torch

        with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
            return self.backbone.module()

    @cached_property
    def parameter_bytes(self) -> int:
        """Of its parameters, as 32-bit floats. A network that is not there yet is built for this, and not kept."""
        module = self.__dict__.get("_module") or self._fresh()
        return 4 * sum(p.numel() for p in module.parameters())

    def give(self, to: str) -> torch.nn.Module:
        """The module itself, for somebody who must not change it."""
        module = self._module
        if not self._fingerprint and not self._written():
            self._fingerprint = fingerprint(module)
        self.given_to.add(to)
        return module

    def copy(self) -> torch.nn.Module:
        """A module of one's own."""
        return copy.deepcopy(self._module)

    def changed(self) -> str:
        """Return the entries of the module that changed since it was first given away, in words; empty if none did.
        Before that, only writes that torch counts are reported, which costs next to nothing."""
        return differs(self._fingerprint, fingerprint(self._module)) if self._fingerprint else self._written()

    def patched(self) -> str:
        """Functions of its classes that are not those with which it was built; empty if all are. All networks of these classes,
        copies included, compute by them."""
        return ", ".join(self._code.changed()[:2])

    def _written(self) -> str:
        return next((name for name, tensor, version in self._versions if tensor._version != version), "")

    def renew(self) -> None:
        """Build the module again, of classes as they were.

        Raises:
            UserError: the backbone does not give another one, but that which was changed.
        """
        self._code.restore()
        before = self.__dict__.pop("_module")
        if self._module is before or self.changed():
            raise UserError(
                f"backbone {self.backbone.name!r} was changed by a method and cannot be had again: "
                "its module() must give a fresh copy each time; mend both, then resume"
            )

    def features(self, pool: Pool, batches: list[Rows]) -> Iterator[Features]:
        """Features ``[n, d]`` of each batch of rows of a pool, in order.

        Raises:
            UserError: an image cannot be read.
        """
        self.check()
        if self.device.type == "cuda":
            return self.overlapped(pool, batches, min(DECODERS, os.cpu_count() or 1))
        return self._one_ahead(pool, batches)

    def _one_ahead(self, pool: Pool, batches: list[Rows]) -> Iterator[Features]:
        """On a CPU: the next batch is decoded while the network runs; more threads would take its cores."""

        def prepared(rows: Rows) -> Inputs:
            images = self.backbone.preprocess(pool.images(rows, self.backbone.view))
            return with_texts(self.backbone, pool, rows, images)

        for inputs in prefetched(batches, prepared):
            yield self.of(inputs).numpy()

    def of(self, inputs: Inputs) -> torch.Tensor:
        """Features ``[n, d]`` float32 on the CPU of what the backbone reads: preprocessed images ``[n, 3, s, s]``, or pairs."""
        import torch

        with torch.inference_mode(), torch.autocast(self.device.type, enabled=False):
            found: torch.Tensor = self._module(moved_to(self.device, inputs)).float().cpu()
        return found

    def overlapped(self, pool: Pool, batches: list[Rows], threads: int) -> Iterator[Features]:
        """On a GPU: ``threads`` decode up to `AHEAD` batches ahead; bytes travel, and are normalised on the device.

        A pool that does not say that several threads may read it at once (``concurrent``) is read by one.
        """
        import torch

        decoders = ThreadPoolExecutor(threads if getattr(pool, "concurrent", False) else 1)
        work = _Overlapped(
            self, pool, batches, decoders
        )  # decoders write into its buffers, hence not in inference mode
        precise = torch.autocast(self.device.type, enabled=False)  # whatever who asks computes in
        with torch.inference_mode(), precise, decoders, warnings.catch_warnings():
            # Decoders silence warnings for themselves, which in several threads is for good: this puts them right again.
            coming = deque(work.begin(number) for number in range(min(AHEAD - 1, len(batches))))
            running: tuple[torch.Tensor, Any] | None = None
            for number in range(len(batches)):
                for piece in coming.popleft():
                    piece.result()
                latest = work.launched(number)
                if running is not None:
                    yield _arrived(*running)
                running = latest
                # The buffer of the batch before is free: its features are there.
                if (following := number + AHEAD - 1) < len(batches):
                    coming.append(work.begin(following))
            if running is not None:
                yield _arrived(*running)


class _Overlapped:
    """Batches of a pool on their way through a network: decoded into buffers by threads, sent, computed, sent back."""

    def __init__(self, network: Network, pool: Pool, batches: list[Rows], decoders: ThreadPoolExecutor) -> None:
        import torch

        self._pool, self._batches, self._decoders = pool, batches, decoders
        self._backbone, self._device, self._module = network.backbone, network.device, network._module
        self._view, self._on_gpu = network.backbone.view, network.device.type == "cuda"
        table = byte_table(network.backbone)
        self._table = None if table is None else table.to(self._device)
        # Pinned memory: the copy to the device does not wait for the processor, nor the processor for the copy.
        shape = (max(map(len, batches)), 3, self._view.size, self._view.size)
        kind = torch.float32 if table is None else torch.uint8
        self._buffers = [
            torch.empty(shape, dtype=kind, pin_memory=self._on_gpu) for _ in range(min(AHEAD, len(batches)))
        ]

    def begin(self, number: int) -> list[Future[None]]:
        """Let a batch be decoded into its buffer, piece by piece."""
        rows, buffer = self._batches[number], self._buffers[number % AHEAD]
        cuts = range(0, len(rows), PIECE)
        return [
            self._decoders.submit(self._decode, buffer[i : min(i + PIECE, len(rows))], rows[i : i + PIECE])
            for i in cuts
        ]

    def launched(self, number: int) -> tuple[torch.Tensor, Any]:
        """The features of a batch that is decoded, on their way to the host, and the event after which they are there."""
        import torch

        images = self._buffers[number % AHEAD][: len(self._batches[number])].to(self._device, non_blocking=True)
        images = images if self._table is None else looked_up(self._table, images)
        inputs = with_texts(self._backbone, self._pool, self._batches[number], images)
        found = self._module(moved_to(self._device, inputs)).float()
        found = found.to("cpu", non_blocking=self._on_gpu)
        if not self._on_gpu:
            return found, None
        event: Callable[[], Any] = torch.cuda.Event  # torch does not annotate it
        there = event()
        there.record()
        return found, there

    def _decode(self, buffer: torch.Tensor, rows: Rows) -> None:
        import torch

        images = self._pool.images(rows, self._view)
        buffer.copy_(self._backbone.preprocess(images) if self._table is None else torch.from_numpy(images))


def _arrived(found: torch.Tensor, there: Any) -> Features:
    if there is not None:
        there.synchronize()
    return found.numpy()
