"""What is refused, and listed, before torch, Ray and Arrow are imported; names that may have been meant."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.report.commands.methods import describe, method_table, methods_json
from seqsearch.core.registry import names
from tests.lines import messages
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

ROOT = Path(__file__).parents[3]
HEAVY = "torch", "timm", "ray", "pyarrow", "scipy", "matplotlib"
COMMAND = f"""
import sys
from protocols.cli.main import main
try:
    main(sys.argv[1:], standalone_mode=True)
except SystemExit as ended:
    code = ended.code
print("heavy:", [m for m in {HEAVY!r} if m in sys.modules], "exit:", code or 0, file=sys.stderr)
"""
LIGHT = "heavy: [] exit: "


def alone(*arguments: str, folder: Path = ROOT) -> tuple[str, str]:
    """What a command prints, and says, in a process of its own, with what is left imported as the last line."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("cldyb --methods ranpca", "unknown method 'ranpca': did you mean ranpac? there are acil, afec, aper_adapter"),
        ("cldyb --methods ranpac:m=10", "no parameter 'm'; did you mean M? it has: epochs"),
        ("cldyb --methods er,ranpac:M=0", "method 'ranpac:M=0': M=0: must be at least 1"),
        ("cldyb --methods l2p:top_k=9,size=5", "method 'l2p:top_k=9,size=5': top_k=9: must be at most size=5"),
        ("cldyb --methods er --backbone glyph_vit:cut=1", "backbone 'glyph_vit:cut=1': no option 'cut'; it has none"),
        ("cldyb --methods er --surrogate simplecli", "unknown method 'simplecli': did you mean simplecil?"),
        ("cldyb --methods er --grow 3:glyfs", "pool 'glyfs' does not exist: did you mean glyphs?"),
        ("edge --methods er --pool glyphs:clases=3", "no option 'clases'; did you mean classes? it has train"),
        ("gtep --methods er --pool glyphs --tune-pool glyps", "pool 'glyps' does not exist: did you mean glyphs?"),
        ("mcil --methods mm_ep", "unknown method 'mm_ep': did you mean mm_er or "),
        ("online --methods ern", "unknown learner 'ern': did you mean er?"),
        ("online --methods er --stream glyfs", "stream 'glyfs' does not exist: did you mean glyphs?"),
        ("duel er ranpca", "unknown method 'ranpca': did you mean ranpac?"),
        ("score nowhere --methods ranpca", "unknown method 'ranpca': did you mean ranpac?"),
        ("check ranpca", "unknown method 'ranpca': did you mean ranpac?"),
        ("check acn --learner", "unknown learner 'acn': did you mean "),
        ("check ranpac:M=0", "M=0: must be at least 1"),
        ("methods ranpca", "unknown method 'ranpca': did you mean ranpac?"),
        ("cldyb --methods er:lr,ranpac", "method 'er:lr': parameter 'lr' has no value: write er:lr=VALUE"),
        ("check acm:lr", "method 'acm:lr': parameter 'lr' has no value: write acm:lr=VALUE"),
        ("online --methods ER:lr", "learner 'ER:lr': parameter 'lr' has no value: write ER:lr=VALUE"),
        ("mcil --methods er@glyph_vit:lr", "'glyph_vit:lr': parameter 'lr' has no value: write glyph_vit:lr=VALUE"),
        ("edge --methods er --pool glyphs:classes", "parameter 'classes' has no value: write glyphs:classes=VALUE"),
        (
            "cldyb --methods er --backbone resnet500",
            "unknown backbone 'resnet500': it is none of glyph_vit and plain_vit, nor a",
        ),
        ("edge --methods er@resnet500", "(timm.list_models()); close to it: resnet50"),
        ("online --methods er --backbone resnet500", "unknown backbone 'resnet500'"),
        ("mcil --methods mm_er --backbone flav", "unknown backbone 'flav': did you mean flava?"),
        ("gtep --methods er --tune-pool glyphs:half=1 --pool glyphs:half=2 --backbone resnet500", "'resnet500'"),
        ("score frozen:cifar100-hard-10 --methods er --backbone resnet500", "unknown backbone 'resnet500'"),
        (
            "score frozen:cifar100-hard-10 --methods er --pool glyphs:clases=3",
            "no option 'clases'; did you mean classes?",
        ),
        ("online --methods er --stream glyphs:smples=1", "no option 'smples'; did you mean samples?"),
        ("pool show glyphs:clases=3", "no option 'clases'; did you mean classes?"),
        ("stream show glyphs:smples=1", "no option 'smples'; did you mean samples?"),
        ("similarity names --pool glyps --out a.csv", "pool 'glyps' does not exist: did you mean glyphs?"),
        ("similarity confusion --method ranpca --out a.csv", "unknown method 'ranpca': did you mean ranpac?"),
        ("similarity prototypes --backbone resnet500 --out a.csv", "unknown backbone 'resnet500'"),
        ("compare nowhere nothing", "nowhere is no run folder: it has no config.json"),
        ("assess nowhere", "nowhere is no run folder: it has no config.json"),
        ("power nowhere", "nowhere is no run folder: it has no config.json"),
        ("cldyb --tsks 3", "no such option '--tsks'. (Did you mean one of: '--tasks', '--tune-tasks'?)"),
        ("edge --epochs 3", "it is a parameter of methods: write --methods METHOD:epochs=VALUE"),
        ("clydb", "no such command 'clydb'. Did you mean cldyb?"),
        ("cldyb --methods nowhere.py:Mine", "nowhere.py' does not exist"),
        ("pool build photos/", "OUT.parquet is missing: photos is a source, name the file to be made behind it, as in"),
    ],
)
def test_refused_without_what_takes_seconds_to_import(command: str, says: str) -> None:
    _, said = alone(*command.split())
    assert says in said
    assert said.splitlines()[-1] == f"{LIGHT}2"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("cldyb --methods er --pool empty", "empty' has no images in root/class/image or root/group/class/image"),
        ("cldyb --methods er --pool glyphs:classes=x --dry-run", "classes='x' must be a whole number from 1 to 1106"),
        ("edge --methods er --similarity wrong.csv", "wrong.csv: cannot be read as a matrix"),
        ("gtep --methods er --tune-pool glyphs --pool glyphs:classes=5", "are different scenarios (glyphs has 1106, "),
        ("mcil --methods finetune --experiences 1000", "lower --experiences to 553"),
        ("duel er simplecil --on names.csv", "sequence 'a' has class 'Zebra' and 1 more, which --pool glyphs has not"),
        ("score wrong.csv --methods er", "wrong.csv: no column step, class_name; sequences are"),
        ("online --methods er --stream pool:empty", "empty' has no images in root/class/image"),
    ],
)
def test_files_and_pools_are_refused_without_it(command: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "wrong.csv").write_text("column\n")
    (tmp_path / "names.csv").write_text("sequence_id,step,class_name\na,1,Zebra\na,2,Okapi\n")
    _, said = alone(*command.split(), folder=tmp_path)
    assert says in said
    assert said.splitlines()[-1] == f"{LIGHT}2"
    assert not (tmp_path / "runs").exists()


