"""``seqsearch sequences``, and frozen orders where other commands take sequences."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.results.frozen import find_frozen, frozen_orders, several_frozen
from tests.unit.results.tiny_pool import pool


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_orders_are_listed_and_shown() -> None:
    digests = {f.name: f.order.digest for f in frozen_orders()}
    listed = command("sequences", "list")
    assert listed.exit_code == 0, listed.output
    for name, digest in digests.items():
        assert re.search(rf"^{re.escape(name)} .* {digest[:12]}$", listed.stdout, re.MULTILINE)
    said = json.loads(command("sequences", "list", "--json").stdout)
    assert {f"{r['name']}@{r['version']}": r["digest"] for r in said} == digests
    assert [r["easy"] for r in said[:2]] == [[0.0], [1.0]]
    shown = command("sequences", "show", "imagenet-r-hard-10@1")
    assert shown.exit_code == 0
    assert "n01443537 (goldfish)" in shown.stdout
    assert len(re.findall(r"^ +\d+: ", shown.stdout, re.MULTILINE)) == 10
    [sequence] = json.loads(command("sequences", "show", "cifar100-easy-20", "--json").stdout)["sequences"].values()
    assert tuple(map(tuple, sequence)) == several_frozen("frozen:cifar100-easy-20")[0].sequences[0].tasks


@pytest.mark.parametrize(
    "arguments",
    [
        ("sequences", "show", "cifar100-hrad-10"),
        ("score", "frozen:cifar100-hrad-10", "--methods", "simplecil"),
        ("edge", "--orders", "frozen:cifar100-hrad-10", "--methods", "simplecil", "--tasks", "10"),
        ("duel", "simplecil", "ranpac", "--on", "frozen:cifar100-hrad-10"),
    ],
)
def test_an_unknown_order_is_one_line_with_the_nearest(arguments: tuple[str, ...]) -> None:
    said = command(*arguments)
    assert said.exit_code == 2
    assert re.search("; the nearest: .*'cifar100-hard-10'", said.stderr)
    assert len(said.stderr.splitlines()) == 1


def test_an_order_is_exported_with_the_labels_of_its_data_set(tmp_path: Path) -> None:
    asked = ("--to", "pilot", "--images", "none", "--out", str(tmp_path / "out"))
    said = command("export", "frozen:cifar100-hard-10", *asked)
    assert said.exit_code == 0, said.output
    written = json.loads((tmp_path / "out/cifar100-hard-10/seqsearch_config.json").read_text())
    found = find_frozen("cifar100-hard-10")
    assert written["class_order"] == [c for task in found.order.tasks[0] for c in task]


@pytest.mark.long
def test_methods_are_scored_on_frozen_orders(tmp_path: Path) -> None:
    text = pool(tmp_path / "photos", [c.name for c in find_frozen("cifar100-hard-10").of.classes])
    asked = ["score", "frozen:cifar100-hard-10,cifar100-easy-10", "--pool", text, "--methods", "simplecil"]
    said = command(*asked, "--score-seeds", "1", "--workers", "0", "--quiet", "--out", str(tmp_path / "run"))
    assert said.exit_code == 0, said.output
    settings = json.loads((tmp_path / "run/config.json").read_text())["settings"]
    assert settings["source"] == "frozen:cifar100-hard-10@1,cifar100-easy-10@1"
