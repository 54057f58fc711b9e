#!/usr/bin/python3
"""Writes NAME.onnx for one generated model, or for all: make_models.py NAME|all -o DIR [--input-size N]"""

import argparse
import importlib
import os
import sys

NAMES = ("resnet50", "mobilenetv2", "ssd_resnet50", "transformer_encoder", "densenet121", "inception_v1", "shufflenet",
         "bilstm", "byte_classifier")


def main():
    parser = argparse.ArgumentParser(description="Writes generated models, with seeded weights, as ONNX files.")
    parser.add_argument("name", choices=NAMES + ("all",))
    parser.add_argument("-o", "--output-dir", required=True, metavar="DIR")
    parser.add_argument("--input-size", type=int, metavar="N",
                        help="height and width of images, or number of tokens; each model has its own default")
    args = parser.parse_args()
    if args.input_size is not None and args.input_size < 32:
        parser.error("--input-size must be at least 32")
    names = NAMES if args.name == "all" else (args.name,)
    size = {} if args.input_size is None else {"size": args.input_size}
    try:
        os.makedirs(args.output_dir, exist_ok=True)
        for name in names:
            importlib.import_module(name).make(**size).save(os.path.join(args.output_dir, f"{name}.onnx"))
    except OSError as error:
        print(f"make_models: {error}", file=sys.stderr)
        return 3
    except ValueError as error:
        print(f"make_models: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
