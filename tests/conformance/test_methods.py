"""The contracts C1-C10 of docs/methods.md, for every method there is: found by listing the folder, trained for real."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.core.errors import AccessError, UserError
from seqsearch.core.registry import load
from seqsearch.methods.base import PASSES, Method
from seqsearch.methods.config import build_config
from seqsearch.methods.data import TaskData
from seqsearch.pools.base import Part
from seqsearch.states.cache import StateCache
from seqsearch.training.context import WorkerContext
from seqsearch.training.guard import Guard
from tests.conformance.lab import (
    EMBEDDED,
    EXAMPLE,
    EXAMPLE_PAIRS,
    EXAMPLE_REPLAY,
    PAIRS,
    RESNET,
    SCRATCH,
    TASKS,
    TWO_BLOCKS,
    Case,
    Lab,
    cases,
    cases_from_scratch,
    cases_on_small_networks,
    rows_of,
    same,
)  # fmt: skip

ONE, TWO, THREE = TASKS
OTHER = (1, 6, 13)
ER = Case("er", "er", backbone=TWO_BLOCKS)


def again(case: Case) -> bool:
    """Whether a method is put through the contracts once more: one that learns its network on a network of another kind, one
    of image-text pairs with other settings."""
    on_resnet = case.backbone == RESNET and case.caps.trains_backbone and case.target not in ("finetune", "er")
    on_pairs = case.label.endswith(", pairs") and case.target != "simplecil"
    return on_resnet or on_pairs or case.label.endswith(", scratch")


def each(found: list[Case]) -> pytest.MarkDecorator:
    """Every method on one network; on a second one it takes the same paths, which is left to the long tests but for two."""
    params = [pytest.param(c, marks=pytest.mark.long if again(c) else (), id=c.label) for c in found]
    return pytest.mark.parametrize("case", params)


every_method = each(cases_on_small_networks())
every_gradient_method = each([c for c in cases_on_small_networks() if c.caps.trains_backbone])


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Lab]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield {b: Lab(tmp_path_factory.mktemp("lab"), b) for b in (TWO_BLOCKS, RESNET, EMBEDDED, SCRATCH, PAIRS)}
    torch.set_num_threads(threads)


@pytest.fixture
def lab(labs: dict[str, Lab], request: pytest.FixtureRequest) -> Lab:
    """The lab with the network of the test's case."""
    case = request.node.callspec.params["case"] if hasattr(request.node, "callspec") else ER
    return labs[case.backbone]


def test_discovery_finds_the_shipped_methods() -> None:
    assert {"simplecil", "finetune", "er", "ranpac", "slca", EXAMPLE} <= {c.target for c in cases()}


@every_method
def test_c1_state_is_a_function_of_config_seed_and_prefix(lab: Lab, case: Case) -> None:
    states = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        np.random.seed(noise)
        random.seed(noise)
        with Guard(lambda: [lab.source.inner]).job(""):  # C10
            method = lab.fresh(case)
            before = torch.get_rng_state(), np.random.get_state()[1].tobytes(), random.getstate()
            lab.fit(method, ONE, TWO)
            after = torch.get_rng_state(), np.random.get_state()[1].tobytes(), random.getstate()
        assert torch.equal(before[0], after[0]), "it drew from the global generator of torch"
        assert before[1:] == after[1:], "it drew from a global generator"
        states.append(method.state_dict())
    assert same(*states)


