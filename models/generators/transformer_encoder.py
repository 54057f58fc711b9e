"""Two post-norm encoder layers (Vaswani et al. 2017, arXiv:1706.03762; GELU as in BERT, arXiv:1810.04805).

Input: embeddings [1, tokens, 256]. GELU is written out with Erf, as exporters did before opset 20.
"""

import math

import numpy as np

from build import Builder

LAYERS, WIDTH, HEADS, HIDDEN = 2, 256, 4, 1024


def split_heads(b, x, name, perm):
    tokens = b.shape[x][1]
    return b.transpose(b.reshape(x, f"{name}.split", (1, tokens, HEADS, WIDTH // HEADS)), f"{name}.heads", perm)


def attention(b, x, name):
    tokens = b.shape[x][1]
    q = split_heads(b, b.linear(x, f"{name}.q", WIDTH), f"{name}.q", [0, 2, 1, 3])
    k = split_heads(b, b.linear(x, f"{name}.k", WIDTH), f"{name}.k", [0, 2, 3, 1])
    v = split_heads(b, b.linear(x, f"{name}.v", WIDTH), f"{name}.v", [0, 2, 1, 3])
    scale = b.constant(f"{name}.sqrt_depth", np.float32(math.sqrt(WIDTH // HEADS)).reshape(()))
    scores = b.matmul(q, k, f"{name}.scores", WIDTH // HEADS)
    scores = b.node("Div", f"{name}.scale", [scores, scale], b.shape[scores], 1.0)
    mixed = b.matmul(b.softmax(scores, f"{name}.softmax"), v, f"{name}.mix", b.moment[v])
    merged = b.reshape(b.transpose(mixed, f"{name}.merge", [0, 2, 1, 3]), f"{name}.join", (1, tokens, WIDTH))
    return b.linear(merged, f"{name}.proj", WIDTH)


def gelu(b, x, name):
    """x * (1 + erf(x / sqrt 2)) / 2"""
    shape, moment = b.shape[x], b.moment[x]
    const = lambda suffix, value: b.constant(f"{name}.{suffix}", np.float32(value).reshape(()))
    y = b.node("Div", f"{name}.div", [x, const("sqrt2", math.sqrt(2))], shape, moment / 2)
    y = b.node("Add", f"{name}.add", [b.node("Erf", f"{name}.erf", [y], shape, 1.0), const("one", 1)], shape, 2.0)
    y = b.node("Mul", f"{name}.mul", [x, y], shape, 2 * moment)
    return b.node("Mul", f"{name}.half", [y, const("one_half", 0.5)], shape, moment / 2)


def encoder_layer(b, x, name):
    x = b.layer_norm(b.add(x, attention(b, x, f"{name}.attn"), f"{name}.attn.residual"), f"{name}.norm1")
    y = gelu(b, b.linear(x, f"{name}.ff1", HIDDEN), f"{name}.gelu")
    return b.layer_norm(b.add(x, b.linear(y, f"{name}.ff2", WIDTH), f"{name}.ff.residual"), f"{name}.norm2")


def make(size=128):
    """size: number of tokens"""
    b = Builder("transformer_encoder", seed=17, opset=17)
    x = b.input("embeddings", (1, size, WIDTH))
    for layer in range(LAYERS):
        x = encoder_layer(b, x, f"layer{layer}")
    b.output(x, "encoded")
    return b
