"""LAE's own code: the one repository whose YAML names an order (``data.class_order``). It is read, not written."""

from __future__ import annotations

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.formats.base import Given, Read, Toolbox
from seqsearch.formats.numbers import sizes_of, stepped, values, whole


def build() -> Toolbox:
    return Toolbox(
        "LAE",
        tried="by its rule, in the tests of seqsearch",
        direction="class_order[label] = class_id, in order of arrival",
        read=read,
        marks=frozenset({"data"}),
    )


def read(given: Given) -> tuple[Read, ...]:
    """``data: {class_order, num_init_classes, num_increment_classes}``.

    Raises:
        UserError: there is no such thing in it.
    """
    data = given.said.get("data") if isinstance(given.said, dict) else None
    if not isinstance(data, dict) or "class_order" not in data:
        raise UserError(f"{given.path}: data is {brief(data)}, must have class_order, as in the YAML of LAE")
    classes = values(given, data["class_order"], "data.class_order")
    if given.sizes:
        return (Read("order-0", classes, sizes_of(given, None, "", len(classes))),)
    first = whole(given, data.get("num_init_classes"), "data.num_init_classes")
    step = whole(given, data.get("num_increment_classes"), "data.num_increment_classes")
    return (Read("order-0", classes, stepped(first, step, len(classes))),)
