"""Two small studies run to their end find what they found when ``studies.json`` was written (`tests.golden.record`).

Where device and package versions are as recorded, all that was recorded is the same to the last bit. Elsewhere last bits may
move, with them an image, and with that a search:

- sequences that are drawn (random, RS) are the same, as are the names and kinds of all;
- accuracies are within two images a task, as far as the tasks learned are the same: of a sequence that was searched, up to the
  first task that differs;
- S of an EDGE sequence is the same to a millionth, if the sequence is.

Figures that were not recorded, being new, do not count.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocols.running.protocol import protocols
from seqsearch.core.registry import load
from seqsearch.pools.glyphs import DEFAULTS
from tests.golden.record import COMMANDS, FILE, here, measured, settings

RECORD = json.loads(FILE.read_text())
DRAWN = ("random", "given")
IMAGES = 2
"""That an accuracy may move on another device."""
IDLE = {
    "lags", "diversity", "max_sequences", "enumerate_limit", "similarity_method", "fit_extremes", "fit_seeds",
    "command_hours", "command_writes", "search_commands", "baseline", "partition", "heuristics", "robust_within",
    "robust_baseline",
}  # fmt: skip
"""Settings that `seqsearch edge` refuses where they have no effect, and those of methods by command, of which there are none.
``baseline`` came after the studies were recorded; its default draws random sequences as before. So did ``partition``,
``heuristics`` and ``robust_within``; by default all partitions are drawn, and nothing further is trained or tested."""


def differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """What is not exactly as recorded, a line each."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            yield from differences(value, after.get(name), f"{where} / {name}" if where else name)
        if where != "figures":
            yield from (f"{where} / {name}: new" for name in after.keys() - before.keys())
    elif json.dumps(before) != json.dumps(after):
        yield f"{where}: {before} -> {after}"


def departures(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What is not as recorded even for another device, a line each."""
    for part in ("kinds", "judged"):
        yield from differences(before[part], after[part], part)
    shared = {}
    for name, tasks in before["sequences"].items():
        found, kind, value = after["sequences"].get(name, []), before["kinds"][name], before["values"][name][-1]
        pairs = enumerate(zip(tasks, found, strict=False))
        shared[name] = next((t for t, (one, other) in pairs if one != other), len(tasks))
        if kind in DRAWN and found != tasks:
            yield f"sequences / {name}, which is drawn: {tasks} -> {found}"
        has_S = found == tasks and kind != "searched" and value is not None
        if has_S and not math.isclose(value, after["values"][name][-1], rel_tol=1e-6):
            yield f"values / {name}: {value} -> {after['values'][name][-1]}"
    for name, rows in before["right"].items():
        known = shared[name.partition(" ")[0]]
        for row, found in zip(rows[:known], after["right"].get(name, []), strict=False):
            if len(row) != len(found) or any(abs(a - b) > IMAGES for a, b in zip(row, found, strict=True)):
                yield f"right / {name}, after task {len(row)}: {row} -> {found}"


def troubles(name: str, found: dict[str, Any], machine: dict[str, Any]) -> list[str]:
    """What a study found on a machine that it should not have."""
    before = RECORD["studies"][name]
    if all(machine[part] == RECORD[part] for part in machine):
        return list(differences({part: before[part] for part in found}, found))
    return list(departures(before, found))


@pytest.mark.long  # `tests.golden.test_commands` has another study of CLDyB
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_found_is_as_recorded(name: str, tmp_path: Path) -> None:
    assert troubles(name, measured(name, tmp_path), here()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_record_is_of_these_commands(name: str) -> None:
    assert RECORD["studies"][name]["command"] == COMMANDS[name]
    assert RECORD["studies"][name]["settings"] == settings(name)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_default_decides(name: str) -> None:
    """Every setting is given, of the pool and of the methods, too."""
    said, known = settings(name), protocols()[name].settings
    shown = {f.name for f in dataclasses.fields(known) if not f.metadata.get("hidden")}
    assert set(said) == shown - IDLE
    options = {part.partition("=")[0] for part in said["pool"].removeprefix("glyphs:").split(",")}
    assert options == set(DEFAULTS) - {"captions"}  # that there are none cannot be said
    for method, given in said["methods"].items():
        assert set(given or {}) == {f.name for f in dataclasses.fields(load("method", method).Config)}


# ------------------------------------------------------------------------------------------------ the comparison can fail


OTHER = {"device": {"machine": "another"}, "versions": RECORD["versions"]}
SAME = {part: RECORD[part] for part in OTHER}


@pytest.fixture(params=COMMANDS)
def study(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """A study as if it had just been run, with what was recorded."""
    name = request.param
    found = {p: v for p, v in RECORD["studies"][name].items() if p not in ("command", "settings")}
    return name, copy.deepcopy(found)


Study = tuple[str, dict[str, Any]]


def test_one_image_is_noticed_here_and_three_everywhere(study: Study) -> None:
    name, found = study
    assert troubles(name, found, SAME) == troubles(name, found, OTHER) == []
    rollout = "random-1 er rescore 1000"
    found["right"][rollout][1][0] -= 1
    [line] = troubles(name, found, SAME)
    assert line.startswith(f"right / {rollout}: ")
    assert troubles(name, found, OTHER) == []
    found["right"][rollout][1][0] -= 2
    [line] = troubles(name, found, OTHER)
    assert line.startswith(f"right / {rollout}, after task 2: ")


def test_another_version_is_another_device(study: Study) -> None:
    name, found = study
    found["right"]["random-1 er rescore 1000"][0][0] -= 1
    assert troubles(name, found, {**SAME, "versions": {**RECORD["versions"], "torch": "0"}}) == []


def test_the_last_bit_of_a_figure_is_noticed(study: Study) -> None:
    name, found = study
    figure, (value, *interval) = next((f, v) for f, v in found["figures"].items() if v[0])
    found["figures"][figure] = [math.nextafter(value, 2), *interval]
    assert len(troubles(name, found, SAME)) == 1
    assert troubles(name, found, OTHER) == []
    found["figures"][figure] = [value, *interval]
    found["figures"]["a new one"] = [0.5]
    assert troubles(name, found, SAME) == []


def test_a_drawn_sequence_is_the_same_everywhere(study: Study) -> None:
    name, found = study
    found["sequences"]["random-1"][2].reverse()
    for machine in (SAME, OTHER):
        [line] = troubles(name, found, machine)
        assert line.startswith("sequences / random-1")


def test_a_searched_sequence_is_compared_while_it_is_equal(study: Study) -> None:
    name, found = study
    searched = next(iter(found["sequences"]))
    found["sequences"][searched][1].reverse()
    found["right"][f"{searched} er rescore 1000"][1] = [0, 0]
    assert len(troubles(name, found, SAME)) == 2
    assert troubles(name, found, OTHER) == []
    found["right"][f"{searched} er rescore 1000"][0] = [0]
    [line] = troubles(name, found, OTHER)
    assert line.startswith(f"right / {searched} er rescore 1000, after task 1: ")


def test_what_is_missing_is_noticed(study: Study) -> None:
    name, found = study
    rollout = next(iter(found["right"]))
    del found["right"][rollout], found["judged"][rollout]
    assert all(rollout in line for line in troubles(name, found, SAME))
    [line] = troubles(name, found, OTHER)
    assert line == f"judged / {rollout}: [{', '.join(map(str, RECORD['studies'][name]['judged'][rollout]))}] -> None"
