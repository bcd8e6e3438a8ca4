"""Files of what the GTEP paper prints: found by name, and refused in one line if something in them is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.gtep.paper import settings, tables
from protocols.gtep.paper.sets import set_of, sets_of
from seqsearch.core.errors import UserError


def altered(path: Path, tmp_path: Path, old: str, new: str) -> Path:
    """A copy of a file with something else in one place."""
    text = path.read_text()
    assert text.count(old) >= 1
    copy = tmp_path / path.name
    copy.write_text(text.replace(old, new, 1))
    return copy


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[41.21, 1.06, 59.82, 1.48], ", "", "replay: there must be 2 cells"),
        ("[41.21, 1.06, 59.82, 1.48]", "[41.21, 1.06, 59.82]", "replay: a cell must be four percentages, or diverged"),
        ("[41.21, 1.06, 59.82, 1.48]", "[412.1, 1.06, 59.82, 1.48]", "replay: a cell must be four percentages"),
        ("diverged, diverged", "diverged, NaN", "beef: a cell must be four percentages"),
        ("tasks: 10", "tasks: ten", "table 1: tasks is 'ten'"),
        ("phase: HT", "phase: TH", "columns: phase is 'TH', must be HT or E"),
        ("    rows:", "    lines:", "table 1: rows are missing"),
        ("tables/1", "tables/2", "must have `schema: seqsearch-gtep-tables/1`"),
    ],
)
def test_a_table_that_is_wrong_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        tables.read_tables(altered(tables.FILE, tmp_path, old, new))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ep: 70", "epochs: 70", "says nothing of 'epochs' of method 'replay'"),
        ("replay: {ep", "er: {ep", "says nothing of 'ep' of method 'er'"),
        ("ep: 70", "ep: [70]", "replay must hold `key: value` pairs, or diverged"),
        ("    methods:", "    method:", "list 1: methods are missing"),
        ("tasks: 10", "tasks: ten", "list 1: tasks is 'ten'"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        settings.read_lists(altered(settings.FILE, tmp_path, old, new))
    assert "\n" not in str(error.value)


def test_unaltered_files_are_read(tmp_path: Path) -> None:
    """So that the refusals above are of what was altered."""
    assert tables.read_tables(altered(tables.FILE, tmp_path, "tables/1", "tables/1")) == tuple(
        tables.printed_tables().values()
    )
    assert settings.read_lists(altered(settings.FILE, tmp_path, "ep: 70", "ep: 70")) == tuple(
        settings.printed_lists().values()
    )


def test_lists_are_asked_for_by_name() -> None:
    assert list(settings.printed_lists()) == [
        "original",
        *(f"paper:{data}-{tasks}" for data in ("imagenet100", "cifar50", "imagenet50") for tasks in (10, 6)),
        *(
            f"paper:{data}-{tasks}"
            for data in ("cub200", "imagenet-r", "cub100-1", "imagenet-r-1")
            for tasks in (20, 10)
        ),
    ]
    for each in settings.printed_lists().values():
        data = each.tuned_on.lower()
        assert not data or each.name.rpartition("-")[0].replace("paper:", "").replace("-", "") == data.replace("-", "")


def test_an_unknown_list_is_refused_with_names() -> None:
    with pytest.raises(UserError, match="'paper:imagenet100-11'; the nearest: 'paper:imagenet100-10'"):
        settings.printed_settings("paper:imagenet100-11")
    with pytest.raises(UserError, match="there are: original, paper:imagenet100-10"):
        settings.outside_sets("?")


def test_what_lists_leave_open_is_named() -> None:
    open_ = {name: settings.unprinted(name) for name in settings.printed_lists()}
    assert {name: keys for name, keys in open_.items() if keys} == {
        "original": tuple((m, "milestone") for m in ("replay", "icarl", "bic", "der", "foster")),
        "paper:imagenet100-6": (("wa", "milestone"),),
        "paper:imagenet-r-10": (("ease", "alpha"),),
    }


def test_what_is_left_out_is_named_with_its_reason() -> None:
    found = {each.key: each.why for each in settings.left_out("original")}
    assert found.keys() == {"size", "top_k", "pt_num", "exemplar_bs"}
    assert all(found.values())
    assert ("memo", "exemplar_bs") in {(each.method, each.key) for each in settings.left_out("paper:imagenet100-10")}


def test_what_is_handed_out_may_be_changed() -> None:
    settings.printed_settings("original")["wa"]["lr"] = 9.0
    assert settings.printed_settings("original")["wa"]["lr"] == 0.1


def test_sets_of_methods() -> None:
    assert set_of("wa", "lambda_kd").parameter == "lamb"
    assert sets_of("er") == ()


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(UserError, match="Table 14 has no column 'CIFAR-50-2'; it has: CUB-200"):
        tables.printed_tables()[14].column("CIFAR-50-2")
