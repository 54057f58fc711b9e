"""Reads Nodes-JSON and Constants-JSON as docs/vendor.md describes them: checks every key, and computes the network in float32.

It shares nothing with the writer: numpy, channels last throughout, one function a layer.
"""

import base64
import json
import re

import numpy as np

TOP = ["symbol", "nodes", "arg_nodes", "heads", "batch_size", "num_subgraph_inputs", "num_subgraph_outputs", "attrs"]
COMMON = ["layer_name", "func_node_name", "func_name", "composite_name", "data_layout", "out_layout", "out_layout_shape", "from_tuple_idx", "dtype"]
WINDOW = ["strides", "padding", "dilation"]
OWN = {
    "Conv2D": (["mrvl.conv2d_nhwc2nhwc"], WINDOW + ["groups", "channels", "kernel_size", "kernel_layout", "out_dtype", "kernel_const_name"]),
    "FC": (["mrvl.fc_ni2no"], ["units", "kernel_layout", "kernel_const_name"]),
    "Maxpool2D": (["mrvl.maxpool2d_nhwc2nhwc"], WINDOW + ["pool_size", "ceil_mode", "kernel_layout", "kernel_layout_shape"]),
    "Avgpool2D": (["mrvl.avgpool2d_nhwc2nhwc"], WINDOW + ["pool_size", "ceil_mode", "count_include_pad", "kernel_layout", "kernel_layout_shape"]),
    "GlobalAvgpool2D": (["mrvl.globalavgpool2d_nhwc2nhwc"], ["kernel_layout", "kernel_layout_shape"]),
    "GlobalMaxpool2D": (["mrvl.globalmaxpool2d_nhwc2nhwc"], ["kernel_layout", "kernel_layout_shape"]),
    "Sum2D": (["mrvl.sum"], []),
    "Concat": (["mrvl.concat"], []),
    "reshape": (["mrvl.reshape"], []),
    "nn.batch_flatten": (["mrvl.batch_flatten"], []),
    "squeeze": (["mrvl.squeeze"], []),
    "layout_transform": (["mrvl.layout_transform_nchw2nhwc"], []),
}
LAYOUTS = {"kernel": {"Conv2D": "OHWI", "FC": "OI"}, "bias": {"Conv2D": "---O", "FC": "-O"}}
PLAIN = {"num_inputs", "num_outputs", "mrvl_nodes_idx", "shape"}


def ints(attrs, key):
    return [int(text) for text in attrs[key]]


