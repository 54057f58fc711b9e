"""DenseNet-121 (Huang et al. 2016, arXiv:1608.06993, table 1; growth rate 32, bottlenecks, compression one half)."""

from build import Builder

BLOCKS, GROWTH = (6, 12, 24, 16), 32
MACS_AT_224 = 2_834_161_664


def bn_relu_conv(b, x, name, channels, kernel):
    x = b.relu(b.batch_norm(x, f"{name}.bn"), f"{name}.relu")
    return b.conv(x, f"{name}.conv", channels, kernel)


def make(size=224):
    b = Builder("densenet121", seed=121)
    x = b.conv(b.input("data", (1, 3, size, size)), "stem.conv", 64, 7, 2, gain=1.0)
    x = b.max_pool(b.relu(b.batch_norm(x, "stem.bn"), "stem.relu"), "stem.pool", 3, 2, pad=1)
    for block, layers in enumerate(BLOCKS, start=1):
        for layer in range(layers):
            name = f"block{block}.{layer}"
            new = bn_relu_conv(b, bn_relu_conv(b, x, f"{name}.1", 4 * GROWTH, 1), f"{name}.2", GROWTH, 3)
            x = b.concat([x, new], f"{name}.concat", 1)
        if block < len(BLOCKS):
            x = bn_relu_conv(b, x, f"transition{block}", b.shape[x][1] // 2, 1)
            x = b.average_pool(x, f"transition{block}.pool", 2, 2)
    x = b.relu(b.batch_norm(x, "head.bn"), "head.relu")
    x = b.flatten(b.global_average_pool(x, "pool"), "flatten")
    b.output(b.gemm(x, "fc", 1000), "logits")
    if size == 224 and b.macs != MACS_AT_224:
        raise ValueError(f"densenet121: {b.macs} multiply-accumulates, {MACS_AT_224} expected")
    return b
