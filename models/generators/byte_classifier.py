"""A classifier of bytes: an embedding, residual blocks of dense layers with GELU behind LayerNormalization at each of
2 048 positions, LayerNormalization over the positions, their mean, and a dense layer. Input: int64 [1, positions]."""

import numpy as np

from build import Builder
from transformer_encoder import gelu

WIDTH, HIDDEN, BLOCKS, CLASSES = 64, 128, 2, 16


def make(size=2048):
    """size: number of positions"""
    b = Builder("byte_classifier", seed=8, opset=17)
    index = b.input("bytes", (1, size), integers=True)
    table = b.constant("embedding.weight", b.normal((256, WIDTH), 1.0))
    x = b.node("Gather", "embedding", [table, index], (1, size, WIDTH), 1.0, axis=0)
    for block in range(BLOCKS):
        name = f"block{block}"
        y = b.linear(b.layer_norm(x, f"{name}.norm"), f"{name}.up", HIDDEN)
        y = b.linear(gelu(b, y, f"{name}.gelu"), f"{name}.down", WIDTH)
        x = b.add(x, y, f"{name}.add")
    x = b.layer_norm(b.transpose(x, "swap", [0, 2, 1]), "norm")
    x = b.node("ReduceMean", "mean", [x], (1, WIDTH), 1.0, axes=[2], keepdims=0)
    b.output(b.gemm(x, "classes", CLASSES), "scores")
    return b