class Network:
    def __init__(self, nodes_file, constants_file):
        self.document = json.loads(nodes_file.read_text())
        self.constants = json.loads(constants_file.read_text())
        self.used = set()
        self.check()

    def constant(self, name):
        c = self.constants[name]
        self.used.add(name)
        return np.frombuffer(base64.b64decode(c["data_base64"]), dtype="<f4").reshape(c["shape"])

    # --- what must be there

    def check(self):
        d = self.document
        assert list(d) == TOP, list(d)
        nodes = d["nodes"]
        inputs = [i for i, n in enumerate(nodes) if n["op"] == "input"]
        assert d["arg_nodes"] == inputs
        assert d["num_subgraph_inputs"] == str(len(inputs)) and d["num_subgraph_outputs"] == str(len(d["heads"]))
        assert all(h[1:] == [0, 0] for h in d["heads"]) and d["batch_size"].isdigit()
        assert list(d["attrs"]) == ["shape", "dltype"]
        assert d["attrs"]["shape"][0] == "list_shape" and d["attrs"]["dltype"][0] == "list_str"
        assert len(d["attrs"]["shape"][1]) == len(d["attrs"]["dltype"][1]) == len(nodes)
        ordinal = 0
        for i, node in enumerate(nodes):
            if node["op"] == "input":
                self.check_input(node, inputs.index(i))
            else:
                self.check_layer(node, i, ordinal)
                ordinal += 1
        for name, c in self.constants.items():
            assert list(c) == ["shape", "dtype", "min", "max", "data_base64"] and c["dtype"] == "float32"
            assert all(isinstance(n, int) for n in c["shape"]) and len(c["shape"]) in (2, 4)
            data = self.constant(name)
            assert float(c["min"]) == float(data.min()) and float(c["max"]) == float(data.max()), name
        self.used.clear()

    def check_input(self, node, k):
        assert list(node) == ["op", "name", "attrs", "inputs", "input_id"] and node["inputs"] == []
        assert node["name"] == f"{self.document['symbol']}_i{k}" and node["input_id"] == [str(k)]
        a = node["attrs"]
        assert list(a) == ["dtype", "shape", "layer_name", "data_layout"] and a["layer_name"] == ["input"] and a["dtype"] == ["float32"]
        assert a["data_layout"] == ["NC" if len(a["shape"][0]) == 2 else "NCHW"]

    def check_layer(self, node, index, ordinal):
        a = node["attrs"]
        assert list(node) == ["op", "name", "attrs", "inputs"] and node["op"] == "tvm_op"
        assert node["name"] == f"tvmgen_mrvl_main_{ordinal}" and a["mrvl_nodes_idx"] == [ordinal + 1]
        layer = a["layer_name"][0]
        composites, own = OWN[layer]
        for key in COMMON + own:
            assert key in a, f"{node['name']} ({layer}) lacks {key}"
        assert a["composite_name"][0] in composites and a["func_node_name"] == [self.document["symbol"]] and a["dtype"] == ["float32"]
        assert re.fullmatch(rf"n{ordinal}_{re.escape(layer)}_\w+", a["func_name"][0]), a["func_name"]
        assert a["from_tuple_idx"] == ["-1"] and a["num_outputs"] == "1"
        for key, value in a.items():
            if key.endswith("_const"):
                self.check_constant(node, key, value)
            elif key not in PLAIN:
                assert isinstance(value, list) and value and all(isinstance(text, str) for text in value), f"{key}: {value}"
        constants = sum(key.endswith("_const") for key in a)
        assert a["num_inputs"] == str(len(node["inputs"]) + constants)
        names = ["data_layout_shape"] if len(node["inputs"]) == 1 else [f"data_layout_shape_{i}" for i in range(len(node["inputs"]))]
        assert all(n in a for n in names)
        assert all(len(i) == 3 and i[0] < index and i[1:] == [0, 0] for i in node["inputs"])
        shape = self.document["attrs"]["shape"][1][index]
        assert a["shape"] == shape and ints(a, "out_layout_shape") == shape[0]
        for kind, layouts in LAYOUTS.items():
            if f"{kind}_const" in a:
                assert a[f"{kind}_layout"] == [layouts[layer]], a[f"{kind}_layout"]
        if layer in ("Conv2D", "Maxpool2D", "Avgpool2D", "GlobalAvgpool2D", "GlobalMaxpool2D", "Concat"):
            assert a["data_layout"] == a["out_layout"] == ["NHWC"]

    def check_constant(self, node, key, value):
        kind = key.removesuffix("_const")
        a = node["attrs"]
        number = int(value["name"].removeprefix(node["name"] + "_const_"))
        norm = {"gamma": 0, "beta": 1, "mean": 2, "var": 3}
        expected = {"kernel": 0, "bias": 1, "input": 0, **{k: n + (2 if "bias_const" in a else 1) for k, n in norm.items()}}[kind]
        assert number == expected and a[f"{kind}_const_name"] == [value["name"]]
        stored = self.constants[value["name"]]
        keys = ["shape", "dtype", "name"] if kind in norm else ["shape", "dtype", "min", "max", "name"]
        assert list(value) == keys and all(stored[k] == value[k] for k in keys if k != "name")
        if kind in norm:
            assert a[f"{kind}_layout"] == ["-O"]

    # --- what it computes

    def run(self, inputs):
        values = []
        given = iter(inputs)
        for node in self.document["nodes"]:
            if node["op"] == "input":
                value = next(given)
                assert list(value.shape) == node["attrs"]["shape"][0]
            else:
                a = node["attrs"]
                operands = [values[i[0]] for i in node["inputs"]]
                value = getattr(self, "do_" + a["layer_name"][0].replace(".", "_"))(a, *operands)
                if a.get("activation_type") == ["relu"]:
                    value = np.maximum(value, 0)
                assert list(value.reshape(ints(a, "out_layout_shape")).shape) == a["shape"][0]
                value = value.reshape(a["shape"][0])
            values.append(value.astype(np.float32))
        assert self.used == set(self.constants), set(self.constants) - self.used
        return [values[h[0]] for h in self.document["heads"]]

    def weights(self, a, kind):
        return self.constant(a[f"{kind}_const_name"][0])

    @staticmethod
    def windows(a, x, kernel, fill):
        """[n, oh, ow, kh, kw, c] of an image, padded with `fill`."""
        (top, left, bottom, right), (sy, sx), (dy, dx) = ints(a, "padding"), ints(a, "strides"), ints(a, "dilation")
        x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
        _, height, width, _ = ints(a, "out_layout_shape")
        short = [max(0, (n - 1) * s + (k - 1) * d + 1 - have) for n, s, k, d, have in
                 ((height, sy, kernel[0], dy, x.shape[1]), (width, sx, kernel[1], dx, x.shape[2]))]
        x = np.pad(x, ((0, 0), (0, short[0]), (0, short[1]), (0, 0)), constant_values=fill)  # ceil_mode
        columns = [[x[:, i * dy:i * dy + (height - 1) * sy + 1:sy, j * dx:j * dx + (width - 1) * sx + 1:sx] for j in range(kernel[1])]
                   for i in range(kernel[0])]
        return np.stack([np.stack(row, axis=3) for row in columns], axis=3)

    def do_layout_transform(self, a, x):
        assert a["data_layout"] == ["NCHW"] and a["out_layout"] == ["NHWC"]
        return x.transpose(0, 2, 3, 1)

    def do_Conv2D(self, a, x):
        w = self.weights(a, "kernel")
        groups = ints(a, "groups")[0]
        view = self.windows(a, x, ints(a, "kernel_size"), 0)
        if groups == 1:
            y = view.reshape(*view.shape[:3], -1) @ w.reshape(w.shape[0], -1).T
        else:
            assert groups == w.shape[0] == x.shape[3]
            y = np.einsum("nhwijc,cij->nhwc", view, w[..., 0])
        if "bias_const" in a:
            y = y + self.weights(a, "bias")
        if "gamma_const" in a:
            gamma, beta, mean, var = (self.weights(a, k) for k in ("gamma", "beta", "mean", "var"))
            y = (y - mean) / np.sqrt(var + float(a["epsilon"][0])) * gamma + beta
        return y

    def do_FC(self, a, x):
        if a.get("weights_need_transform") == ["yes"]:
            assert a["data_layout"] == ["NHWC"]
            x = x.transpose(0, 3, 1, 2)
        y = x.reshape(x.shape[0], -1) @ self.weights(a, "kernel").T
        return y + self.weights(a, "bias") if "bias_const" in a else y

    def do_Maxpool2D(self, a, x):
        return self.windows(a, x, ints(a, "pool_size"), -np.inf).max(axis=(3, 4))

    def do_Avgpool2D(self, a, x):
        kernel = ints(a, "pool_size")
        sums = self.windows(a, x, kernel, 0).sum(axis=(3, 4))
        if a["count_include_pad"] == ["1"] and a["ceil_mode"] == ["0"]:
            return sums / (kernel[0] * kernel[1])
        return sums / self.windows(a, np.ones_like(x), kernel, 0).sum(axis=(3, 4))

    def do_GlobalAvgpool2D(self, a, x):
        assert ints(a, "kernel_layout_shape") == list(x.shape[1:3])
        return x.mean(axis=(1, 2), keepdims=True, dtype=np.float64)

    def do_GlobalMaxpool2D(self, a, x):
        return x.max(axis=(1, 2), keepdims=True)

    def do_Sum2D(self, a, x, y=None):
        shape = ints(a, "out_layout_shape")
        other = self.weights(a, "input") if y is None else y.reshape(shape)
        assert y is not None or list(other.shape) == ints(a, "input_const_shape")
        return x.reshape(shape) + other

    def do_Concat(self, a, *xs):
        return np.concatenate(xs, axis=3)

    def do_reshape(self, a, x):
        return x.reshape(ints(a, "out_layout_shape"))

    do_nn_batch_flatten = do_squeeze = do_reshape
