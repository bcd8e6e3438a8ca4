"""``seqsearch export`` and ``import`` as commands: what is refused before anything is written, and what is never touched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.evaluate.common.placed import placed
from protocols.evaluate.common.source import Source
from protocols.evaluate.exchange import export as writing
from protocols.evaluate.exchange.imported import pool_names
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from seqsearch.formats.folder import folder_names
from seqsearch.results.named import NamedSequence, read_named
from seqsearch.results.rows import RunInfo, SequenceKind, TaskSequence
from seqsearch.results.run import read_results
from seqsearch.results.tables import write_sequences
from seqsearch.training.world import World
from tests.studies import execute, small_settings
from tests.unit.formats.cases import HOSTILE, write_pool

POOL = "glyphs:classes=6,train=2,reward=1,test=1"


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def names() -> list[str]:
    return list(pool_names(POOL))


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    n = names()
    path = tmp_path / "orders.json"
    path.write_text(json.dumps({"one": [n[:3], n[3:]], "two": [n[4:], n[2:4]]}))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2, result.output
    [line] = result.stderr.splitlines()
    for word in words:
        assert word in line


def test_exports_twice_alike_and_replaces_what_is_ours_alone(orders: Path, tmp_path: Path) -> None:
    ask = ("export", orders, "--pool", POOL, "--to", "avalanche", "--out")
    assert ran(*ask, tmp_path / "a").exit_code == 0
    first = contents(tmp_path / "a")
    assert ran(*ask, tmp_path / "b").exit_code == 0
    assert contents(tmp_path / "b") == first
    assert ran(*ask, tmp_path / "a", "--sequence", "one").exit_code == 0
    assert {p.split("/")[0] for p in contents(tmp_path / "a")} == {"one", "images", "README.md", "export.json"}
    kept = contents(tmp_path / "a")
    (tmp_path / "a" / "one" / "results.txt").write_text("mine")
    refused(ran(*ask, tmp_path / "a"), "one/results.txt", "which no export wrote")
    assert contents(tmp_path / "a") == {**kept, "one/results.txt": b"mine"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "orders.json"]


def test_images_are_shared_between_sequences(orders: Path, tmp_path: Path) -> None:
    ran("export", orders, "--pool", POOL, "--to", "pilot", "--out", tmp_path / "a")
    images = [p for p in (tmp_path / "a" / "images").rglob("*") if p.is_file()]
    rows = [len((tmp_path / "a" / s / "manifest.csv").read_text().splitlines()) - 1 for s in ("one", "two")]
    assert (len(images), rows) == (24, [24, 16])


@pytest.mark.parametrize("place", ["file", "folder", "link", "marked"])
def test_what_is_not_ours_stays(place: str, orders: Path, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if place == "file":
        out.write_text("mine")
    elif place == "link":
        out.symlink_to(elsewhere)
    else:
        out.mkdir()
        (out / "thesis.tex").write_text("mine")
        if place == "marked":
            (out / "export.json").write_text('{"schema": "seqsearch-export/1", "files": ["thesis.tex"]}')
    refused(ran("export", orders, "--pool", POOL, "--to", "csv", "--out", out), str(out))
    assert not list(elsewhere.iterdir())
    assert out.is_symlink() or out.is_file() or (out / "thesis.tex").read_text() == "mine"


def test_nothing_is_left_where_it_fails(orders: Path, tmp_path: Path) -> None:
    pool = tmp_path / "photos"
    write_pool(pool, names())
    next(pool.rglob("*.jpg")).write_bytes(b"no image at all")
    refused(ran("export", orders, "--pool", pool, "--to", "pilot", "--out", tmp_path / "out"), "is unusable")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["orders.json", "photos"]


BAD: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "toolbox": (("--to", "avalanch", "--pool", POOL), ("--to 'avalanch'", "the nearest: 'avalanche'")),
    "read only": (("--to", "lae", "--pool", POOL), ("--to 'lae': there are",)),
    "no images": (("--to", "pilot"), ("give the --pool of their images, or --images none",)),
    "few classes": (
        ("--to", "pilot", "--images", "none", "--pool", POOL),
        ("4 of 6 classes", "PILOT", "--images copy"),
    ),
    "few for Mammoth": (("--to", "mammoth", "--images", "none", "--pool", POOL), ("4 of 6 classes", "Mammoth")),
    "no files": (("--to", "pilot", "--images", "paths", "--pool", POOL), ("is no folder", "let them be copied")),
    "no sequence": (("--to", "pilot", "--pool", POOL, "--sequence", "on"), ("no sequence 'on'", "the nearest: 'one'")),
    "other classes": (("--to", "csv", "--pool", "glyphs:classes=2"), ("which --pool",)),
    "names and pool": (
        ("--to", "csv", "--pool", POOL, "--names", "NAMES"),
        ("--names is for sequences without a pool",),
    ),
    "which": (("--to", "csv", "--which", "found"), ("does not say which sequences were found",)),
}


@pytest.mark.parametrize("kind", BAD)
def test_refused_before_anything_is_written(kind: str, orders: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("\n".join(names()))
    asked, words = BAD[kind]
    arguments = [tmp_path / "names.txt" if a == "NAMES" else a for a in asked]
    refused(ran("export", orders, *arguments, "--out", tmp_path / "out"), *words)
    assert not (tmp_path / "out").exists()


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    """Neither a path nor a line that somebody copies has them, unless they show."""
    sequence = "../../x `rm -rf`|$(touch pwned)\n-rf".replace("/", "\\")
    path = tmp_path / "orders.json"
    path.write_text(json.dumps({sequence: [list(HOSTILE)]}))
    pool = write_pool(tmp_path / "photos", HOSTILE)
    out = tmp_path / "out"
    result = ran("export", path, "--pool", pool, "--to", "mammoth", "--out", out)
    assert result.exit_code == 0, result.output
    plain = {p for p in contents(out) if not all(c.isalnum() or c in "._-/" for c in p)}
    assert not plain
    readme = (out / "README.md").read_text()
    assert "\n-rf" not in readme
    assert "`rm" not in readme
    lines = [line for line in readme.splitlines() if line.startswith("    ")]
    said = "\n".join(lines) + "".join(t.decode() for p, t in contents(out).items() if p.endswith(".py"))
    assert not any(name in said for name in HOSTILE)
    images = sorted(p.read_bytes() for p in (out / "images").rglob("*.jpg"))
    assert images == sorted(p.read_bytes() for p in Path(pool).rglob("*.jpg"))
    record, back = next(out.glob("*/sequence.json")), tmp_path / "back.json"
    assert ran("import", record, "--from", "json", "--pool", pool, "--out", back).exit_code == 0
    [(name, tasks)] = json.loads(back.read_text()).items()
    assert (name, sorted(tasks[0])) == (sequence, sorted(HOSTILE))


def test_folders_of_sequences() -> None:
    assert folder_names(["search-0"]) == {"search-0": "search-0"}
    ids = ["../x", "/x", "-x", ".x", "x y", "images", "a" * 300, "\u7aef", "\u7af0", "a\nb"]
    found = set(folder_names(ids).values())
    assert len(found) == 10
    assert all(f[0].isalnum() and "/" not in f and len(f) < 65 for f in found)


def test_names_without_a_pool(orders: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("\n".join(names()))
    out = tmp_path / "out"
    asked = ("export", orders, "--to", "avalanche", "--images", "none", "--out", out)
    assert ran(*asked, "--names", tmp_path / "names.txt").exit_code == 0
    assert json.loads((out / "two" / "avalanche_order.json").read_text())["class_order"] == [4, 5, 2, 3]
    assert not list(out.glob("*/manifest.csv"))
    assert ran(*asked).exit_code == 0
    record = json.loads((out / "two" / "sequence.json").read_text())
    assert [c["name"] for t in record["tasks"] for c in t["classes"]] == [names()[i] for i in (4, 5, 2, 3)]
    assert [sorted(names())[i] for i in record["class_order"]] == [names()[i] for i in (4, 5, 2, 3)]


def test_of_the_sequences_of_a_run_the_found_ones_are_exported(tmp_path: Path) -> None:
    world = World(POOL, 0, "", "")
    tasks = (world.task([0, 3]), world.task([1]))
    kinds: dict[str, SequenceKind] = {"search-0": "searched", "random-0": "random"}
    sequences = [TaskSequence(name, kind, (), 0, tasks, (None, None)) for name, kind in kinds.items()]
    classes = {c: (names()[c.index], "") for c in world.class_ids(range(6))}
    write_sequences(tmp_path / "sequences.parquet", RunInfo("run", "", classes), sequences)
    asked = ("export", tmp_path / "sequences.parquet", "--to", "csv", "--out", tmp_path / "out")
    refused(ran(*asked), "give the --pool that it was made on")
    refused(ran(*asked, "--pool", "glyphs:classes=7"), "whose images are not those of --pool")
    refused(ran(*asked, "--pool", POOL, "--seed", 1), "was split into training and test images with another --seed")
    assert ran(*asked, "--pool", POOL).exit_code == 0
    [read] = read_named(tmp_path / "out" / "sequences.csv")
    assert (read.name, read.tasks) == ("search-0", ((names()[0], names()[3]), (names()[1],)))
    assert ran(*asked, "--pool", POOL, "--which", "all").exit_code == 0
    assert len(read_named(tmp_path / "out" / "sequences.csv")) == 2


@pytest.mark.long
def test_a_run_goes_out_and_comes_back(tmp_path: Path) -> None:
    """What the run says of its pool and split is enough."""
    settings = small_settings(methods="simplecil", tasks=2, simulations=2, condensed=2)
    folder = RunFolder.create(tmp_path / "run", settings)
    assert execute(folder, settings)
    found = [s for s in read_results(folder.path).sequences if s.kind == "searched"]
    assert ran("export", folder.path, "--to", "csv", "--out", tmp_path / "csv", "--images", "copy").exit_code == 0
    written = read_named(tmp_path / "csv" / "sequences.csv")
    assert [n.name for n in written] == [s.sequence_id for s in found]
    assert ran("export", folder.path, "--to", "pilot", "--out", tmp_path / "all", "--which", "all").exit_code == 0
    assert len(list((tmp_path / "all").glob("*/manifest.csv"))) > len(found)
    config = tmp_path / "all" / found[0].sequence_id / "seqsearch_config.json"
    asked = ("import", config, "--from", "pilot", "--pool", settings.pool, "--name", "again", "--json")
    back = ran(*asked, "--out", tmp_path / "back.json")
    assert back.exit_code == 0, back.output
    [read] = read_named(tmp_path / "back.json")
    assert read.name == "again"
    assert [sorted(t) for t in read.tasks] == [sorted(t) for t in written[0].tasks]


def test_imports_are_refused_in_one_line(orders: Path, tmp_path: Path) -> None:
    order = tmp_path / "order.json"
    order.write_text("[0, 1, 2, 3, 4, 5]")
    asked = ("import", order, "--from", "json", "--out", tmp_path / "back.json")
    refused(ran(*asked), "name the classes", "--pool POOL, or --names FILE")
    refused(ran(*asked, "--pool", POOL, "--task-sizes", "4"), "6 classes are not tasks of 4")
    refused(ran(*asked, "--pool", POOL, "--task-sizes", "x"), "--task-sizes x")
    refused(ran(*asked[:-1], tmp_path / "back.csv", "--pool", POOL), "must end in .json")
    two = ("import", orders, "--from", "json", "--pool", POOL, "--out", tmp_path / "back.json")
    refused(ran(*two, "--name", "x"), "has 2 sequences")
    assert not (tmp_path / "back.json").exists()
    assert ran(*asked, "--pool", POOL, "--task-sizes", "2").exit_code == 0
    assert os.path.getsize(tmp_path / "back.json")


def test_score_names_the_nearest_classes() -> None:
    source = Source(Path("typo.json"), named=(NamedSequence("a", ((names()[0] + "z",),)),))
    with pytest.raises(UserError, match=f"the nearest: {names()[0]!r}"):
        placed(source, World(POOL, 0, "", ""))


def test_what_it_takes_is_told_before_it_is_written(
    orders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("export", orders, "--pool", POOL, "--to", "pilot", "--out", tmp_path / "out")
    monkeypatch.setattr(writing, "LARGE", 10)
    assert "24 images, about" in ran(*asked).stderr
    monkeypatch.setattr(writing.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    refused(ran(*asked[:-1], tmp_path / "more"), "24 images", "free some space", "--images paths")
    assert not (tmp_path / "more").exists()


def test_nothing_is_overwritten_by_an_import(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[[0, 1], [2, 3]]")
    (tmp_path / "names.txt").write_text("a\nb\nc\nd\n")
    words = ["import", str(tmp_path / "mine.json"), "--from", "json", "--names", str(tmp_path / "names.txt")]
    result = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "mine.json")])
    assert result.exit_code == 2
    assert "is there already" in result.stderr
    assert (tmp_path / "mine.json").read_text() == "[[0, 1], [2, 3]]"


def test_a_configuration_of_one_toolbox_is_not_read_as_that_of_another(tmp_path: Path) -> None:
    """A trimmed one, which says neither backbone_type nor convnet_type: Mammoth's order would run the other way."""
    (tmp_path / "own.json").write_text(
        '{"init_cls": 2, "increment": 2, "dataset": "cifar100", "class_order": [3, 2, 0, 1]}'
    )
    (tmp_path / "names.txt").write_text("a\nb\nc\nd\n")
    words = ["import", str(tmp_path / "own.json"), "--names", str(tmp_path / "names.txt"), "--out"]
    for form in ("mammoth", "avalanche", "lae"):
        result = CliRunner().invoke(main, [*words, str(tmp_path / f"{form}.json"), "--from", form, "--task-sizes", "2"])
        assert result.exit_code == 2
        assert "is a file of P" in result.stderr
    for form in ("pilot", "pycil"):
        assert CliRunner().invoke(main, [*words, str(tmp_path / f"{form}.json"), "--from", form]).exit_code == 0


def test_sequences_of_several_lengths_are_exported(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"a": [["c1", "c2"], ["c3"]], "b": [["c1"], ["c2"], ["c4"]]}')
    words = ["export", str(tmp_path / "own.json"), "--to", "json", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out" / "sequences.json").read_text())["b"] == [["c1"], ["c2"], ["c4"]]
