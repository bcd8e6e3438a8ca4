"""A run is a folder: made once, locked while in use, resumed with its own settings."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from seqsearch.core.errors import UserError
from seqsearch.core.settings import Settings, flag
from seqsearch.core.text import copyable
from seqsearch.core.typed import brief, fits
from seqsearch.storage.files import atomic_path
from seqsearch.storage.locks import lock
from seqsearch.storage.reading import json_object

S = TypeVar("S", bound=Settings)
BEFORE_ANYTHING = {"config.json", "lock", "journal.jsonl", "status.json", "log.jsonl"}
"""Files of a run that has computed nothing."""
KEPT = {"run_id": str, "directory": str | None, "protocol": str}
"""What ``config.json`` says beside settings and identity, as far as it is used."""


class RunFolder:
    """The folder of one run, locked by this process until it is closed or dies.

    Use `create` or `resume`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.created = False
        """Made by this process, not resumed."""
        self.config: dict[str, Any] = {}
        for patience in (0.05, 0.1, 0.2, 0):  # `seqsearch status` takes it for an instant, to see whether it is free
            held = lock(path / "lock")
            if held is not None:
                self._lock = held
                return
            time.sleep(patience)
        raise UserError(f"run {path} is in use by another process: wait for it, or stop it and resume")

    @classmethod
    def create(cls, path: Path | None, settings: Settings) -> RunFolder:
        """A new run; ``config.json`` is on disk when this returns.

        Raises:
            UserError: the folder exists and is not empty, or cannot be written.
        """
        path = path or _free_name(settings.protocol)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(p.name != "lock" for p in path.iterdir()):  # killed before it had settings: as good as new
                known = (path / "config.json").exists()
                mend = (
                    f"continue it with --resume {copyable(path)}, or choose another --out"
                    if known
                    else "choose another --out"
                )
                raise UserError(f"{path} is not empty and is never overwritten: {mend}")
            run = cls(path)
        except OSError as error:
            raise UserError(f"cannot create the run folder {path}: {error.strerror}; choose another --out") from None
        run.created = True
        run.config = {
            "protocol": settings.protocol,
            "run_id": path.resolve().name,
            "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "revision": _revision(),
            "directory": str(Path.cwd()),
            "settings": dataclasses.asdict(settings),
        }
        run.save()
        return run

    @classmethod
    def resume(cls, path: Path, kind: type[S], given: Mapping[str, Any]) -> tuple[RunFolder, S]:
        """An existing run and its own settings, which are of this ``kind``.

        Raises:
            UserError: no run there, of another protocol, in use, or ``given`` settings that differ from its own.
        """
        if not (path / "config.json").is_file():
            raise UserError(f"{path} is no run folder: it has no config.json")
        try:
            run = cls(path)
        except OSError as error:
            raise UserError(
                f"{path}/lock cannot be opened ({error.strerror or error}): remove it, or make it writable"
            ) from None
        try:
            return run, run._own_settings(kind, given)
        except UserError:
            run.close()
            raise

    def _own_settings(self, kind: type[S], given: Mapping[str, Any]) -> S:
        file = self.path / "config.json"
        self.config = json_object(file)
        said = self.config.get("protocol")
        if isinstance(said, str) and said != kind.protocol:
            raise UserError(f"{self.path} is a run of {brief(said)}, not of {kind.protocol!r}")
        try:
            settings = kind(**self.config["settings"])
        except (KeyError, TypeError) as error:  # no settings, or names of others
            raise UserError(f"{file} does not say how the run was made ({error}): restore it") from None
        except UserError as error:
            raise UserError(f"{file}: {error}: restore it") from None
        for name, wanted in KEPT.items():
            if not fits(self.config.get(name), wanted):
                raise UserError(f"{file}: {name} is {brief(self.config.get(name))}: restore it")
        for name, value in given.items():
            if getattr(settings, name) != value:
                raise UserError(
                    f"{flag(name)} {value} differs from {getattr(settings, name)} of run {self.path}: a run continues with "
                    "its own settings; leave the flag out, or start a new run"
                )
        return settings

    def identify(self, identity: dict[str, Any], may_change: frozenset[str], finished: bool) -> list[str]:
        """Record what the names in the settings stand for, or make sure that on resume they still stand for the same.

        All but ``may_change`` must. Returns the labels of methods that changed, if they may: what they trained is trained again;
        of a ``finished`` run they may not.

        Raises:
            UserError: something else changed, as pool, backbone weights, library versions or device.
        """
        before, changed = self.config.get("identity"), []
        if before is not None:
            if not (isinstance(before, dict) and isinstance(before.get("methods", {}), dict)):
                raise UserError(f"{self.path}/config.json: identity is {brief(before)}: restore it")
            known = before.get("methods", {})
            changed = [m for m in identity.get("methods", {}) if identity["methods"][m] != known.get(m)]
            now = json.loads(json.dumps(identity))  # as the file has it: lists, not tuples
            for name in sorted((before.keys() | now.keys()) - may_change):
                if before.get(name) != now.get(name):
                    raise UserError(
                        f"{name.replace('_', ' ')} changed since run {self.path} was made ({_brief(before.get(name))} -> "
                        f"{_brief(now.get(name))}): restore it, or start a new run"
                    )
        if changed and finished:
            raise UserError(
                f"{changed[0]} changed since run {self.path} was finished: restore its file, or start a new run"
            )
        self.config["identity"] = identity
        self.save()
        return changed

    def saved(self) -> dict[str, Any]:
        """What ``config.json`` says, as it is read again."""
        plain: dict[str, Any] = json.loads(json.dumps(self.config))
        return plain

    def save(self) -> None:
        write_json(self.path / "config.json", self.config)

    def discard_if_empty(self) -> None:
        """Remove a run that was refused before it did anything."""
        names = {p.name for p in self.path.iterdir()}
        journal = self.path / "journal.jsonl"
        if names <= BEFORE_ANYTHING and (not journal.exists() or journal.stat().st_size == 0):
            for name in names:
                (self.path / name).unlink()
            self.path.rmdir()

    def close(self) -> None:
        self._lock.close()


def write_json(path: Path, value: Any) -> None:
    """Whole or not at all.

    Raises:
        UserError: the disk is full.
    """
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2) + "\n")


def _free_name(protocol: str) -> Path:
    stem = time.strftime(f"{protocol}-%Y%m%d-%H%M%S")
    path, number = Path("runs") / stem, 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path


def _revision() -> str | None:
    """Git revision of the sources, if they are a checkout."""
    here = Path(__file__).resolve().parent
    try:
        said = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip() or None


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
