"""Shared set-up: every test has its own cache and run folders, and one thread, as workers have."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=30)
settings.register_profile("fresh", print_blob=True, deadline=None, max_examples=50)
settings.load_profile("repeatable")
"""`make test` draws the same examples every time; `make test-long` draws new ones (``--hypothesis-profile=fresh``)."""

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.pop("COLUMNS", None)  # parallel runs have one, and what is printed would be as wide as it says

# Compiled files stay, also where the environment keeps none: workers and processes would compile all that they import anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

for _number in (
    signal.SIGINT,
    signal.SIGHUP,
):  # shells ignore them in background jobs, and so would all that tests start
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)


HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gpu", action="store_true", help="run tests/gpu; all other tests see no GPU")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--gpu"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # what a run does must not depend on the machine of the tests


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    in_gpu = HERE / "gpu" in (collection_path, *collection_path.parents)
    return True if in_gpu and not config.getoption("--gpu") else None


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Frozen features are computed once for all processes of a test session, never in the user's cache."""
    from seqsearch.training.device import pin_threads

    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    root.mkdir(exist_ok=True)
    os.environ["SEQSEARCH_CACHE"] = str(root)
    pin_threads()
    yield root
    del os.environ["SEQSEARCH_CACHE"]


@pytest.fixture
def one_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every descent has one epoch: for tests of commands in which nothing depends on how much is learned."""
    from seqsearch.methods.parts.training import Descent

    made = Descent.__init__
    monkeypatch.setattr(Descent, "__init__", lambda self, epochs, *a, **more: made(self, min(1, epochs), *a, **more))