@every_method
def test_c1_another_seed_gives_another_state_if_anything_is_drawn(
    lab: Lab, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, drawn = lab.trained(case, ONE).state_dict(), []
    for kind in (TaskData, WorkerContext):
        real = kind.generator
        monkeypatch.setattr(kind, "generator", lambda self, phase, real=real: drawn.append(phase) or real(self, phase))
    method = lab.fresh(case, seed=1)
    lab.fit(method, ONE, seed=1)
    assert same(method.state_dict(), other) != bool(drawn)


@every_method
def test_c2_looking_changes_nothing(lab: Lab, case: Case) -> None:
    method = lab.trained(case, ONE, TWO)
    before, seen = method.state_dict(), lab.batch(ONE + TWO)
    first = method.predict(seen)
    method.features(seen)
    method.exemplars()
    method.memory_footprint()
    assert same(before, method.state_dict())
    assert torch.equal(first, method.predict(seen))


@every_method
def test_c3_each_row_depends_on_its_own_image_alone(lab: Lab, case: Case) -> None:
    method, batch = lab.trained(case, ONE, TWO), lab.batch(ONE + TWO)
    order = torch.randperm(len(batch), generator=torch.Generator().manual_seed(0))
    for look in (method.predict, method.features):
        together = look(batch)
        tolerance = {"rtol": 1e-4, "atol": 1e-4 * float(together.abs().max())}
        torch.testing.assert_close(look(batch.select(order)), together[order], **tolerance)
        alone = torch.cat([look(batch.select(torch.tensor([i]))) for i in range(0, len(batch), 5)])
        torch.testing.assert_close(alone, together[::5], **tolerance)


@every_method
def test_c4_restored_goes_on_as_if_never_interrupted(lab: Lab, case: Case, tmp_path: Path) -> None:
    method = lab.fresh(case)
    lab.fit(method, ONE, TWO)  # not `trained`, which restores
    StateCache(tmp_path).put("s", method.state_dict(), keep=True)
    state = StateCache(tmp_path).get("s")  # from disk: another cache object has an empty memory
    assert state is not None
    restored = lab.restored(case, state, ONE, TWO)
    seen = lab.batch(ONE + TWO)
    assert torch.equal(method.predict(seen), restored.predict(seen))
    assert method.feature_space() == restored.feature_space()
    assert np.array_equal(method.exemplars(), restored.exemplars())
    lab.fit(method, THREE)
    lab.fit(restored, THREE)
    assert same(method.state_dict(), restored.state_dict())


@every_method
def test_c5_task_sizes_are_free(lab: Lab, case: Case) -> None:
    method, sizes = lab.fresh(case), (2, 5, 1)
    bounds = np.cumsum([0, *sizes]).tolist()
    for low, high in pairwise(bounds):
        lab.fit(method, tuple(range(low, high)))
        assert method.predict(lab.batch((0, 1))).shape == (16, high)


@every_method
def test_c6_children_of_one_state_do_not_touch_each_other(lab: Lab, case: Case) -> None:
    parent = lab.trained(case, ONE)
    state = parent.state_dict()
    untouched = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in state.items()}
    first, second = lab.restored(case, state, ONE), lab.restored(case, state, ONE)
    lab.fit(first, OTHER)
    lab.fit(parent, OTHER)
    assert same(state, untouched), "training changed a state that was already saved"
    lab.fit(second, TWO)
    assert same(second.state_dict(), lab.trained(case, ONE, TWO).state_dict()), "a sibling's training was felt"


@every_method
def test_c7_only_its_own_training_images_are_read(lab: Lab, case: Case) -> None:
    method, past = lab.trained(case, ONE), set(lab.trained(case, ONE).exemplars().tolist())
    parts: tuple[Part, ...] = ("train", "val")
    assert past <= rows_of(lab, ONE, *parts)
    assert bool(past) == method.caps.needs_exemplars
    lab.source.decoded.clear()
    lab.source.read.clear()
    lab.fit(method, TWO)
    allowed = rows_of(lab, TWO, *parts) | past
    assert lab.source.decoded | lab.source.read <= allowed
    assert not (method.caps.input == "frozen" and lab.source.decoded), "it says that it reads frozen features only"


def test_c7_foreign_images_and_missing_labels_raise(lab: Lab) -> None:
    method = lab.trained(ER, ONE)
    task = lab.data(method, TWO)
    strange = np.array(sorted(rows_of(lab, ONE, "train") - set(method.exemplars().tolist())))[:1]
    with pytest.raises(AccessError, match=str(strange[0])):
        task.replay(strange, torch.zeros(1, dtype=torch.int64))
    with pytest.raises(AccessError):
        task.replay(np.array(sorted(rows_of(lab, TWO, "test")))[:1], torch.zeros(1, dtype=torch.int64))
    with pytest.raises(AccessError):
        _ = lab.batch(ONE).targets


@every_method
def test_c8_not_a_number_is_a_result(lab: Lab, case: Case) -> None:
    method = lab.fresh(case)
    task = lab.data(method, ONE)
    lab.source.spoil = True
    try:
        assert method.fit_task(task).status == "diverged"
    finally:
        lab.source.spoil = False


@every_gradient_method
def test_c8_too_high_a_rate_is_a_result(lab: Lab, case: Case) -> None:
    rates = [name for name in vars(lab.fresh(case).config) if name.endswith("lr") and name not in case.idle]
    assert rates
    for rate in rates:
        method = lab.fresh(case, **{rate: 1e30})
        statuses = []
        for classes in (ONE, TWO):
            statuses.append(method.fit_task(lab.data(method, classes)).status)
            if statuses[-1] == "diverged":
                break
            method.n_seen, method.n_tasks = method.n_seen + len(classes), method.n_tasks + 1
        assert statuses[-1] == "diverged", rate


