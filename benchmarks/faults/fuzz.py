"""Damages files of every kind that seqsearch reads, and reads them: none may end in a traceback, fill memory, or hang.

Links in place of files and folders (kinds ``...-links``) must not be followed: what they lead to stays as it is.

    nice python -m benchmarks.faults.fuzz [--seconds 300 | --inputs 1000] [--only journal,yaml] [--seed 0] [--keep FOLDER]

Printed for each kind: inputs, how many were refused in one line, how many were read all the same (a flipped bit of a pixel is
still an image), and how many were neither: those fail, and are kept in FOLDER. Inputs are read in forked processes, which may
take `MEMORY` more memory and `SECONDS` of processor time. With ``--inputs``, as many are read of each kind, however long that
takes, and what happened is written to benchmarks/results/fuzz.json.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import click
import numpy as np
import torch

from benchmarks.common.results import write_result
from benchmarks.faults.fuzz_kinds import KINDS, Kind
from seqsearch.core.errors import UserError
from tests.unit.running.baits import look

MEMORY, SECONDS = 1 << 30, 20
LONGEST = 1200
"""Characters of a refusal; paths are part of it."""
BATCH = 20
"""Inputs that a process reads, one after the other; after a failure each is read again by a process of its own."""


def attempt(kind: Kind, folders: list[Path]) -> list[str]:
    """For each folder ``read`` or ``refused``, else what happened; in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(10 * SECONDS)  # waiting takes no processor time
        with open(writer, "w", errors="replace") as pipe:
            json.dump([_outcome(kind, folder) for folder in folders], pipe)
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = json.loads(said) if said else [f"ended with {code}"] * len(folders)
    if len(folders) == 1 or set(found) <= {"read", "refused"}:
        return found
    return [attempt(kind, [folder])[0] for folder in folders]


def _outcome(kind: Kind, folder: Path) -> str:
    try:
        kind.read(folder)
    except (UserError, click.UsageError) as error:
        message = str(error)
        if kind.silent or "\n" in message or not message.isprintable() or len(message) > LONGEST:
            return f"a refusal that is none: {message!r}"
        return "refused"
    except BaseException:
        return traceback.format_exc()
    return "read"


def fuzz(
    name: str, kind: Kind, seed: int, scratch: Path, keep: Path, *, seconds: float = math.inf, inputs: float = math.inf
) -> dict[str, int]:
    """Damage and read files for so long, or so many; counts of what happened. What fails is kept, once for each way to fail."""
    sound = scratch / name
    sound.mkdir()
    targets = [path.relative_to(sound) for path in kind.make(sound)]
    shutil.copytree(sound, scratch / "sound")
    kind.read(scratch / "sound")  # sound files are read; and all is imported before processes are forked
    counts, begun, number, seen = collections.Counter[str](), time.monotonic(), 0, set[str]()
    while time.monotonic() - begun < seconds and number < inputs:
        work = [scratch / f"{number + i}" for i in range(BATCH)]
        damaged, theirs = {}, {}
        for folder in work:
            draw = np.random.default_rng([seed, number])
            number += 1
            shutil.copytree(sound, folder, copy_function=shutil.copyfile)
            target = folder / targets[draw.integers(len(targets))]
            outside = folder.with_name(f"{folder.name}-outside")
            if kind.linked:
                damaged[folder] = target.relative_to(folder), b""
                before = linked(target, outside, same=bool(draw.integers(2)))
            else:
                damaged[folder] = target.relative_to(folder), kind.damage(draw, target.read_bytes())
                target.write_bytes(damaged[folder][1])
                before = {}
            theirs[folder] = outside, before
        for folder, said in zip(work, attempt(kind, work), strict=True):
            outside, before = theirs[folder]
            if look(outside) != before:
                said = f"what is elsewhere was changed: {before} -> {look(outside)}"
            shutil.rmtree(outside, ignore_errors=True)
            failed = said not in ("read", "refused")
            counts["failed" if failed else said] += 1
            if failed and (place := said.strip().splitlines()[-1][:60]) not in seen and len(seen) < 20:
                seen.add(place)
                path = keep / name / folder.name / damaged[folder][0]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(damaged[folder][1])
                print(f"--- {path}\n{said[-1500:]}", file=sys.stderr, flush=True)
            shutil.rmtree(folder)
    return {"inputs": number, **{what: counts[what] for what in ("refused", "read", "failed")}}


def linked(target: Path, outside: Path, same: bool) -> dict[str, tuple[bytes, int] | None]:
    """Make a file or folder a link to one that is elsewhere, and holds the ``same`` or something else; what is there."""
    outside.mkdir()
    there = outside / target.name
    if target.exists() and same:
        target.rename(there)
    elif target.is_dir():
        shutil.rmtree(target)
        there.mkdir()
    else:
        target.unlink(missing_ok=True)
        there.write_bytes(b"precious")
    for folder in (outside, there):
        if folder.is_dir():
            (folder / f"{'f' * 32}.safetensors").write_bytes(b"precious")
            (folder / f"{'f' * 32}.json").write_bytes(b"precious")
    target.symlink_to(there)
    return look(outside)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300, help="in all")
    parser.add_argument("--inputs", type=int, default=0, help="of each kind, instead of seconds")
    parser.add_argument("--only", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "seqsearch-fuzz")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    names, results = arguments.only.split(","), {}
    print(f"{'kind':20}{'inputs':>9}{'refused':>9}{'read':>9}{'failed':>9}")
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            bound = {"inputs": arguments.inputs} if arguments.inputs else {"seconds": arguments.seconds / len(names)}
            results[name] = fuzz(name, KINDS[name], arguments.seed, Path(scratch), arguments.keep, **bound)
        print(f"{name:20}" + "".join(f"{n:9}" for n in results[name].values()), flush=True)
    if arguments.inputs:
        write_result("fuzz", {"seed": arguments.seed, "kinds": results})
    sys.exit(any(r["failed"] for r in results.values()))


if __name__ == "__main__":
    main()
