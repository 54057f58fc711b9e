"""usage: links.py ROOT

Every relative link of README.md, CHANGELOG.md, CONTRIBUTING.md and docs/ leads to a file that is there, and its #section to a heading of it; docs/README.md, the table
of contents, leads to every page and every schema.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]*[./#][^)\s]*|\w{3,})\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page):
    """As GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted((root / "docs").rglob("*.md"))
    wrong, links = [], 0
    for page in pages:
        for link in LINK.findall(CODE.sub("", page.read_text())):
            if re.match("[a-z]+:", link):
                continue
            links += 1
            name, _, section = link.partition("#")
            to = (page.parent / name).resolve() if name else page
            if not to.exists():
                wrong.append(f"{page.relative_to(root)}: there is no {link}")
            elif section and section not in anchors(to):
                wrong.append(f"{page.relative_to(root)}: {name} has no section '{section}'")
    contents = root / "docs" / "README.md"
    told = {(contents.parent / link.partition("#")[0]).resolve() for link in LINK.findall(contents.read_text())}
    parts = [p for p in sorted((root / "docs").glob("*.md")) + sorted((root / "docs" / "schemas").glob("*.json")) if p != contents]
    wrong += [f"docs/README.md does not lead to {p.relative_to(root)}" for p in parts if p.resolve() not in told]
    print("\n".join(wrong) or f"{links} links of {len(pages)} pages lead somewhere")
    return 1 if wrong or links < 50 else 0


sys.exit(main())
