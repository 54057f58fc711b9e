"""mrvlc from Python: its command line and JSON, nothing besides.

    import mrvlc
    out = mrvlc.compile("model.onnx", target="cn10ka", tiles=4)   # or an onnx.ModelProto
    y = out.run({"x": x})["y"]                                   # numpy in, numpy out

An option of the command line is a keyword: `--input-shape` is input_shape={"x": (1, 3, 224, 224)}, a flag is True, what may be repeated takes a
list. What mrvlc says is an exception (Error), or, when it went well, `messages` of the result. Docs: docs/python.md.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

__all__ = ["Compiled", "Error", "Message", "batch", "calibrate", "command", "compile", "inspect", "quantize", "verify", "version"]

PathLike = Union[str, "os.PathLike[str]"]
# A file, the bytes of one, or an onnx.ModelProto.
Model = Any


@dataclass(frozen=True)
class Message:
    """A diagnostic, as --log-format json has it."""

    severity: str
    code: str
    message: str
    node: str = ""
    op_type: str = ""

    def __str__(self) -> str:
        place = f"node '{self.node}' ({self.op_type}): " if self.node else ""
        return f"{place}{self.severity} {self.code}: {self.message}"


class Error(Exception):
    """mrvlc ended with an exit code other than 0."""

    def __init__(self, exit_code: int, messages: Sequence[Message], output: str = "", stderr: str = "") -> None:
        errors = [str(m) for m in messages if m.severity == "error"]
        super().__init__("\n".join(errors) or stderr.strip() or f"mrvlc ended with exit code {exit_code}")
        self.exit_code = exit_code
        self.messages = list(messages)
        self.output = output

    @property
    def code(self) -> str:
        """Of the first error: "MRV0131"."""
        return next((m.code for m in self.messages if m.severity == "error"), "")


def _executable() -> str:
    given = os.environ.get("MRVLC_EXECUTABLE")
    if given:
        return given
    for up in pathlib.Path(__file__).resolve().parents:
        for at in ("bin/mrvlc", "build/bin/mrvlc"):
            if os.access(up / at, os.X_OK) and (up / at).is_file():
                return str(up / at)
    found = shutil.which("mrvlc")
    if not found:
        raise FileNotFoundError("there is no mrvlc: install it, put it into PATH, or name it in $MRVLC_EXECUTABLE")
    return found


def _messages(stderr: str) -> list[Message]:
    found = []
    for line in stderr.splitlines():
        try:
            m = json.loads(line)
            found.append(Message(m["severity"], m["code"], m["message"], m["node"], m["op_type"]))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _word(value: Any) -> str:
    if isinstance(value, (tuple, list)):  # a shape
        return "x".join(str(v) for v in value) if value else "scalar"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _options(options: Mapping[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            words += [f"{option}={key}={_word(v)}" for key, v in value.items()]
        elif isinstance(value, (list, tuple)):
            words += [f"{option}={_word(v)}" for v in value]
        else:
            words.append(f"{option}={_word(value)}")
    return words


def _run(words: Iterable[str]) -> tuple[str, list[Message]]:
    done = subprocess.run([_executable(), "--log-format=json", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    messages = _messages(done.stderr)
    if done.returncode != 0:
        raise Error(done.returncode, messages, done.stdout, done.stderr)
    return done.stdout, messages


def command(*words: PathLike, **options: Any) -> str:
    """Any command: command("rules", "list"). What it prints."""
    return _run([*(os.fspath(w) for w in words), *_options(options)])[0]


class _File:
    """A model as a file, for as long as this object lives."""

    def __init__(self, model: Model) -> None:
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fspath(model)
            return
        data = model if isinstance(model, (bytes, bytearray)) else model.SerializeToString()
        self._folder = tempfile.TemporaryDirectory(prefix="mrvlc-")
        self.path = os.path.join(self._folder.name, "model.onnx")
        pathlib.Path(self.path).write_bytes(data)


@dataclass
class Compiled:
    """A folder made by compile."""

    path: pathlib.Path
    messages: list[Message] = field(default_factory=list)
    _folder: Optional[tempfile.TemporaryDirectory[str]] = field(default=None, repr=False)

    def _json(self, name: str) -> Any:
        return json.loads((self.path / name).read_text())

    @property
    def report(self) -> dict[str, Any]:
        """report.json (docs/reports.md)."""
        return self._json("report.json")

    @property
    def placement(self) -> dict[str, Any]:
        """placement.json: where each node runs, and why."""
        return self._json("placement.json")

    @property
    def manifest(self) -> dict[str, Any]:
        return self._json("manifest.json")

    def run(self, inputs: Mapping[str, np.ndarray], **options: Any) -> dict[str, np.ndarray]:
        """Outputs by name; options are those of `mrvlc run`: on="ssh://board", cc="aarch64-linux-gnu-gcc"."""
        with tempfile.TemporaryDirectory(prefix="mrvlc-") as folder:
            words = []
            for i, (name, value) in enumerate(inputs.items()):
                file = os.path.join(folder, f"{i}.npy")
                np.save(file, np.asarray(value), allow_pickle=False)
                words.append(f"--input={name}={file}")
            results = os.path.join(folder, "results")
            _run(["run", str(self.path), *words, f"--output-dir={results}", *_options(options)])
            return {port["name"]: _load(results, port["file"]) for port in self.manifest["outputs"]}

    def profile(self, **options: Any) -> dict[str, Any]:
        """Cycles and bytes by layer."""
        return json.loads(command("profile", self.path, json=True, **options))

    def explain(self, node: Optional[str] = None) -> str:
        return command("explain", self.path, node=node)

    def diff(self, other: Union["Compiled", PathLike], **options: Any) -> dict[str, Any]:
        """What differs in `other`, the later of the two."""
        later = other.path if isinstance(other, Compiled) else other
        return json.loads(command("diff", self.path, later, json=True, **options))


def _load(folder: str, name: str) -> Any:
    file = os.path.join(folder, name)
    if os.path.exists(file + ".npy"):
        return np.load(file + ".npy", allow_pickle=False)
    return json.loads(pathlib.Path(file + ".json").read_text())  # texts, sequences, optionals: docs/values.md


def compile(model: Model, output: Optional[PathLike] = None, **options: Any) -> Compiled:  # noqa: A001
    """`mrvlc compile`. Without `output` the folder goes with the result."""
    file = _File(model)
    folder = None if output is not None else tempfile.TemporaryDirectory(prefix="mrvlc-")
    path = pathlib.Path(os.fspath(output) if output is not None else os.path.join(folder.name, "out"))  # type: ignore[union-attr]
    _, messages = _run(["compile", file.path, f"--output={path}", *_options(options)])
    return Compiled(path, messages, folder)


def verify(model: Model, **options: Any) -> dict[str, Any]:
    """`mrvlc verify --json`; outputs that differ are an Error, whose `output` is the JSON."""
    file = _File(model)
    return json.loads(_run(["verify", file.path, "--json", *_options(options)])[0])


def inspect(model: Model, **options: Any) -> str:
    file = _File(model)
    return command("inspect", file.path, **options)


def calibrate(model: Model, data: PathLike, output: PathLike, **options: Any) -> None:
    file = _File(model)
    command("calibrate", file.path, data=data, output=output, **options)


def quantize(model: Model, data: PathLike, output: PathLike, **options: Any) -> str:
    """Writes the model of integers; the summary."""
    file = _File(model)
    return command("quantize", file.path, data=data, output=output, **options)


def batch(models: Sequence[PathLike], output: PathLike, **options: Any) -> dict[str, Any]:
    """`mrvlc batch`: batch.json, models that failed among the others (docs/batch.md)."""
    summary = pathlib.Path(os.fspath(output)) / "batch.json"
    try:
        _run(["batch", *(os.fspath(m) for m in models), f"--output={os.fspath(output)}", *_options(options)])
    except Error as error:
        if error.messages or not summary.exists():  # it is not a model that failed
            raise
    return json.loads(summary.read_text())


def version() -> str:
    return command("--version").split()[-1]
