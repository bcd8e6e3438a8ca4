"""The scripts that look at the language of pages, and at numbers that a rewrite lost."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from tools.lost_numbers import lost, numbers
from tools.prose import main, sentences

PAGE = """# A title of many words that is not counted

Two images are told apart; a third is [not](https://example.org/a;b). The second sentence has `code`.

- An item: one sentence.

| column; | other |
|---|---|
| cell; | cell |

    seqsearch show RUN; echo

```python
x = 1; y = 2
```
"""


def test_sentences_of_prose_alone_are_counted() -> None:
    assert sentences(PAGE) == [
        "Two images are told apart; a third is not.",
        "The second sentence has code.",
        "An item: one sentence.",
    ]


def test_the_report_counts_words_semicolons_and_banned_words(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE + "\n" + " ".join(["word"] * 26) + ".\n")
    heading, line, long = CliRunner().invoke(main, [str(page), "--long"], catch_exceptions=False).output.split("\n", 2)
    assert heading.split()[0] == "page"
    assert line.split()[1:] == ["4", "11.0", "1", "25", "told"]
    assert long.split() == ["26:", *["word"] * 25, "word."]


def test_a_number_counts_in_any_notation_and_a_lost_one_is_listed_with_its_line() -> None:
    assert numbers("1,000 images, .28 and 0.280, version v3, [27.6, 35.3].") == {"1000", "0.28", "27.6", "35.3"}
    assert lost("first 12 % of 50\nthen 7", {"50", "7"}) == [("12", "first 12 % of 50")]