def test_methods_are_listed_without_it_as_with_it() -> None:
    """In this process torch is there, and the modules themselves are asked."""
    importlib.import_module("torch")  # so that they are, whatever ran before

    listed, said = alone("methods")
    assert said.splitlines()[-1] == f"{LIGHT}0"
    assert listed == f"{method_table()}\n"
    listed, said = alone("methods", "--json")
    assert said.splitlines()[-1] == f"{LIGHT}0"
    assert json.loads(listed) == json.loads(json.dumps(methods_json()))


@pytest.mark.long
def test_a_summary_is_shown_without_what_draws(tmp_path: Path) -> None:
    made = sequence(glyphs(), "search-0", "searched", ["er"], [[0, 1], [2, 3]])
    evaluated = [rescored(made, "er", 1000, outcome([[0.9], [0.5, 0.8]], [[0.9], [0.9, 0.85]]))]
    run = write_run(tmp_path / "run", glyphs(), [made], evaluated, ["er"])
    printed, said = alone("show", str(run), "--details")
    assert "Method" in printed
    assert "matplotlib" not in said.splitlines()[-1]
    assert said.splitlines()[-1].endswith("exit: 0")


READ = """
import json, sys
from protocols.report.commands.methods import describe
from seqsearch.core.declared import module
from seqsearch.core.registry import names
found = {}
for kind, package in (("method", "methods"), ("learner", "learners")):
    for name in names(kind):
        module(f"seqsearch.{package}.{name}")  # raises where it would have to be imported
        found[f"{kind} {name}"] = describe(name, kind)
assert "torch" not in sys.modules
print(json.dumps(found))
"""


