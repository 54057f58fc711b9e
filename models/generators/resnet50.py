"""ResNet-50 v1 (He et al. 2015, arXiv:1512.03385, table 1): stride 2 stands in the first 1x1 of a stage."""

from build import Builder

STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # blocks, width, stride of the first block
MACS_AT_224 = 3_857_973_248  # convolutions and the dense layer, output elements times reduction length


def conv_bn(b, x, name, channels, kernel, stride=1, gain=1.0):
    return b.batch_norm(b.conv(x, f"{name}.conv", channels, kernel, stride), f"{name}.bn", gain)


def bottleneck(b, x, name, width, stride, project):
    """The branch's last scale is 0.3, so that sums over the blocks of a stage stay near unit scale.

    Without a projection the shortcut is a relu's output: the sum is mostly positive and passes the last relu.
    """
    y = b.relu(conv_bn(b, x, f"{name}.a", width, 1, stride), f"{name}.a.relu")
    y = b.relu(conv_bn(b, y, f"{name}.b", width, 3), f"{name}.b.relu")
    y = conv_bn(b, y, f"{name}.c", 4 * width, 1, gain=0.3)
    shortcut = conv_bn(b, x, f"{name}.shortcut", 4 * width, 1, stride) if project else x
    return b.relu(b.add(y, shortcut, f"{name}.add"), f"{name}.relu", kept=0.5 if project else 1.0)


def backbone(b, x):
    """Returns the outputs of the four stages, at 1/4, 1/8, 1/16 and 1/32 of the input's size."""
    x = b.relu(conv_bn(b, x, "stem", 64, 7, 2), "stem.relu")
    x = b.max_pool(x, "stem.pool", 3, 2, 1)
    features = []
    for stage, (blocks, width, stride) in enumerate(STAGES, start=1):
        for block in range(blocks):
            x = bottleneck(b, x, f"stage{stage}.{block}", width, stride if block == 0 else 1, block == 0)
        features.append(x)
    return features


def make(size=224):
    b = Builder("resnet50", seed=50)
    x = backbone(b, b.input("data", (1, 3, size, size)))[-1]
    x = b.flatten(b.global_average_pool(x, "pool"), "flatten")
    b.output(b.gemm(x, "fc", 1000), "logits")
    if size == 224 and b.macs != MACS_AT_224:
        raise ValueError(f"resnet50: {b.macs} multiply-accumulates, {MACS_AT_224} expected")
    return b
