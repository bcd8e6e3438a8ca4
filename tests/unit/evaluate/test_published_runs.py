"""Entries of the ledger that need data, on stand-ins for them, and what their answers are read by, on small runs.

The stand-ins are the only substitution: for each data set a Parquet pool of tiny one-coloured images, with as many classes and
the same groups, with a text each where they are pairs; the embedded backbones for ViT-B/16 and FLAVA, and names compared by
n-grams for CLIP's text encoders, which would be downloaded; one epoch, since nothing here depends on what is learned.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.evaluate.published.figures import from_answers
from protocols.evaluate.published.records import Data, Entry, Read
from protocols.evaluate.published.running import Places, costs, run, waits
from seqsearch.building.pool import Options, build_parquet
from seqsearch.pools.open import build_pool
from seqsearch.stats.distribution import PValues
from tests.unit.evaluate.commands import told
from tests.unit.evaluate.published import ledger, stand_in, stand_in_stream

TINY = ["--pool", "glyphs:classes=12,train=6,reward=3,test=3", "--methods", "simplecil,er:epochs=1"]


def made(folder: Path, data: Data) -> Path:
    """The stand-in for a data set, as Parquet, which all its commands open quickly."""
    if data.kind == "stream":
        return stand_in_stream(folder / data.path)
    pool = folder / Path(data.path).with_suffix(".parquet")
    source = stand_in(folder / f"{data.name}-images", data.classes, data.groups)
    build_parquet([(data.name, build_pool(str(source)))], pool, Options(min_images=4), workers=2)
    return captioned(pool) if data.kind == "pairs" else pool


def captioned(pool: Path) -> Path:
    """The same file with a text for each image."""
    table = pq.read_table(pool).replace_schema_metadata(None)
    texts = [f"a thing of shade {i % 7}" for i in range(len(table))]
    pq.write_table(table.append_column("caption", pa.array(texts)), pool)
    return pool


def on_default(learners: str) -> str:
    """Learners, or the path of one's figures, without backbones."""
    return re.sub(r"@[^:,\]]+", "", learners)


def substituted(words: list[str], pools: dict[str, Path]) -> list[str]:
    """A command on stand-ins."""
    out: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if before == "--backbone" and word.startswith("scratch:"):
            out.append("scratch:tiny")
            continue
        if before == "--methods":  # minutes on a CPU
            word = re.sub(r"@scratch:[^:,]+", "@scratch:tiny", word)
        if before in ("--backbone", "--encoder", "--encoders"):
            out.pop()
            continue
        if before == "--methods" and "--stream" in words:  # learners have backbones of their own
            word = on_default(word)
        name, colon, options = Path(word).name.partition(":")
        out.append(f"{pools[name]}{colon}{options}" if word.startswith("{data}") and name in pools else word)
    return out


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("stand-ins")
    return {d.path: made(folder, d) for d in ledger().data if d.name != "cldyb-sources"}


def unlike() -> list[str]:
    """Entries without those whose commands train the same methods on the same networks as earlier ones do, on other data."""
    kept, known = [], set[tuple[str, ...]]()
    for entry in ledger().entries:
        if entry.data and entry.commands:
            said = {
                (w[1], *(v for o, v in itertools.pairwise(w) if o in ("--methods", "--backbone")))
                for w in entry.words()
            }
            kept += [entry.name] if said - known else []
            known |= said
    return kept