@every_method
def test_c9_scores_are_finite_for_all_seen_classes_and_no_other(lab: Lab, case: Case) -> None:
    for n in (1, 2, 3):
        method = lab.trained(case, *TASKS[:n])
        scores = method.predict(lab.batch(ONE + OTHER))
        assert scores.shape == (8 * len(ONE + OTHER), sum(map(len, TASKS[:n])))
        assert bool(torch.isfinite(scores).all())
        assert not scores.requires_grad


@every_method
def test_c10_what_is_lent_is_left_as_it_was(lab: Lab, case: Case) -> None:
    """Learning is watched in the test of C1; this is all the rest."""
    guard = Guard(lambda: [lab.source.inner])
    with guard.job(""):
        method, batch = lab.trained(case, ONE, TWO), lab.batch(ONE + TWO)
        method.predict(batch)
        method.classifiers(batch)
        method.features(batch)
        method.counters()
        method.exemplars()
        method.memory_footprint()
    assert not guard.spoilt


def stepped(lab: Lab, case: Case) -> list[float]:
    """Images that the first and the second task were stepped on."""
    lab.trained(case, ONE, TWO)
    return [lab.reports[case.label, tasks].notes.get(PASSES, 0.0) for tasks in ((ONE,), (ONE, TWO))]


def with_steps(case: Case) -> list[bool]:
    """Whether a method that has epochs makes steps in its first and in its second task."""
    if case.params.get("adapt") == "none" or (case.target == "joint" and "learner" in case.params):
        return [False, False]  # a ridge in closed form, or neighbours that vote
    if case.target == EXAMPLE_REPLAY:
        return [False, False]  # its loop is its own: what is counted are the steps of `descend`
    return [True, case.target not in ("aper_adapter", "ranpac")]  # they adapt the network in the first task only


@each([c for c in cases_on_small_networks() if hasattr(load("method", c.target).Config, "epochs")])
def test_the_images_that_were_stepped_on_are_counted(lab: Lab, case: Case) -> None:
    assert [count > 0 for count in stepped(lab, case)] == with_steps(case)


def test_what_is_counted(labs: dict[str, Lab]) -> None:
    """In three epochs of ten images a class: what is stored is learned again, a second network too, and draws are no images."""
    two_networks, stored, plain = [120.0, 180.0], [120.0, 210.0], [120.0, 90.0]
    counts = {
        "afec": two_networks,
        "joint": stored,
        **dict.fromkeys(("slca", "mos", "hide_prompt", "pgp", "ease"), plain),
    }
    lab = labs[TWO_BLOCKS]
    assert {name: stepped(lab, Case(name, name, backbone=TWO_BLOCKS)) for name in counts} == counts


@each(cases())
def test_it_learns(lab: Lab, case: Case) -> None:
    assert lab.accuracy(lab.trained(case, ONE), TASKS, 0) >= 0.7  # chance is .25


def test_finetune_forgets_more_than_replay(labs: dict[str, Lab]) -> None:
    """At one common, high rate of the backbone: the default ones are low, so that neither forgets much in three tasks."""
    lab = labs[EMBEDDED]

    def loss(target: str) -> float:
        case = Case(f"{target}, fast", target, {"backbone_lr": 0.02})
        return lab.accuracy(lab.trained(case, ONE), TASKS, 0) - lab.accuracy(lab.trained(case, *TASKS), TASKS, 0)

    assert loss("finetune") > loss("er") + 0.1


@every_method
def test_order_of_tasks_matters_only_where_caps_say_so(lab: Lab, case: Case) -> None:
    """Same tasks in another order, from task ``order_invariant_after`` on: the same scores, in permuted columns."""
    forward = lab.trained(case, *TASKS)
    fixed = forward.caps.order_invariant_after
    tasks = TASKS if fixed is None else (*TASKS[:fixed], *reversed(TASKS[fixed:]))
    if fixed is None:
        tasks = tuple(reversed(TASKS))
    backward, batch = lab.trained(case, *tasks), lab.batch(ONE + TWO + THREE)
    classes = sum(tasks, ())
    columns = [classes.index(c) for c in sum(TASKS, ())]
    a, b = forward.predict(batch), backward.predict(batch)[:, columns]
    gap = float((a - b).abs().max() / a.abs().max())
    if fixed is None:
        assert gap > 0.01, "it may declare order_invariant_after"
    else:
        assert gap < 1e-4
        assert torch.equal(a.argmax(1), b.argmax(1))


