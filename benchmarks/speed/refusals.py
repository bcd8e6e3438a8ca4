"""CPU seconds until a misspelt name is refused, and what was imported until then.

    python -m benchmarks.speed.refusals [--repeats 5] [--write]

Each command runs in a process of its own, which must end with exit code 2. The script prints the least CPU time of the
repeats (user and system, all threads), because other work on the machine only adds to it. ``python`` and ``numpy`` are
the interpreter alone and the import of numpy, as a measure of the machine. Compile the modules first
(``python -m compileall``) where the environment forbids that Python does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from benchmarks.common.results import write_result

HEAVY = "numpy", "pyarrow", "scipy", "torch", "timm", "ray"
"""Libraries that are looked for among the modules of a process."""
COMMANDS = (
    "clydb",
    "cldyb --tsks 3",
    "cldyb --methods rnpac",
    "cldyb --methods ranpac:MM=1",
    "cldyb --methods er:epochs=x",
    "cldyb --methods er --pool glyphs:clases=3",
    "cldyb --methods er --pool glyps",
    "cldyb --methods er --pool missing/",
    "cldyb --methods er --backbone vit_base_patch16_2244",
    "edge --tsks 3",
    "edge --methods rnpac",
    "edge --methods ranpac:MM=1",
    "edge --methods er --pool glyphs:clases=3",
    "edge --methods er@vit_base_patch16_2244",
    "gtep --trals 3",
    "gtep --methods rnpac --tune-pool glyphs:half=1 --pool glyphs:half=2",
    "gtep --methods ranpac:MM=1 --tune-pool glyphs:half=1 --pool glyphs:half=2",
    "gtep --methods er --tune-pool glyphs:clases=3 --pool glyphs:half=2",
    "online --shft 3",
    "online --methods acmm",
    "online --methods acm:kk=1",
    "online --methods er --stream glyphs:smples=1",
    "online --methods er --stream glyps",
    "online --methods er --backbone vit_base_patch16_2244",
    "mcil --sds 3",
    "mcil --methods mm_ddp",
    "mcil --methods mm_dp:prmpts=1",
    "mcil --methods mm_er --pool glyphs:clases=3",
    "score frozen:cifar100-hard-10 --methds er",
    "score frozen:cifar100-hard-10 --methods rnpac",
    "score frozen:cifar100-hard-10 --methods ranpac:MM=1",
    "score frozen:cifar100-hard-10 --methods er --pool glyphs:clases=3",
    "score frozen:cifar100-hard-10 --methods er --backbone vit_base_patch16_2244",
    "duel er rnpac",
    "check rnpac",
    "pool show glyphs:clases=3",
    "stream show glyphs:smples=1",
    "similarity names --pool glyps --out names.parquet",
)
RUN = f"""
import sys
from protocols.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print("imported:", *[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)
"""


def cpu_seconds(code: str, *arguments: str, folder: str, ends_with: int) -> tuple[float, list[str]]:
    """CPU seconds of Python code, and the heavy libraries that it reports.

    Raises:
        SystemExit: its exit code is another than ``ends_with``.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != ends_with:
        raise SystemExit(f"seqsearch {' '.join(arguments)} did not end with {ends_with}: {said}")
    last = said.splitlines()[-1] if said else ""
    return used.ru_utime + used.ru_stime, last.removeprefix("imported:").split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    repeats = range(given.repeats)
    with tempfile.TemporaryDirectory() as folder:
        machine = {
            name: round(min(cpu_seconds(code, folder=folder, ends_with=0)[0] for _ in repeats), 3)
            for name, code in (("python", "pass"), ("numpy", "import numpy"))
        }
        found = {}
        for command in COMMANDS:
            measured = [cpu_seconds(RUN, *command.split(), folder=folder, ends_with=2) for _ in repeats]
            found[command] = {"cpu_seconds": round(min(s for s, _ in measured), 3), "imported": measured[0][1]}
            print(
                f"{found[command]['cpu_seconds']:.2f} s  {', '.join(measured[0][1]) or '-':12}  {command}", flush=True
            )
    most = max(record["cpu_seconds"] for record in found.values())
    print(f"most: {most:.2f} s; python alone {machine['python']:.2f} s, with numpy {machine['numpy']:.2f} s")
    if given.write:
        write_result("refusals", {"cpu_seconds_of": machine, "most_cpu_seconds": most, "commands": found})


if __name__ == "__main__":
    main()
