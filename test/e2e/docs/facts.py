"""usage: facts.py MRVLC ROOT

What pages say exists: in docs/codes.md, every page of docs/, README.md and the messages of mrvlc, each command, option (of the command it stands behind, or of any), code, page
and header that is named is one. Every code is given out somewhere, or its page says that it no longer is; and every page of a code tells what, why and what to do, in words of
its own.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support" / "python"))
from mrvlc_help import commands  # noqa: E402

GONE = "is kept so that it is not given to something else"
# Options of the generated program, of tools for developers and of other programs, where no other word says whose they are.
OTHERS = {
    "--repeat-axis0", "--output-dir", "--bench", "--steps", "--cycles", "--dir", "--threads", "--target", "--input", "--sshloginfile", "--array", "--requeue",
    "--no-lib", "--prefix", "--install", "--preset", "--build", "--specs", "--tflite", "--keras", "--opset", "--variable", "--cflags", "--libs",
}

class Facts:
    def __init__(self, mrvlc, root):
        self.root, self.wrong, self.checked = root, [], 0
        self.options = dict(commands(mrvlc))
        self.any = set().union(*self.options.values())
        self.codes = set(re.findall(r"^## (MRV\d{4})$", (root / "docs" / "codes.md").read_text(), re.MULTILINE))

    def check(self, where, what, holds):
        self.checked += 1
        if not holds:
            self.wrong.append(f"{where}: {what}")

    def command(self, where, text):
        """`mrvlc ...`: the command is there, and has the options behind it."""
        text = re.sub(r"'[^']*'|\"[^\"]*\"|\$\([^)]*\)", "X", text).split(" | ")[0].split(" > ")[0].split(" && ")[0]
        words = text.split()[1:]
        words = [w for i, w in enumerate(words) if not w.startswith("--log-format") and (i == 0 or words[i - 1] != "--log-format")]
        if not words or not re.fullmatch(r"[a-z]+", words[0]) or words[0] == "met":  # a sentence
            return
        path = tuple(words[:1])
        self.check(where, f"there is no command 'mrvlc {words[0]}'", path in self.options)
        if path + tuple(words[1:2]) in self.options:
            path += tuple(words[1:2])
        for option in re.findall(r"(?<!\S)\[?(--[a-z][\w-]*)", text):
            self.check(where, f"'mrvlc {' '.join(path)}' has no {option}", path not in self.options or option in self.options[path] | {"--help"})

    def text(self, where, text):
        for code in re.findall(r"\bMRV\d{4}\b", text):
            self.check(where, f"there is no {code}", code in self.codes)
        for page in re.findall(r"\bdocs/[\w./-]+\.md\b", text):
            self.check(where, f"there is no {page}", (self.root / page).exists())
        for header in re.findall(r"\bmrvl/\w+\.h\b", text):
            self.check(where, f"there is no {header}", (self.root / "include" / header).exists())

    def spans(self, where, text):
        for span in re.findall(r"`([^`\n]+)`", text):
            if span.startswith("mrvlc "):
                self.command(where, span)
            elif re.match(r"-", span):
                for option in re.findall(r"(?<!\S)(--[a-z][\w-]*)", span)[:1]:
                    self.check(where, f"no command has {option}", option in self.any | OTHERS)

    def blocks(self, where, text):
        text = re.sub(r"\\\n\s*", "", text)
        for line in re.findall(r"^ *(?:\$ )?(mrvlc [^\n#]*)", text, re.MULTILINE):
            self.command(where, line)


def code_pages(facts):
    """What, why and what to do of every code; and who gives it out."""
    text = (facts.root / "docs" / "codes.md").read_text()
    parts = re.split(r"^## (MRV\d{4})$", text, flags=re.MULTILINE)
    given = set()
    for folder in ("lib", "apps"):
        for path in (facts.root / folder).rglob("*"):
            if path.suffix in (".cpp", ".h"):
                given |= set(re.findall(r"\bDiagCode::(MRV\d{4})\b", path.read_text()))
    for path in (facts.root / "include" / "mrvlc").rglob("*.h"):
        given |= set(re.findall(r"\bDiagCode::(MRV\d{4})\b", path.read_text()))
    seen = {}
    for code, page in zip(parts[1::2], parts[2::2]):
        facts.check(code, "it is given out nowhere, and its page does not say so", (code in given) != (GONE in page))
        found = re.search(r"^(?:\*.*\n)\n(.+)\n\nWhy: (.+)\n\nWhat to do: (.+)$", page.strip(), re.DOTALL)
        facts.check(code, "what, why and what to do", found is not None)
        if found:
            for part in found.groups():
                facts.check(code, f"says nothing: '{part}'", len(part) > 8 and "TODO" not in part)
            same = seen.setdefault((found[1], found[2], found[3]), code)
            facts.check(code, f"says what {same} says", same == code)


def main():
    mrvlc, root = sys.argv[1], pathlib.Path(sys.argv[2])
    facts = Facts(mrvlc, root)
    code_pages(facts)
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        text, where = page.read_text(), str(page.relative_to(root))
        facts.text(where, text)
        facts.spans(where, text)
        facts.blocks(where, text)
    # Messages tell users what to type, too.
    for path in sorted((root / "include" / "mrvlc" / "support" / "diag").glob("*.h")) + sorted((root / "apps" / "mrvlc").glob("*.cpp")) + sorted((root / "lib" / "driver").rglob("*.cpp")):
        text, where = re.sub(r'"\n\s*"', "", path.read_text()), str(path.relative_to(root))
        for said in re.findall(r"'(mrvlc [a-z][^'\n{\"]*)'", text):
            facts.command(where, said)
    print("\n".join(facts.wrong) or f"{facts.checked} facts of {len(facts.codes)} codes and of the pages hold")
    sys.exit(1 if facts.wrong or facts.checked < 1000 else 0)


main()
