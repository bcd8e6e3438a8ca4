"""Metadata of the frozen class orders, in the format Croissant 1.0 of MLCommons: ``python -m tools.croissant``.

It writes ``croissant.json`` beside the files of the orders, for mlcroissant and other readers of the format. Each file has two
record sets: its classes, and its orders. A test compares what is there with what this writes.

mlcroissant reads all fields of a file object into one table. Classes and orders of a file differ in number, so a file has one
object for each of its record sets. The metadata have neither an address nor a date of publication, because there is none yet.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import mlcroissant as mlc
import yaml

from seqsearch.core.installation import ROOT
from seqsearch.results.frozen import FILES, FOLDER, FrozenFile, read_frozen

METADATA = FOLDER / "croissant.json"
CREATED = datetime.datetime(2026, 11, 22)
"""When the orders were frozen."""
LICENCES = ("https://spdx.org/licenses/Apache-2.0", "https://spdx.org/licenses/WordNet")
DESCRIPTION = (
    "Hard, easy and random class orders of CIFAR-100, CUB-200-2011, ImageNet-R and ImageNet-A, with 10 and 20 tasks, for "
    "class-incremental learning. Hard and easy orders have the lowest and the highest S found: S is the mean similarity of "
    "classes in neighbouring tasks, by class names. No method was trained to make them, and they hold no images. "
    "Lemmas of ImageNet's classes are from WordNet 3.0, (c) Princeton University."
)
CLASSES = {
    "name": "Name of the class in the data set; for ImageNet the number of its WordNet synset.",
    "reads": "Lemmas of the synset, comma-separated; empty if the name is a word.",
    "group": "Superclass (CIFAR-100 alone; else empty).",
}
ORDERS = {
    "name": "Name of the order, without its version.",
    "kind": "hard, easy or random.",
    "digest": "Digest of the names of the classes, sequence by sequence and task by task.",
}
TASKS = "Number of tasks."
SCORES = "S of each sequence."
LABELS = "A text for each sequence. Its n-th character is the task of the n-th class: 0 to 9, then a to z, by time."


def metadata() -> dict[str, Any]:
    """The metadata as JSON-LD.

    Raises:
        UserError: a file of orders is missing, or not as it was frozen.
        mlcroissant.ValidationError: the metadata are no valid Croissant.
    """
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    authors = [author["name"] for author in cited["authors"]]
    files = {name: read_frozen(FOLDER / name) for name in FILES}
    found = mlc.Metadata(
        name="seqsearch-frozen-class-orders",
        description=DESCRIPTION,
        conforms_to=["http://mlcommons.org/croissant/1.0"],
        license=list(LICENCES),
        version=f"{max(file.version for file in files.values())}.0.0",
        creators=[mlc.Organization(name=name) for name in authors],
        date_created=CREATED,
        keywords=["continual learning", "class-incremental learning", "class orders", "task sequences"],
        cite_as=f"@misc{{seqsearch, title = {{{{{cited['title']}}}}}, author = {{{{{' and '.join(authors)}}}}}}}",
        distribution=[_file_object(name, records) for name in FILES for records in ("classes", "orders")],
        record_sets=[made(name, files[name]) for name in FILES for made in (_classes, _orders)],
    )
    said: dict[str, Any] = found.to_json()
    return said


def written() -> str:
    """The content of the file of metadata."""
    return json.dumps(metadata(), indent=1, ensure_ascii=False) + "\n"


def _file_object(name: str, records: str) -> Any:
    content = (FOLDER / name).read_bytes()
    return mlc.FileObject(
        id=_file_id(name, records),
        name=_file_id(name, records),
        description=f"{name}, as the {records} are read from it.",
        content_url=name,
        content_size=f"{len(content)} B",
        encoding_formats=["application/json"],
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _classes(name: str, file: FrozenFile) -> Any:
    fields = [_field(name, "classes", key, f"$.classes[*].{key}", text) for key, text in CLASSES.items()]
    return _record_set(name, "classes", f"Classes of {file.title}, in the order of the data set.", fields)


def _orders(name: str, file: FrozenFile) -> Any:
    path = "$.lengths[*].orders[*]"
    fields = [_field(name, "orders", key, f"{path}.{key}", text) for key, text in ORDERS.items()]
    tasks = mlc.Transform(regex=r".*-(\d+)$")
    fields += [
        _field(name, "orders", "tasks", f"{path}.name", TASKS, mlc.DataType.INTEGER, transforms=[tasks]),
        _field(name, "orders", "scores", f"{path}.scores", SCORES, mlc.DataType.FLOAT, repeated=True),
        _field(name, "orders", "labels", f"{path}.labels", LABELS, repeated=True),
    ]
    title = f"Class orders of {file.title}, version {file.version}, by: {file.similarity}."
    return _record_set(name, "orders", title, fields)


def _record_set(name: str, records: str, description: str, fields: list[Any]) -> Any:
    own = _id(name, records)
    return mlc.RecordSet(id=own, name=own, description=description, key=f"{own}/name", fields=fields)


def _field(
    name: str,
    records: str,
    key: str,
    path: str,
    description: str,
    kind: Any = mlc.DataType.TEXT,
    *,
    repeated: bool = False,
    transforms: list[Any] | None = None,
) -> Any:
    source = mlc.Source(
        file_object=_file_id(name, records), extract=mlc.Extract(json_path=path), transforms=transforms or []
    )
    own = f"{_id(name, records)}/{key}"
    return mlc.Field(id=own, name=own, description=description, data_types=kind, repeated=repeated, source=source)


def _id(name: str, records: str) -> str:
    """Of a record set: ``cifar100@1/classes``."""
    return f"{Path(name).stem}/{records}"


def _file_id(name: str, records: str) -> str:
    return f"{_id(name, records)}.json"


def main() -> None:
    """Write the file."""
    METADATA.write_text(written())


if __name__ == "__main__":
    main()
