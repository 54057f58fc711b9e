"""MobileNetV2 1.0 (Sandler et al. 2018, arXiv:1801.04381, table 2)."""

from build import Builder

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1))  # expansion, channels, blocks, stride of the first block
MACS_AT_224 = 300_774_272


def conv_bn_relu6(b, x, name, channels, kernel, stride=1, group=1):
    x = b.conv(x, f"{name}.conv", channels, kernel, stride, group=group)
    return b.relu6(b.batch_norm(x, f"{name}.bn"), f"{name}.relu6")


def inverted_residual(b, x, name, expansion, channels, stride):
    cin = b.shape[x][1]
    residual = stride == 1 and cin == channels
    y = conv_bn_relu6(b, x, f"{name}.expand", cin * expansion, 1) if expansion != 1 else x
    y = conv_bn_relu6(b, y, f"{name}.depthwise", cin * expansion, 3, stride, group=cin * expansion)
    y = b.conv(y, f"{name}.project.conv", channels, 1)
    y = b.batch_norm(y, f"{name}.project.bn", gain=0.3 if residual else 1.0)
    return b.add(x, y, f"{name}.add") if residual else y


def make(size=224):
    b = Builder("mobilenetv2", seed=2)
    x = conv_bn_relu6(b, b.input("data", (1, 3, size, size)), "stem", 32, 3, 2)
    for stage, (expansion, channels, blocks, stride) in enumerate(STAGES, start=1):
        for block in range(blocks):
            x = inverted_residual(b, x, f"stage{stage}.{block}", expansion, channels, stride if block == 0 else 1)
    x = conv_bn_relu6(b, x, "head", 1280, 1)
    x = b.flatten(b.global_average_pool(x, "pool"), "flatten")
    b.output(b.gemm(x, "fc", 1000), "logits")
    if size == 224 and b.macs != MACS_AT_224:
        raise ValueError(f"mobilenetv2: {b.macs} multiply-accumulates, {MACS_AT_224} expected")
    return b
