"""Whether the ID map of a folder leads somewhere, in both directions."""

import json


def lost(out):
    """What idmap.json of the folder leads nowhere from."""
    idmap = json.loads((out / "idmap.json").read_text())
    live = {e["expr_id"]: e for e in idmap["expressions"] if "erased" not in e}
    coded = {i["expr_id"] for i in idmap["instructions"]}
    coded |= {e for layer in idmap["layers"] for e in layer["exprs"]}
    for function in idmap["host_functions"]:
        coded |= {function["expr_id"], *function["fused"]}
    symbols = {function["symbol"] for function in idmap["host_functions"]}
    for call in idmap.get("calls", []):
        coded |= set(call["exprs"])
        if call["symbol"] not in symbols:
            yield f"call of {call['function']}: no function {call['symbol']}"
    ids = {source["id"] for source in idmap["sources"]}
    for expr in coded:
        if not live.get(expr, {}).get("sources"):
            yield f"code of expression {expr}, which no ONNX node stands behind"
    for expr, entry in live.items():
        if expr not in coded:
            yield f"expression {expr} ({entry['op']}) has no code"
        if not set(entry["sources"]) <= ids:
            yield f"expression {expr} names a source that is not there"
