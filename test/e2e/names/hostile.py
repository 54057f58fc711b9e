#!/usr/bin/python3
"""Usage: hostile.py MRVLC WORK

Models, target packages, rules, placement files and folders of OUT in which every text is hostile, with every command. Nothing
that steers a terminal or reorders a line may reach stdout, stderr or a text file of OUT; no name may begin a line of its own, end a
comment or a string of C, or open an element of a page.
"""
import concurrent.futures
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()

STEERING = "\x1b]0;title\x07\x1b[31m\x08\r\x7f\x85\x9b\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\U000e0041"
SYNTAX = "*/ /* // ??/ \\\" ' ` $(touch pwned) ${X} %s %n {0} ; | # & </script><img src=x onerror=alert(1)> ]]> <!-- \t"
NO_UTF8 = "@@NO-UTF8@@"  # Python's protobuf takes no other text: its bytes are replaced in the file
BROKEN = b"\xff\xfe\xc3(\xed\xa0\x80\xf8\x80\x80."
EVIL = STEERING + SYNTAX + "\nFORGED\n" + NO_UTF8 + "\\"
SHOWN = set(range(0x20, 0x7f)) | {0x0a, 0x09}
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]")

problems = []


def check_text(what, data, forged=True):
    """Texts of ours: UTF-8 that shows, and no line that a name began."""
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        return problems.append(f"{what}: no UTF-8: {data[max(0, e.start - 60):e.start + 20]!r}")
    for m in HIDDEN.finditer(text):
        return problems.append(f"{what}: {text[max(0, m.start() - 60):m.start() + 10]!r}")
    if forged and re.search(r"^\W*FORGED", text, re.M):
        problems.append(f"{what}: a name has a line of its own: {text[max(0, text.find('FORGED') - 80):][:120]!r}")


