"""Inception v1, GoogLeNet (Szegedy et al. 2014, arXiv:1409.4842, table 1), without its auxiliary classifiers."""

from build import Builder

# 1x1; 1x1 before 3x3, 3x3; 1x1 before 5x5, 5x5; 1x1 behind the pool. None: a pool of 3, stride 2.
MODULES = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None, (192, 96, 208, 16, 48, 64),
           (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
           (256, 160, 320, 32, 128, 128), None, (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128))


def conv_relu(b, x, name, channels, kernel, stride=1):
    return b.relu(b.conv(x, f"{name}.conv", channels, kernel, stride, bias=True), f"{name}.relu")


def module(b, x, name, widths):
    a, b3, c3, b5, c5, p = widths
    pooled = b.max_pool(x, f"{name}.pool", 3, 1, pad=1)
    return b.concat([conv_relu(b, x, f"{name}.1x1", a, 1),
                     conv_relu(b, conv_relu(b, x, f"{name}.3x3_reduce", b3, 1), f"{name}.3x3", c3, 3),
                     conv_relu(b, conv_relu(b, x, f"{name}.5x5_reduce", b5, 1), f"{name}.5x5", c5, 5),
                     conv_relu(b, pooled, f"{name}.pool_proj", p, 1)], f"{name}.concat", 1)


def make(size=224):
    b = Builder("inception_v1", seed=22)
    x = conv_relu(b, b.input("data", (1, 3, size, size)), "stem.1", 64, 7, 2)
    x = b.lrn(b.max_pool(x, "stem.pool1", 3, 2, pad=1), "stem.norm1", 5)
    x = conv_relu(b, conv_relu(b, x, "stem.2_reduce", 64, 1), "stem.2", 192, 3)
    x = b.max_pool(b.lrn(x, "stem.norm2", 5), "stem.pool2", 3, 2, pad=1)
    for i, widths in enumerate(MODULES):
        x = b.max_pool(x, f"pool{i}", 3, 2, pad=1) if widths is None else module(b, x, f"inception{i}", widths)
    x = b.flatten(b.global_average_pool(x, "pool"), "flatten")
    b.output(b.gemm(x, "fc", 1000), "logits")
    return b
