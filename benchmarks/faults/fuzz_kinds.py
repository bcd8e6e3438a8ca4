"""The kinds of files that `benchmarks.faults.fuzz` damages: how sound ones are made, and how seqsearch reads them."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from rich.console import Console
from safetensors.torch import save_file

from benchmarks.faults.fuzz_answers import answer_changed, graded, predicted, read_graded, read_predicted
from benchmarks.faults.fuzz_captions import captioned_pool, read_texts, texts_in
from benchmarks.faults.fuzz_damage import Damage, bytes_changed, journal_changed, json_changed
from benchmarks.faults.fuzz_given import (
    named,
    read_compared,
    read_compared_table,
    read_score,
    read_sequences,
    score_run,
    table,
)
from benchmarks.faults.fuzz_streams import (
    arrays,
    of_features_file,
    of_others,
    of_photos,
    read_arrays,
    read_stream,
    read_tables,
    tables,
)
from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.cli.run_commands import run_command
from protocols.report.cldyb.view import view
from protocols.report.commands.status import lines
from protocols.report.page import write_page
from protocols.report.terminal import render
from protocols.running.event_log import EventLog
from protocols.running.folder import RunFolder
from protocols.running.status import status
from seqsearch.backbones.parts.state_dict import tensors
from seqsearch.engine.journal import Journal
from seqsearch.engine.journal_lines import written
from seqsearch.pools.base import Split, View
from seqsearch.pools.open import build_pool
from seqsearch.states.folder import StateFolder
from tests.unit.engine.test_journal import edge, probe
from tests.unit.pools.test_parquet import hub, own_layout, png
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

ORIGIN = {
    "pool": "glyphs", "digest": "d", "from_step": 2, "classes": 5, "in_play": 4, "images": 9, "split": "own",
    "excluded_groups": ["g"],
}  # fmt: skip
NAMES = ("pool_digest", "split_digest", "weights", "versions", "device", "first_task")
IDENTITY = {"pools": [ORIGIN], **dict.fromkeys(NAMES, "same")}
"""Of the run that is damaged, beside its methods."""


@dataclass(frozen=True)
class Kind:
    """Files of one kind: ``make`` writes sound ones and returns those to be damaged, ``read`` reads what lies in the folder.

    Args:
        silent: reading never refuses: what is damaged is as if it were not there.
        linked: files and folders become links to what is elsewhere, which must stay as it is.
    """

    make: Callable[[Path], list[Path]]
    read: Callable[[Path], object]
    damage: Damage
    silent: bool = False
    linked: bool = False


def _read_pool(folder: Path) -> None:
    pool = build_pool(str(next(folder.iterdir())))
    for row in range(sum(c.count for c in pool.classes)):
        pool.images(np.array([row]), View(8))
    pool.captions(np.arange(1)) if hasattr(pool, "captions") else None
    if getattr(pool, "bound", None) is not None:
        pool.sets(np.arange(1))
        Split(pool, 0).check(range(len(pool.classes)))


def _hub(folder: Path) -> list[Path]:
    return [hub(folder / "x.parquet", 9)[0]]


def _own(folder: Path) -> list[Path]:
    own_layout(folder / "x.parquet", [png(i) for i in range(9)], [i % 3 for i in range(9)], 4)
    return [folder / "x.parquet"]


def _images(folder: Path) -> list[Path]:
    made = []
    (folder / "pool" / "ant").mkdir(parents=True)
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (24, 24, 3), np.uint8))
    for kind in ("png", "jpeg", "webp", "gif", "bmp", "tiff"):
        made.append(folder / "pool" / "ant" / f"x.{kind}")
        noise.save(made[-1])
    return made


def _journal(folder: Path) -> list[Path]:
    journal = Journal(folder)
    journal.note(session="begin", workers=0)
    journal.add(edge("a"), probe("p"), edge("b", "failed"))
    journal.note(session="end", wall_seconds=1.0, busy_share=None)
    journal.close()
    return [journal.path]


def _read_journal(folder: Path) -> None:
    journal = Journal(folder)
    known = [journal.edge("a"), journal.probe("p")]
    journal.add(edge("c"))
    journal.close()
    again = Journal(folder)
    assert [again.edge("a"), again.edge("c")] == [known[0], edge("c")]


def _array(folder: Path) -> list[Path]:
    _journal(folder)
    return list((folder / "arrays").iterdir())


def _read_array(folder: Path) -> None:
    """As if the journal spoke of the damaged array."""
    data = next((folder / "arrays").iterdir()).read_bytes()
    sha = hashlib.blake2b(data, digest_size=16).hexdigest()
    (folder / "arrays" / f"{sha}.npy").write_bytes(data)
    (folder / "journal.jsonl").write_bytes(written({"probe": {"digest": "p", "sha": sha}}))
    Journal(folder).probe("p")


def _run(folder: Path) -> Path:
    pool = glyphs()
    found = [
        sequence(pool, "search-0", "searched", ["er"], [[0], [1]]),
        sequence(pool, "random-0", "random", ["er"], [[2], [3]]),
    ]
    evaluated = [rescored(s, "er", seed, outcome([[0.9], [0.5, 0.6]])) for s in found for seed in (1, 2)]
    run = write_run(folder / "run", pool, found, evaluated, ["er"])
    said = json.loads((run / "config.json").read_text())
    settings = dataclasses.asdict(CldybSettings(methods="er", tasks=2, grow=("2:glyphs",)))
    said["identity"] |= IDENTITY
    said |= {
        "settings": {**settings, "extended_from": [1]},
        "tuned": {"er": {"lr": 0.1}},
        "directory": None,
        "created": "now",
    }
    (run / "config.json").write_text(json.dumps(said))
    now = "2026-01-01T00:00:00+00:00"
    texts = {"at": now, "started": now, "stops_at": now, "state": "running", "phase": "step 2/3", "unit": "trainings"}
    numbers = [
        "total",
        "done",
        "judged",
        "trained",
        "saved",
        "cache_hits",
        "replayed",
        "workers",
        "busy",
        "in_flight",
        "queued",
        "pid",
    ]
    more = {"busy_share": 0.5, "left_seconds": 9.5, "troubles": ["a"], "host": "h"}
    (run / "status.json").write_text(json.dumps({**texts, **dict.fromkeys(numbers, 3), **more}))
    return run


def _read_run(folder: Path) -> None:
    exported = CLDYB.read(folder / "run")
    shown = view(exported.summary, exported.results)
    Console(file=io.StringIO()).print(render(shown, details=True))
    json.dumps(shown.to_json(), allow_nan=False)
    write_page(folder / "run" / "report.html", shown, "seqsearch run", (glyphs(),))


def _resume(folder: Path) -> None:
    run, _ = RunFolder.resume(folder / "run", CldybSettings, {})
    identity = {**IDENTITY, "methods": {"er": {"digest": "er"}}}
    run.identify(identity, CLDYB.may_change, CLDYB.finished(run.path))


def _read_yaml(folder: Path) -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        values = (
            run_command("cldyb").make_context("cldyb", ["--config", str(folder / "x.yaml"), "--methods", "er"]).params
        )
    CldybSettings(**{f.name: values[f.name] for f in dataclasses.fields(CldybSettings) if f.name in values})


def _yaml(folder: Path) -> list[Path]:
    text = "methods: [simplecil, er]\ntasks: 3\ntemperature: 0.5\nno_clustering: true\ngrow: ['2:glyphs']\nseed: 7\n"
    (folder / "x.yaml").write_text(text)
    return [folder / "x.yaml"]


def _weights(suffix: str, **options: Any) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        state, path = {"a.weight": torch.ones(4, 3), "b": torch.arange(5)}, folder / f"x.{suffix}"
        save_file(state, path) if suffix == "safetensors" else torch.save(state, path, **options)
        return [path]

    return make


def _read_weights(folder: Path) -> None:
    for tensor in tensors("--weights x", str(next(folder.iterdir()))).values():
        tensor.float().sum()


def _states(folder: Path) -> list[Path]:
    states = StateFolder(folder)
    parent = states.write("a" * 32, {"w": torch.ones(40), "n": 3})
    states.write("b" * 32, {"w": torch.cat([torch.ones(40), torch.zeros(9)]), "n": 4}, parent)
    return [*folder.glob("*.json"), *(folder / "packs").iterdir()]


def _read_states(folder: Path) -> None:
    for digest in ("a" * 32, "b" * 32):
        StateFolder(folder).read(digest)
    StateFolder(folder).evict(10)


def _all_states(folder: Path) -> list[Path]:
    return [*_states(folder), folder / "packs", folder / ("c" * 32 + ".json")]


def _write_states(folder: Path) -> None:
    _read_states(folder)
    states = StateFolder(folder)
    for digest in "abc":
        states.write(digest * 32, {"w": torch.ones(40), "n": 3})
    states.remove(["a" * 32])
    states.sweep(grace=0)


def _all_of_run(folder: Path) -> list[Path]:
    run = _run(folder)
    _states(run / "states")
    _journal(run)
    named = ("lock", "log.jsonl", "report.html", "plan.json", "states", "states/packs", "arrays")
    return [*run.glob("*.*"), *(run / name for name in named), *run.glob("*/*.*")]


def _resume_and_read(folder: Path) -> None:
    _resume(folder)
    _write_states(folder / "run" / "states")
    EventLog(folder / "run").write("begin")
    _read_journal(folder / "run")
    _read_run(folder)


def _of_run(*names: str) -> Callable[[Path], list[Path]]:
    return lambda folder: [_run(folder) / name for name in names]


KINDS = {
    "parquet-pool": Kind(_own, _read_pool, bytes_changed),
    "parquet-captions": Kind(captioned_pool, _read_pool, bytes_changed),
    "captions-jsonl": Kind(texts_in("t.jsonl"), read_texts, bytes_changed),
    "captions-csv": Kind(texts_in("t.csv"), read_texts, bytes_changed),
    "captions-parquet": Kind(texts_in("t.parquet"), read_texts, bytes_changed),
    "captions-folder": Kind(texts_in("texts"), read_texts, bytes_changed),
    "parquet-hub": Kind(_hub, _read_pool, bytes_changed),
    "stream-features": Kind(of_features_file, read_stream, bytes_changed),
    "stream-images": Kind(of_photos(embed=True), read_stream, bytes_changed),
    "stream-paths": Kind(of_photos(embed=False), read_stream, bytes_changed),
    "stream-of-others": Kind(of_others, read_stream, bytes_changed),
    "stream-arrays": Kind(arrays, read_arrays, bytes_changed),
    "stream-tables": Kind(tables, read_tables, bytes_changed),
    "image": Kind(_images, _read_pool, bytes_changed),
    "journal": Kind(_journal, _read_journal, journal_changed),
    "array": Kind(_array, _read_array, bytes_changed, silent=True),
    "run-json": Kind(_of_run("config.json", "stats.json"), _read_run, json_changed),
    "run-resumed": Kind(_of_run("config.json"), _resume, json_changed),
    "run-parquet": Kind(_of_run("sequences.parquet", "results.parquet", "trace.parquet"), _read_run, bytes_changed),
    "run-status": Kind(
        _of_run("status.json", "config.json"),
        lambda f: "".join(lines(status(f / "run"))).encode(),
        json_changed,
        silent=True,
    ),
    "sequences-json": Kind(named("json"), read_sequences, bytes_changed),
    "sequences-csv": Kind(named("csv"), read_sequences, bytes_changed),
    "sequences-parquet": Kind(named("parquet"), read_sequences, bytes_changed),
    "score-run": Kind(score_run, read_score, json_changed),
    "table": Kind(table, read_compared_table, bytes_changed),
    "compared-run": Kind(_of_run("config.json"), read_compared, json_changed),
    "compared-score": Kind(score_run, read_compared, json_changed),
    "answers-graded": Kind(graded, read_graded, answer_changed),
    "answers-predicted": Kind(predicted, read_predicted, answer_changed),
    "yaml": Kind(_yaml, _read_yaml, bytes_changed),
    "safetensors": Kind(_weights("safetensors"), _read_weights, bytes_changed),
    "torch-zip": Kind(_weights("pth"), _read_weights, bytes_changed),
    "torch-legacy": Kind(_weights("pth", _use_new_zipfile_serialization=False), _read_weights, bytes_changed),
    "states": Kind(_states, _read_states, bytes_changed, silent=True),
    "run-links": Kind(_all_of_run, _resume_and_read, bytes_changed, linked=True),
    "states-links": Kind(_all_states, _write_states, bytes_changed, linked=True),
}
"""All kinds of files that are fuzzed, by name."""
