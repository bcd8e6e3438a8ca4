"""Real images for tests: scikit-learn's digits, and crops of the photographs that scikit-learn and matplotlib ship."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def write_digits(root: Path, per_class: int = 40) -> Path:
    """Handwritten digits, 8 x 8 pixels, as ``root/class/number.png``."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    for label in range(10):
        folder = root / f"digit {label}"
        folder.mkdir(parents=True)
        for number, pixels in enumerate(digits.images[digits.target == label][:per_class]):
            Image.fromarray((pixels * 15.9).astype(np.uint8)).save(folder / f"{number:04d}.png")
    return root


def photographs() -> dict[str, Image.Image]:
    """The real photographs that dependencies bring."""
    import matplotlib
    from sklearn.datasets import load_sample_images

    found = load_sample_images()
    pictures = {
        Path(name).stem: Image.fromarray(image) for name, image in zip(found.filenames, found.images, strict=True)
    }
    hopper = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    return pictures | {"portrait": Image.open(hopper).convert("RGB")}


def write_photos(root: Path, per_class: int = 24, side: int = 48) -> Path:
    """Each quadrant of each photograph is a class, its images are random crops: ``root/photograph/quadrant/number.jpg``."""
    rng = np.random.default_rng(0)
    for name, picture in photographs().items():
        width, height = picture.width // 2, picture.height // 2
        for quadrant in range(4):
            left, top = (quadrant % 2) * width, (quadrant // 2) * height
            folder = root / name / f"quadrant {quadrant}"
            folder.mkdir(parents=True)
            for number in range(per_class):
                x, y = left + rng.integers(width - side), top + rng.integers(height - side)
                crop = picture.crop((int(x), int(y), int(x) + side, int(y) + side))
                crop.save(folder / f"{number:03d}.jpg", quality=90)
    return root


def write_hub_layout(
    path: Path, images: list[bytes], labels: list[int], names: list[str], label: str = "label", **options: object
) -> Path:
    """A Parquet file as image data sets on the Hugging Face hub are, by pyarrow alone; ``label`` is the column of labels."""
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
    features = {"image": {"_type": "Image"}, label: {"names": names, "_type": "ClassLabel"}}
    schema = pa.schema(
        [pa.field("image", kind), pa.field(label, pa.int64())],
        {"huggingface": json.dumps({"info": {"features": features}})},
    )
    rows = [{"bytes": data, "path": f"{i}.png"} for i, data in enumerate(images)]
    table = pa.table({"image": pa.array(rows, kind), label: pa.array(labels, pa.int64())}, schema=schema)
    pq.write_table(table, path, row_group_size=100, **options)
    return path
