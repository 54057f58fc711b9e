"""SSD (Liu et al. 2016, arXiv:1512.02325) on ResNet-50: two backbone stages, four extra layers, no suppression step.

Outputs: `locations` [1, anchors, 4] (offsets) and `scores` [1, anchors, 21] (softmax over classes, background first).
"""

from build import Builder
from resnet50 import backbone, conv_bn

CLASSES = 21  # the 20 of PASCAL VOC and background
ANCHORS = (4, 6, 6, 6, 4, 4)  # anchor boxes at a position of each feature map
EXTRAS = (512, 512, 256, 256)  # channels of the extra layers, each halving the map


def extra_layer(b, x, name, channels):
    x = b.relu(conv_bn(b, x, f"{name}.reduce", max(128, channels // 2), 1), f"{name}.reduce.relu")
    return b.relu(conv_bn(b, x, f"{name}.down", channels, 3, 2), f"{name}.down.relu")


def predictor(b, x, name, anchors, values):
    """3x3 convolution to [1, positions * anchors, values], positions in row-major order."""
    x = b.transpose(b.conv(x, f"{name}.conv", anchors * values, 3, bias=True, gain=1.0), f"{name}.nhwc", [0, 2, 3, 1])
    _, h, w, _ = b.shape[x]
    return b.reshape(x, f"{name}.rows", (1, h * w * anchors, values))


def make(size=512):
    b = Builder("ssd_resnet50", seed=512)
    features = backbone(b, b.input("data", (1, 3, size, size)))[2:]
    for i, channels in enumerate(EXTRAS):
        features.append(extra_layer(b, features[-1], f"extra{i}", channels))
    locations = [predictor(b, f, f"loc{i}", a, 4) for i, (f, a) in enumerate(zip(features, ANCHORS))]
    scores = [predictor(b, f, f"conf{i}", a, CLASSES) for i, (f, a) in enumerate(zip(features, ANCHORS))]
    b.output(b.concat(locations, "loc.concat", 1), "locations")
    b.output(b.softmax(b.concat(scores, "conf.concat", 1), "conf.softmax", 2), "scores")
    return b
