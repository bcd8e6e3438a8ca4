"""The Croissant metadata of the frozen orders: mlcroissant reads from them what seqsearch reads from the files."""

from __future__ import annotations

from typing import Any

import mlcroissant as mlc
import pytest

from seqsearch.results.frozen import FILES, FOLDER, FrozenFile, read_frozen
from tools.croissant import METADATA, written


@pytest.fixture(scope="module")
def dataset() -> mlc.Dataset:
    return mlc.Dataset(METADATA)


def records(dataset: mlc.Dataset, name: str, what: str) -> list[dict[str, Any]]:
    """Records with the names of their fields in the file; mlcroissant gives texts as bytes."""
    own = f"{name.removesuffix('.json')}/{what}"

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(plain, value))
        return value.decode() if isinstance(value, bytes) else value

    return [{key.removeprefix(f"{own}/"): plain(v) for key, v in r.items()} for r in dataset.records(own)]


def fields(file: FrozenFile) -> list[dict[str, Any]]:
    return [{**vars(order), "tasks": length.tasks} for length in file.lengths for order in length.orders]


def test_the_file_is_what_the_tool_writes() -> None:
    assert METADATA.read_text() == written(), "run python -m tools.croissant"


def test_it_is_valid_and_only_the_date_of_publication_is_missing(dataset: mlc.Dataset) -> None:
    assert dataset.metadata.conforms_to == ["http://mlcommons.org/croissant/1.0"]
    assert not dataset.metadata.issues.errors
    [warning] = dataset.metadata.issues.warnings
    assert "datePublished" in str(warning)
    assert len(dataset.metadata.record_sets) == 2 * len(FILES)


@pytest.mark.parametrize("name", FILES)
def test_record_sets_have_the_classes_and_orders_that_seqsearch_reads(dataset: mlc.Dataset, name: str) -> None:
    file = read_frozen(FOLDER / name)
    assert records(dataset, name, "classes") == [vars(c) for c in file.classes]
    assert records(dataset, name, "orders") == fields(file)
