"""Image files of all kinds to pixels: what Pillow and timm would give, or one reason why not."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from seqsearch.pools.base import View
from seqsearch.pools.parts.decode import BadImage, decode, fitted, picture
from tests.photos import photographs


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


PHOTO = photographs()["flower"].resize((60, 40))


def bomb() -> bytes:
    """A PNG that claims 60,000 x 60,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(9)))


@pytest.mark.parametrize("size", [(50, 50), (91, 40), (40, 91), (7, 300), (33, 32), (500, 20), (224, 224)])
@pytest.mark.parametrize("mode", ["center", "border", "squash"])
@pytest.mark.parametrize(
    ("target", "crop", "interpolation"), [(32, 1.0, "bicubic"), (56, 0.9, "bilinear"), (61, 0.875, "bicubic")]
)
def test_pixels_are_those_of_timm(
    size: tuple[int, int], mode: str, target: int, crop: float, interpolation: str
) -> None:
    from timm.data import create_transform

    image = photographs()["china"].resize(size)
    view = View(target, crop, interpolation, mode, (124, 116, 104))
    theirs = create_transform(
        (3, target, target),
        interpolation=interpolation,
        crop_pct=crop,
        crop_mode=mode,
        mean=(124 / 255, 116 / 255, 104 / 255),
        normalize=False,
    )
    np.testing.assert_array_equal(decode(encoded(image, "PNG"), view), np.asarray(theirs(image)))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"no image at all", "not an image"),
        (encoded(PHOTO, "JPEG")[:400], "corrupt"),
        (encoded(PHOTO, "PNG")[:900], "corrupt"),
        (bomb(), "60000 x 60000 pixels|more than 100 million"),
    ],
)
def test_unusable_files_say_why(data: bytes, reason: str) -> None:
    with pytest.raises(BadImage, match=reason):
        picture(data)


def test_colour_spaces_become_rgb() -> None:
    grey = Image.fromarray(np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16))
    kinds = {
        "CMYK": encoded(PHOTO.convert("CMYK"), "JPEG"),
        "palette": encoded(PHOTO.quantize(16), "PNG"),
        "palette with a transparent colour": encoded(PHOTO.quantize(16), "PNG", transparency=3),
        "grey": encoded(PHOTO.convert("L"), "PNG"),
        "alpha": encoded(PHOTO.convert("RGBA"), "PNG"),
        "16 bits": encoded(grey, "PNG"),
        "WebP": encoded(PHOTO, "WEBP"),
        "TIFF": encoded(PHOTO, "TIFF"),
    }
    for kind, data in kinds.items():
        found = picture(data)
        assert found.mode == "RGB", kind
    sixteen = np.asarray(picture(kinds["16 bits"]))[..., 0].ravel()
    assert sixteen[0] == 0
    assert sixteen[-1] == 255
    assert sixteen.tolist() == sorted(sixteen)
    near = np.abs(np.asarray(picture(kinds["CMYK"])).astype(int) - np.asarray(PHOTO)).mean()
    assert near < 12


def test_of_an_animation_the_first_frame_is_taken() -> None:
    frames = [Image.new("RGB", (9, 9), c) for c in ("red", "blue")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert np.asarray(picture(data))[0, 0].tolist() == [255, 0, 0]


def test_a_picture_stands_as_its_exif_data_say() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    assert picture(encoded(PHOTO, "JPEG", exif=exif)).size == (40, 60)


@pytest.mark.parametrize("orientation", range(10))
def test_all_orientations_are_those_of_pillow(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(PHOTO, "JPEG", exif=exif)
    theirs = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    np.testing.assert_array_equal(np.asarray(picture(data)), np.asarray(theirs))


@pytest.mark.parametrize("kind", [5, 10, 11, 12])
def test_good_pixels_are_not_refused_for_bad_exif_data(kind: int) -> None:
    def entry(tag: int, kind: int, value: int) -> bytes:
        return struct.pack("<HHII", tag, kind, 1, value)

    fields = entry(0x0112, 3, 6) + entry(0x010E, kind, 8)  # a description that is a number
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, 2) + fields + bytes(20)
    assert picture(encoded(PHOTO, "JPEG", exif=exif)).size == (40, 60)
    assert picture(encoded(PHOTO, "JPEG", exif=b"Exif\0\0garbage")).size == (60, 40)


def test_of_several_pictures_in_one_file_the_first_is_taken() -> None:
    data = encoded(PHOTO, "MPO", save_all=True, append_images=[Image.new("RGB", PHOTO.size)])
    near = np.abs(np.asarray(picture(data)).astype(int) - np.asarray(PHOTO)).mean()
    assert near < 12


@pytest.mark.parametrize("mode", ["center", "border", "squash"])
@pytest.mark.parametrize("size", [(8, 60_000), (60_000, 1), (1, 1)])
def test_very_long_images_take_little_room(size: tuple[int, int], mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(Image.new("RGB", size, (9, 8, 7)), "PNG")
    pixels: list[int] = []
    real = Image.Image.resize

    def resize(image: Image.Image, wanted: tuple[int, int], *options: Any) -> Image.Image:
        pixels.append(wanted[0] * wanted[1])
        assert pixels[-1] < 10**7  # before gigabytes are asked for
        return real(image, wanted, *options)

    monkeypatch.setattr(Image.Image, "resize", resize)
    found = decode(data, View(224, 0.875, "bicubic", mode, (9, 8, 7)))
    assert found.shape == (3, 224, 224)
    assert (found == np.array([9, 8, 7])[:, None, None]).all()
    assert pixels


@pytest.mark.parametrize("size", [(40, 4000), (4000, 40)])
def test_the_middle_of_a_long_image_is_the_same(size: tuple[int, int]) -> None:
    smooth = photographs()["china"].resize(size)
    image = picture(encoded(smooth, "PNG"))
    ours = np.asarray(fitted(image, View(32)))
    scaled = image.resize((32, 3200) if size[0] < size[1] else (3200, 32), Image.Resampling.BICUBIC)
    left, top = (scaled.width - 32) // 2, (scaled.height - 32) // 2
    np.testing.assert_array_equal(ours, np.asarray(scaled.crop((left, top, left + 32, top + 32))))
