"""usage: schemas_test.py MRVLC ROOT WORK

Validates every JSON file that mrvlc writes against docs/schemas: of compiles of models/ that have all optional members, and, with $MRVLC_SHARED, of every network of the zoo.
Schemas are strict: an object that takes any member is a mistake in the schema, and so is a member that nothing here ever has.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import jsonschema
import numpy

OUT_FILES = ("manifest", "placement", "report", "idmap", "graph", "memory", "proof")


class Schemas:
    def __init__(self, folder):
        self.wrong, self.checked, self.seen = [], 0, {}
        self.validators, self.schemas = {}, {}
        for path in sorted(folder.glob("*.schema.json")):
            name = path.name.removesuffix(".schema.json")
            schema = json.loads(path.read_text())
            jsonschema.Draft202012Validator.check_schema(schema)
            self.strict(name, schema)
            self.validators[name] = jsonschema.Draft202012Validator(schema)
            self.schemas[name] = schema
            self.seen[name] = set()

    def strict(self, name, schema):
        if isinstance(schema, dict):
            if schema.get("type") == "object" and "additionalProperties" not in schema:
                self.wrong.append(f"{name}: an object takes any member: {str(schema)[:100]}")
            for part in schema.values():
                self.strict(name, part)
        elif isinstance(schema, list):
            for part in schema:
                self.strict(name, part)

    def keys(self, json_value, found):
        if isinstance(json_value, dict):
            found.update(json_value)
            for part in json_value.values():
                self.keys(part, found)
        elif isinstance(json_value, list):
            for part in json_value:
                self.keys(part, found)

    def check(self, name, text, where):
        value = json.loads(text)
        self.checked += 1
        self.keys(value, self.seen[name])
        for error in list(self.validators[name].iter_errors(value))[:3]:
            self.wrong.append(f"{where}: {list(error.path)[:8]}: {error.message[:200]}")

    def properties(self, schema, found):
        if isinstance(schema, dict):
            found.update(schema.get("properties", {}))
            for part in schema.values():
                self.properties(part, found)
        elif isinstance(schema, list):
            for part in schema:
                self.properties(part, found)

    def never_seen(self):
        for name, schema in self.schemas.items():
            told = set()
            self.properties(schema, told)
            if self.seen[name]:
                left = told - self.seen[name]
                if left:
                    print(f"{name}: members that no file here has: {', '.join(sorted(left))}")
            else:
                self.wrong.append(f"{name}: no file of it was checked")


def main():
    mrvlc, root, work = (pathlib.Path(a) for a in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    schemas = Schemas(root / "docs" / "schemas")
    digits = root / "models" / "digits" / "digits.onnx"

    def run(*arguments, codes=(0,)):
        done = subprocess.run([mrvlc, *map(str, arguments)], check=False, capture_output=True, text=True)
        if done.returncode not in codes:
            schemas.wrong.append(f"{arguments} ended with {done.returncode}: {done.stderr[-300:]}")
        return done

    def compile_model(model, out, *options):
        done = run("compile", "-q", model, "-o", out, *options, codes=(0, 1, 4))
        if done.returncode == 0:
            for name in OUT_FILES:
                if (pathlib.Path(out) / f"{name}.json").exists():
                    schemas.check(name, (pathlib.Path(out) / f"{name}.json").read_text(), f"{out}/{name}.json")
            page = (pathlib.Path(out) / "report.html").read_text()
            schemas.check("page", page.split('id="data">')[-1].split("</script>")[0], f"{out}/report.html")
        return done.returncode == 0

    pictures = numpy.load(digits.parent / "test_x.npy")
    for i in range(8):
        (work / "samples" / str(i)).mkdir(parents=True)
        numpy.save(work / "samples" / str(i) / "image.npy", pictures[i:i + 1])
    compile_model(digits, "plain", "--timing", "timing.json", "--emit", "ir", "--emit", "disasm")
    compile_model(digits, "host", "--target", "host", "--name", "other")
    compile_model(digits, "cut", "--cpu", "pool", "--max-cycles", "1000000", "--max-arena", "1M", "--border", "fc", "--max-regions", "3",
                  "--precision", "relu1_out=pair", "--input-range", "image=0:17", "--input-shape", "image=1x1x8x8")
    compile_model(digits, "cost", "--partition", "cost", "--accuracy", "1e-4")
    pathlib.Path("constraints.json").write_text('{"constraints": [{"nodes": ["pool"], "on": "cpu"}, {"from": ["image"], "to": ["relu1_out"], "together": true}]}')
    compile_model(digits, "placed", "--placement", "constraints.json")
    compile_model(digits, "grouped", "--max-region-layers", "3", "--border-after", "relu1")
    subprocess.run(["/usr/bin/python3", root / "test" / "e2e" / "report" / "if_model.py", "if.onnx", "large.onnx"], check=True)
    compile_model("if.onnx", "bodies")
    subprocess.run(["/usr/bin/python3", "-B", root / "test" / "e2e" / "origin" / "torch_like.py", "torch.onnx"], check=True)
    compile_model("torch.onnx", "torch")
    schemas.check("profile", run("profile", "torch", "--by", "module", "--json").stdout, "profile --by module --json")
    run("targets", "new", "kernels", "--kind", "call")
    compile_model(digits, "library", "--target", "kernels,cn10ka,host", "--target-dir", ".")
    run("calibrate", digits, "--data", "samples", "-o", "calibration.json")
    run("quantize", digits, "--data", "samples", "-o", "int8.onnx", "--report", "quantize.json")
    compile_model("int8.onnx", "int8")
    run("compile", "-q", "int8.onnx", "-o", "mesh", "--target", "mesh-8")
    schemas.check("mesh", pathlib.Path("mesh/mesh.json").read_text(), "mesh.json")
    schemas.check("mesh-machine", run("mesh", "show", "spinnaker2-48").stdout, "mesh show")
    compile_model(digits, "auto", "--precision", "auto", "--data", "samples", "--accuracy-warning", "0.005")
    compile_model(digits, "frontier", "--frontier", "--pick", "2", "--data", "samples")
    schemas.check("frontier", pathlib.Path("frontier/frontier.json").read_text(), "frontier/frontier.json")
    schemas.check("quantize", pathlib.Path("auto/quantization.json").read_text(), "auto/quantization.json")
    run("tune", digits, "-o", "tuning.json", "--cflags", "-O1", "--seconds", "0.01")
    compile_model(digits, "tuned", "--target", "host", "--tuning", "tuning.json")
    compile_model(digits, "halves", "--target", "host", "--host-weights", "fp16", "--weights", "blob")
    for name in ("timing", "calibration", "quantize", "tuning"):
        schemas.check(name, pathlib.Path(f"{name}.json").read_text(), name)
    for model in sorted((root / "models").rglob("*.onnx")):
        compile_model(model, f"models-{model.stem}")
    schemas.check("profile", run("profile", "cut", "--json").stdout, "profile --json")
    schemas.check("certificate", run("prove", "plain", digits, "--json").stdout, "prove --json")
    path = os.environ["PATH"]
    for name, script in (("reads", "echo 'Cppcheck 9'; echo 'a.c:1: style: s [misra-c2012-15.5]'"), ("fails", 'test "$1" = --version')):
        tool = work / name / "cppcheck"
        tool.parent.mkdir()
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        os.environ["PATH"] = f"{tool.parent}:{path}"
        run("evidence", "cut", digits, "-o", f"evidence-{name}", "--sets", "zeros")
        schemas.check("evidence", (work / f"evidence-{name}/evidence.json").read_text(), "evidence.json")
    os.environ["PATH"] = path
    schemas.check("certificate", run("prove", "cut", digits, "--json", codes=(5,)).stdout, "prove --json of a part")
    schemas.check("diff", run("diff", "plain", "cut", "--json").stdout, "diff --json")
    schemas.check("verify", run("verify", digits, "--layers", "--json").stdout, "verify --json")
    os.mkdir("dump")
    numpy.save("dump/logits.npy", numpy.zeros((1, 10), numpy.float32))
    schemas.check("compare", run("compare", digits, "--with", "dump", "--input", "image=samples/0/image.npy", "--json", codes=(5,)).stdout, "compare --json")
    pathlib.Path("broken.onnx").write_bytes(b"no model")
    models = [digits, "broken.onnx", "if.onnx", "int8.onnx"]
    if "MRVLC_SHARED" in os.environ:
        models += sorted((pathlib.Path(os.environ["MRVLC_SHARED"]) / "data" / "zoo").glob("*.onnx"))
    run("batch", *models, "-o", "batch", "--cache", "cache", codes=(1,))
    schemas.check("batch", pathlib.Path("batch/batch.json").read_text(), "batch.json")
    schemas.check("cache", run("cache", "cache", "--json").stdout, "cache --json")
    schemas.check("ops", run("ops", "--json").stdout, "ops --json")
    schemas.check("idmaps", run("map", "plain", "host", "torch", "--merge").stdout, "map --merge")
    schemas.check("target", (root / "lib" / "target" / "cn10ka" / "target.json").read_text(), "target.json")
    for arguments in (("compile", digits, "-o", "x", "--fail-on-fallback", "--cpu", "pool"), ("compile", "absent.onnx", "-o", "x"), ("compyle",)):
        for line in run("--log-format", "json", *arguments, codes=(2, 3, 5)).stderr.splitlines():
            schemas.check("message", line, f"message of {arguments[0]}")
    if "MRVLC_SHARED" in os.environ:
        zoo = pathlib.Path(os.environ["MRVLC_SHARED"]) / "data" / "zoo"
        compiled = [compile_model(model, f"zoo-{model.stem}", *options) for model in sorted(zoo.glob("*.onnx")) for options in ((), ("--target", "host"))]
        print(f"{sum(compiled)} of {len(compiled)} compiles of the zoo")
        if sum(compiled) < len(compiled) * 3 // 4:
            schemas.wrong.append("most of the zoo compiles")
    schemas.never_seen()
    print("\n".join(schemas.wrong[:40]) or f"{schemas.checked} files are as their schemas say")
    return 1 if schemas.wrong else 0


sys.exit(main())