@pytest.mark.long
@pytest.mark.usefixtures("one_epoch")
@pytest.mark.parametrize("name", unlike())
def test_a_dry_run_takes_the_command(name: str, pools: dict[str, Path], tmp_path: Path) -> None:
    entry = ledger().entry(name)
    ready = [w for w in entry.words() if not waits(w) and w[1] != "pool"]
    assert ready or entry.words()[0][1] == "pool"
    unlike = {tuple(w for w in words if "{" not in w): words for words in ready}  # not only in data set and folder
    for words in unlike.values():
        put = Places(tmp_path, tmp_path / "out").put(substituted(words, pools))
        put = [w for i, w in enumerate(put) if w != "--out" and put[i - 1] != "--out"]
        alike = ["--allow-overlap", "all"] if put[1] == "gtep" else []  # the stand-ins have the same classes and images
        ran = CliRunner().invoke(main, [*put[1:], *alike, "--dry-run", "--workers", "0"])
        assert ran.exit_code == 0, f"{' '.join(put)}\n{ran.output}"
        said = json.loads(ran.stdout)
        assert said["runs" if put[1] == "online" else "trainings"] > 0


def small(read: Read) -> Read:
    """The same paths, of the methods of a small run."""
    by_row = "method={row}" in read.value or "method_id={row}" in read.value
    by_column = "method_id={column}" in read.value
    return Read(
        read.value.replace("hide_prompt", "simplecil").replace("[run=hard]", "").replace("[run={column}]", ""),
        tuple((c, "simplecil" if by_column else k) for c, k in read.columns),
        tuple((r, "simplecil" if by_row else k) for r, k in read.rows if not k.startswith("encoder: ")),
        *(p.replace("[run=hard]", "").replace("[run={column}]", "") for p in (read.low, read.high)),
        read.times,
    )


def ours(entry: Entry, reads: list[Read], answer: Any) -> list[float | None]:
    fields = {**vars(entry), "read": tuple(map(small, reads))}
    return [f.ours for f in from_answers(Entry(**fields), [answer])]


@pytest.mark.long
def test_figures_of_an_enumeration_stand_where_they_are_read(tmp_path: Path) -> None:
    answer = told(
        "edge",
        tmp_path / "e",
        "--pool",
        "glyphs:classes=6,train=6,reward=3,test=6",
        "--methods",
        "simplecil",
        "--classes",
        "first:6",
        "--tasks",
        3,
        "--enumerate",
        "--score-seeds",
        1,
        "--similarity",
        "names",
        "--planner",
        "paper",
        "--random-sequences",
        5,
    )
    normal = {"box_cox_lambda", *(f"{f.name}_p" for f in dataclasses.fields(PValues))}
    for e in ledger().entries:
        for r in e.read if e.paper == "edge" and e.data else ():
            if "about=normality" in r.value or "box_cox" in r.value:  # of so few different accuracies there is none
                assert any(f"[figure={n}]/value" in r.value for n in normal)
                continue
            assert all(isinstance(v, float) for v in ours(e, [r], answer)), e.name


@pytest.mark.long
def test_figures_of_searches_stand_where_they_are_read(tmp_path: Path) -> None:
    found = tmp_path / "found"
    searched = told(
        "cldyb",
        found,
        *TINY,
        "--tasks",
        2,
        "--classes-per-task",
        3,
        "--candidates",
        2,
        "--condensed",
        2,
        "--simulations",
        2,
        "--random-sequences",
        5,
        "--score-seeds",
        2,
    )
    assert all(
        v is not None
        for v in ours(ledger().entry("cldyb-figure-6"), list(ledger().entry("cldyb-figure-6").read), searched)
    )
    told("score", tmp_path / "held", found, "--heldout-pool", "glyphs:classes=9,train=6,reward=3,test=3,seed=4")
    ran = CliRunner().invoke(main, ["compare", str(tmp_path / "held"), "--json"])
    for name in ("cldyb-table-1", "cldyb-table-4"):
        entry = ledger().entry(name)
        assert all(isinstance(v, float) for v in ours(entry, list(entry.read), json.loads(ran.stdout)))


ONLINE = [e for e in ledger().entries if e.paper == "near-future" and e.commands]


