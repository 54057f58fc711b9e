"""Networks, machines and compiles of performance.py."""

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections import namedtuple

# One measurement: which network, how many tiles, DDR bytes a cycle, and the batch.
Key = namedtuple("Key", "model tiles ddr batch")

# What the tables call a network -> where it comes from: a generator of models/generators, or a file of the zoo.
GENERATED = {
    "ResNet-50 v1": "resnet50",
    "MobileNetV2": "mobilenetv2",
    "SSD-ResNet50, 512x512": "ssd_resnet50",
    "transformer encoder": "transformer_encoder",
}
ZOO = {
    "SqueezeNet": "squeezenet_fp16",
    "UltraFace RFB-320": "ultraface_rfb320",
    "FastestDet": "fastestdet",
    "M-LSD tiny, 320x320": "mlsd_tiny_320",
    "selfie segmentation": "selfie_seg_landscape",
    "super resolution": "super_resolution_conn",
    "BlazeFace front": "blazeface_front128",
}
RESNET = "ResNet-50 v1"
BATCHES = (1, 2, 4, 8)


def set_batch(source, path, batch):
    """A copy of a generated model whose first dimension is `batch`; shapes inside are left to be inferred."""
    import onnx

    model = onnx.load(source)
    for port in list(model.graph.input) + list(model.graph.output):
        port.type.tensor_type.shape.dim[0].dim_value = batch
    del model.graph.value_info[:]
    onnx.save(model, path)


def prepare_models(work, data):
    """{(name, batch): path} of what there is, and the names of what is not."""
    generators = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models", "generators")
    folder = os.path.join(work, "models")
    models, missing = {}, []
    for name, generator in GENERATED.items():
        subprocess.run([sys.executable, os.path.join(generators, "make_models.py"), generator, "-o", folder],
                       check=True, capture_output=True, text=True)
        models[name, 1] = os.path.join(folder, f"{generator}.onnx")
    for batch in BATCHES[1:]:
        models[RESNET, batch] = os.path.join(folder, f"resnet50_{batch}.onnx")
        set_batch(models[RESNET, 1], models[RESNET, batch], batch)
    for name, file in ZOO.items():
        path = os.path.join(data or "", "zoo", f"{file}.onnx")
        if data is not None and os.path.isfile(path):
            models[name, 1] = path
        else:
            missing.append(name)
    return models, missing


def layers_of(path):
    """[(multiply-accumulates, weight bytes in fp16)] of a network of convolutions and dense layers, in its order."""
    import onnx

    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    weights = {t.name: list(t.dims) for t in graph.initializer}
    shape = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
             for v in list(graph.value_info) + list(graph.output)}
    layers = []
    for node in graph.node:
        if node.op_type in ("Conv", "Gemm"):
            count, results = math.prod(weights[node.input[1]]), math.prod(shape[node.output[0]])
            channels = shape[node.output[0]][1]
            layers.append((results * count // channels, 2 * count))
    return layers


def plain_bound(layers, macs_a_cycle, on_chip, ddr):
    """Products at the peak rate, weights through DDR, and nothing else."""
    best, done, rest = sum(w for _, w in layers) // ddr, 0, sum(w for _, w in layers)
    for macs, weights in layers:
        done, rest = done + macs, rest - weights
        best = max(best, done // macs_a_cycle + max(0, rest - on_chip) // ddr)
    return best


class Machines:
    """Target files with another DDR rate, edited the way a user does."""

    def __init__(self, root, work):
        with open(os.path.join(root, "lib", "target", "cn10ka", "target.json"), encoding="utf-8") as file:
            self.text = json.load(file)
        self.folder = os.path.join(work, "targets")
        self.macs = self.text["fields"]["fp16_macs"]["value"]
        self.ddr = self.text["fields"]["ddr_bytes"]["value"]
        self.ocm = self.text["fields"]["ocm_bytes"]["value"]
        self.lock = threading.Lock()

    def options(self, ddr):
        if ddr == self.ddr:
            return []
        name = f"cn10ka_ddr{ddr}"
        with self.lock:
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
            text = json.loads(json.dumps(self.text))
            text["name"] = name
            text["fields"]["ddr_bytes"]["value"] = ddr
            with open(os.path.join(self.folder, name, "target.json"), "w", encoding="utf-8") as file:
                json.dump(text, file)
        return ["--target", name, "--target-dir", self.folder]


class Runs:
    """Compiles once for each key; results[key] has the sums over regions, and the seconds."""

    def __init__(self, mrvlc, work, models, machines):
        self.mrvlc, self.work, self.models, self.machines = mrvlc, work, models, machines
        self.results, self.layers = {}, {}

    def plain_bound(self, key):
        path = self.models[key.model, key.batch]
        if path not in self.layers:
            self.layers[path] = layers_of(path)
        return plain_bound(self.layers[path], self.machines.macs * key.tiles, self.machines.ocm * key.tiles, key.ddr)

    def run(self, key):
        if key in self.results:
            return
        label = f"{list(self.models).index((key.model, key.batch))}_{key.tiles}_{key.ddr}"
        out, timing = os.path.join(self.work, label), os.path.join(self.work, label + ".json")
        command = [self.mrvlc, "-q", "compile", self.models[key.model, key.batch], "-o", out, "--tiles", str(key.tiles),
                   "--no-probe", "--timing", timing] + self.machines.options(key.ddr)
        begin = time.monotonic()
        subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.monotonic() - begin
        with open(os.path.join(out, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        with open(timing, encoding="utf-8") as file:
            phases = {p["phase"]: p["seconds"] for p in json.load(file)["phases"]}
        subprocess.run(["rm", "-rf", out], check=True)
        self.results[key] = self.summary(key, report, seconds, phases)

    def summary(self, key, report, seconds, phases):
        total = lambda field: sum(region[field] for region in report["regions"])
        result = {field: total(field)
                  for field in ("cycles", "cycles_pessimistic", "lower_bound_cycles", "macs", "executed_macs", "ddr_read_bytes", "ddr_write_bytes")}
        result["ratio"] = result["cycles"] / result["lower_bound_cycles"]
        result["utilization"] = result["macs"] / (result["cycles"] * self.machines.macs * key.tiles)
        result["executed"] = result["executed_macs"] / (result["cycles"] * self.machines.macs * key.tiles)
        result["regions"] = len(report["regions"])
        result["mac_share"] = report["placement"]["mac_share_accelerator"]
        result["ocm_peak"] = max(region["ocm_peak_bytes"] for region in report["regions"])
        result["compile"], result["simulate"] = seconds, phases["simulate"]
        return result
