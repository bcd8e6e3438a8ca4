"""Whether a run that goes on is the one that was begun: its settings, and what the names in them stand for.

``config.json`` can be edited; the journal, which repeats it whenever a session begins, has a checksum in each line. Results of
different settings must not be mixed in one run.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from actors.options import DeviceName
from seqsearch.core.errors import UserError
from seqsearch.core.settings import Settings
from seqsearch.core.typed import brief


def check_settings(run: Path, settings: Settings, journalled: Mapping[str, Any] | None) -> None:
    """Compare settings with those of the last session; one that is newer than that had its default, or `Settings.before`.

    Args:
        journalled: ``config.json`` by the journal; None if no session is known.

    Raises:
        UserError: one was edited by hand.
    """
    before = (journalled or {}).get("settings")
    if not isinstance(before, dict):
        return
    now, may = json.loads(json.dumps(dataclasses.asdict(settings))), settings.changed_by_command(before)
    default = {f.name: json.loads(json.dumps(f.default)) for f in dataclasses.fields(settings)} | dict(settings.before)
    for name in sorted(now.keys() - may):
        if (was := before.get(name, default[name])) != now[name]:
            raise UserError(
                f"{run}/config.json: {name} was {brief(was)} when the run was begun, and is {brief(now[name])} now: put it back, "
                "or start a new run"
            )


def begun_with(identity: Any, journalled: Mapping[str, Any] | None, may_change: frozenset[str]) -> Any:
    """Return the identity with which the run was begun.

    It is read from the journal where the journal has it. Parts that may change are read from ``config.json``.
    """
    before = (journalled or {}).get("identity")
    if not (isinstance(before, dict) and isinstance(identity, dict)):
        return identity
    return {**identity, **{part: known for part, known in before.items() if part not in may_change}}


def device_of(identity: object) -> DeviceName | None:
    """The device in the identity of a run, without the machine's architecture; None where none stands there."""
    said = identity.get("device") if isinstance(identity, dict) else None
    return next((name for name in get_args(DeviceName) if isinstance(said, str) and said.split(" ")[0] == name), None)


def check_identity(run: Path, before: Mapping[str, Any], now: Mapping[str, Any], may_change: frozenset[str]) -> None:
    """Compare what the names in the settings stand for with what they stood for.

    Raises:
        UserError: something that may not change has, as pool, backbone weights, library versions or device.
    """
    now = json.loads(json.dumps(now))  # as the file has it: lists, not tuples
    for name in sorted((before.keys() | now.keys()) - may_change):
        if before.get(name) != now.get(name):
            raise UserError(
                f"{name.replace('_', ' ')} changed since run {run} was made ({_brief(before.get(name))} -> "
                f"{_brief(now.get(name))}): restore it, or start a new run"
            )


def _brief(value: Any) -> str:
    return text if len(text := json.dumps(value)) <= 60 else text[:57] + "..."
