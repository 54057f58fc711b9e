#!/usr/bin/python3
"""usage: supply.py SOURCES BUILD RELEASE WORK

What mrvlc is made of and what it makes: notices of third parties against packages.txt, SPDX documents of the build and of OUT
(required fields of SPDX 2.3, checksums, bytes that do not change), the licence of generated C, how the binaries are hardened
(RELEASE: 1), and that scripts ask before they install. WORK is emptied first."""

import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

SOURCES, BUILD, _, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
RELEASE = sys.argv[3] == "1"
MRVLC = BUILD / "bin" / "mrvlc"
MODEL = SOURCES / "models" / "digits" / "digits.onnx"
PURPOSES = {"APPLICATION", "LIBRARY", "SOURCE", "DATA", "FILE", "OTHER"}
RELATIONS = {"DESCRIBES", "CONTAINS", "DYNAMIC_LINK", "BUILD_TOOL_OF", "GENERATED_FROM", "DEPENDS_ON"}


def packages_of_build():
    lines = (SOURCES / "third_party" / "packages.txt").read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith("build ")]


def notices():
    """Every package that a build takes, with its licence; the texts of licences that ask for it."""
    text = (SOURCES / "third_party" / "notices.txt").read_text()
    entries = {}
    for paragraph in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if re.match(r"[A-Z][a-z]+: ", line))
        if "Package" in fields:
            assert set(fields) == {"Package", "Name", "Use", "License", "Copyright"}, fields
            entries[fields["Package"]] = fields
    assert set(entries) == set(packages_of_build()), set(entries) ^ set(packages_of_build())
    for package, e in entries.items():
        assert e["Use"] in ("contained", "linked", "tool"), e
        assert e["Use"] == "tool" or f"\n== {e['License']}" in text or e["License"] in ("BSD-2-Clause", "BSD-3-Clause"), e
        own = pathlib.Path("/usr/share/doc", package, "copyright")
        if own.exists() and e["Use"] != "tool":
            word = e["Copyright"].replace(",", " ").split()
            names = [w for w in word if w[0].isupper() and len(w) > 3]
            said = own.read_text(errors="replace")
            assert any(n in said for n in names) or package == "libonnx-dev", (package, names)
    return entries


def linked_libraries(entries):
    """What the binary asks the loader for is `linked`, and nothing else is."""
    text = subprocess.run(["ldd", str(MRVLC)], capture_output=True, text=True).stdout
    for package, word in {"libfmt-dev": "libfmt", "libspdlog-dev": "libspdlog", "libprotobuf-dev": "libprotobuf", "libre2-dev": "libre2",
                          "libjemalloc-dev": "libjemalloc", "libssl-dev": "libcrypto"}.items():  # fmt: skip
        assert (word in text) == (entries[package]["Use"] == "linked"), (package, text)


def check_spdx(document):
    """Clauses 6 to 11 of SPDX 2.3: fields that a document, a package, a file and a relationship must have."""
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0" and document["SPDXID"] == "SPDXRef-DOCUMENT"
    assert document["name"] and re.fullmatch(r"[a-z]+://[^#\s]+", document["documentNamespace"]), document["documentNamespace"]
    created = document["creationInfo"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created["created"]), created
    assert created["creators"] and all(re.match(r"(Tool|Organization|Person): \S", c) for c in created["creators"])
    ids = ["SPDXRef-DOCUMENT"]
    for package in document["packages"]:
        ids.append(package["SPDXID"])
        assert package["name"] and package["downloadLocation"], package
        assert package["licenseConcluded"] and package["licenseDeclared"] and package["copyrightText"], package
        assert isinstance(package["filesAnalyzed"], bool)
        # 7.9: a verification code where files were analysed.
        assert package["filesAnalyzed"] == ("packageVerificationCode" in package), package
        assert package.get("primaryPackagePurpose", "OTHER") in PURPOSES
    for file in document.get("files", []):
        ids.append(file["SPDXID"])
        assert file["fileName"].startswith("./") and file["licenseConcluded"] and file["copyrightText"], file
        sums = {c["algorithm"]: c["checksumValue"] for c in file["checksums"]}
        assert re.fullmatch("[0-9a-f]{40}", sums["SHA1"]) and re.fullmatch("[0-9a-f]{64}", sums["SHA256"]), file
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i) for i in ids), ids
    for relation in document["relationships"]:
        assert relation["spdxElementId"] in ids and relation["relatedSpdxElement"] in ids and relation["relationshipType"] in RELATIONS, relation
    described = [r["relatedSpdxElement"] for r in document["relationships"] if r["relationshipType"] == "DESCRIBES"]
    assert described and all(d in ids for d in described)
    return {p["SPDXID"]: p for p in document["packages"]}


