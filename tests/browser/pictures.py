"""Makes a picture small enough for a repository: at most 256 colours, the most frequent ones, losslessly packed.

The browser reads its own picture; what is written is a plain indexed PNG.
"""

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt
from playwright.async_api import Page

COLOURS_MAX = 256
SIGNATURE = b"\x89PNG\r\n\x1a\n"
READ = """async (encoded) => {
  const image = new Image();
  image.src = `data:image/png;base64,${encoded}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""

Pixels = npt.NDArray[np.uint8]


async def packed(blank: Page, picture: bytes) -> bytes:
    """Return a PNG in few colours; `blank` is a page that nothing has been loaded into."""
    width, height, raw = await blank.evaluate(READ, base64.b64encode(picture).decode())
    pixels = np.frombuffer(base64.b64decode(raw), np.uint8).reshape(height, width, 4)[:, :, :3]
    return indexed_png(pixels)


def indexed_png(pixels: Pixels) -> bytes:
    """Return rows of red, green and blue as a PNG in their most frequent colours; every other takes the nearest."""
    height, width, _ = pixels.shape
    colours, where, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.argsort(-counts, kind="stable")[:COLOURS_MAX]]
    nearest = np.array([np.argmin(((palette.astype(np.int32) - colour) ** 2).sum(axis=1)) for colour in colours])
    rows = np.zeros((height, width + 1), np.uint8)  # each begins with the filter that it went through: none
    rows[:, 1:] = nearest[where.ravel()].reshape(height, width)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = (
        (b"IHDR", header),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
