"""What a loss of power may leave of a folder: the system calls of a process, replayed as far as they had come.

A disk keeps what was synced: the content of a file at its last ``fsync``, the entries of a folder at the folder's. Of all else it
may keep any part, in any order.
"""

from __future__ import annotations

import hashlib
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

CALLS = (
    "openat,open,creat,write,pwrite64,writev,pwritev,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,"
    "fdatasync,ftruncate,truncate,link,linkat,symlink,symlinkat"
)
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (\d+)(?:<(.*)>)?$")
UNFINISHED, RESUMED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$"), re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2}|[^"\\])*)"')
AT = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>")
IRRELEVANT = re.compile(r"log\.jsonl|status\.json|lock|\..*\.part")
"""Names of files that nothing is resumed from: crashes that differ in them alone are tried once."""
Tree = dict[str, bytes | None]
"""Content by path; None: a folder."""


@dataclass(frozen=True)
class Call:
    """A call that succeeded: its name, the paths in it (absolute), its bytes, a number (offset or length), and its flags."""

    name: str
    paths: tuple[str, ...]
    data: bytes = b""
    number: int = 0
    flags: str = ""


def traced(command: list[str], log: Path, cwd: Path, env: Mapping[str, str]) -> None:
    """Run a command, and record its calls."""
    strace = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-xx",
        "-s",
        str(1 << 28),
        "-e",
        f"trace={CALLS}",
        "-o",
        str(log),
    ]
    subprocess.run([*strace, *command], check=True, timeout=600, cwd=cwd, env=env)


def calls(log: Path, below: Path) -> Iterator[Call]:
    """The calls that succeeded and concern what is below a folder, in order."""
    waiting: dict[str, str] = {}
    for line in log.read_text().splitlines():
        if begun := UNFINISHED.match(line):
            waiting[begun[1]] = begun[2]
            continue
        if ended := RESUMED.match(line):
            line = f"{ended[1]} {waiting.pop(ended[1])}{ended[2]}"
        if found := LINE.match(line):
            call = _call(*found.group(2, 3, 4, 5))
            if any(PurePosixPath(p).is_relative_to(below) for p in call.paths):
                yield call


def _call(name: str, said: str, result: str, opened: str | None) -> Call:
    texts = [_bytes(t) for t in TEXT.findall(said)]
    folders = [_bytes(f).decode() for f in AT.findall(said)]
    numbers = re.findall(r", (\d+)", said)
    if name in ("write", "pwrite64", "writev", "pwritev"):
        assert name in ("write", "pwrite64") or len(texts) < 2, "several pieces at once are not understood here"
        number = int(numbers[-1]) if name == "pwrite64" else 0
        return Call(name, (folders[0],), b"".join(texts)[: int(result)], number)
    if name in ("fsync", "fdatasync", "ftruncate"):
        return Call(name, (folders[0],), number=int(numbers[-1]) if numbers else 0)
    if name == "truncate":
        return Call(name, (texts[0].decode(),), number=int(numbers[-1]))
    if name in ("open", "openat", "creat"):
        assert opened is not None
        return Call("open", (_bytes(opened).decode(),), flags=said + "O_CREAT|O_TRUNC" * (name == "creat"))
    if "at" in name:
        paths = tuple(str(PurePosixPath(f) / t.decode()) for f, t in zip(folders, texts, strict=True))
    else:
        paths = tuple(t.decode() for t in texts)
    flags = "folder" if "AT_REMOVEDIR" in said or name == "rmdir" else ""
    return Call(re.sub("at2?$", "", name).replace("rmdir", "unlink"), paths, flags=flags)


def _bytes(text: str) -> bytes:
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())


