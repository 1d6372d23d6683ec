"""PNG files of figures: what Pillow reads in them is what was drawn."""

import io

import numpy as np
import pytest
from PIL import Image
from scalestudy.publish.figures.png import png_of


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (40, 1), (33, 57)])
def test_the_pixels_the_resolution_and_the_words_are_read_back(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    with Image.open(io.BytesIO(png_of(pixels, dpi=300, description="Speedup: ≥ 1.9"))) as image:
        image.load()
        assert (np.asarray(image) == pixels).all()
        assert image.mode == "RGB"
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.01)
        assert image.info["Description"] == "Speedup: ≥ 1.9"


def test_an_alpha_channel_that_is_cut_off_leaves_the_colours() -> None:
    drawn = np.random.default_rng(2).integers(0, 256, (5, 6, 4), dtype=np.uint8)
    with Image.open(io.BytesIO(png_of(drawn[..., :3], dpi=72, description=""))) as image:
        assert (np.asarray(image) == drawn[..., :3]).all()
