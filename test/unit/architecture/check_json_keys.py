#!/usr/bin/env python3
"""usage: check_json_keys.py ROOT

What a process writes as JSON it has as structs, and does not read by key: members are read where files come in, by one table for writing and
reading (mrvlc/support/json_fields.h). Read by hand is what others write, in the files below."""

import pathlib
import re
import sys

from listed_lines import check

FOLDERS = ("lib/driver", "lib/idmap", "apps/mrvlc")
# A value taken out of a tree; a member of it asked for by name. Options ("--x") are no members.
READS = re.compile(r'\.get(?:_ref|_to)?<|\.(?:at|contains|value)\(\s*"[A-Za-z_]\w*"\s*[,)]|\["[A-Za-z_]\w*"\]\s*(?:\.(?:get|is_|size|empty|front|back|dump)|[!=]=|[;,)])')
BORDER = {
    "lib/driver/folder/manifest_read.cpp": "manifest.json, of any version: each field has its own check",
    "lib/driver/folder/output_folder.cpp": "texts of a tree made printable, whatever they are of",
    "lib/driver/inputs/tuning_file.cpp": "a file that users may edit",
    "lib/driver/placement/placement_file.cpp": "a file that users write: what is not known is refused",
    "lib/driver/values/value_json.cpp": "values of users, whose form their types say",
    "lib/driver/evidence/evidence.cpp": "values of options, as manifests have them",
    "lib/driver/diff/page.cpp": "values of options, as manifests have them",
    "lib/driver/verify/onnx_runtime.cpp": "a script in Python stands there",
    "lib/driver/prove/prove.cpp": "hints that are not trusted, whoever wrote them",
    "lib/driver/prove/certificate.cpp": "a certificate that is not trusted, whoever wrote it",
    "apps/mrvlc/defaults.cpp": "mrvlc.json, which users write",
}

if __name__ == "__main__":
    sys.exit(check(pathlib.Path(sys.argv[1]), FOLDERS, READS, BORDER, "JSON is read by key", "check_json_keys.py"))
