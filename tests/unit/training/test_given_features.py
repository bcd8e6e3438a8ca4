"""A stream of features without images, and one of glyphs, learned by a learner of frozen features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Segment
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, FixedSequence
from seqsearch.streams.playing import Playing
from seqsearch.training.world import World
from tests.unit.streams.made import photos_file


def world_of(folder: Path, stream: str) -> World:
    playing = Playing(stream, 10, (0, 20), search=0.1, holdout=0.1)
    return World("", 0, str(folder / "cache"), str(folder / "states"), scenario="stream", playing=playing)


def learned(folder: Path, world: World, backbone: str) -> list[tuple[int, int]]:
    """Right and evaluated samples by group: online, shifted, holdout."""
    spec = world.spec(parse_item("ncm", "learner"), backbone)
    segment = Segment(world.played.identity(0), 0, world.played.steps)
    search = Search(InlineEvaluator(world), Journal(folder / "run"))
    search.run([FixedPlanner("stream", lambda: [FixedSequence((segment,), (5,))], [spec], 0)])
    (result,) = search.journal._edges.values()
    assert result.status == "ok", result.message
    (counts,) = result.classifiers
    return [(sum(right), sum(shown)) for right, shown in zip(counts.correct, result.judged, strict=True)]


def write_features(folder: Path, features: np.ndarray, labels: np.ndarray) -> Path:
    np.save(folder / "f.npy", features)
    np.save(folder / "y.npy", labels)
    out = folder / "stream.parquet"
    made = CliRunner().invoke(main, ["stream", "build", f"{folder}/f.npy", str(out), "--labels", f"{folder}/y.npy"])
    assert made.exit_code == 0, made.output
    return out


def drawn(n: int = 400, classes: int = 5, dim: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Features near the corners of their classes, and labels in runs of five."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(classes, size=n // 5), 5)
    means = rng.normal(size=(classes, dim))
    return (means[labels] + 0.3 * rng.normal(size=(n, dim))).astype(np.float32), labels


def running_means(features: np.ndarray, labels: np.ndarray, batch: int) -> int:
    """Samples that the nearest running mean gets right, batch after batch, by hand."""
    sums, right = np.zeros((5, features.shape[1])), 0
    for first in range(0, len(labels), batch):
        x, y = features[first : first + batch], labels[first : first + batch]
        if sums.any():
            norm = np.linalg.norm(sums, axis=1)
            scores = np.where(norm > 0, x @ sums.T / np.maximum(norm, 1e-12), -np.inf)
            right += int((scores.argmax(1) == y).sum())
        np.add.at(sums, y, x)
    return right


def test_features_are_learned_as_they_are(tmp_path: Path) -> None:
    features, labels = drawn()
    world = world_of(tmp_path, str(write_features(tmp_path, features, labels)))
    online, shifted, held = learned(tmp_path, world, "given:dim=16")
    main_part = world.played.main
    assert online == (running_means(features[main_part], labels[main_part], 10), len(main_part))
    assert shifted[1] == len(main_part) - 20
    assert held[1] == len(world.played.held_out)
    assert held[0] / held[1] > 0.9
    assert not (tmp_path / "cache" / "features").exists(), "nothing is extracted"


def test_of_glyphs_the_samples_alone_are_extracted(tmp_path: Path) -> None:
    world = world_of(tmp_path, "glyphs:samples=150,classes=4")
    online, _, _ = learned(tmp_path, world, "glyph_vit")
    assert online[0] > online[1] / 2
    shards = list((tmp_path / "cache" / "features").rglob("*.npy"))
    assert sum(len(np.load(s)) if s.stat().st_size else 0 for s in shards) <= 150


@pytest.mark.parametrize(
    ("stream", "backbone", "said"),
    [
        (
            "features",
            "given:dim=8",
            "brings features of 16 values, and the backbone is 'given:dim=8': take given:dim=16",
        ),
        ("features", "glyph_vit", "brings features of 16 values, and the backbone is 'glyph_vit': take given:dim=16"),
        ("glyphs:samples=150,classes=4", "given:dim=8", "brings images and no features"),
        ("features", "given:dim=0", "dim=0 must be a whole number from 1"),
    ],
)
def test_a_backbone_that_does_not_go_with_the_stream_is_refused(
    tmp_path: Path, stream: str, backbone: str, said: str
) -> None:
    text = str(write_features(tmp_path, *drawn())) if stream == "features" else stream
    with pytest.raises(UserError) as error:
        world_of(tmp_path, text).spec(parse_item("ncm", "learner"), backbone)
    assert said in str(error.value)


def test_there_is_no_network_and_no_image(tmp_path: Path) -> None:
    world = world_of(tmp_path, str(write_features(tmp_path, *drawn())))
    with pytest.raises(UserError, match="has no network, its features came with the stream"):
        world.backbone("given:dim=16").module()
    with pytest.raises(UserError, match="has features and no images"):
        world.played.stream.pool.images(np.arange(3), world.backbone("given:dim=16").view)


def test_a_feature_that_is_no_number_stops_the_run_with_its_sample(tmp_path: Path) -> None:
    features, labels = drawn()
    out = write_features(tmp_path, features, labels)
    at = out.read_bytes().index(features[123].tobytes())
    with open(out, "r+b") as file:  # damaged after it was made: `seqsearch stream build` refuses such features
        file.seek(at)
        file.write(np.float32("nan").tobytes())
    pool = world_of(tmp_path, str(out)).played.stream
    with pytest.raises(UserError, match="sample 123 has a feature that is no finite number"):
        pool.pool.given_features(pool.rows)


def test_an_image_that_is_gone_when_it_is_needed_stops_the_run_with_its_sample(tmp_path: Path) -> None:
    world = world_of(tmp_path, str(photos_file(tmp_path, 60)))
    gone = int(world.played.main[4])
    (tmp_path / f"{gone % 2}/{gone}.png").unlink()
    with pytest.raises(UserError, match=rf"image of sample {gone}: \d/{gone}.png cannot be read \(No such file"):
        learned(tmp_path, world, "glyph_vit")