def test_what_is_read_of_every_method_and_learner_is_what_importing_it_gives() -> None:
    importlib.import_module("torch")  # so that `describe` imports the modules here

    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True, timeout=300)
    read: dict[str, Any] = json.loads(done.stdout)
    assert len(read) == len(names("method")) + len(names("learner"))
    for method, record in read.items():
        kind, _, name = method.partition(" ")
        assert record == json.loads(json.dumps(describe(name, "learner" if kind == "learner" else "method"))), method


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("onlin", "no such command 'onlin'. Did you mean online?"),
        ("serach", "no such command 'serach'. Did you mean cldyb?"),
        ("zzz", "no such command 'zzz'. There are assess, check, cldyb, "),
        ("rum", "no such command 'rum'. Did you mean one that makes a run: cldyb, duel, edge, "),
        (
            "cldyb --epochs 3",
            "no such option '--epochs': it is a parameter of methods: write --methods METHOD:epochs=VALUE",
        ),
        ("mcil --backbone-lr=1", "it is a parameter of methods: write --methods METHOD:backbone_lr=VALUE"),
        ("edge --gpu", "no such option '--gpu': write --device cuda"),
        ("edge --methods er --device gpu", "'gpu' is not one of 'auto', 'cpu', 'cuda'. Did you mean cuda?"),
        ("mcil --dataset photos/", "no such option '--dataset': write --pool"),
        ("cldyb --seeds 3", "no such option '--seeds': write --score-seeds or --seed"),
        ("gtep --seeds 3", "no such option '--seeds': write --seed"),
        ("list", "no such command 'list'. Did you mean methods?"),
        ("cldyb simplecil", "got unexpected extra argument (simplecil): write --methods simplecil"),
        (
            "edge RanPAC:M=500,er mine.py:Mine",
            "arguments (RanPAC:M=500,er mine.py:Mine): write --methods RanPAC:M=500,er,mine.py:",
        ),
        ("cldyb photos", "got unexpected extra argument (photos) (see: seqsearch cldyb --help)"),
        ("online --methods acm,RanPAC", "unknown learner 'ranpac': it is a method of tasks, for seqsearch cldyb, "),
        ("cldyb --methods acm", "unknown method 'acm': it is a learner of streams, for seqsearch online; "),
        (
            "cldyb --methods er --pool cifar100",
            "glyphs; of a data set name your copy: its folder, or the file that seqsearch ",
        ),
        ("pool biuld", "no such command 'biuld'. Did you mean build?"),
        ("stream shwo", "no such command 'shwo'. Did you mean show?"),
        ("cldyb --methods er --precision x", "invalid value for '--precision': 'x' is not one of 'float32', 'bf16'"),
        ("cldyb --zzz", "no such option '--zzz' (see: seqsearch cldyb --help)"),
        ("--zzz", "no such option '--zzz' (see: seqsearch --help)"),
        ("show", "missing argument 'RUN' (see: seqsearch show --help)"),
        ("cldyb --methds er", "Did you mean '--methods'?"),
        (
            "cldyb --methods er --reward papr",
            "'papr' is not one of 'paper', 'forgetting', 'gap-to-joint', 'shuffled'. Did you mean paper?",
        ),
        ("online --methods er --samplers unifrom", "--samplers 'unifrom': did you mean uniform? there are uniform"),
        ("cldyb --methods er --backbone glyph_vitt", "unknown backbone 'glyph_vitt': did you mean glyph_vit"),
        ("pool build a.parquet b.txt", "b.txt must end in .parquet: it is the last argument"),
        ("pool build photos.parquet", "name sources before OUT.parquet"),
    ],
)
def test_names_that_may_have_been_meant(command: str, says: str) -> None:
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 2
    assert says in result.stderr
    [line] = messages(result.stderr)
    assert line.startswith("seqsearch: ")


def test_a_file_that_is_there_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "photos.parquet").write_bytes(b"")
    result = CliRunner().invoke(main, ["pool", "build", str(tmp_path / "photos.parquet")])
    assert result.exit_code == 2
    assert "OUT.parquet is missing" in result.output
    assert "photos2.parquet" in result.output
