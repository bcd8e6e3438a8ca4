"""Checks the items that settings name before anything heavy is imported: methods, their parameters, pools, backbones,
streams.

All items are looked up again when the study is made. Faults that only this look-up finds are refused in the same words.
Examples are weights that timm does not have, and rules of custom methods.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

from seqsearch.backbones.timm_names import check_architecture
from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, check_valued, parse_item, parse_items
from seqsearch.core.paths import at_home
from seqsearch.core.registry import ItemKind, check_name, check_options, declared, names
from seqsearch.methods.config import SCRATCH, Conflict, build_config, config_of
from seqsearch.pools.open import check_pool, pool_texts
from seqsearch.streams.open import check_stream


def check_named(record: type, values: Mapping[str, Any]) -> None:
    """Check those of ``values``, by name of a field of ``record``, whose field says what it names (`core.settings.setting`).

    Without a ``backbone`` among them, which may have defaults of its own, rules between parameters wait.

    Raises:
        UserError: there is no such thing, or it has no such parameter or value.
    """
    backbone = str(values.get("backbone") or "")
    for f in dataclasses.fields(record):
        check = CHECKS.get(f.metadata.get("names", ""))
        given = values.get(f.name)
        for text in given if isinstance(given, list | tuple) else (given,):
            if check is not None and isinstance(text, str) and text.strip():
                check(text, backbone)


def check_item(kind: ItemKind, item: Item, backbone: str) -> None:
    """Check a method, or a learner, with its parameters on the backbone that it names, or else on ``backbone``.

    Raises:
        UserError: unknown backbone, method, parameter or value.
    """
    if item.backbone:
        check_backbone(item.backbone)
    if command_line.is_one(item.target) or _own(kind, item.target):
        return
    build, on = declared(kind, item.target), item.backbone or backbone
    if kind == "method" and on and (":" not in on or on.startswith(SCRATCH)):
        config_of(build, item, on)
        return
    try:
        build_config(build, dict(item.params), "")
    except Conflict:  # perhaps only with the defaults for another backbone
        return
    except UserError as error:
        raise UserError(f"{kind} {item.text!r}: {error}") from None


def check_backbone(text: str, _: str = "") -> None:
    """Check the text that names a backbone, without timm.

    Raises:
        UserError: no backbone of ours has such an option, an own one's file is not there, or timm has no such architecture.
    """
    item = parse_item(text, "backbone")
    name, colon, variant = item.target.partition(":")
    if name in names("backbone"):
        parameters = inspect.signature(declared("backbone", name)).parameters
        check_options("backbone", item, parameters)
        if colon and (not parameters or variant in parameters):
            check_valued("backbone", item.target)
    elif colon:
        _own("backbone", item.target)
    else:
        check_architecture(item.target)


def _own(kind: ItemKind, target: str) -> bool:
    """Whether it is not one of ours by its form, ``FILE.py:OBJECT`` or ``package.module:OBJECT``.

    Raises:
        UserError: its file does not exist; or it is of ours by its form, and there is no such thing.
    """
    if ":" not in target:
        check_name(kind, target)
        return False
    file = target.rpartition(":")[0]
    if file.endswith(".py") and not os.path.isfile(at_home(file)):
        raise UserError(f"{kind} file {os.path.abspath(at_home(file))!r} does not exist")
    return True


def _methods(text: str, backbone: str) -> None:
    for item in parse_items(text, "method"):
        check_item("method", item, backbone)


def _learners(text: str, backbone: str) -> None:
    for item in parse_items(text, "learner"):
        check_item("learner", item, backbone)


def _pools(text: str, _: str = "") -> None:
    for pool in pool_texts(text):
        check_pool(pool)


def _grown(text: str, _: str = "") -> None:
    step, colon, pool = text.partition(":")
    if step.strip().isdecimal() and colon and pool.strip():
        _pools(pool)


def _stream(text: str, _: str = "") -> None:
    check_stream(text)


CHECKS: dict[str, Callable[[str, str], None]] = {
    "methods": _methods, "learners": _learners, "backbone": check_backbone, "pools": _pools, "grown": _grown,
    "stream": _stream,
}  # fmt: skip
"""By what a setting names; each is given its text and ``--backbone``."""
