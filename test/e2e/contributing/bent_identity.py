"""Runs a compiled model of one BentIdentity and compares with the formula: bent_identity.py MRVLC COMPILED FOLDER"""
import math
import os
import re
import struct
import subprocess
import sys


def write_npy(path, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8, 16, 16), }"
    head += ' ' * (63 - (len(head) + 10) % 64) + '\n'
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack(f'<{len(values)}f', *values))


def read_npy(path):
    with open(path, 'rb') as file:
        data = file.read()
    start = 10 + struct.unpack('<H', data[8:10])[0]
    if not re.search(rb"'descr': '<f4'", data[:start]):
        sys.exit(f'{path} is not float32')
    return struct.unpack(f'<{(len(data) - start) // 4}f', data[start:])


def main(mrvlc, compiled, folder):
    values = [(i - 1024) / 64 for i in range(2048)]  # numbers of fp16
    write_npy(os.path.join(folder, 'x.npy'), values)
    subprocess.run([mrvlc, 'run', compiled, '--input', f'x={folder}/x.npy', '--output-dir', folder], check=True,
                   stdout=subprocess.DEVNULL)
    results = read_npy(os.path.join(folder, 'y.npy'))
    if len(results) != len(values):
        sys.exit(f'bent_identity: {len(results)} results')
    expected = [x + (math.sqrt(x * x + 1) - 1) / 2 for x in values]
    worst = max(abs(a - b) / (1 + abs(b)) for a, b in zip(results, expected))
    print(f'bent_identity: {worst:.2e} from the formula')
    if not worst < 2e-3:
        sys.exit('bent_identity: more than rounding to fp16 explains')


if __name__ == '__main__':
    main(*sys.argv[1:])
