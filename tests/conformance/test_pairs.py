"""Methods on a backbone of image-text pairs: what a batch is made of changes no score, and which methods it is for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import load, names
from seqsearch.methods.data import Batch
from seqsearch.methods.parts.pairs import pairs_of
from seqsearch.methods.spec import method_spec
from seqsearch.training.altered_pairs import AlteredPairs, same
from tests.conformance.lab import HERE, PAIRS, TASKS, Case, Lab, cases_of_pairs
from tests.conformance.lab import same as same_states

SEEN = TASKS[0] + TASKS[1]
CASES = cases_of_pairs()
OWN = [name for name in names("method") if load("method", name).caps.backbones == "pairs"]
every_case = pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=pytest.mark.long if c.label.endswith(", pairs") else (), id=c.label) for c in CASES],
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Lab(tmp_path_factory.mktemp("lab"), PAIRS)
    torch.set_num_threads(threads)


def parts(count: int) -> list[list[np.ndarray]]:
    """Ways to cut ``count`` pairs into batches: alone, by three, all at once, and each in another order."""
    draw = np.random.default_rng(0)
    found = []
    for size in (1, 3, count):
        for order in (np.arange(count), draw.permutation(count)):
            found.append(np.split(order, range(size, count, size)))
    return found


@every_case
def test_scores_do_not_depend_on_what_a_batch_is_made_of(lab: Lab, case: Case) -> None:
    """Neither on its size nor on its order nor, by its longest text, on the padding of the others."""
    method, batch = lab.trained(case, TASKS[0], TASKS[1]), lab.batch(SEEN)
    lengths = pairs_of(batch)["attention_mask"].sum(1)
    assert len({-(-int(n) // 8) for n in lengths}) > 2, "all texts are padded alike"
    together = method.predict(batch)
    for cut in parts(len(batch)):
        found = torch.empty_like(together)
        for places in cut:
            found[torch.from_numpy(places)] = method.predict(batch.select(places))
        assert float((found - together).abs().max()) < 1e-5
        assert torch.equal(found.argmax(1), together.argmax(1))


@every_case
def test_texts_are_learned_from(lab: Lab, case: Case) -> None:
    """What is said of an image plays a role in what is predicted."""
    method, batch = lab.trained(case, TASKS[0]), lab.batch(TASKS[0])

    silent = Batch(batch.indices, AlteredPairs(lab.source.inner, same, None))
    assert not torch.allclose(method.predict(silent), method.predict(batch), atol=1e-3)


@pytest.mark.long
def test_they_learn_on_what_comes_with_us(tmp_path: Path) -> None:
    """Four classes, so that chance is .25."""
    lab = Lab(tmp_path, "glyph_flava", "glyphs:classes=16,train=10,reward=4,test=8,captions=first")
    found = {}
    for name in [*OWN, "frozen_head", "simplecil", "lwf", "icarl"]:
        case = Case(name, name, backbone="glyph_flava")
        found[name] = lab.accuracy(lab.trained(case, TASKS[0]), TASKS, 0)
    assert min(found.values()) >= 0.5, found


@pytest.mark.parametrize("name", ["mm_lb", "mm_dp", "finetune", "lwf", "icarl"])
def test_texts_are_drawn_anew_where_the_pool_says_so(tmp_path: Path, name: str) -> None:
    """The same seed draws the same ones; images are evaluated with their first."""
    case = Case(name, name, backbone=PAIRS)
    pools = {policy: f"{HERE / 'pairs.py'}:captioned{policy}" for policy in ("", "_random")}
    first, drawn = (Lab(tmp_path / f"p{policy}", PAIRS, pool) for policy, pool in pools.items())
    states = [lab.trained(case, TASKS[0]).state_dict() for lab in (first, drawn)]
    again = drawn.fresh(case)
    drawn.fit(again, TASKS[0])
    assert not same_states(*states)
    assert same_states(states[1], again.state_dict())
    assert drawn.batch(SEEN).texts == first.batch(SEEN).texts


def test_what_has_no_text_to_read_is_refused_on_a_backbone_of_pairs() -> None:
    """Methods of images alone, methods of pairs on backbones of images; what reads stored features goes with both."""
    pairs, images = build_backbone(PAIRS), build_backbone("glyph_vit")
    accepted = set()
    for name in names("method"):
        caps = Case(name, name).caps
        item = parse_item(name, "method")
        if caps.backbones == "pairs":
            with pytest.raises(UserError, match=rf"{name}.* images alone: give it {name}@glyph_flava or {name}@flava"):
                method_spec(item, "glyph_vit", images, "cpu")
        if caps.backbones == "pairs" or caps.pairs or (caps.input == "frozen" and caps.backbones == "any"):
            method_spec(item, PAIRS, pairs, "cpu")
            accepted.add(name)
        else:
            with pytest.raises(
                UserError,
                match=rf"method '{name}' (learns from images alone|injects|reads feature maps|needs a backbone)",
            ):
                method_spec(item, PAIRS, pairs, "cpu")
    assert accepted >= {*OWN, "finetune", "joint", "slca", "simplecil", "frozen_head", "lwf", "icarl"}
    assert {"er", "l2p", "dualprompt", "coda_prompt", "ewc", "wa"}.isdisjoint(accepted)
    method_spec(parse_item("ranpac:adapt=none", "method"), PAIRS, pairs, "cpu")
    assert set(OWN) == {"mm_lb", "mm_ub", "mm_er", "mm_l2p", "mm_dp", "mm_dpcf", "mm_coda_prompt"}
