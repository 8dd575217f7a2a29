#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes images for examples/train, where Fashion-MNIST is missing or too large.

usage: images.py FOLDER TRAINING TEST

Writes as many images of each kind, in the files that Fashion-MNIST has: ten classes, each a pattern
of its own under noise, so that a network can learn them. The same numbers give the same files.
"""
import gzip
import random
import struct
import sys
from pathlib import Path

SIDE, CLASSES = 28, 10


def write(path, header, data):
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as file:
        file.write(struct.pack(">%dI" % len(header), *header) + data)


def main():
    folder, counts = Path(sys.argv[1]), [int(n) for n in sys.argv[2:4]]
    draw = random.Random(1)
    patterns = [draw.randbytes(SIDE * SIDE) for _ in range(CLASSES)]
    for name, count in zip(("train", "t10k"), counts):
        labels = bytes(draw.randrange(CLASSES) for _ in range(count))
        images = b"".join(
            bytes((a + 3 * b) // 4 for a, b in zip(patterns[label], draw.randbytes(SIDE * SIDE)))
            for label in labels)
        write(folder / f"{name}-images-idx3-ubyte.gz", (0x803, count, SIDE, SIDE), images)
        write(folder / f"{name}-labels-idx1-ubyte.gz", (0x801, count), labels)


if __name__ == "__main__":
    main()
