"""ShuffleNet 1x with 3 groups (Zhang et al. 2017, arXiv:1707.01083, table 1 and figure 2)."""

from build import Builder

GROUPS, STAGES = 3, ((240, 4), (480, 8), (960, 4))  # channels and units; the first unit halves the image


def conv_bn(b, x, name, channels, kernel, stride=1, group=1, gain=1.0):
    return b.batch_norm(b.conv(x, f"{name}.conv", channels, kernel, stride, group=group), f"{name}.bn", gain=gain)


def shuffle(b, x, name):
    n, c, h, w = b.shape[x]
    x = b.reshape(x, f"{name}.split", (n, GROUPS, c // GROUPS, h, w))
    return b.reshape(b.transpose(x, f"{name}.swap", [0, 2, 1, 3, 4]), f"{name}.join", (n, c, h, w))


def unit(b, x, name, channels, stride, first):
    middle, cin = channels // 4, b.shape[x][1]
    made = channels - cin if stride == 2 else channels
    y = conv_bn(b, x, f"{name}.1", middle, 1, group=1 if first else GROUPS)
    y = shuffle(b, b.relu(y, f"{name}.1.relu"), name)
    y = conv_bn(b, y, f"{name}.2", middle, 3, stride, group=middle)
    y = conv_bn(b, y, f"{name}.3", made, 1, group=GROUPS, gain=1.0 if stride == 2 else 0.3)
    if stride == 1:
        return b.relu(b.add(x, y, f"{name}.add"), f"{name}.relu")
    return b.relu(b.concat([b.average_pool(x, f"{name}.pool", 3, 2, pad=1), y], f"{name}.concat", 1), f"{name}.relu")


def make(size=224):
    b = Builder("shufflenet", seed=3)
    x = b.relu(conv_bn(b, b.input("data", (1, 3, size, size)), "stem", 24, 3, 2), "stem.relu")
    x = b.max_pool(x, "stem.pool", 3, 2, pad=1)
    for stage, (channels, units) in enumerate(STAGES, start=2):
        for i in range(units):
            x = unit(b, x, f"stage{stage}.{i}", channels, 2 if i == 0 else 1, stage == 2 and i == 0)
    x = b.flatten(b.global_average_pool(x, "pool"), "flatten")
    b.output(b.gemm(x, "fc", 1000), "logits")
    return b