def build_document():
    text = (BUILD / "shell" / "sbom.spdx.json").read_text()
    packages = check_spdx(json.loads(text))
    assert set(packages) == {"SPDXRef-mrvlc"} | {f"SPDXRef-{p}" for p in packages_of_build()}
    assert str(SOURCES) not in text and str(BUILD) not in text
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libfmt-dev"], capture_output=True, text=True).stdout
    assert not version or packages["SPDXRef-libfmt-dev"]["versionInfo"] == version


def compiled(out, *options, **environment):
    subprocess.run([str(MRVLC), "compile", str(MODEL), "-o", out, "--name", "m", "-q", "--emit", "sbom", *options], check=True,
                   env={**os.environ, **environment})  # fmt: skip
    return pathlib.Path(out)


def out_document():
    out = compiled("out", SOURCE_DATE_EPOCH="86400")
    text = (out / "sbom.spdx.json").read_text()
    document = json.loads(text)
    packages = check_spdx(document)
    assert document["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
    manifest = json.loads((out / "manifest.json").read_text())
    named = {f["fileName"][2:]: {c["algorithm"]: c["checksumValue"] for c in f["checksums"]} for f in document["files"]}
    assert set(named) == {f["file"] for f in manifest["files"]} - {"sbom.spdx.json"}
    for name, sums in named.items():
        data = (out / name).read_bytes()
        assert sums == {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}, name
    # 7.9: the code of a package is the SHA-1 of its files' SHA-1s, sorted and joined.
    code = hashlib.sha1("".join(sorted(s["SHA1"] for s in named.values())).encode()).hexdigest()
    program = packages["SPDXRef-program"]
    assert program["packageVerificationCode"]["packageVerificationCodeValue"] == code
    model = packages["SPDXRef-model"]
    assert model["checksums"] == [{"algorithm": "SHA256", "checksumValue": manifest["model"]["sha256"]}]
    assert packages["SPDXRef-mrvlc"]["versionInfo"] == manifest["tool"]["version"]
    contains = {r["relatedSpdxElement"] for r in document["relationships"] if r["relationshipType"] == "CONTAINS"}
    assert contains >= {f["SPDXID"] for f in document["files"]}
    # The same bytes elsewhere; another model has another namespace.
    (WORK / "other").mkdir()
    assert compiled("other/out", SOURCE_DATE_EPOCH="86400").joinpath("sbom.spdx.json").read_text() == text
    host = compiled("host", "--target", "host", SOURCE_DATE_EPOCH="86400").joinpath("sbom.spdx.json")
    assert json.loads(host.read_text())["documentNamespace"] != document["documentNamespace"]
    unset = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    subprocess.run([str(MRVLC), "compile", str(MODEL), "-o", "zero", "-q", "--emit", "sbom", "--target", "host"], check=True, env=unset)
    assert json.loads(pathlib.Path("zero/sbom.spdx.json").read_text())["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    wrong = subprocess.run([str(MRVLC), "compile", str(MODEL), "-o", "never", "--emit", "sbom"], env={**os.environ, "SOURCE_DATE_EPOCH": "soon"},
                           capture_output=True, text=True)  # fmt: skip
    assert wrong.returncode == 2 and "SOURCE_DATE_EPOCH" in wrong.stderr and not pathlib.Path("never").exists(), wrong.stderr
    return out


def license_lines(out):
    """Our code in OUT says its licence; weights, which are the user's, do not."""
    for file in [*out.rglob("*.c"), *out.rglob("*.h")]:
        first = file.read_text().splitlines()[0]
        assert ("SPDX-License-Identifier: Apache-2.0" in first) == ("weights" not in file.name), (file, first)
    for header in (SOURCES / "include" / "mrvl").glob("*.h"):
        assert "SPDX-License-Identifier: Apache-2.0" in header.read_text().splitlines()[0], header
    single = WORK / "single"
    subprocess.run([str(MRVLC), "compile", str(MODEL), "-o", str(single), "--target", "host", "--emit", "single", "-q"], check=True)
    assert all("SPDX-License-Identifier: Apache-2.0" in f.read_text().splitlines()[0] for f in single.glob("digits.[ch]"))


def hardened():
    """bin/mrvlc and what is installed beside it: position-independent, relocations read-only from the start, stack not executable."""
    if not RELEASE or not shutil.which("readelf"):
        print("not a release build, or no readelf")
        return
    for elf in [MRVLC, BUILD / "bin" / "mrvl-device-check", BUILD / "lib" / "libmrvl_simdev.so", BUILD / "lib" / "libmldpc.so"]:
        text = subprocess.run(["readelf", "-hldW", "--dyn-syms", str(elf)], capture_output=True, text=True, check=True).stdout
        program = elf.parent.name == "bin"
        assert "DYN (" in text and (not program or re.search(r"FLAGS_1.*\bPIE\b", text)), elf
        assert "GNU_RELRO" in text and re.search(r"\(FLAGS(_1)?\).*\b(BIND_)?NOW\b", text), elf
        stack = re.search(r"GNU_STACK(?: +0x[0-9a-f]+){5} +([RWE]+)", text)
        assert stack and "E" not in stack[1], (elf, stack)
        assert "__stack_chk_fail" in text, elf
        if elf == MRVLC:
            assert re.search(r"__\w+_chk@", text.replace("__stack_chk_fail", "")), "no fortified function"
            assert "RPATH" not in text and "RUNPATH" not in text


def answer(command, text, environment):
    """Runs it on a terminal, and types."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, environment)
    os.write(fd, text.encode())
    said = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()


def scripts():
    tools = WORK / "tools"
    tools.mkdir()
    for name, text in {"dpkg-query": "exit 1", "apt-get": f'echo "$@" >>{WORK}/apt.log', "sudo": 'exec "$@"'}.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != "CI"} | {"PATH": f"{tools}:{os.environ['PATH']}"}
    log = WORK / "apt.log"
    install = [str(SOURCES / "scripts" / "install-deps.sh"), "--build-only"]
    for reply, status in (("n\n", 1), ("\n", 1), ("\x04", 1), ("y\n", 0)):
        code, said = answer(install, reply, environment)
        assert code == status and "libfmt-dev" in said and "[y/N]" in said, (reply, code, said)
        assert log.exists() == (status == 0), reply
        log.unlink(missing_ok=True)
    for command, more in (([*install, "--yes"], {}), (install, {"CI": "1"})):
        code, said = answer(command, "", environment | more)
        assert code == 0 and "libfmt-dev" in said and "[y/N]" not in said and "install" in log.read_text(), said
        log.unlink()
    done = subprocess.run(install, stdin=subprocess.DEVNULL, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "[y/N]" not in done.stdout + done.stderr and log.exists(), done
    log.unlink()
    code, said = answer([str(SOURCES / "scripts" / "demo.sh")], "n\n", environment)
    assert code == 1 and "libfmt-dev" in said and "[y/N]" in said and not log.exists(), said


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    linked_libraries(notices())
    build_document()
    license_lines(out_document())
    hardened()
    scripts()
    print("ok")


main()
