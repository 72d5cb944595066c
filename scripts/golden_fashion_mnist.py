#!/usr/bin/python3
"""Prints the values that src/wide/data/fashion_mnist_test.cc expects of Debian's Fashion-MNIST.

An independent reading: Python's gzip, numpy's arithmetic in double rounded to float32.
"""

import gzip
import hashlib
import struct

import numpy as np

FOLDER = "/usr/share/datasets/fashion-mnist/"
NAMES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte",
         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


def read(name):
    with gzip.open(FOLDER + name + ".gz") as file:
        return file.read()


def sample_digest(images, index):
    pixels = np.frombuffer(images, np.uint8)[16 + 784 * index:16 + 784 * (index + 1)]
    normalised = ((pixels / 255.0 - 0.2860) / 0.3530).astype("<f4")
    return hashlib.sha256(normalised.tobytes()).hexdigest()


def main():
    train_images, train_labels, eval_images, eval_labels = files = [read(name) for name in NAMES]
    space = struct.pack("<QQ5I", 60000, 10000, 3, 1, 28, 28, 10)
    print("set", hashlib.sha256(space + b"".join(files)).hexdigest())
    print("train labels", list(train_labels[8:18]))
    print("eval labels", list(eval_labels[8:18]))
    print("train 0", sample_digest(train_images, 0))
    print("train 59999", sample_digest(train_images, 59999))
    print("eval 0", sample_digest(eval_images, 0))


if __name__ == "__main__":
    main()