class Tags(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag == "img" or any(a.startswith("on") for a, _ in attributes):
            problems.append(f"{self.file}: an element <{tag}> of a name")


def check_file(file):
    data = file.read_bytes()
    suffix = file.suffix
    if suffix in (".bin", ".mrvl", ".npy", ".onnx", ".so", ".gz", ".pb"):
        return
    check_text(file, data)
    if suffix == ".json":
        json.loads(data)
    if suffix == ".html":
        tags = Tags()
        tags.file = file
        tags.feed(data.decode())
    if suffix == ".svg":
        try:
            elements = xml.etree.ElementTree.fromstring(data).iter()
        except xml.etree.ElementTree.ParseError as e:
            return problems.append(f"{file}: {e}")
        if any(e.tag.endswith("img") for e in elements):
            problems.append(f"{file}: an element of a name")


def run(*words, code=None, **options):
    command = [w if isinstance(w, bytes) else str(w) for w in words]
    done = subprocess.run([str(MRVLC), *command], capture_output=True, timeout=100, **options)
    what = " ".join(str(w)[:60] for w in words)
    check_text("stdout of " + what, done.stdout)
    check_text("stderr of " + what, done.stderr)
    if done.returncode not in ((0, 1, 2, 3, 4, 5) if code is None else (code,)):
        problems.append(f"{what}: exit code {done.returncode}: {done.stderr[-600:]!r}")
    return done


def save(model, file):
    file.write_bytes(model.SerializeToString().replace(NO_UTF8.encode(), BROKEN))


numbered = 0


def evil(what=""):
    """A hostile name of its own."""
    global numbered
    numbered += 1
    return f"{what}{numbered}{EVIL}"


def tensor(name, shape, dtype=np.float32):
    t = numpy_helper.from_array(np.random.RandomState(1).rand(*shape).astype(dtype) - (0.5 if dtype == np.float32 else 0), name)
    t.doc_string = evil()
    return t


def decorated(node):
    node.name, node.doc_string = evil("n"), evil()
    return node


def finished(nodes, inputs, outputs, weights=(), functions=(), opsets=()):
    graph = helper.make_graph([decorated(n) for n in nodes], evil("g"), inputs, outputs, list(weights), doc_string=evil())
    model = helper.make_model(graph, ir_version=8, producer_name=evil("p"), functions=list(functions),
                              opset_imports=[helper.make_opsetid("", 17), *(helper.make_opsetid(d, 1) for d in opsets)])
    model.producer_version, model.domain, model.doc_string = evil(), evil("d"), evil()
    for k in range(2):
        entry = model.metadata_props.add()
        entry.key, entry.value = evil("k"), evil("v")
    return model


def info(name, shape, elem=TensorProto.FLOAT):
    value = helper.make_tensor_value_info(name, elem, shape)
    value.doc_string = evil()
    return value


def network(symbol=None):
    """Convolutions for the accelerator, a function, an If, a Loop, texts, and operators of the CPU."""
    names = {k: evil(k) for k in "x w c r f s cond i y z texts labels sorted".split()}
    function_domain, function_name = evil("fd"), evil("fn")
    a, b = evil("a"), evil("b")
    inner = [decorated(helper.make_node("Sigmoid", [a], [b]))]
    function = helper.make_function(function_domain, function_name, [a], [b], inner, [helper.make_opsetid("", 17)], doc_string=evil())
    t, e = evil("t"), evil("e")
    then = helper.make_graph([decorated(helper.make_node("Exp", [names["f"]], [t]))], evil("g"), [], [info(t, None)])
    other = helper.make_graph([decorated(helper.make_node("Neg", [names["f"]], [e]))], evil("g"), [], [info(e, None)])
    nodes = [
        helper.make_node("Conv", [names["x"], names["w"]], [names["c"]], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", [names["c"]], [names["r"]]),
        helper.make_node(function_name, [names["r"]], [names["f"]], domain=function_domain),
        helper.make_node("If", [names["cond"]], [names["i"]], then_branch=then, else_branch=other),
        helper.make_node("Softmax", [names["i"]], [names["y"]], axis=1),
        helper.make_node("StringNormalizer", [names["texts"]], [names["labels"]], stopwords=[EVIL, "a"], is_case_sensitive=1),
    ]
    inputs = [info(names["x"], [1, 4, 8, symbol or 8]), info(names["cond"], [], TensorProto.BOOL), info(names["texts"], [2], TensorProto.STRING)]
    outputs = [info(names["y"], None), info(names["labels"], None, TensorProto.STRING)]
    return finished(nodes, inputs, outputs, [tensor(names["w"], (4, 4, 3, 3))], [function], [function_domain]), names


def floats(names):
    """What the accelerator and `quantize` take."""
    nodes = [helper.make_node("Conv", [names["x"], names["w"]], [names["c"]], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", [names["c"]], [names["r"]]),
             helper.make_node("Softplus", [names["r"]], [names["s"]]),
             helper.make_node("Conv", [names["s"], names["w"]], [names["y"]], kernel_shape=[3, 3])]
    return finished(nodes, [info(names["x"], [1, 4, 8, 8])], [info(names["y"], None)], [tensor(names["w"], (4, 4, 3, 3))])


def rejected(names):
    """Models that are refused, each by another check; their messages name what is wrong."""
    x, y = names["x"], names["y"]
    one = lambda node: finished([node], [info(x, [1, 4, 8, 8])], [info(y, None)], opsets=["custom" + EVIL])
    yield one(helper.make_node(evil("Op"), [x], [y]))
    yield one(helper.make_node("Op" + EVIL, [x], [y], domain="custom" + EVIL))
    yield one(helper.make_node("Relu", [evil("missing")], [y]))
    yield one(helper.make_node("Relu", [x], [y], **{"attribute": 1}))
    yield one(helper.make_node("Softmax", [x], [y], axis=9))
    yield one(helper.make_node("Cast", [x], [y], to=TensorProto.STRING))
    model = one(helper.make_node("Relu", [x], [y]))
    model.graph.node[0].attribute.add().name = evil("attr")
    yield model
    model = one(helper.make_node("Conv", [x, names["w"]], [y]))
    weights = tensor(names["w"], (4, 4, 3, 3))
    weights.data_location = TensorProto.EXTERNAL
    weights.ClearField("raw_data")
    entry = weights.external_data.add()
    entry.key, entry.value = "location", "no" + EVIL
    model.graph.initializer.append(weights)
    yield model
    model = one(helper.make_node("Relu", [x], [y]))
    model.graph.input[0].type.tensor_type.shape.dim[3].dim_param = evil("dim")
    yield model
    model = one(helper.make_node("Relu", [x], [y]))
    model.graph.initializer.append(tensor(x, (1, 4)))
    yield model


def compiles(out):
    """The C of OUT and its example program, by a strict compiler."""
    for file in sorted(out.glob("*.c")):
        done = subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", out, file], capture_output=True)
        if done.returncode != 0:
            problems.append(f"{file}: {done.stderr.decode(errors='replace')[:600]}")


def check_folder(folder):
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            check_file(file)


def written(name, text):
    file = WORK / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def nodes_of(out):
    return json.loads((out / "placement.json").read_bytes())["nodes"]


def readers(out, model):
    """Commands that read OUT."""
    nodes = nodes_of(out)
    for query in [[]] + [["--node", n["id"]] for n in nodes] + [["--node", nodes[0]["name"]], ["--node", EVIL.replace(NO_UTF8, "").encode() + b"\xff"]]:
        for json_too in [], ["--json"]:
            run("explain", out, *query, *json_too)
            if query:
                run("map", out, *query, *json_too)
    for query in ["--expr", 0], ["--layer", "0:0"], ["--region", 0], ["--instruction", "0:0"], ["--line", b"\x1b[31m:3"], ["--symbol", b"\x1b"]:
        run("map", out, *query)
    run("map", out, "--region", 0, "--merge")
    for extra in [], ["--json"], ["--by", "module"], ["--trace", out.parent / (out.name + "-trace.json")]:
        run("profile", out, *extra)
    for kind in "svg", "dot", "html":
        run("graph", out, "-o", WORK / f"graphs/{out.name}.{kind}")
        run("graph", model, "-o", WORK / f"graphs/{out.name}-model.{kind}")
    for binary in out.glob("*.mrvl"):
        run("disasm", binary)
        run("disasm", "--header", binary)


def other_commands(names):
    model, plain, plain_out = WORK / "net.onnx", WORK / "plain.onnx", WORK / "plain"
    save(floats(names), plain)
    run("compile", plain, "-o", plain_out, "--target", "cn10ka", "-v", "--dump-stage", "primitives", "--dump-stage", "tile-program", "--emit",
        "disasm", code=0)
    readers(plain_out, plain)
    run("compile", plain, "-o", WORK / "single", "--emit", "single", "--target", "host", "-q", code=0)
    run("diff", plain_out, WORK / "single")
    run("diff", plain_out, WORK / "single", "--json")
    run("diff", plain_out, WORK / "single", "--html", "-o", WORK / "diff.html")
    for extra in [], ["--json"]:
        run("inspect", model, *extra, code=0)
        run("inspect", WORK / "rejected", *extra)
        run("verify", plain, "--target", "host", *extra)
    run("verify", plain, "--layers", "--json")
    samples = WORK / "samples/one"
    samples.mkdir(parents=True)
    np.save(samples / "input_0.npy", np.ones((1, 4, 8, 8), np.float32))
    run("calibrate", plain, "--data", WORK / "samples", "-o", WORK / "cal.json")
    run("compile", plain, "-o", WORK / "calibrated", "--calibration", WORK / "cal.json", "-v")
    run("quantize", plain, "--data", WORK / "samples", "-o", WORK / "int8.onnx", "-v")
    run("compare", plain, "--with", WORK / "samples/one", "--input", names["x"].replace(NO_UTF8, "").encode() + b"=" + bytes(samples / "input_0.npy"))
    run("reduce", plain, "--check", "false", "-o", WORK / "small.onnx")
    run("bundle", plain, "-o", WORK / "bundle.tar.gz", "--cpu", "No" + STEERING)
    run("batch", plain, WORK / "rejected", "-o", WORK / "batch", "--target", "host", "--jobs", 2)
    run("compile", plain, "-o", WORK / "opt", "--cpu", "Soft" + EVIL.replace("\n", " "), "--input-range", "a" + STEERING + "=0:1", "-v")
    run("explain", "MRV0131" + STEERING)
    run("help", STEERING)
    run(STEERING)


def hostile_rules(names):
    good = 'rule r%s {\n layer cpu\n priority 1\n why "%s"\n match { %%c = Relu(%%x) }\n where rank(%%x) == 4\n}\n'
    for i, text in enumerate([good % ("", STEERING + "why\nFORGED"), good % (STEERING, "w"), "include \"" + STEERING + "\"", STEERING, good % ("", "w") + "rule " + STEERING]):
        file = written(f"rules/{i}.rules", text)
        run("rules", "check", file)
        run("rules", "try", WORK / "plain.onnx", "--rules", file)
        run("compile", WORK / "plain.onnx", "-o", WORK / f"ruled{i}", "--rules", file, "-v")
    run("rules", "show", STEERING)
    run("rules", "list")


def hostile_packages():
    """Texts of packages: descriptions, sources of numbers, names of files, of rules and of functions."""
    run("targets", "new", "small", "--extends", "cn10ka", "--kind", "variant", cwd=written("packages/x", "").parent)
    package = WORK / "packages/small/target.json"
    text = json.loads(package.read_text())
    text["description"] = EVIL
    for field in text["fields"].values():
        field["note"] = EVIL
    package.write_text(json.dumps(text, ensure_ascii=False))
    run("compile", WORK / "plain.onnx", "-o", WORK / "small", "--target", "small", "--target-dir", WORK / "packages", code=0)
    text["fields"][EVIL] = {"value": 1, "source": EVIL, "note": EVIL}
    written("packages/bad/target.json", json.dumps({**text, "name": "bad"}, ensure_ascii=False))
    written("packages/worse/target.json", json.dumps({"name": EVIL, EVIL: 1}, ensure_ascii=False))
    name = "a" + STEERING + "*\nFORGED\n$(touch pwned)<img src=x onerror=alert(1)>\"';`|#"
    written(f"packages/{name}/target.json", json.dumps({**json.loads(package.read_text()), "name": name}, ensure_ascii=False))
    run("compile", WORK / "plain.onnx", "-o", WORK / "named", "--target", name, "--target-dir", WORK / "packages", "-v", code=0)
    for words in ["explain"], ["profile"], ["map", "--region", 0], ["diff", WORK / "plain"], ["run"]:
        run(words[0], WORK / "named", *words[1:], "--target-dir", WORK / "packages")
        run(words[0], WORK / "named", *words[1:])
    for kind in "call", "plugin":
        for member in "description", "sources", "headers", "system_headers", "libraries", "rules", "library":
            value = EVIL if member in ("description", "library") else [EVIL]
            package = {"name": f"{kind}-{member}", "kind": kind, "description": "d", "rules": ["r.rules"], member: value}
            written(f"packages/{kind}-{member}/target.json", json.dumps(package, ensure_ascii=False))
    for extra in [], ["--json"]:
        run("targets", "list", "--target-dir", WORK / "packages", *extra)
        for shown in "small", "bad", "worse", "call-sources", name:
            run("targets", "show", shown, "--target-dir", WORK / "packages", *extra)
    for folder in sorted((WORK / "packages").iterdir()):
        if folder.is_dir():
            run("targets", "check", folder)
            run("compile", WORK / "plain.onnx", "-o", WORK / "refused", "--target", folder.name + ",host", "--target-dir", WORK / "packages")


def hostile_files(names):
    """Files that options name, and a project file."""
    plain = WORK / "plain.onnx"
    placement = json.loads((WORK / "plain/placement.json").read_bytes())
    for change in ({EVIL: 1}, {"target": EVIL}, {"constraints": [{"nodes": EVIL, "on": "cpu"}]}, {"constraints": [{"nodes": "a", EVIL: 1}]},
                   {"nodes": [{**placement["nodes"][0], "where": EVIL}]}, {"nodes": [{**placement["nodes"][0], "id": EVIL}]},
                   {"nodes": [{**placement["nodes"][0], "name": EVIL}]}, {"nodes": [{**placement["nodes"][0], "rule": EVIL, "target": EVIL}]}):
        run("compile", plain, "-o", WORK / "placed", "--placement", written("placement.json", json.dumps({**placement, **change})), "-v")
    for option, text in ("--calibration", {"schema": EVIL}), ("--tuning", {EVIL: 1}), ("--host-model", {"name": EVIL, EVIL: EVIL}):
        run("compile", plain, "-o", WORK / "placed", option, written("option.json", json.dumps(text, ensure_ascii=False)), "-v")
    for text in {EVIL: 1}, {"compile": {EVIL: EVIL}}, {"options": {"target": EVIL}}, {"options": {"tiles": EVIL}}:
        written("project/mrvlc.json", json.dumps(text, ensure_ascii=False))
        run("compile", plain, "-o", WORK / "placed", cwd=WORK / "project")
    written("words", STEERING + " 'x")
    run("compile", plain, "@" + str(WORK / "words"))


def hostile_folder():
    """An OUT that somebody edited: texts are not those that a compile writes."""
    import hashlib
    out = WORK / "edited"
    shutil.copytree(WORK / "plain", out)
    manifest = json.loads((out / "manifest.json").read_bytes())

    def spoiled(value, key=""):
        if isinstance(value, dict):
            return {k: spoiled(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [spoiled(v, key) for v in value]
        return value + EVIL if isinstance(value, str) and key in ("name", "op_type", "reason", "rule", "kind", "operators", "outputs", "op", "description") else value

    for name in "idmap.json", "placement.json", "report.json", "graph.json":
        text = json.dumps(spoiled(json.loads((out / name).read_bytes())), ensure_ascii=False).encode()
        (out / name).write_bytes(text)
        for entry in manifest["files"]:
            if entry["file"] == name:
                entry["sha256"] = hashlib.sha256(text).hexdigest()
    (out / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False))
    nodes = nodes_of(out)
    for extra in [], ["--json"]:
        run("explain", out, *extra)
        run("explain", out, "--node", nodes[0]["id"], *extra)
        run("map", out, "--node", nodes[0]["id"], *extra)
        run("profile", out, *extra)
        run("diff", WORK / "plain", out, *extra)
    for kind in "svg", "dot", "html":
        run("graph", out, "-o", WORK / f"graphs/edited.{kind}")


def run_program(names):
    """The example program and `mrvlc run`: names as bytes of the command line, texts as values."""
    data = WORK / "values"
    data.mkdir()
    np.save(data / "x.npy", np.ones((1, 4, 8, 8), np.float32))
    np.save(data / "cond.npy", np.array(True))
    (data / "texts.json").write_text(json.dumps({"type": "tensor(string)", "value": [STEERING, "b"]}))
    raw = lambda k: names[k].encode().replace(NO_UTF8.encode(), BROKEN)
    inputs = []
    for k, f in ("x", "x.npy"), ("cond", "cond.npy"), ("texts", "texts.json"):
        inputs += ["--input", raw(k) + b"=" + bytes(data / f)]
    run("run", WORK / "net", *inputs, code=0)
    run("run", WORK / "net", *inputs, "--output-dir", WORK / "results", code=0)
    run("run", WORK / "net", *inputs[:2])


def example_program():
    """The example of OUT says which inputs it has, and at which node it failed."""
    out, program = WORK / "single", WORK / "program"
    done = subprocess.run(["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-I", out, *out.glob("*.c"),
                           out / "example/main.c", "-o", program, "-lm"], capture_output=True)
    if done.returncode != 0:
        return problems.append(done.stderr.decode(errors="replace")[:600])
    done = subprocess.run([program], capture_output=True)
    check_text("stderr of the example program", done.stderr)
    if b"\\x1b" not in done.stderr:
        problems.append(f"the example program names no input: {done.stderr!r}")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "graphs").mkdir(parents=True)
    (WORK / "rejected").mkdir()
    model, names = network()
    save(model, WORK / "net.onnx")
    for i, bad in enumerate(rejected(names)):
        file = WORK / f"rejected/{i}.onnx"
        save(bad, file)
        run("compile", file, "-o", WORK / f"no{i}", "-v")
        run("compile", file, "-o", WORK / f"no{i}", "--log-format", "json")
    run("compile", WORK / "net.onnx", "-o", WORK / "net", "--name", "net", "--emit", "ir", "--emit", "disasm", "--emit", "bare", "-MD", "-v", "--log-level",
        "trace", "--dump-ir", "fold-constants", "--timing", WORK / "timing.json", code=0)
    readers(WORK / "net", WORK / "net.onnx")
    other_commands(names)
    run_program(names)
    hostile_rules(names)
    hostile_packages()
    hostile_files(names)
    hostile_folder()
    example_program()
    for out in "net", "plain", "single", "small", "named":
        compiles(WORK / out)
    for folder in WORK.iterdir():
        if folder.name not in ("packages", "project", "edited", "rules", "samples", "values") and folder.is_dir():
            check_folder(folder)
    for file in "timing.json", "cal.json", "diff.html", "net.d":
        if (WORK / file).exists():
            check_file(WORK / file)
    if problems:
        sys.exit("\n".join(problems[:60]) + f"\n{len(problems)} problems")


main()