def injecting() -> list[Case]:
    """All but the example, which looks at texts drawn anew, as nobody has stored them."""
    found = [c for c in cases_on_small_networks() if c.caps.backbones in ("vit", "pairs")]
    return [c for c in found if "full" not in c.caps.design and c.target != EXAMPLE_PAIRS]


@each(injecting())
def test_one_frozen_network_serves_all_that_inject(lab: Lab, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither copied nor changed, gets no gradients, and is not asked again for features that are stored."""
    network = lab.store.network.module
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    asked: list[object] = []
    monkeypatch.setattr(WorkerContext, "fresh_backbone", lambda self: asked.append("a copy"))
    hook = network.register_forward_pre_hook(lambda module, images: asked.append("features"))
    try:
        method = lab.fresh(case)
        lab.fit(method, ONE, TWO)
        method.predict(lab.batch(ONE))
        method.features(lab.batch(ONE))
    finally:
        hook.remove()
    assert asked == []
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    assert all(p.grad is None and not p.requires_grad for p in network.parameters())


@every_method
def test_feature_space_names_the_features(lab: Lab, case: Case) -> None:
    batch = lab.batch(OTHER)
    early, late = lab.trained(case, ONE), lab.trained(case, ONE, TWO)
    unchanged = torch.equal(early.features(batch), late.features(batch))
    assert early.features(batch).shape[0] == len(batch)
    if early.feature_space() is None:
        assert not unchanged
    else:
        assert unchanged
        assert early.feature_space() == late.feature_space()
    frozen = torch.equal(early.features(batch), batch.frozen)
    assert frozen == (early.feature_space() == lab.store.space) == (not early.caps.trains_backbone)


@every_method
def test_state_is_flat_and_footprint_is_counted(lab: Lab, case: Case) -> None:
    method = lab.trained(case, ONE, TWO)
    dtypes = {torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool}
    for value in method.state_dict().values():
        if isinstance(value, torch.Tensor):
            assert value.dtype in dtypes
            assert value.is_contiguous(), "a stored copy would have another layout, and products with it other bits"
        else:
            assert isinstance(value, (str, int, float, bool))
    footprint, larger = method.memory_footprint(), lab.trained(case, *TASKS).memory_footprint()
    assert 0 < footprint.params + footprint.statistics < larger.params + larger.statistics
    assert footprint.exemplar_images == len(method.exemplars()) * method.context.image_bytes


@every_method
def test_parameters_are_checked_and_explained(case: Case) -> None:
    kind: type[Method] = load("method", case.target)
    with pytest.raises(UserError, match="no parameter 'wings'"):
        build_config(kind, {"wings": 2})
    for name, spec in kind.Config.__dataclass_fields__.items():
        assert spec.metadata.get("help"), f"{name} has no help: declare it with param(default, help)"
        if isinstance(spec.default, (int, float)) and not isinstance(spec.default, bool):
            low, high = spec.metadata["minimum"], spec.metadata["maximum"]
            assert low is not None, f"{name} has no minimum"
            assert high is not None, f"{name} has no maximum"
            assert low <= spec.default <= high < (2**63 if isinstance(spec.default, int) else 1e38), name
            for wrong in (low - 1, 2 * high + 1, 10**400, "9" * 5000, "much", float("inf"), float("nan")):
                with pytest.raises(UserError, match=name):
                    build_config(kind, {name: wrong})


def test_choices_are_checked() -> None:
    with pytest.raises(UserError, match="adapt=some: must be one of none, full"):
        build_config(load("method", "ranpac"), {"adapt": "some"})


@pytest.mark.long
@each(cases_from_scratch())
def test_c8_a_rate_at_which_training_collapses_is_a_result(lab: Lab, case: Case) -> None:
    """Either it diverges and says so, or what it predicts is poor and finite."""
    rates = {name: 3.0 for name in vars(lab.fresh(case).config) if name in ("lr", "first_lr", "backbone_lr")}
    method = lab.fresh(case, **rates)
    for classes in (ONE, TWO):
        report = method.fit_task(lab.data(method, classes))
        if report.status == "diverged":
            return
        method.n_seen, method.n_tasks = method.n_seen + len(classes), method.n_tasks + 1
    assert bool(torch.isfinite(method.predict(lab.batch(ONE + TWO))).all())
    assert lab.accuracy(method, (ONE, TWO), 0) < 0.7
