"""Own files that leave, or raise what they like, while they are loaded: one line, exit code 2, no folder left behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main

ENDS = {
    "leaves": ("import sys\nsys.exit()", "SystemExit"),
    "fails": ("raise SystemExit(3)", "SystemExit: 3"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "generator": ("raise GeneratorExit", "GeneratorExit"),
    "own": ("class Own(BaseException): pass\nraise Own('said')", "Own: said"),
    "recurses": ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    "late": ("def build(*_, **__):\n    raise SystemExit('said')", "SystemExit: said"),
}


@pytest.fixture(autouse=True)
def _handled() -> Iterator[None]:
    """Ctrl-C is handled, as it is in a session."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, before)


CASES = [
    (e, f)
    for e in ENDS
    for f in ("--methods", "--pool", "--backbone", "check")
    if e != "late" or f in ("--pool", "--backbone")
]
"""A method is made when it is trained, pools and backbones right away."""


@pytest.mark.parametrize(("ends", "flag"), CASES)
def test_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, flag: str) -> None:
    code, says = ENDS[ends]
    (tmp_path / "bad.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    asked = {"--methods": "simplecil", "--pool": "glyphs:classes=60", "--backbone": "glyph_vit", flag: "./bad.py:build"}
    flags = [word for name, value in asked.items() if name != "check" for word in (name, value)]
    command = ["check", "./bad.py:build"] if flag == "check" else ["cldyb", *flags, "--workers", "0", "--out", "run"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2, (result.output, result.exception)
    last = result.stderr.splitlines()[-1]
    assert says in last
    assert "bad.py" in last
    assert "Traceback" not in result.output
    assert [p.name for p in tmp_path.iterdir() if p.name != "__pycache__"] == ["bad.py"]