def played(words: list[str], out: Path) -> Any:
    """What a command of the online protocol answers on a small stream with small steps; S from 256 on becomes 64."""
    put = [w for w in substituted(words, {})[2:] if w != "--json"]
    flags = dict(zip(put[::2], put[1::2], strict=True))
    auto = flags["--shift"] == "auto"  # of which the search part must be long, and no image is seen
    flags |= {
        "--stream": f"glyphs:samples={60_000 if auto else 450},classes=5,burst=3",
        "--search": "0.95" if auto else "0.6",
    }
    flags |= {"--batch": "32", "--seeds": "1", "--augment": "none", "--shift": "auto" if auto else "64"}
    return told("online", out, *(w for f, v in flags.items() if f != "--out" for w in (f, v)))


@pytest.mark.long
@pytest.mark.parametrize("entry", ONLINE, ids=lambda e: e.name)
def test_figures_of_learners_stand_where_they_are_read(entry: Entry, tmp_path: Path) -> None:
    answers = [played(words, tmp_path / str(i)) for i, words in enumerate(entry.words())]
    for r in entry.read:
        at = [re.sub(r"/as_published/(256|16384)", "/as_published/64", on_default(p)) for p in (r.value, r.low, r.high)]
        rows = tuple((name, on_default(key)) for name, key in r.rows)
        read = dataclasses.replace(r, value=at[0], low=at[1], high=at[2], rows=rows)
        found = from_answers(dataclasses.replace(entry, read=(read,)), answers)
        assert all(isinstance(f.ours, int | float) for f in found), read


@pytest.mark.long
@pytest.mark.usefixtures("one_epoch")
@pytest.mark.parametrize(
    "entry", [e for e in ledger().entries if e.paper == "mcil" and e.commands], ids=lambda e: e.name
)
def test_figures_of_strategies_stand_where_they_are_read(entry: Entry, tmp_path: Path) -> None:
    (words,) = entry.words()
    put = [w for w in substituted(words, {})[2:] if w != "--json"]
    flags = dict(zip(put[::2], put[1::2], strict=True))
    flags |= {"--pool": "glyphs:captions=first,classes=20,train=3,reward=1,test=2", "--seeds": "1"}
    answer = told("mcil", tmp_path / "run", *(w for f, v in flags.items() if f != "--out" for w in (f, v)))
    found = from_answers(entry, [answer])
    assert len(found) == 7 * 12
    assert all(isinstance(f.ours, float) for f in found)


@pytest.mark.long
def test_an_entry_that_trains_is_run_kept_and_gone_on_with(tmp_path: Path) -> None:
    common = "--pool glyphs:classes=8,train=4,reward=2,test=4 --methods simplecil,er:epochs=1 --tasks 4 --workers 0"
    few = "--random-sequences 5 --score-seeds 2 --rs-seeds '' --crossed-orders 0"
    entry = Entry(
        "small",
        "p",
        "Table 1",
        "accuracy",
        "not run",
        ("Acc",),
        (("ER", "50.0"),),
        hours_how="seconds",
        commands=(
            f"seqsearch edge {common} {few} --json --out {{out}}/e",
            "seqsearch compare {out}/e --json",
        ),
        read=(
            Read(
                "sides[side=random][method={row}]/figures/{column}/value/value",
                (("Acc", "acc"),),
                (("ER", "er:epochs=1"),),
                "sides[side=random][method={row}]/figures/{column}/value/low",
                "sides[side=random][method={row}]/figures/{column}/value/high",
                100.0,
            ),
        ),
    )
    places, said = Places(None, tmp_path / "out"), list[str]()
    [(_, first), (_, second)] = costs(entry, places, places)
    assert first is not None
    assert first["trainings"] > 0
    assert second is None
    [figure] = run(entry, places, said.append)
    assert figure.ours is not None
    assert 0 < figure.ours <= 100
    assert len(said) == 2
    assert run(entry, places, said.append) == [figure]
    assert [line.split()[0] for line in said] == ["running:"] * 2 + ["kept"] * 2
    (tmp_path / "out/answer-1.json").unlink()  # as if it had been interrupted
    assert run(entry, places, said.append) == [figure]
    assert "--resume" in said[4]
