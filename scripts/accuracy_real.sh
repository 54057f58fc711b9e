#!/usr/bin/env bash
# Is what the compile says of accuracy true of photographs, text and speech? accuracy_real.sh DATA [options of accuracy_real.py]
# DATA: a folder with zoo/NAME.onnx. Needs python3-numpy, python3-pil, fonts-dejavu-core, espeak-ng, and the pictures of python3-skimage
# and python3-sklearn.
set -euo pipefail
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/accuracy_real.py" "$@"
