"""usage: remote.py MRVLC MODELS/DIGITS WORK

`mrvlc run --on`, `profile --on` and `tune --on`: a server on a port of this machine, with keys of this test, whose sessions have a temporary folder of their own. The same
bytes come back as from a local run, compiled there, here, and here for aarch64, which qemu runs there; nothing is left. WORK is emptied first. Exits with 77 (skipped) without sshd.
"""

import getpass
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

MRVLC, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
if SSHD is None:
    print("skipped: no sshd (Debian: openssh-server)")
    sys.exit(77)
ENVIRONMENT = {n: v for n, v in os.environ.items() if not n.startswith(("MRVLC_", "SSH_")) and n != "CC"}


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def serve():
    """A server with a key for itself and one for us; ssh's options for it."""
    for key in ("host_key", "user_key"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    shutil.copy("user_key.pub", "authorized")
    os.chmod("authorized", 0o600)
    pathlib.Path("there").mkdir()
    port = free_port()
    # Every command there finds the temporary folder of the test.
    pathlib.Path("enter").write_text(f'#!/bin/sh\nexport TMPDIR={WORK}/there\n[ -n "$SSH_ORIGINAL_COMMAND" ] || exit 1\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
    os.chmod("enter", 0o755)
    pathlib.Path("sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {WORK}/host_key\nPidFile {WORK}/sshd.pid\nAuthorizedKeysFile {WORK}/authorized\nStrictModes no\n"
        # Shells read no files of the user's: what those do may take seconds a command.
        f"SetEnv HOME={WORK}\nPasswordAuthentication no\nUsePAM no\nPermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\n"
        f"Match all\n  ForceCommand case \"$SSH_ORIGINAL_COMMAND\" in *sftp*) exec /usr/lib/openssh/sftp-server ;; *) exec {WORK}/enter ;; esac\n")
    pathlib.Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", "sshd_config"], stderr=open("sshd.log", "w"), stdin=subprocess.DEVNULL)
    pathlib.Path("ssh_config").write_text(
        f"Host *\n  IdentityFile {WORK}/user_key\n  IdentitiesOnly yes\n  UserKnownHostsFile {WORK}/known\n  StrictHostKeyChecking accept-new\n")
    for _ in range(100):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    # One connection for most of the test: a handshake takes long on a busy machine.
    control = pathlib.Path(tempfile.mkdtemp()) / "control"
    place = f"{getpass.getuser()}@127.0.0.1"
    pathlib.Path("ssh_fast").write_text(pathlib.Path("ssh_config").read_text() + f"  ControlPath {control}\n")
    master = subprocess.Popen(["ssh", "-F", "ssh_fast", "-o", f"Port={port}", "-M", "-N", place], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    for _ in range(300):
        if control.exists():
            break
        time.sleep(0.1)
    return server, master, f"ssh://{place}:{port}"


def results(folder):
    return {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir()}


def compare(out, place, *options, here=()):
    """`here`: options of the local run; sums of floats are those of a compiler and its machine."""
    shutil.rmtree("far", ignore_errors=True)
    common = ["run", out, "--input", f"image={WORK}/x.npy", "--repeat-axis0"]
    run(MRVLC, *common, "--output-dir", "near", *here)
    text = run(MRVLC, *common, "--output-dir", "far", "--on", place, "--ssh-config", "ssh_fast", *options)
    assert results("near") == results("far") != {}, out
    assert not list(pathlib.Path("there").iterdir()), "something is left there"
    return text


def pages(place):
    """What is measured, here or there, beside what is expected: as a page; OUT stays as it is."""
    before = pathlib.Path("device/report.html").read_bytes()
    for where, options in (("this machine", ("--measure",)), (place, ("--on", place, "--ssh-config", "ssh_fast"))):
        text = run(MRVLC, "profile", "device", *options, "--bench", "2", "--html", "measured.html")
        assert f"measured on {where}, 2 runs" in text and "region 0: " in text and "their times are not compared" in text, text
        page = pathlib.Path("measured.html").read_text()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        assert data["measured"]["on"] == where and data["measured"]["steps"], data["measured"]
        del data["measured"]
        assert data == json.loads(before.decode().split('id="data">')[1].split("</script>")[0])
        assert pathlib.Path("device/report.html").read_bytes() == before
    measured = json.loads(run(MRVLC, "profile", "host", "--measure", "--bench", "2", "--json"))["measured"]
    late = {s["expr_id"]: s["least_ms"] - s["expected_ms"] for s in measured["steps"] if s["comparable"]}
    assert not measured["regions_simulated"] and len(late) == len(measured["steps"])
    assert measured["worst"] == (max(late, key=late.get) if max(late.values()) > 0 else None), measured
    assert "give --measure" in run(MRVLC, "profile", "host", "--html", "x.html", status=2)
    assert "give --measure" in run(MRVLC, "profile", "host", "--bench", "3", status=2)
    assert "it is a file of" in run(MRVLC, "profile", "host", "--measure", "--html", "host/report.html", status=3)
    assert not pathlib.Path("x.html").exists()


def aarch64(place):
    """As a board: what runs there runs in qemu."""
    if not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64")):
        print("no compiler or emulator for aarch64")
        return
    # The wrapper of the test: the program is started by qemu, which is not what binfmt is set up for here.
    wrapper = pathlib.Path("cc-aarch64")
    wrapper.write_text("""#!/bin/sh
set -e
out=
for word in "$@"; do [ "$last" = -o ] && out=$word; last=$word; done
aarch64-linux-gnu-gcc "$@" -static
[ -n "$out" ] || exit 0
{ printf '#!/bin/sh\\nhead -c 1000000000 "$0" | tail -n +8 >"$0.elf" && chmod +x "$0.elf"\\n'; printf 'qemu-aarch64 "$0.elf" "$@"\\nrc=$?\\nrm -f "$0.elf"\\nexit $rc\\n#\\n'; cat "$out"; } >"$out.sh"
mv "$out.sh" "$out" && chmod +x "$out"
""")
    wrapper.chmod(0o755)
    compare("host", place, "--cc", wrapper.absolute(), here=("--cc", wrapper.absolute()))
    text = run(MRVLC, "run", "device", "--input", f"image={WORK}/x.npy", "--repeat-axis0", "--output-dir", "far", "--on", place, "--ssh-config", "ssh_fast", "--cc",
               "aarch64-linux-gnu-gcc", status=2)
    assert "MRV1021" in text and "aarch64" in text, text


def faults(place):
    base = ["run", "host", "--input", f"image={WORK}/x.npy", "--repeat-axis0", "--output-dir", "never", "--ssh-config", "ssh_fast"]
    assert "MRV1020" in run(MRVLC, *base[:-1], "ssh_config", "--on", place.rsplit(":", 1)[0] + ":1", status=3)
    assert "ssh://[USER@]HOST[:PORT]" in run(MRVLC, *base, "--on", "board", status=2)
    assert "ssh://[USER@]HOST[:PORT]" in run(MRVLC, *base, "--on", "ssh://-oProxyCommand=x", status=2)
    assert "MRV0708" in run(MRVLC, *base, "--on", place, "--cflags", "-fno-such-flag", status=3)
    assert not list(pathlib.Path("there").iterdir())
    # Ctrl-C in the middle: nothing is left there either.
    process = subprocess.Popen([str(c) for c in [MRVLC, *base, "--on", place, "--bench", "1000000"]], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    for _ in range(300):
        if list(pathlib.Path("there").glob("*/results")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130, process.returncode
    assert not list(pathlib.Path("there").iterdir())


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    shutil.copy(DIGITS / "test_x.npy", "x.npy")
    run(MRVLC, "compile", DIGITS / "digits.onnx", "-o", "device", "-q")
    run(MRVLC, "compile", DIGITS / "digits.onnx", "-o", "host", "--target", "host", "-q")
    run(MRVLC, "compile", DIGITS / "digits.onnx", "-o", "blob", "--cpu", "pool", "--weights", "blob", "-q")
    server, master, place = serve()
    try:
        compare("device", place)
        compare("host", place)
        text = compare("host", place, "--cc", "gcc", "--bench", "5")
        assert "median_ms" in text, text
        compare("device", place, "--cc", "gcc")
        profile = json.loads(run(MRVLC, "profile", "host", "--json", "--on", place, "--ssh-config", "ssh_fast", "--bench", "3"))
        steps = profile["measured"]["steps"]
        assert len(steps) >= 3 and any("conv2" in s["label"] for s in steps) and profile["measured"]["least_ms"] > 0, profile
        run(MRVLC, "tune", DIGITS / "digits.onnx", "-o", "tuning.json", "--on", place, "--ssh-config", "ssh_fast", "--cc", "gcc", "--cflags", "-O1", "--seconds", "0.01")
        tuning = json.loads(pathlib.Path("tuning.json").read_text())
        assert tuning["rounds"] == [1, 0] and any(len(layer["ns"]) > 1 for layer in tuning["layers"]), tuning
        report = json.loads(pathlib.Path("host/report.json").read_text())
        expected = [s["expected_ms"] for s in steps]
        assert all(e is not None and e > 0 for e in expected), steps
        told = sum(n["seconds"] for n in report["host"]["nodes"] if n["op_type"] != "Reshape")  # which is no function, so nobody measures it
        assert abs(sum(expected) - 1e3 * told) < 1e-9, (expected, report["host"]["nodes"])
        assert profile["measured"]["expected_ms"] == 1e3 * report["partition"]["seconds"], profile["measured"]
        profile = json.loads(run(MRVLC, "profile", "device", "--json", "--on", place, "--ssh-config", "ssh_fast", "--bench", "1"))
        report = json.loads(pathlib.Path("device/report.json").read_text())
        expected = [s["expected_ms"] for s in profile["measured"]["steps"]]
        assert all(e is not None for e in expected) and abs(sum(expected) - 1e3 * report["partition"]["seconds"]) < 1e-6, (expected, report["partition"])
        regions = [s for s in profile["measured"]["steps"] if s["region"] is not None]
        assert profile["measured"]["regions_simulated"] and len(regions) == len(report["regions"]) and not any(s["comparable"] for s in regions), profile["measured"]
        if importlib.util.find_spec("jsonschema"):
            import jsonschema
            jsonschema.validate(profile, json.loads((DIGITS.parent.parent / "docs" / "schemas" / "profile.schema.json").read_text()))
        # A blob goes along with a program that is compiled here.
        compare("blob", place)
        compare("blob", place, "--cc", "gcc")
        assert "measured on ssh://" in run(MRVLC, "profile", "device", "--on", place, "--ssh-config", "ssh_fast", "--bench", "2")
        pages(place)
        aarch64(place)
        faults(place)
    finally:
        for process in (master, server):
            process.terminate()
            process.wait()
    print("the same bytes, and nothing left")


if __name__ == "__main__":
    main()
