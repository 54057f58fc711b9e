"""What a case of an operator of com.microsoft is, and values for it."""
import dataclasses

import numpy as np
from onnx import TensorProto

F, H, I, L, B, U8, I8 = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL,
                         TensorProto.UINT8, TensorProto.INT8)


@dataclasses.dataclass
class Form:
    name: str
    op: str
    inputs: list                 # (name, array or None)
    outputs: list                # (name or '', element type)
    attrs: dict = dataclasses.field(default_factory=dict)
    constants: set = dataclasses.field(default_factory=set)
    open_dims: dict = dataclasses.field(default_factory=dict)  # of an input: its dimensions with names
    shapes: dict = dataclasses.field(default_factory=dict)     # --input-shape
    bounds: dict = dataclasses.field(default_factory=dict)     # --bound
    expected: dict = None        # where ONNX Runtime has no kernel for the CPU
    tolerance: float = 1e-4      # relative, below 1 absolute
    steps: float = 0             # more, absolute: where sums in another order round to another integer
    domain: str = 'com.microsoft'


class Draw:
    """Values in a few digits, so that recorded files compress and read well."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def f(self, *shape, lo=-2, hi=2, dtype=np.float32):
        return np.round(self.r.uniform(lo, hi, shape) * 16).astype(np.float32).astype(dtype) / dtype(16)

    def i(self, *shape, lo=0, hi=2, dtype=np.int32):
        return self.r.integers(lo, hi, shape).astype(dtype)


def arr(*values, dtype=np.int32):
    return np.array(values, dtype)
