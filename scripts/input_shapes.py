#!/usr/bin/env python3
"""Options that fix the inputs' shapes to those of reference data: input_shapes.py golden/NAME, a word a line."""
import json
import pathlib
import sys

meta = pathlib.Path(sys.argv[1]) / "meta.json"
if meta.exists():
    for i in json.loads(meta.read_text())["inputs"]:
        print("--input-shape")
        print(i["name"] + "=" + "x".join(map(str, i["dims"])))
