"""Methods that are commands, as they are written."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.registry import located, located_text

NEEDED = ["{sequence}", "{out}"]
WORD = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=12).filter(
    lambda word: not re.search(r"\{\w+\}", word)  # it would be a place that there is not
)


@given(st.lists(st.lists(WORD, min_size=1, max_size=4), min_size=1, max_size=3, unique_by=tuple))
def test_words_come_back_whatever_they_hold(commands: list[list[str]]) -> None:
    texts = [command_line.target_of([*words, *NEEDED]) for words in commands]
    items = parse_items(",".join(["er:a=1,b=2", *texts, "lwf@vit:x=1"]), "method")
    assert [i.target for i in items] == ["er", *texts, "lwf"]
    assert [command_line.words(i.target) for i in items[1:-1]] == [(*words, *NEEDED) for words in commands]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cmd:", "no command"),
        ("cmd:python 'a.py {sequence} {out}", "close the quotes"),
        ("cmd:python a.py {sequence}", r"where \{out\} goes"),
        ("cmd:python a.py {out}", r"where \{sequence\} goes"),
        ("cmd:run {sequence} {out} {seeed}", r"there is no \{seeed\}: places are"),
        ("cmd:run {sequence} {out}@glyph_vit", "takes neither @BACKBONE"),
        ("cmd:run {sequence} {out}:lr=1", "takes neither @BACKBONE"),
        ("cmd:run {sequence} {out},cmd:run {sequence} {out}", "named twice"),
    ],
)
def test_what_is_no_command_is_one_line(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as error:
        parse_items(text, "method")
    assert "\n" not in str(error.value)


def test_files_are_found_from_anywhere_and_the_label_is_short(tmp_path: Path) -> None:
    (tmp_path / "my learner.py").touch()
    [item] = parse_items("cmd:python3 'my learner.py' --lr .1 --data=a/b {sequence} {out} {seed}", "method")
    found = located(item, tmp_path)
    assert found.text == "cmd:my learner.py --lr .1 --data=a/b [self-graded]"
    assert shlex.split(found.target[4:])[1] == str(tmp_path / "my learner.py")
    again = located_text(item.text, "method", tmp_path)
    assert located(parse_items(again, "method")[0], Path("/")) == found


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    [item] = parse_items("cmd:no-such-program {sequence} {out}", "method")
    with pytest.raises(UserError, match="'no-such-program' is not found"):
        located(item, tmp_path)
    (tmp_path / "learner").touch(mode=0o644)
    [item] = parse_items("cmd:./learner {sequence} {out}", "method")
    with pytest.raises(UserError, match="cannot be executed"):
        located(item, tmp_path)
    [item] = parse_items("cmd:python3 nosuch.py {sequence} {out}", "method")
    with pytest.raises(UserError, match=r"no file 'nosuch\.py'"):
        located(item, tmp_path)


def test_a_link_to_an_interpreter_stays_one(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    words = command_line.located(("bin/python", *NEEDED), tmp_path)
    assert words == (str(tmp_path / "bin" / "python"), *NEEDED)
