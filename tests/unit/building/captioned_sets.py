"""Miniature data sets in the layouts of those that have captions: CUB-200-2011, Oxford Flowers, DVM-CAR."""

from __future__ import annotations

import csv
from pathlib import Path

from PIL import Image

BIRDS = ("001.Black_footed_Albatross", "002.Brewer_Blackbird", "003.Yellow_Warbler")
FLOWERS = ("pink primrose", "hard-leaved pocket orchid", "rose")
CARS = (("Abarth", "124 Spider", "2_1"), ("Ford", "Focus", "29_11"), ("Kia", "Rio", "48_9"))
HEADS = ("black", "white", "red", "tan", "wide", "long", "thin", "big", "old", "dim")
COLOURS = ("Blue", "Red", "Silver")


def picture(path: Path, *colour: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (9, 9), colour).save(path, quality=95)


def write_birds(root: Path, per_class: int = 12) -> Path:
    """``CUB_200_2011/images/CLASS/NAME.jpg`` and ``text_c10/CLASS/NAME.txt``, ten captions each, some of which name the bird; and
    the lists of the data set, ``images.txt`` and ``train_test_split.txt``."""
    names, parts = [], []
    for number, bird in enumerate(BIRDS):
        plain = bird.partition(".")[2]
        for i in range(per_class):
            name = f"{bird}/{plain}_{i:04d}_{796000 + i}"
            picture(root / "CUB_200_2011" / "images" / f"{name}.jpg", 20 * i, 60 * number, i)
            lines = [f"this bird has a {w} head and {i} spots ." for w in HEADS]
            if i == 1:
                lines[0] = f"a {plain.replace('_', ' ').lower()} on a branch ."
            if i == 2:
                lines = [f"two {plain.replace('_', '-').upper()}S in flight, number {n}" for n in range(10)]
            text = root / "text_c10" / f"{name}.txt"
            text.parent.mkdir(parents=True, exist_ok=True)
            text.write_text("\n".join(lines) + "\n")
            names.append(f"{len(names) + 1} {name}.jpg")
            parts.append(f"{len(names)} {int(i % 2)}")
    (root / "CUB_200_2011" / "images.txt").write_text("\n".join(names) + "\n")
    (root / "CUB_200_2011" / "train_test_split.txt").write_text("\n".join(parts) + "\n")
    return root


def write_flowers(root: Path, per_class: int = 12) -> Path:
    """``jpg/image_00001.jpg`` of all classes, ``text_c10/class_00001/image_00001.txt``, and ``names.txt``, a class a line."""
    number = 0
    for label, flower in enumerate(FLOWERS, start=1):
        for i in range(per_class):
            number += 1
            picture(root / "jpg" / f"image_{number:05d}.jpg", 25 * i, 70 * label, i)
            text = root / "text_c10" / f"class_{label:05d}" / f"image_{number:05d}.txt"
            text.parent.mkdir(parents=True, exist_ok=True)
            lines = [f"this flower has {n} petals that are soft" for n in range(2, 12)]
            if i == 0:
                lines[4] = f"a {flower} with rounded petals"
            text.write_text("\n".join(lines))
    (root / "names.txt").write_text("\n".join(FLOWERS) + "\n")
    return root


def write_cars(root: Path, adverts: int = 8, views: int = 3) -> Path:
    """``resized_DVM/MAKER/MODEL/YEAR/COLOUR/IMAGE.jpg`` and the two tables, one row an advert and one row an image."""
    ads, images = [], []
    for label, (maker, model, key) in enumerate(CARS):
        for a in range(adverts):
            colour, advert = COLOURS[(a + label) % 3], f"{key}$${a}"
            miles = "" if a == 3 else str(1000 * (a + 1))
            ads.append(
                [
                    maker,
                    model,
                    key,
                    advert,
                    2018,
                    4,
                    colour,
                    2012 + a % 3,
                    "Saloon",
                    miles,
                    "1.6L",
                    "Manual",
                    "Petrol",
                    5000 + 7 * a,
                    4,
                    5.0,
                ]
            )
            for v in range(views):
                name = f"{maker}$${model}$${2012}$${colour}$${advert}$$image_{v}.jpg"
                picture(root / "resized_DVM" / maker / model / "2012" / colour / name, 30 * a, 40 * v, 80 * label)
                images.append([key, f"{advert}$${v}", name, 45 * v, "P"])
    for name, header, rows in (("Ad_table.csv", AD, ads), ("Image_table.csv", IMAGE, images)):
        with open(root / name, "w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return root


AD = [
    "Maker", " Genmodel", " Genmodel_ID", "Adv_ID", "Adv_year", "Adv_month", "Color", "Reg_year", "Bodytype", "Runned_Miles",
    "Engin_size", "Gearbox", "Fuel_type", "Price", "Seat_num", "Door_num",
]  # fmt: skip
IMAGE = ["Genmodel_ID", "Image_ID", "Image_name", "Predicted_viewpoint", "Quality_check"]
