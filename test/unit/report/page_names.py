#!/usr/bin/env python3
"""usage: page_names.py ROOT

What the scripts of pages read of their data is named by a schema: page.schema.json, and of batch and measured times their own."""

import json
import pathlib
import re
import sys

PAGE = ("data.js", "view.js", "timeline.js", "memory.js", "tables.js", "main.js")
REGION = {"region": "regions", "r": "regions"}
# Scripts, the schema, where in it each variable is, and names that the script itself gives to what it reads.
READS = [
    (PAGE, "page", {"data": "", **REGION, "s": "steps", "step": "steps", "e": "expected_time"},
     {"cycles", "lanes", "y", "height", "start", "end", "bound", "seconds"}),
    (("measured.js",), "profile", {"m": "measured", "s": "measured.steps", "step": "measured.steps"}, set()),
    (("batch_main.js",), "batch", {"data": "", "m": "models", "x": "models.messages", "said": "models.messages"}, {"code", "warnings", "said"}),
    (("graph_main.js",), "page", {"data": ""}, set()),
]
# Members of objects of JavaScript and of the browser.
OF_THE_LANGUAGE = {"length", "map", "forEach", "reduce", "filter", "find", "findIndex", "slice", "some", "every", "indexOf", "join", "toFixed", "replace"}
EVENT = {"offsetX", "offsetY", "deltaX", "deltaY", "deltaMode", "key", "shiftKey", "altKey", "ctrlKey", "metaKey", "button", "clientX", "clientY",
         "pointerId", "preventDefault", "target", "currentTarget", "toPrecision"}


def members(schema, path):
    for name in path.split(".") if path else []:
        schema = schema["properties"][name]
        schema = schema.get("items", schema)
    return set(schema["properties"])


def main(root):
    wrong, checked = [], 0
    for scripts, name, variables, derived in READS:
        schema = json.loads((root / "docs" / "schemas" / f"{name}.schema.json").read_text())
        for script in scripts:
            text = re.sub(r"//[^\n]*|'(?:\\\\.|[^'\\n])*'", "", (root / "lib" / "report" / "page" / script).read_text())
            for variable, path in variables.items():
                known = members(schema, path) | derived | OF_THE_LANGUAGE | (EVENT if variable == "e" else set())
                for read in re.findall(rf"(?<![\w.]){variable}\??\.(\w+)", text):
                    checked += 1
                    if read not in known:
                        wrong.append(f"{script}: reads {variable}.{read}, which {name}.schema.json does not name{' in ' + path if path else ''}")
    if checked < 100:
        wrong.append(f"only {checked} reads were found")
    print("\n".join(sorted(set(wrong))) or f"{checked} reads are of what schemas name")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
