#!/usr/bin/env python3
"""usage: check_names.py ROOT

Files and symbols that comments and documents name are there. A file's name is a word that ends as a source, a script or a page does; it may leave out
folders in front. A symbol is a word with :: in it, or one of docs in backticks with () behind it. What programs write (OUT's files, a user's) is listed below."""

import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"(?<![\w./*<$%{}-])((?:[\w-]+/)*[\w-]+\.(?:cpp|h|hpp|py|sh|mjs|def|rules|md|cmake|txt|js|css))(?![\w*-])")
SYMBOL = re.compile(r"(?<![\w:])((?:\w+::)+~?\w+)")
CALL = re.compile(r"`(\w+)\(\)`")
# Of the C++ library and of others; ONNX's own domains are written with :: as well.
NOT_OURS = re.compile(r"^(?:std|fs|CLI|Catch|fmt|re2|spdlog|google|onnx|nlohmann|Eigen|com|ai|torch|NAMESPACE)::|^DiagCode::MRV(?:xxxx|code)$|^(?:named_modules|mmap|fork|free|malloc|main|exit|dlopen|abort|getenv)$")
DECISION = re.compile(r"decisions?/(\d{4})")
# Of OUT, of examples for users, of other projects and of the system.
FOREIGN = re.compile(
    r"""(?:^|/)(?:NAME|FILE|MODEL|PATH|KIND|GRAPH|PRIMITIVES)[\w-]*\.\w+$   # placeholders
    |^(?:OUT|out|mynn|toy)/ |^Node\.js$ |^(?:page)\.md$ |^(?:list|models|messages|third-party-notices|cppcheck-misra)\.txt$ |^arm_nnfunctions\.h$ |^paths\.h$
    |(?:^|/)bent_identity\.cpp$  # what CONTRIBUTING.md adds
    |^(?:op|kernel_text)\.cpp$ |^kernel_pieces\.def$|(?:^|/)kernel_structs\.h$  # made by a build
    |^(?:main|bare|driver|probe|model|net|digits|kws|person|mine|one|my_?\w*|your_?\w*|example|plugin|filter|a|b|c|x|t|out|n)\.(?:c|h|cpp|py|md|txt|rules|css|js)$
    |^(?:stdint|stdlib|string|math|cmath|cctype|stdio|float|limits|sys|windows|unistd|assert|threads|pthread|omp|immintrin|arm_neon|setjmp|fenv|inttypes|time)\.h$
    |^(?:report|memory)\.txt$|^CMakeLists\.txt$|^requirements\.txt$|^ld\.so$|^(?:sys|asm|bits)/\w+\.h$
    |^Doxygen\.txt$""",
    re.X,
)
TEXT = {".md": None, ".cpp": "//", ".h": "//", ".def": "//", ".py": "#", ".sh": "#", ".rules": "#", ".txt": "#", ".cmake": "#"}


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    return [p for p in listed.stdout.split("\n") if p and (root / p).is_file()]


def sayings(path, suffix):
    """Lines that are documents or comments, with their numbers."""
    mark = TEXT[suffix]
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if mark is None:
            yield number, line
            continue
        at = re.search(r"(?:^|\s)" + re.escape(mark) + r"[! ](.*)", line)
        if at:
            yield number, at[1]


def words_of_code(root, files):
    """Every word of sources outside of comments."""
    words = set()
    for f in files:
        suffix = pathlib.Path(f).suffix
        if suffix in (".cpp", ".h", ".def", ".c", ".py", ".sh", ".cmake"):
            mark = TEXT.get(suffix) or "//"
            for line in (root / f).read_text(errors="replace").splitlines():
                words.update(re.findall(r"\w+", line if mark == "#" else line.split("//")[0]))
    return words


def main(root):
    files = tracked(root)
    words = words_of_code(root, files)
    ends = set()
    for f in files:
        parts = f.split("/")
        ends.update("/".join(parts[i:]) for i in range(len(parts)))
    decisions = {pathlib.Path(f).name[:4] for f in files if f.startswith("docs/decisions/")}
    wrong = []
    for f in files:
        suffix = pathlib.Path(f).suffix
        if suffix not in TEXT or f == "CHANGELOG.md" or f.startswith(("docs/decisions/", "test/mutation/", "test/e2e/docs/", "third_party/")):
            continue
        if suffix == ".txt" and not f.endswith("CMakeLists.txt"):
            continue
        for number, text in sayings(root / f, suffix):
            for name in NAME.findall(text):
                if name not in ends and not FOREIGN.search(name):
                    wrong.append(f"{f}:{number}: names '{name}', which is not there")
            symbols = SYMBOL.findall(text) + (CALL.findall(text) if suffix == ".md" else [])
            for symbol in symbols:
                if not NOT_OURS.match(symbol) and symbol.rsplit("::", 1)[-1].lstrip("~") not in words:
                    wrong.append(f"{f}:{number}: names '{symbol}', which is not there")
            for decision in DECISION.findall(text):
                if decision not in decisions:
                    wrong.append(f"{f}:{number}: there is no decision {decision}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