@dataclass
class Disk:
    """Folders and files below ``root`` as they are, and as they were last synced."""

    root: str
    entries: dict[str, dict[str, int | None]] = field(default_factory=lambda: defaultdict(dict))
    """By folder and name: the file, None for a folder."""
    kept_entries: dict[str, dict[str, int | None]] = field(default_factory=lambda: defaultdict(dict))
    content: dict[int, bytes] = field(default_factory=dict)
    kept_content: dict[int, bytes] = field(default_factory=lambda: defaultdict(bytes))
    _next: int = 0

    def apply(self, call: Call) -> bool:
        """Do what a call did; whether a loss of power after it may leave something else than one before it."""
        at = [(str(PurePosixPath(p).parent), PurePosixPath(p).name) for p in call.paths]
        folder, name = at[0]
        file = self.entries[folder].get(name)
        if call.name == "open":
            return self._open(folder, name, call.flags)
        if call.name == "mkdir":
            self.entries[folder][name] = None
        elif call.name == "rename":
            self.entries[at[1][0]][at[1][1]] = self.entries[folder].pop(name)
        elif call.name == "unlink":
            del self.entries[folder][name]
        elif call.name in ("fsync", "fdatasync"):
            if file is None:
                self.kept_entries[call.paths[0]] = dict(self.entries[call.paths[0]])
            else:
                self.kept_content[file] = self.content[file]
        elif call.name == "write":
            assert file is not None
            self.content[file] += call.data
        elif call.name == "pwrite64":
            assert file is not None
            old = self.content[file].ljust(call.number, b"\0")
            self.content[file] = old[: call.number] + call.data + old[call.number + len(call.data) :]
        elif call.name in ("truncate", "ftruncate"):
            assert file is not None
            self.content[file] = self.content[file][: call.number].ljust(call.number, b"\0")
        else:
            raise AssertionError(f"{call.name} is not understood here")
        return not IRRELEVANT.fullmatch(at[-1][1])

    def _open(self, folder: str, name: str, flags: str) -> bool:
        if "O_CREAT" in flags and name not in self.entries[folder]:
            self.entries[folder][name] = self._next
            self.content[self._next] = b""
            self._next += 1
            return not IRRELEVANT.fullmatch(name)
        file = self.entries[folder].get(name)
        if "O_TRUNC" in flags and file is not None:
            self.content[file] = b""
            return True
        return False

    def after_a_crash(self, rng: random.Random, draws: int = 3) -> Iterator[Tree]:
        """What may be left: all, or none, of the entries and of the content that were not synced, and some of them by draws."""
        for entries in (self.kept_entries, self.entries):
            for content in (self.kept_content, self.content):
                yield self._tree(self.root, entries, content)
        for _ in range(draws):
            content = {f: rng.choice((self.kept_content[f], c, c[: len(c) // 2])) for f, c in self.content.items()}
            content = {
                f: c if len(c) >= len(self.kept_content[f]) else self.kept_content[f] for f, c in content.items()
            }
            yield self._tree(self.root, {f: self._some(f, rng) for f in list(self.entries)}, content)

    def _some(self, folder: str, rng: random.Random) -> dict[str, int | None]:
        """Some of the changes to the entries of a folder since it was synced."""
        kept, now = self.kept_entries[folder], self.entries[folder]
        chosen = {name: rng.choice((kept, now)) for name in sorted(kept.keys() | now.keys())}
        return {name: of[name] for name, of in chosen.items() if name in of}

    def _tree(
        self, folder: str, entries: dict[str, dict[str, int | None]], content: dict[int, bytes], below: str = ""
    ) -> Tree:
        tree: Tree = {}
        for name, file in entries.get(folder, {}).items():
            path = f"{below}{name}"
            tree[path] = None if file is None else content.get(file, b"")
            if file is None:
                tree.update(self._tree(f"{folder}/{name}", entries, content, f"{path}/"))
        return tree


def trees(log: Path, root: Path, seed: int = 0) -> Iterator[Tree]:
    """All that losses of power, after any call of a record, may have left below ``root``; what matters not at all, once."""
    disk, rng, seen = Disk(str(root)), random.Random(seed), set[str]()
    for call in calls(log, root):
        if not disk.apply(call):
            continue
        for tree in disk.after_a_crash(rng):
            matters = {p: c for p, c in tree.items() if not IRRELEVANT.fullmatch(p.rpartition("/")[2])}
            digest = hashlib.sha256(repr(sorted(matters.items())).encode()).hexdigest()
            if digest not in seen:
                seen.add(digest)
                yield tree


def laid_out(tree: Tree, root: Path) -> None:
    """Make the files of a tree."""
    root.mkdir(parents=True)
    for path, content in sorted(tree.items()):
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)
