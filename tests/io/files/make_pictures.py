"""Writes the pictures beside it with Pillow, and prints what Pillow reads in them: the outside judge of weft's picture reader.
Run by hand when a case is added; the files are kept because Pillow is not needed to run the tests."""
import pathlib

from PIL import Image

here = pathlib.Path(__file__).parent
width, height = 9, 6
colour = Image.new("RGB", (width, height))
colour.putdata([(20 * x, 40 * y, 10 * (x + y)) for y in range(height) for x in range(width)])
colour.save(here / "colour.jpg", quality=92, subsampling=0)
colour.save(here / "colour.png")
grey = Image.new("L", (4, 3))
grey.putdata([20 * i for i in range(12)])
grey.save(here / "grey.png")
grey.save(here / "grey.jpg", quality=95)
clear = Image.new("RGBA", (2, 1))
clear.putdata([(200, 100, 50, 255), (200, 100, 50, 0)])
clear.save(here / "clear.png")
colour.quantize(8).save(here / "palette.png")
for name in ("colour.jpg", "grey.jpg", "palette.png"):
    picture = Image.open(here / name)
    print(name, list((picture.convert("RGB") if picture.mode == "P" else picture).getdata())[:6])
