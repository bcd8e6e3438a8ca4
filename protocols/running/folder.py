"""A run is a folder: made once, locked while in use, resumed with its own settings.

What resuming or "finished" rests on is on the disk before it is relied on, also after a loss of power: ``config.json`` (which
the journal repeats), the journal, exports, and last the report, the mark of a finished run. States and arrays are not: they
are hashed, and computed again.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from actors.options import DeviceName
from protocols.running.found import ID, has_results, id_of, journalled_config, refuse_links, sweep_run
from protocols.running.owner import NAME as LOCK
from protocols.running.owner import Owner
from protocols.running.unchanged import begun_with, check_identity, check_settings, device_of
from seqsearch.core.errors import UserError
from seqsearch.core.notices import warn
from seqsearch.core.settings import Settings, flag
from seqsearch.core.text import copyable, printable
from seqsearch.core.typed import brief, fits
from seqsearch.core.user_modules import COPIES
from seqsearch.results.run import no_run, relocated
from seqsearch.storage.files import sync_folder, write_json
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import json_object
from seqsearch.storage.unfinished import UNFINISHED

S = TypeVar("S", bound=Settings)
CONFIG = "config.json"
BEFORE_ANYTHING = {"config.json", "lock", "journal.jsonl", "status.json", "log.jsonl"}
"""Files of a run that has computed nothing; its journal may say that a session began."""
KEPT = {"run_id": str, "directory": str | None, "protocol": str}
"""Further keys of ``config.json`` that are read beside settings and identity, with their types."""


class RunFolder:
    """The folder of one run, locked by this process until it is closed or dies.

    Use `create` or `resume`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.created = False
        """Made by this process, not resumed."""
        self.config: dict[str, Any] = {}
        self._journalled: dict[str, Any] | None = None
        self._closed = False
        refuse_links(path)
        self._owner = Owner(path)
        sweep_run(path)

    @classmethod
    def create(cls, path: Path | None, settings: Settings) -> RunFolder:
        """A new run; ``config.json`` is on disk when this returns.

        Raises:
            UserError: the folder exists and is not empty, or cannot be written.
        """
        path = path or free_name(settings.protocol)
        if printable(str(path)) != str(path):  # Arrow could not write its files
            raise UserError(f"--out {path}: its name is no UTF-8: choose another")
        try:
            _make(path)
            refuse_used(path)
            run = cls(path)
        except OSError as error:
            raise UserError(f"cannot create the run folder {path}: {error.strerror}; choose another --out") from None
        run.created = True
        run.config = {
            "protocol": settings.protocol,
            "run_id": id_of(path),
            "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "revision": _revision(),
            "directory": str(Path.cwd()),
            "settings": dataclasses.asdict(settings),
        }
        if Inside(path).folders(re.compile(COPIES)):
            run.config[COPIES] = str((path / COPIES).absolute())
        run.save()
        return run

    @classmethod
    def resume(cls, path: Path, kind: type[S], given: Mapping[str, Any]) -> tuple[RunFolder, S]:
        """An existing run and its own settings, which are of this ``kind``.

        Raises:
            UserError: no run there, of another protocol, in use, a link in it, settings that were edited since it was begun, or
                ``given`` ones that differ from its own.
        """
        refuse_links(path)
        if not Inside(path).has(CONFIG) and journalled_config(path) is None:
            raise no_run(path)
        run = cls(path)
        try:
            journalled = journalled_config(path)
            run._journalled = None if journalled is None else relocated(journalled, path)
            run._read_config()
            return run, run._own_settings(kind, given)
        except UserError:
            run.close()
            raise

    def _read_config(self) -> None:
        """Read what the run was made with; a file that a loss of power took, or tore, is restored from the journal."""
        try:
            self.config = relocated(json_object(self.path / CONFIG), self.path)
        except UserError:
            if self._journalled is None:
                raise
            self.config = self._journalled
            self.save()
            warn(f"{self.path}/{CONFIG} was not there, or torn: restored from the journal")

    def _own_settings(self, kind: type[S], given: Mapping[str, Any]) -> S:
        file = self.path / CONFIG
        if isinstance(said := self.config.get("protocol"), str) and said != kind.protocol:
            raise UserError(f"{self.path} is a run of {brief(said)}, not of {kind.protocol!r}")
        try:
            settings = kind(**{**kind.before, **self.config["settings"]})
        except (KeyError, TypeError) as error:  # no settings, or names of others
            raise UserError(f"{file} does not say how the run was made ({error}): restore it") from None
        except UserError as error:
            raise UserError(f"{file}: {error}: restore it") from None
        for name, wanted in KEPT.items():
            if not fits(self.config.get(name), wanted):
                raise UserError(f"{file}: {name} is {brief(self.config.get(name))}: restore it")
        if not ID.fullmatch(self.config["run_id"]):
            raise UserError(
                f"{file}: run_id is {brief(self.config['run_id'])}: make it {id_of(self.path)!r}, or another name of at most 128 "
                "letters, digits, dots, dashes and underscores"
            )
        check_settings(self.path, settings, self._journalled)
        for name, value in given.items():
            if getattr(settings, name) != value:
                raise UserError(
                    f"{flag(name)} {value} differs from {getattr(settings, name)} of run {self.path}: a run continues with "
                    "its own settings; leave the flag out, or start a new run"
                )
        return settings

    @property
    def device(self) -> DeviceName | None:
        """The device that the run began with: ``cpu`` or ``cuda``; None if nothing has been computed on any."""
        return device_of(begun_with(self.config.get("identity"), self._journalled, frozenset()))

    def identify(self, identity: dict[str, Any], may_change: frozenset[str], finished: bool) -> list[str]:
        """Record what the names in the settings stand for, or make sure that on resume they still stand for the same.

        All but ``may_change`` must. Returns the labels of methods that changed, if they may: what they trained is trained again;
        of a ``finished`` run they may not.

        Raises:
            UserError: something else changed, as pool, backbone weights, library versions or device.
        """
        before = begun_with(self.config.get("identity"), self._journalled, may_change)
        changed = list[str]()
        if before is not None:
            by_label = {part: own for part in sorted(may_change) if isinstance(own := identity.get(part), dict)}
            if not (isinstance(before, dict) and all(isinstance(before.get(part, {}), dict) for part in by_label)):
                raise UserError(f"{self.path}/config.json: identity is {brief(before)}: restore it")
            now_other = (m for part, own in by_label.items() for m in own if own[m] != before.get(part, {}).get(m))
            changed = list(dict.fromkeys(now_other))
            check_identity(self.path, before, identity, may_change)
        if changed and finished:
            raise UserError(
                f"{changed[0]} changed since run {self.path} was finished: restore its file, or start a new run"
            )
        self.config["identity"] = identity
        self.save()
        return changed

    def record_hyperparameters(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Record all values that methods are trained with, by label; of other labels, what was recorded stays."""
        known = self.config.get("hyperparameters")
        self.config["hyperparameters"] = {**(known if isinstance(known, dict) else {}), **values}
        self.save()

    def saved(self) -> dict[str, Any]:
        """Return the content of ``config.json`` as reading the file would return it."""
        plain: dict[str, Any] = json.loads(json.dumps(self.config))
        return plain

    def save(self) -> None:
        write_json(self.file(CONFIG), self.config)

    def check(self) -> None:
        """
        Raises:
            UserError: another process has taken the run over, which this one must not write any more.
        """
        self._owner.check()

    def file(self, name: str) -> Path:
        """A file of the run that is about to be written. Raises as `check` does."""
        self.check()
        return self.path / name

    def discard_if_empty(self) -> None:
        """Remove a run that was refused before it came to any result, unless another process has taken it over."""
        try:
            self.check()
        except UserError:
            return
        sweep_run(self.path)
        here, names = Inside(self.path), {p.name for p in self.path.iterdir()} - {COPIES}
        if all(n in BEFORE_ANYTHING and here.has(n) for n in names) and not has_results(self.path):
            for name in names:
                here.remove(name)
            if not (self.path / COPIES).exists():  # else whoever wrote it removes it
                self.path.rmdir()

    def close(self) -> None:
        """Unlock it, once."""
        if not self._closed:
            self._closed = True
            sweep_run(self.path)
            self._owner.close()


def refuse_used(path: Path) -> None:
    """Raises UserError: a folder is not empty, but for custom code and what a process leaves that dies before it has settings."""
    if not path.is_dir():
        return
    if any(
        (p.name not in (LOCK, COPIES) and not UNFINISHED.fullmatch(p.name)) or p.is_symlink() for p in path.iterdir()
    ):
        mend = f"continue it with --resume {copyable(path)}, or " * (path / CONFIG).exists()
        raise UserError(f"{path} is not empty and is never overwritten: {mend}choose another --out")


def _make(path: Path) -> None:
    """The folder, with all above it, on the disk."""
    new = [p for p in (path, *path.parents) if not p.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in new:
        sync_folder(folder.parent)


def free_name(protocol: str) -> Path:
    stem = time.strftime(f"{protocol}-%Y%m%d-%H%M%S")
    path, number = Path("runs") / stem, 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path


def _revision() -> str | None:
    """Git revision of the sources, if they are a checkout."""
    try:
        said = subprocess.run(
            ["git", "-C", str(Path(__file__).resolve().parent), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip() or None
