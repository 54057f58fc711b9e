#!/usr/bin/env python3
"""usage: check_attributes.py ROOT

Attributes of ONNX's operators are read by name where operators are defined (lib/ops, lib/onnx, lib/ir) and in mrvlc/ops/attributes.h; all else
asks mrvlc/ops/attributes.h or params.h. What reads by name all the same stands below, with its reason."""

import pathlib
import re
import sys

from listed_lines import check

HOME = ("lib/ops/", "lib/onnx/", "lib/ir/")
READS = re.compile(r'\b(?:int|ints|float|floats|string|strings|has|tensor|graph)_attr\(\s*"|\battr_index\(\s*"')
BY_NAME = {
    "lib/prove/constants.cpp": "the prover reads the model by a reader of its own, and shares nothing with the compiler",
    "lib/passes/explicit_padding.cpp": "sets attributes, of whichever operators have them",
}

if __name__ == "__main__":
    sys.exit(check(pathlib.Path(sys.argv[1]), ("lib", "apps"), READS, BY_NAME, "an attribute is read by name", "check_attributes.py", HOME))
