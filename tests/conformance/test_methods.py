"""Every method in the folder keeps the contracts C1-C10 of docs/method_contracts.md, which `seqsearch check` asks
of own ones, and what is said of it is true."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from seqsearch.check.contracts import TESTS
from seqsearch.check.run import method_findings
from seqsearch.check.watched import rates_of
from seqsearch.core.errors import AccessError, UserError
from seqsearch.core.registry import load
from seqsearch.methods.base import PASSES, Method
from seqsearch.methods.config import build_config
from seqsearch.training.context import WorkerContext
from tests.conformance.lab import (
    CLIP,
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
)

ONE, TWO, THREE = TASKS
OTHER = (1, 6, 13)
ER = Case("er", "er", backbone=TWO_BLOCKS)
SLOW = (
    "afec", "beef", "bic", "clser", "der", "derpp", "foster", "hide_prompt", "icarl", "joint", "lucir", "memo", "mm_er", "mm_l2p",
    "mm_lb", "mm_ub", "podnet", "replay", "tagfex", "wa",
)  # fmt: skip
"""They train several networks, or all that there was again: some seconds each, which are left to the long tests."""


def again(case: Case) -> bool:
    """Whether a method is put through the contracts once more: one that learns its network on a network of another kind or with
    other settings, one of image-text pairs with other settings."""
    on_resnet = case.backbone == RESNET and case.caps.trains_backbone
    on_pairs = case.label.endswith(", pairs") and case.target != "simplecil"
    other_settings = case.label in ("er, herding", "ewc, all classes", "ewc, first task apart", "lwf, aligned")
    return on_resnet or on_pairs or other_settings or case.label.endswith(", scratch")


def each(found: list[Case], slow: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """Every method on one network; on a second one it takes the same paths, which is left to the long tests, as are ``slow``
    ones."""
    params = [
        pytest.param(c, marks=pytest.mark.long if again(c) or c.target in slow else (), id=c.label) for c in found
    ]
    return pytest.mark.parametrize("case", params)


every_method = each(cases_on_small_networks())


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Lab]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield {b: Lab(tmp_path_factory.mktemp("lab"), b) for b in (TWO_BLOCKS, RESNET, EMBEDDED, SCRATCH, PAIRS, CLIP)}
    torch.set_num_threads(threads)


@pytest.fixture
def lab(labs: dict[str, Lab], request: pytest.FixtureRequest) -> Lab:
    """The lab with the network of the test's case."""
    case = request.node.callspec.params["case"] if hasattr(request.node, "callspec") else ER
    return labs[case.backbone]


def test_discovery_finds_the_shipped_methods() -> None:
    assert {"simplecil", "finetune", "er", "ranpac", "slca", EXAMPLE} <= {c.target for c in cases()}


@each(cases_on_small_networks(), slow=SLOW)
def test_it_keeps_the_contracts(lab: Lab, case: Case) -> None:
    """All that `seqsearch check` asks, no warning aside but of learning rates that have no effect with these settings."""
    subject = lab.subject(case)
    findings = method_findings(subject)
    wrong = [f for f in findings if f.wrong and not (f.contract == "C8" and f.warns and case.idle)]
    assert not wrong
    assert len(findings) == len(TESTS)
    assert set(subject.survived or ()) <= set(case.idle) or not case.caps.trains_backbone
    assert case.caps.trains_backbone <= bool(rates_of(subject.both().config))


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


def stepped(lab: Lab, case: Case) -> list[float]:
    """Images that the first and the second task were stepped on."""
    lab.trained(case, ONE, TWO)
    return [lab.reports[case.label, tasks].notes.get(PASSES, 0.0) for tasks in ((ONE,), (ONE, TWO))]


def with_steps(case: Case) -> list[bool]:
    """Whether a method that has epochs makes steps in its first and in its second task."""
    frozen = case.params.get("adapt") == "none" or (case.target == "acil" and case.params.get("epochs") == 0)
    if frozen or (case.target == "joint" and "learner" in case.params):
        return [False, False]  # a ridge in closed form, or neighbours that vote
    if case.target == EXAMPLE_REPLAY:
        return [False, False]  # its loop is its own: what is counted are the steps of `descend`
    return [
        True,
        case.target not in ("acil", "aper_adapter", "ranpac"),
    ]  # they adapt the network in the first task only


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


@pytest.mark.long
def test_finetune_forgets_more_than_replay(labs: dict[str, Lab]) -> None:
    """At one common, high rate of the backbone: the default ones are low, so that neither forgets much in three tasks."""
    lab = labs[EMBEDDED]

    def loss(target: str) -> float:
        case = Case(f"{target}, fast", target, {"backbone_lr": 0.02})
        return lab.accuracy(lab.trained(case, ONE), TASKS, 0) - lab.accuracy(lab.trained(case, *TASKS), TASKS, 0)

    assert loss("finetune") > loss("er") + 0.1


@each(cases_on_small_networks(), slow=SLOW)
def test_order_of_tasks_matters_where_caps_say_so(lab: Lab, case: Case) -> None:
    """Same tasks in another order. Where the caps say that it does not matter, the contracts ask that it does not."""
    forward = lab.trained(case, *TASKS)
    if forward.caps.order_invariant_after is not None:
        return
    if case.target == "gddsg" and case.backbone == RESNET:
        return  # untrained features are so alike that nearly every class is a group, in any order
    backward, batch = lab.trained(case, *reversed(TASKS)), lab.batch(ONE + TWO + THREE)
    classes = THREE + TWO + ONE
    scores, others = forward.predict(batch), backward.predict(batch)
    others = others[:, [classes.index(c) for c in ONE + TWO + THREE]]
    assert float((scores - others).abs().max() / scores.abs().max()) > 0.01, "it may declare order_invariant_after"


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
def test_the_footprint_grows_and_counts_each_stored_image_once(lab: Lab, case: Case) -> None:
    """What `check` does not ask: others may store more than rows of images, or have room for all from the start."""
    method = lab.trained(case, ONE, TWO)
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
