"""The union of a sequence: all its classes as one task, whatever their order, under its name."""

from seqsearch.core.types import ClassId
from seqsearch.planners.step import PoolView
from seqsearch.results.joint import at_once, joint_id
from seqsearch.results.rows import TaskSequence

VIEW = PoolView(tuple(ClassId("p", i) for i in range(6)), ("",) * 6, {"p": "s"}, (1,) * 6)


def test_a_union_holds_all_classes_and_is_the_same_in_any_order():
    a, b = VIEW.task([ClassId("p", 5), ClassId("p", 2)]), VIEW.task([ClassId("p", 1), ClassId("p", 3)])
    s = TaskSequence("search-0", "searched", ("m",), 7, (a, b), (0.5, None))
    whole = at_once(s, VIEW)
    assert [c.index for c in whole.tasks[0].classes] == [1, 2, 3, 5]
    assert whole == TaskSequence("search-0/joint", "joint", ("m",), 7, (VIEW.union([b, a]),), (None,))
    assert whole.sequence_id == joint_id(s.sequence_id)
