"""usage: prove_test.py MRVLC ROOT WORK

Proves compiles of models/ and, with $MRVLC_SHARED, of small networks of the zoo; then asks what cannot be proved, and what is wrong.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

# Network of the zoo: nodes that run on the host, and so have no proof.
ZOO = {"tiny_ad_f32": 0, "tiny_ad_int8_qdq": 0, "tiny_kws_f32": 0, "tiny_kws_int8_qdq": 3, "tiny_resnet8_f32": 0, "tiny_resnet8_int8_qdq": 3, "mnist_cntk": 0,
       "mnist_burn": 0, "tfl_helloworld": 0}


def main():
    mrvlc, root, work = (pathlib.Path(a) for a in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    digits = root / "models" / "digits" / "digits.onnx"
    wrong = []

    def run(*arguments, code):
        done = subprocess.run([mrvlc, *map(str, arguments)], check=False, capture_output=True, text=True)
        if done.returncode != code:
            wrong.append(f"{arguments} ended with {done.returncode}, not {code}: {done.stdout[-300:]}{done.stderr[-300:]}")
        return done

    def proved(model, *options, host=0):
        run("compile", "-q", model, "-o", "out", "--force", *options, code=0)
        run("prove", "out", model, code=5 if host else 0)
        certificate = json.loads(pathlib.Path("out/certificate.json").read_text())
        left = len(certificate["nodes"]) - certificate["nodes_proved"]
        if left != host or certificate["verdict"] == "refused":
            wrong.append(f"{model} {options}: {left} nodes have no proof, not {host}")

    for options in ((), ("--tiles", "1"), ("--tiles", "8"), ("--wb-pin", "--tiles", "2"), ("--batch", "2"), ("--effort", "2")):
        proved(digits, *options)
    if "MRVLC_SHARED" in os.environ:
        for name, host in ZOO.items():
            proved(pathlib.Path(os.environ["MRVLC_SHARED"]) / "data" / "zoo" / f"{name}.onnx", host=host)

    run("compile", "-q", digits, "-o", "cut", "--cpu", "pool", code=0)
    if "pool (" not in run("prove", "cut", digits, code=5).stdout:
        wrong.append("a node on the host is not named")
    # Hints decide neither what is proved nor how long it takes.
    hints = json.loads(pathlib.Path("cut/proof.json").read_text())
    hints["regions"] *= 2
    pathlib.Path("cut/proof.json").write_text(json.dumps(hints))
    if "twice" not in run("prove", "cut", digits, code=3).stderr:
        wrong.append("a region that is there twice is proved twice")

    # The same file gives the same certificate; the model is found beside OUT; a certificate of another seed does not hold.
    run("compile", "-q", digits, "-o", "plain", code=0)
    run("prove", "plain", code=2)
    shutil.copy(digits, "digits.onnx")
    run("prove", "plain", code=0)
    first = pathlib.Path("plain/certificate.json").read_bytes()
    run("prove", "plain", "-o", "again.json", code=0)
    if pathlib.Path("again.json").read_bytes() != first:
        wrong.append("two certificates of one OUT differ")
    run("prove", "plain", "--check", "again.json", code=0)
    changed = json.loads(first)
    changed["nodes"][0]["exact"] = False
    pathlib.Path("changed.json").write_text(json.dumps(changed))
    run("prove", "plain", "--check", "changed.json", code=5)
    run("prove", "plain", "--seed", "other", "-o", "seed.json", code=0)
    if json.loads(pathlib.Path("seed.json").read_text())["prime"] == changed["prime"]:
        wrong.append("--seed changes nothing")

    # --prove: the same certificate as that of the command; nodes without a proof are a warning; one of binaries that are gone goes, too.
    run("compile", "-q", digits, "-o", "certified", "--prove", code=0)
    if pathlib.Path("certified/certificate.json").read_bytes() != first:
        wrong.append("--prove writes another certificate than the command")
    if "certificate.json" not in [f["file"] for f in json.loads(pathlib.Path("certified/manifest.json").read_text())["files"]]:
        wrong.append("the manifest does not list the certificate")
    if "MRV1106" not in run("compile", digits, "-o", "certified", "--cpu", "pool", "--prove", code=0).stderr:
        wrong.append("--prove does not say what has no proof")
    run("prove", "certified", digits, "--seed", "other", code=5)
    run("compile", "-q", digits, "-o", "certified", code=0)
    if pathlib.Path("certified/certificate.json").exists():
        wrong.append("the certificate of an earlier compile stays")

    # Hints are not trusted: other operators, constants, shapes and texts make no proof.
    hints = pathlib.Path("plain/proof.json").read_text()
    for before, after in (('"Relu"', '"Abs"'), ('"MaxPool"', '"AveragePool"'), ('"group": 1', '"group": 0'), ('"f16"', '"f32"'), ('"perm": [', '"perm": [7,'),
                          ('"shape": [', '"shape": [99999999,'), ('"anchor": 0', '"anchor": 9'), ("mrvlc-proof-1", "mrvlc-proof-9"), ('"layers"', '"lawyers"')):
        if before not in hints:
            wrong.append(f"proof.json has no {before}")
        pathlib.Path("plain/proof.json").write_text(hints.replace(before, after))
        done = subprocess.run([mrvlc, "prove", "plain"], check=False, capture_output=True, text=True)
        if done.returncode not in (1, 3, 5):
            wrong.append(f"with {after} for {before} it ended with {done.returncode}: {done.stderr[-200:]}")
    pathlib.Path("plain/proof.json").write_text(hints)
    binary = pathlib.Path("plain/digits.region0.mrvl")
    whole = binary.read_bytes()
    for size in (0, 100, 8192, len(whole) - 1):
        binary.write_bytes(whole[:size])
        run("prove", "plain", code=5)
    binary.write_bytes(whole)
    run("prove", "plain", code=0)

    print("\n".join(wrong) or "all of them are proved, or are not, as they should")
    return 1 if wrong else 0


sys.exit(main())
