#!/usr/bin/env python3
"""usage: check_json_keys.py ROOT

What a process writes as JSON it has as structs, and does not read by key: members are read where files come in, by one table for writing and
reading (mrvlc/support/json_fields.h). Read by hand is what others write, in the files below."""

import pathlib
import re
import sys

FOLDERS = ("lib/driver", "lib/idmap", "apps/mrvlc")
# A value taken out of a tree; a member of it asked for by name. Options ("--x") are no members.
READS = re.compile(r'\.get(?:_ref|_to)?<|\.(?:at|contains|value)\(\s*"[A-Za-z_]\w*"\s*[,)]|\["[A-Za-z_]\w*"\]\s*(?:\.(?:get|is_|size|empty|front|back|dump)|[!=]=|[;,)])')
BORDER = {
    "lib/driver/folder/manifest_read.cpp": "manifest.json, of any version: each field has its own check",
    "lib/driver/folder/output_folder.cpp": "texts of a tree made printable, whatever they are of",
    "lib/driver/inputs/tuning_file.cpp": "a file that users may edit",
    "lib/driver/placement/placement_file.cpp": "a file that users write: what is not known is refused",
    "lib/driver/values/value_json.cpp": "values of users, whose form their types say",
    "lib/driver/diff/page.cpp": "values of options, as manifests have them",
    "lib/driver/verify/onnx_runtime.cpp": "a script in Python stands there",
    "lib/driver/prove/prove.cpp": "hints that are not trusted, whoever wrote them",
    "lib/driver/prove/certificate.cpp": "a certificate that is not trusted, whoever wrote it",
    "apps/mrvlc/defaults.cpp": "mrvlc.json, which users write",
}


def main(root):
    wrong, used = [], set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            name = str(path.relative_to(root))
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                if not READS.search(line.split("//")[0]):
                    continue
                used.add(name)
                if name not in BORDER:
                    wrong.append(f"{name}:{number}: JSON is read by key: {line.strip()}")
    wrong += [f"{name} reads no JSON by key: take it off the list of check_json_keys.py" for name in BORDER if name not in used]
    print("\n".join(wrong) or f"{len(used)} files read JSON of others by key, nothing reads its own")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
