"""The pictures that README.md and docs/operations/console.md show: of the pages as a run has kept
them, with few colours, so that they are small."""

import os

from PIL import Image
from symlab import product

FOLDER = os.path.join(product.REPO, "docs", "operations", "pictures")
MAX_BYTES = 150_000
COLOURS = (128, 64, 32)
# Name of the picture: what the cases have kept.
PICTURES = {"console_matrix": "moved", "console_move": "move"}


def write(shots):
    os.makedirs(FOLDER, exist_ok=True)
    for name, shot in PICTURES.items():
        path = os.path.join(FOLDER, f"{name}.png")
        with Image.open(os.path.join(shots, f"{shot}.png")) as picture:
            for colours in COLOURS:
                picture.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(
                    path, optimize=True)
                if os.path.getsize(path) < MAX_BYTES:
                    break
        print(f"{path}: {os.path.getsize(path)} bytes")
