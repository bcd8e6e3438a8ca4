"""docs/datasheets.md names every data file that ships, and its counts are those of the files; their licences ship, too."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from benchmarks.orders.glosses import definitions
from benchmarks.real.pictures import CLIPART, FLUENT, NOTO, OPENMOJI, TWEMOJI
from seqsearch.backbones import glyph_flava, glyph_vit, plain_vit
from seqsearch.pools.glyphs import build as build_glyphs
from seqsearch.pools.parts.glyph_atlas import load_atlas
from seqsearch.results.frozen import FILES, FOLDER, frozen_orders
from tests.unit.pools.test_glyph_captions import VOCABULARY

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/datasheets.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NETWORKS = {"glyph_vit": glyph_vit, "plain_vit": plain_vit, "glyph_flava": glyph_flava}


def shipped() -> list[Path]:
    """Files that lie beside the code in a wheel."""
    globs = PROJECT["tool"]["setuptools"]["package-data"]
    return sorted(
        {
            path
            for package, own in globs.items()
            for glob in own
            for path in (ROOT / package).glob(glob)
            if path.is_file()
        }
    )


def is_binary(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return True
    return False


def rows_of_files() -> Iterator[str]:
    for path in shipped():
        if is_binary(path) or path in [FOLDER / name for name in FILES]:
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            yield f"| `{path.relative_to(ROOT)}` | {len(content):,} | `{digest}` |"


def rows_of_atlas() -> Iterator[str]:
    parts = [load_atlas(part) for part in ("pool", "pretrain")]
    counts = {
        "classes": [len(a.codes) for a in parts],
        "groups (Unicode blocks)": [len(set(a.groups)) for a in parts],
        "outlines": [len(a.tiles) for a in parts],
        "further code points that look the same and were merged into a class": [
            sum(map(len, a.aliases)) for a in parts
        ],
        "fonts": [len(set(a.fonts)) for a in parts],
    }
    for what, (pool, pretrain) in counts.items():
        yield f"| {what} | {pool:,} | {pretrain:,} |"


def rows_of_orders() -> Iterator[str]:
    files = {f.of.data_set: f.of for f in frozen_orders()}
    for name, file in files.items():
        orders = [o for n in file.lengths for o in n.orders]
        sequences = sum(len(o.labels) for o in orders)
        yield f"| {file.title} (`{name}@{file.version}`) | {len(file.classes)} | {len(orders)} | {sequences} |"


def rows_of_drawings() -> Iterator[str]:
    for name in ("clipart", "emoji"):
        made = json.loads((ROOT / f"benchmarks/results/pictures_{name}.json").read_text())
        counts = f"{made['pictures']:,} | {made['classes']} | {made['groups']}"
        yield f"| `{name}` | {counts} | `{made['digest']}` |"


def rows_of_packages() -> Iterator[str]:
    for package in (CLIPART, NOTO, TWEMOJI, OPENMOJI, FLUENT):
        pool = "clipart" if package is CLIPART else "emoji"
        yield f"| `{pool}` | `{package.get[-1]}` | {package.licence} |"


@pytest.mark.parametrize("rows", [rows_of_files, rows_of_atlas, rows_of_orders, rows_of_drawings, rows_of_packages])
def test_tables_of_the_page_have_the_counts_of_the_files(rows) -> None:
    """No row is missing, and the table that has the first of them has no other."""
    wanted = list(rows())
    tables = [block.splitlines()[2:] for block in PAGE.split("\n\n") if block.startswith("| ")]
    assert wanted in tables, "\n".join(wanted)


def test_every_file_with_data_of_seqsearch_is_named() -> None:
    names = {f"`{p.relative_to(ROOT)}`" for p in shipped() if is_binary(p)}
    assert len(names) == 4
    assert not {name for name in names if name not in PAGE}
    assert not [p for p in shipped() if is_binary(p) and not p.is_relative_to(ROOT / "seqsearch")]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_size_that_the_page_states(name: str) -> None:
    sheet = PAGE.partition(f"## Network `{name}`")[2].partition("\n## ")[0]
    weights = load_file(NETWORKS[name].WEIGHTS).values()
    assert {w.dtype for w in weights} == {np.dtype("float16")}
    assert f"| Size | {sum(w.size for w in weights):,} parameters, in half precision |" in sheet
    assert f"`{NETWORKS[name].build().tag}`" in PAGE


def test_the_pool_is_as_the_page_describes_it() -> None:
    pool, blocks = build_glyphs(), Counter(load_atlas("pool").groups).values()
    outlines = np.concatenate([np.diff(load_atlas(part).starts) for part in ("pool", "pretrain")])
    text = " ".join(PAGE.split())
    assert f"has {sum(c.count for c in pool.classes):,} images of 32 x 32 pixels" in text
    assert f"A class has {outlines.min()} to {outlines.max()} different outlines." in text
    assert f"a vocabulary of {len(VOCABULARY)} words" in text
    assert f"they have {min(blocks)} to {max(blocks)} classes in `part=pool`" in text


def test_licences_of_others_ship_where_their_work_does() -> None:
    licences = PROJECT["project"]["license-files"]
    for name in licences:
        assert f"`{name}`" in PAGE
        assert name == "LICENSE" or ROOT / name in shipped(), name
    fonts, wordnet = ((ROOT / name).read_text() for name in licences[1:])
    families = {
        "DejaVu": "DejaVu changes are in public domain",
        "STIX": "STIX Font License",
        "cm": "BaKoMa Fonts Licence",
    }
    for font in {font for part in ("pool", "pretrain") for font in load_atlas(part).fonts}:
        assert [text for begin, text in families.items() if font.startswith(begin) and text in fonts], font
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in wordnet
    with_lemmas = {
        f"{f.of.data_set}@{f.of.version}.json" for f in frozen_orders() if any(c.reads for c in f.of.classes)
    }
    assert with_lemmas == set(re.findall(r"frozen_orders/(\S+\.json)", wordnet))


def test_no_gloss_of_wordnet_ships() -> None:
    """A definition of a class, from four words on, stands in no file beside the code."""
    glosses = [definitions()[c.name] for f in frozen_orders() for c in f.of.classes if c.reads]
    assert len(set(glosses)) > 300
    texts = [path.read_text() for path in shipped() if not is_binary(path)]
    assert not {g for g in glosses if len(g.split()) > 3 and any(g in text for text in texts)}
