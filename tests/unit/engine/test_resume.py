"""A driver that was killed at any moment: whatever part of the journal is left, the run resumes to the same end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqsearch.engine.inline import InlineEvaluator
from tests.studies import Finished, run_small

FEW = {"simulations": 3, "candidates": 5, "condensed": 3, "random_sequences": 5, "score_seeds": 1}
EXAMPLES = 10 if settings.default.derandomize else 30  # fewer in `make test`, which draws the same each time


class Keeping(InlineEvaluator):
    """Removes no states, so that those of any earlier moment can be put back."""

    def drop(self, states: Iterable[str]) -> None:
        pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    done = run_small(tmp_path_factory.mktemp("whole"), Keeping, **FEW)
    done.journal.close()
    return done


def killed(whole: Finished, folder: Path, cut: int, states: bool) -> tuple[int, set[str]]:
    """The run folder as a kill left it: so many bytes of the journal, and the states trained by then, if they are left.

    Returns how many lines are whole, and the states whose training they tell of.
    """
    data = whole.journal.path.read_bytes()[:cut]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(data)
    shutil.copytree(whole.journal.folder / "arrays", folder / "arrays")
    lines = [next(iter(json.loads(line).values())) for line in data[: data.rfind(b"\n") + 1].splitlines()]
    trained = {state for entry in lines for state in entry.get("trained", ())}
    if states:
        shutil.copytree(whole.journal.folder / "states", folder / "states")
        for manifest in (folder / "states").glob("*.json"):
            if manifest.stem not in trained:
                manifest.unlink()
    return len(lines), trained


def assert_resumes(whole: Finished, folder: Path, cut: int, states: bool = True) -> None:
    kept, trained = killed(whole, folder, cut, states)
    again = run_small(folder, **FEW)
    again.journal.close()
    assert again.found == whole.found
    for first, second in zip(whole.plans.scorers, again.plans.scorers, strict=True):
        for ours, theirs in zip(first.outcomes["simplecil"], second.outcomes["simplecil"], strict=True):
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a.accuracy, b.accuracy)
    anew = [s for e in again.journal.entries[kept:] for s in (e.get("edge") or e.get("probe") or {}).get("trained", ())]
    if states:
        assert not trained.intersection(anew)
        assert again.search.counts.trained == whole.search.counts.trained
    evaluated = [e["edge"]["digest"] for e in again.journal.entries if "edge" in e]
    assert len(evaluated) == len(set(evaluated))  # no edge is run again, its state lost or not
    assert set(evaluated) == {e["edge"]["digest"] for e in whole.journal.entries if "edge" in e}


@pytest.mark.long
def test_resumes_from_every_line(whole: Finished, tmp_path: Path) -> None:
    data = whole.journal.path.read_bytes()
    for end in [0, *(i + 1 for i, byte in enumerate(data) if byte == 10)]:
        assert_resumes(whole, tmp_path / "run", end)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), states=st.booleans())
def test_resumes_from_any_byte_with_and_without_its_states(
    whole: Finished, tmp_path: Path, where: float, states: bool
) -> None:
    size = whole.journal.path.stat().st_size
    assert_resumes(whole, tmp_path / "run", int(where * size), states)
