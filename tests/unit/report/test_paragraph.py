"""The paragraph on how a run was made, and the references that it cites."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import seqsearch as ss
from protocols.cli.main import main
from protocols.report.paragraph import latex
from protocols.report.references import OF_PROTOCOL, known, references, titles_of
from protocols.running.protocol import protocols
from seqsearch.core.kinds import ItemKind, names
from seqsearch.results.digest import run_digest
from tests.unit.api.small import SMALL

WITHOUT_PAPER = {"finetune", "joint", "frozen_head", "command", "random", "majority"}
"""Baselines that nobody published as a method."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ss.cldyb(**{**SMALL, "methods": "simplecil,ranpac:M=64"}, out=tmp_path_factory.mktemp("runs") / "made").path


def printed(*words: object) -> str:
    done = CliRunner().invoke(main, ["tables", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_paragraph_has_the_numbers_of_the_run(run: Path) -> None:
    text = printed(run, "--to", "markdown", "--paragraph")
    config = json.loads((run / "config.json").read_text())
    for part in (
        "Classes came from glyphs:train=6,reward=4,test=4,classes=12 (12 classes).",
        "Each class had 10 training and 4 test images.",
        "Searches trained on 6 of the training images and were rewarded on the other 4.",
        "Methods: simplecil and ranpac:M=64, on glyph_vit.",
        "A sequence had 2 tasks of 2 classes.",
        "The study had 1 search, 5 random sequences and 2 training seeds; its seed was ",
        f"torch {config['identity']['versions']['torch']}",
        f"Digest of the run: {run_digest(run)}.",
    ):
        assert part in text
    assert re.findall(r"@\w+\{(\w+),", text) == [
        "chen2025cldyb",
        "zhou2024revisiting",
        "mcdonnell2023ranpac",
    ]


def test_of_a_score_it_tells_how_its_sequences_were_found(run: Path, tmp_path: Path) -> None:
    score = ss.score(run, methods="ranpac:M=32", out=tmp_path / "score").path
    text = printed(score, "--to", "markdown", "--paragraph")
    for part in (
        "Methods: ranpac:M=32, ranpac:M=64 and simplecil, on glyph_vit.",
        "The evaluation used 1 found and 5 random sequences of 2 tasks, each of 2 classes.",
        f"The sequences are those of {run}. At each step, seqsearch proposed candidate tasks",
        "The study had 1 search, 5 random sequences and 2 training seeds; its seed was ",
        "Results of ranpac:M=64 and simplecil were taken over with them.",
    ):
        assert part in text
    assert "(--" not in text
    assert len(re.findall(r"@\w+\{(\w+),", text)) == 3
    run.rename(run.with_name("away"))
    try:
        text = printed(score, "--to", "markdown", "--paragraph")
    finally:
        run.with_name("away").rename(run)
    assert f"The sequences are those of {run}. Results of ranpac:M=64" in text


def test_it_names_the_conditions_of_the_figures(tmp_path: Path) -> None:
    small = {name: SMALL[name] for name in ("methods", "pool", "tasks", "workers", "quiet")}
    made = ss.edge(**small, classes=4, random_sequences=5, out=tmp_path / "edge").path
    text = printed(made, "--to", "markdown", "--paragraph")
    assert "Figures hold for these classes, this split and these test images." in text
    assert ".parquet" not in text


def test_latex_cites_every_reference_once(run: Path) -> None:
    text = printed(run, "--paragraph")
    cited = re.findall(r"\\cite\{([^}]+)\}", text)
    assert cited == ["chen2025cldyb", "zhou2024revisiting,mcdonnell2023ranpac"]
    assert r"\emph{CLDyB: Towards Dynamic Benchmarking" in text


def test_files_of_a_folder(run: Path, tmp_path: Path) -> None:
    printed(run, "--paragraph", "--out", tmp_path / "tables")
    wanted = ["methods.tex", "paragraph.tex", "preamble.tex", "references.bib", "tables.json"]
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == wanted


def test_other_formats_have_no_paragraph(run: Path) -> None:
    done = CliRunner().invoke(main, ["tables", str(run), "--paragraph", "--to", "csv"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "choose latex or markdown" in done.stderr


def test_every_method_has_the_reference_that_its_docstring_names() -> None:
    kinds: tuple[ItemKind, ...] = ("method", "learner")
    for kind in kinds:
        for name in set(names(kind)) - WITHOUT_PAPER:
            assert titles_of(kind, [f"{name}:epochs=1"]), name
    assert titles_of("method", ["mine.py:Mine"]) == titles_of("method", ["finetune"]) == []


def test_a_method_and_a_learner_of_one_name_have_references_of_their_own() -> None:
    methods = {"methods": {"er": {}}}
    of_tasks, of_streams = (references({"protocol": p, "identity": methods}) for p in ("cldyb", "online"))
    assert [r.key for r in of_tasks] == ["chen2025cldyb", "chaudhry2019tiny"]
    assert [r.key for r in of_streams] == ["hammoud2023rapid"]


def test_protocols_and_keys() -> None:
    keys = [r.key for r in known()]
    assert len(keys) == len(set(keys)) == Path("protocols/report/references.bib").read_text().count("@")
    assert set(protocols()) <= set(OF_PROTOCOL)
    assert set(OF_PROTOCOL.values()) <= {r.title for r in known()}
    assert references({"protocol": "cldyb", "identity": "damaged"})[0].key == "chen2025cldyb"


def test_names_are_text_in_latex() -> None:
    assert latex(r"\input{x} & 5 %", ()) == "\\textbackslash{}input\\{x\\} \\& 5 \\%\n"


def test_a_digest_changes_with_any_byte(run: Path, tmp_path: Path) -> None:
    for name in ("config.json", "results.parquet", "log.jsonl"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    first = run_digest(tmp_path)
    (tmp_path / "log.jsonl").write_bytes(b"")
    assert run_digest(tmp_path) == first
    damaged = bytearray((tmp_path / "results.parquet").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "results.parquet").write_bytes(damaged)
    assert run_digest(tmp_path) != first
