"""An entry of a leaderboard: what a site needs of a run, in one JSON file without folders, hosts or names of users.

`entry_of` makes it of a finished run, `read_entry` reads the file of somebody else. A digest over all of it shows damage. It
shows no forgery: whoever edits an entry can compute its digest anew.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from protocols.report.gtep.tables import names
from protocols.report.plain import texts_changed
from protocols.report.site.boards import BOARDS, IDENTITY, SETTINGS, Board, Row, rows_of
from protocols.report.site.command import command_of, without_folders
from protocols.report.table import PERCENT
from protocols.report.view import View, protocol_of, view_of
from protocols.running.protocol import Exported, Protocol
from protocols.running.provenance import biases
from protocols.running.status import check_not_running
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import cut
from seqsearch.core.typed import brief, built, misfit
from seqsearch.core.user_modules import COPIES
from seqsearch.results.digest import file_digest
from seqsearch.results.run import FOUND, read_config
from seqsearch.results.schema import SEQUENCES, STATS
from seqsearch.results.stats import read_stats
from seqsearch.results.tables import read_sequences
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import json_object

SCHEMA = 1
LARGEST = 2 << 20
"""Bytes of an entry."""
LONGEST = 10_000
"""Characters of a text in it."""
MOST, MOST_ROWS = 100, 1000
"""Items of a list in it, and rows."""
VERSIONS = ("seqsearch", "torch", "numpy")
_HOME = re.compile(r"(?<![\w.~/])~?/[^\s,:;'\"()]*/")
"""Folders of an absolute path in a sentence."""


@dataclass(frozen=True)
class Named:
    """A name with its value, both as text."""

    name: str
    value: str


@dataclass(frozen=True)
class ColumnAbout:
    """What readers of the file need to know of a column; values in % and pp are fractions of 1."""

    key: str
    heading: str
    unit: str
    direction: str
    over: str


@dataclass(frozen=True)
class Entry:
    """Fields of the file; docs/schema.md explains them."""

    schema: Literal[1]
    program: str
    protocol: str
    name: str
    command: str
    pools: tuple[Named, ...]
    settings: tuple[Named, ...]
    found: str
    digests: tuple[Named, ...]
    versions: tuple[Named, ...]
    columns: tuple[ColumnAbout, ...]
    rows: tuple[Row, ...]
    headline: str
    biases: tuple[str, ...]
    notes: tuple[str, ...]
    digest: str

    @property
    def board(self) -> Board:
        return BOARDS[self.protocol]

    def text(self) -> str:
        """The file."""
        return json.dumps(dataclasses.asdict(self), indent=1, allow_nan=False) + "\n"


def digest_over(fields: Mapping[str, Any]) -> str:
    """The digest of an entry: over all its fields but the digest itself."""
    return digest_of("entry", {name: value for name, value in fields.items() if name != "digest"})


def entry_of(run: Path) -> tuple[Entry, View]:
    """The entry of a run, and its report without pictures and without the folders in which it was made.

    Raises:
        UserError: no run, one that is not finished, or of a protocol that has no leaderboard.
    """
    protocol, config = protocol_of(run), read_config(run)
    board = BOARDS.get(protocol.name)
    if board is None:
        raise UserError(f"run {run} is of {protocol.name}: leaderboards are of {', '.join(BOARDS)}")
    check_not_running(run)
    try:
        exported = protocol.read(run)
    except UserError as error:
        raise error if str(run) in str(error) else UserError(f"run {run}: {error}") from None
    if not Inside(run).has(STATS) or read_stats(run / STATS).get("complete") is False:
        raise UserError(f"run {run} is not finished: finish it with {protocol.resume_command(run)}")
    view = view_of(protocol, exported)
    fields = {
        "schema": SCHEMA,
        "program": version("seqsearch"),
        "protocol": protocol.name,
        "name": view.name,
        "command": command_of(protocol, config),
        "pools": _pools(protocol, config),
        "settings": list(_equal(protocol, board, config)),
        "found": _found(run) if board.found else "",
        "digests": list(_digests(run, protocol)),
        "versions": [Named(name, str(_at(config, f"identity.versions.{name}"))) for name in VERSIONS],
        "columns": [ColumnAbout(c.key, c.title, c.scale.unit, c.direction, c.over) for c in board.columns],
        "rows": list(rows_of(run, board, view, _short_names(protocol, exported))),
        "headline": view.headline.text,
        "biases": biases(config),
        "notes": [n.text for n in view.ordered[0]],
    }
    plain: dict[str, Any] = _bounded({name: _plain(value) for name, value in fields.items()})
    found = _checked(f"run {run}", {**plain, "digest": digest_over(plain)})
    kept = [{name: value for name, value in c.items() if name not in ("directory", COPIES)} for c in view.configs]
    return found, dataclasses.replace(view, configs=kept, pictures=lambda pools: ())


def read_entry(path: Path) -> Entry:
    """
    Raises:
        UserError: it cannot be read, is no entry, was damaged, or holds what cannot be; what, in one line.
    """
    said = json_object(path, LARGEST)
    if "schema" not in said:
        raise UserError(f"{path} is no entry of a leaderboard: it has no schema; make one with seqsearch entry RUN")
    if said["schema"] != SCHEMA or isinstance(said["schema"], bool):
        raise UserError(f"{path}: schema is {brief(said['schema'])}, and this version reads {SCHEMA}")
    return _checked(str(path), said)


# ------------------------------------------------------------------------------------------------ checks


def _checked(where: str, said: dict[str, Any]) -> Entry:
    """Raises UserError: a field that is not as an entry has it."""
    if wrong := misfit(said, Entry) or next(_too_large(said, ""), ""):
        raise UserError(f"{where}: {wrong}")
    if said["digest"] != digest_over(said):
        raise UserError(f"{where}: its digest is not that of its content: it was damaged or edited, get it again")
    entry: Entry = built(said, Entry)
    if wrong := next(_wrong(entry), ""):
        raise UserError(f"{where}: {wrong}")
    return entry


def _too_large(value: Any, at: str) -> Iterator[str]:
    """Texts and lists beyond their bounds, by their places."""
    if isinstance(value, str) and len(value) > LONGEST:
        yield f"{at} has {len(value):,} characters, at most {LONGEST:,} are read"
    if isinstance(value, list):
        most = MOST_ROWS if at == "rows" else MOST
        if len(value) > most:
            yield f"{at} has {len(value):,} items, at most {most:,} are read"
        for i, v in enumerate(value):
            yield from _too_large(v, f"{at}[{i}]")
    if isinstance(value, dict):
        for name, v in value.items():
            yield from _too_large(v, f"{at}.{name}" if at else name)


def _wrong(e: Entry) -> Iterator[str]:
    """What contradicts itself, or is no figure of this protocol."""
    if e.protocol not in BOARDS:
        yield f"protocol is {brief(e.protocol)}, none of {', '.join(BOARDS)}"
        return
    if not e.name.strip():
        yield "name is empty"
    if not _is_command(e.command):
        yield f"command is {brief(e.command)}, must be one command of seqsearch"
    columns = {c.key: c for c in e.board.columns}
    for i, row in enumerate(e.rows):
        if not 0 <= row.pool < len(e.pools):
            yield f"rows[{i}].pool is {row.pool}, and there are {len(e.pools)} pools"
        if [f.column for f in row.figures] != list(columns):
            yield f"rows[{i}].figures must be of {', '.join(columns)}, in this order"
            return
        for f in row.figures:
            if wrong := _wrong_figure(f.value, f.low, f.high, columns[f.column].scale == PERCENT):
                yield f"rows[{i}], {f.column}: {wrong}"
    twice = [method for (_, method), n in Counter((r.pool, r.method) for r in e.rows).items() if n > 1]
    if twice:
        yield f"rows: two are of method {brief(twice[0])}"
    if not 0 < len({p.value for p in e.pools}) == len(e.pools):
        yield "pools: there are none, or two have one digest"
    for kind in ("settings", "digests", "versions"):
        names = Counter(n.name for n in getattr(e, kind))
        if again := next((name for name, n in names.items() if n > 1), None):
            yield f"{kind}: two are called {brief(again)}"


def _is_command(text: str) -> bool:
    """Whether a shell that it is copied into would start seqsearch with these words and nothing else."""
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return words[:1] == ["seqsearch"] and shlex.join(words) == text


def _wrong_figure(value: float | None, low: float | None, high: float | None, share: bool) -> str:
    known = [v for v in (low, value, high) if v is not None]
    if not all(map(math.isfinite, known)):
        return "a value is no finite number"
    if (low is None) != (high is None) or (value is None and low is not None):
        return "an interval has a value and two bounds"
    if known != sorted(known):
        return "the value is not within its interval"
    return "an accuracy is a fraction from 0 to 1" if share and any(not 0 <= v <= 1 for v in known) else ""


# ------------------------------------------------------------------------------------------------ of a run


def _pools(protocol: Protocol, config: Mapping[str, Any]) -> list[Named]:
    """What figures are measured on: several pools of gtep; else the pools of a run as one, or its stream."""
    if protocol.name == "gtep":
        sides = _at(config, "identity.sides")
        of = [s for n, s in sides.items() if n.startswith("judged_on_")] if isinstance(sides, dict) else []
        return [Named(without_folders(str(_at(s, "pool"))), str(_at(s, "digest"))) for s in of]
    if protocol.name == "online":
        said, digest = [_at(config, "settings.stream")], _at(config, "identity.stream_digest")
    else:
        pools = _at(config, "identity.pools")
        said = [_at(p, "pool") for p in pools] if isinstance(pools, list) else []
        digest = _at(config, "identity.pool_digest")
    return [Named(", ".join(without_folders(str(name)) for name in said) or "-", str(digest))]


def _short_names(protocol: Protocol, exported: Exported) -> list[str]:
    """Names of pools in the key table of gtep."""
    if protocol.name != "gtep":
        return []
    return list(names(exported.summary).values())


def _equal(protocol: Protocol, board: Board, config: Mapping[str, Any]) -> Iterator[Named]:
    """What must be equal for figures to be compared, as far as it is there; a setting that an older run lacks has its default."""
    default = {f.name: f.default for f in dataclasses.fields(protocol.settings)}
    said = _at(config, "settings")
    for name in (*board.settings, *SETTINGS):
        if name in default:
            value = said.get(name, default[name]) if isinstance(said, dict) else default[name]
            yield Named(name, _text(value))
    backbone = _at(config, "settings.backbone")
    tags = _at(config, "identity.weights")
    yield Named(
        "weights", _text(tags.get(backbone, "") if isinstance(tags, dict) and isinstance(backbone, str) else "")
    )
    for name in (*board.identity, *IDENTITY):
        yield Named(
            name.removesuffix("_digest").removesuffix(".digest").replace("sides.", ""),
            _text(_at(config, f"identity.{name}")),
        )


def _text(value: Any) -> str:
    """A setting in words: nothing for one that is empty."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return "" if value is None else without_folders(value) if isinstance(value, str) else json.dumps(value)


def _found(run: Path) -> str:
    """The digest of the tasks of all sequences that were searched; empty if there are none."""
    there = [s for s in read_sequences(run / SEQUENCES.file) if s.kind in (*FOUND, "easy")]
    return digest_of("found", sorted([s.kind, [t.digest for t in s.tasks]] for s in there)) if there else ""


def _digests(run: Path, protocol: Protocol) -> Iterator[Named]:
    """Of the bytes of the run's files of results."""
    here = Inside(run)
    return (Named(name, file_digest(here, name)) for name in ("config.json", *protocol.exports) if here.has(name))


def _at(value: Any, path: str) -> Any:
    """What is at ``a.b.c`` in a file that others may have edited; None where there is no such thing."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def _bounded(value: Any) -> Any:
    """Texts as an entry may have them: not too long, and without folders."""
    return texts_changed(value, lambda text: cut(_HOME.sub("", text), LONGEST))
