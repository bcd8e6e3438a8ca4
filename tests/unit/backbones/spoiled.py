"""Ways to spoil a folder of weights that a test wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

Spoil = Callable[[Path], object]


def without(name: str) -> Spoil:
    """A file is gone."""
    return lambda folder: (folder / name).unlink()


def filled(name: str, content: bytes) -> Spoil:
    """A file has other content."""
    return lambda folder: (folder / name).write_bytes(content)


def sized(sizes: dict[str, Any], **said: Any) -> Spoil:
    """``config.json`` has ``sizes`` with these in place of its own."""
    return filled("config.json", json.dumps({**sizes, **said}).encode())


def weights(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """The tensors of the file of weights are changed."""

    def spoil(folder: Path) -> None:
        file = next(folder.glob("*.safetensors"))
        state = load_file(file)
        change(state)
        save_file(state, file)

    return spoil
