"""Two bidirectional LSTM layers over a long sequence and a dense layer at each step, as taggers of speech and text
have them (Graves and Schmidhuber 2005). Input: [steps, 1, 64]."""

from build import Builder

FEATURES, HIDDEN, CLASSES = 64, 128, 32


def make(size=512):
    """size: number of steps"""
    b = Builder("bilstm", seed=5, opset=17)
    x = b.input("frames", (size, 1, FEATURES))
    for layer in range(2):
        x = b.lstm(x, f"lstm{layer}", HIDDEN, directions=2)
    b.output(b.softmax(b.linear(x, "tags", CLASSES), "softmax"), "probabilities")
    return b
