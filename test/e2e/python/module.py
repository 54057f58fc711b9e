"""usage: module.py MRVLC SOURCE WORK

The Python module: models as files, bytes and onnx.ModelProto, results as numpy, errors as exceptions; its types, where mypy is; installed by pip, where that is. WORK is
emptied first.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
os.environ["MRVLC_EXECUTABLE"] = str(MRVLC)
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "python"))

import mrvlc  # noqa: E402


def opened_shapes():
    """What cannot be read before its shapes are given is told with what it asks for."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, "time", 3]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    try:
        mrvlc.inspect(model)
        raise AssertionError("an open shape was taken")
    except mrvlc.Error as error:
        assert error.code == "MRV0131" and error.exit_code == 1 and error.output.startswith("input  x : [1,time,3]\n"), error.output
    assert "f32[1,5,3]" in mrvlc.inspect(model, input_shape={"x": (1, 5, 3)})


def models():
    digits = SOURCE / "models/digits"
    x, labels = np.load(digits / "test_x.npy"), np.load(digits / "test_y.npy")
    out = mrvlc.compile(digits / "digits.onnx", "out", tiles=2, input_shape={"image": (1, 1, 8, 8)})
    logits = out.run({"image": x[:40]}, repeat_axis0=True)["logits"]
    assert logits.dtype == np.float32 and logits.shape == (40, 10)
    assert (logits.argmax(1) == labels[:40]).mean() > 0.9
    assert out.report["target"]["tiles"] == 2, out.report["target"]
    cycles = sum(r["main_cycles"] for r in out.profile()["regions"])
    assert cycles > 0 and "conv1" in out.explain()
    host = mrvlc.compile((digits / "digits.onnx").read_bytes(), target="host", cpu=["conv1", "conv2"])
    assert np.allclose(host.run({"image": x[:1]})["logits"], logits[:1], atol=2e-2)
    # Fortran order and the other byte order, as numpy saves them.
    turned = np.asfortranarray(x[:1]).astype(">f4")
    assert np.array_equal(host.run({"image": turned})["logits"], host.run({"image": x[:1]})["logits"])
    assert host.diff(out)
    folder = host.path
    del host
    assert not folder.exists(), "a folder of its own goes with the object"
    assert out.path.exists()
    assert "Conv" in mrvlc.inspect(digits / "digits.onnx")
    opened_shapes()
    assert mrvlc.verify(digits / "digits.onnx", target="host", sets=["uniform"])
    assert mrvlc.version().count(".") == 2


def proto():
    a, b = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in "ab")
    graph = helper.make_graph([helper.make_node("Neg", ["a"], ["b"], name="minus")], "g", [a], [b])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(mrvlc.compile(model).run({"a": value})["b"], -value)
    onnx.save(model, "neg.onnx")
    summary = mrvlc.batch(["neg.onnx"], "batch", target="host")
    assert summary["compiled"] == 1
    pathlib.Path("bad.onnx").write_bytes(b"no")
    summary = mrvlc.batch(["neg.onnx", "bad.onnx"], "batch", target="host")
    assert summary["failed"] == 1 and summary["models"][1]["messages"][0]["code"] == "MRV0101"


def errors():
    for call, code, exit_code in [(lambda: mrvlc.compile("nope.onnx"), "MRV0001", 3), (lambda: mrvlc.compile("bad.onnx"), "MRV0101", 1),
                                  (lambda: mrvlc.compile("neg.onnx", tiles=3), "MRV0004", 2), (lambda: mrvlc.batch(["nope"], "b", shard="3"), "MRV0004", 2)]:
        try:
            call()
        except mrvlc.Error as error:
            assert (error.code, error.exit_code) == (code, exit_code), error
            assert str(error)
        else:
            raise AssertionError(code)


def installed():
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode != 0:
        print("pip is not there: not installed")
        return
    shutil.copytree(SOURCE / "python", "tree", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", "site", "./tree"], check=True,
                   capture_output=True)
    code = "import mrvlc; print(mrvlc.version(), mrvlc.__file__)"
    said = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "site"}, capture_output=True, text=True, check=True).stdout
    assert "site/mrvlc" in said and pathlib.Path("site/mrvlc/py.typed").exists(), said


def typed():
    if shutil.which("mypy"):
        subprocess.run(["mypy", "--strict", str(SOURCE / "python/mrvlc")], check=True)


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
os.chdir(WORK)
for test in (models, proto, errors, installed, typed):
    test()
    print(test.__name__, "ok")
