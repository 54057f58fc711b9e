"""usage: shells.py MRVLC WORK

Completion by a real bash: every command, and every option of each command, as --help shows them, is offered. The man page is taken by groff
without a warning where there is one, and names every option; so do the completions of the other shells, which are checked by these where they are.
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support" / "python"))
from mrvlc_help import commands, output  # noqa: E402


def offered(script, words):
    """What bash offers behind these words."""
    quoted = " ".join(f"'{word}'" for word in ["mrvlc", *words])
    run = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _mrvlc; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return set(output("bash", "-c", run).split())


def main():
    mrvlc, work = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    found = [(path, {o for o in options if o.startswith("--")}) for path, options in commands(mrvlc)]
    assert len(found) > 20 and sum(len(options) for _, options in found) > 150, "the help is not read as it stands"
    scripts = {}
    for shell in ("bash", "zsh", "fish"):
        scripts[shell] = work / f"mrvlc.{shell}"
        scripts[shell].write_text(output(mrvlc, "completion", shell))
        if shutil.which(shell):
            output(shell, "-n", str(scripts[shell]))
    page = output(mrvlc, "help", "--man")
    if shutil.which("groff"):
        rendered = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True)
        assert not rendered.stderr and "NAME" in rendered.stdout, rendered.stderr
    others = {shell: scripts[shell].read_text() for shell in ("zsh", "fish")}
    for path, options in found:
        if path:
            assert path[-1] in offered(scripts["bash"], [*path[:-1], ""]), path
        missing = options - offered(scripts["bash"], [*path, "--"])
        assert not missing, f"mrvlc {' '.join(path)}: bash does not offer {missing}"
        for option in options:
            assert f"'{option}:" in others["zsh"], option
            assert f" -l {option[2:]} " in others["fish"], option
            assert option == "--help" or option.replace("-", "\\-") in page, option
    assert offered(scripts["bash"], ["compile", "model.onnx", "--max-cy"]) == {"--max-cycles"}
    assert offered(scripts["bash"], ["rules", "che"]) == {"check"}
    for shown, words in [
        ({"ir", "disasm", "nodes-json", "bare", "single", "sbom"}, ["compile", "m.onnx", "--emit", ""]),
        ({"single"}, ["compile", "m.onnx", "--emit", "=", "si"]),  # as bash cuts --emit=si
        ({"linked", "c", "blob"}, ["verify", "m.onnx", "--weights", ""]),
        ({"linked", "c", "blob"}, ["compile", "m.onnx", "--weights", "="]),
        ({"cost"}, ["compile", "m.onnx", "--partition", "c"]),
        ({"auto", "always", "never"}, ["inspect", "m.onnx", "--color", ""]),
    ]:
        assert offered(scripts["bash"], words) == shown, (words, offered(scripts["bash"], words))
    assert {"host", "cn10ka"} <= offered(scripts["bash"], ["compile", "m.onnx", "--target", ""])
    # Folders where one is taken; files are what bash itself completes when nothing is offered.
    assert f"{work.name}" in {pathlib.Path(p).name for p in offered(scripts["bash"], ["compile", "m.onnx", "--data", str(work)])}
    assert not offered(scripts["bash"], ["compile", "m.onnx", "--data", str(scripts["bash"])])
    assert not offered(scripts["bash"], ["compile", "m.onnx", "--timing", ""])
    assert "compadd -- linked c blob;" in others["zsh"] and " -l weights -x -a 'linked c blob' " in others["fish"]
    print(f"{len(found)} commands, {sum(len(options) for _, options in found)} options")


main()
