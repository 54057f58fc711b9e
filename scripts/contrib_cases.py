#!/usr/bin/env python3
"""Cases of operators of com.microsoft with what ONNX Runtime computes for them.

  contrib_cases.py record                    writes test/onnx/contrib/NAME.onnx ($ORT_DIR: onnxruntime-node)
  contrib_cases.py compare MRVLC [SEED]      random values through `MRVLC run` and ONNX Runtime

A recorded file is a model that holds its inputs and expected outputs as initialisers named given:NAME and expected:NAME;
test/onnx/contrib_case_test.cpp runs it through the importer and the reference.
"""
import base64, json, os, pathlib, subprocess, sys, tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from contrib_forms import forms

HERE = pathlib.Path(__file__).resolve().parent
STORE = HERE.parent / 'test' / 'onnx' / 'contrib'


def model_of(form):
    inputs, initializers, names = [], [], []
    for name, value in form.inputs:
        if value is None:
            names.append('')
            continue
        names.append(name)
        if name in form.constants:
            initializers.append(numpy_helper.from_array(value, name))
        else:
            dims = form.open_dims.get(name, value.shape)
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype)
                          if hasattr(helper, 'np_dtype_to_tensor_dtype')
                          else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype], dims))
    outputs = [helper.make_tensor_value_info(n, t, None) for n, t in form.outputs if n]
    node = helper.make_node(form.op, names, [n for n, _ in form.outputs], domain=form.domain, name='node', **form.attrs)
    graph = helper.make_graph([node], form.name, inputs, outputs, initializers)
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def runtime(cases, folder):
    for form in cases:
        onnx.save(model_of(form), f'{folder}/{form.name}.onnx')
        given = {n: {'type': str(v.dtype), 'dims': v.shape, 'data': base64.b64encode(v.tobytes()).decode()}
                 for n, v in form.inputs if v is not None and n not in form.constants}
        pathlib.Path(f'{folder}/{form.name}.json').write_text(json.dumps(given))
    for _ in range(20):  # it goes on behind a case that ended it
        if subprocess.run(['node', HERE / 'contrib_ort.mjs', folder]).returncode == 0:
            break
    results = {}
    for form in cases:
        out = json.loads(pathlib.Path(f'{folder}/{form.name}.out.json').read_text())
        if 'error' in out:
            results[form.name] = out['error']
            continue
        results[form.name] = {n: np.frombuffer(base64.b64decode(o['data']), o['type']).reshape(o['dims'])
                              for n, o in out.items()}
    return results


def record(only):
    STORE.mkdir(exist_ok=True)
    cases = [f for f in forms(1) if only in f.name]
    with tempfile.TemporaryDirectory() as folder:
        results = runtime(cases, folder)
    for form in cases:
        expected = form.expected or results[form.name]
        if isinstance(expected, str):
            print(f'{form.name}: {expected}')
            continue
        model = model_of(form)
        for name, value in form.inputs:
            if value is not None and name not in form.constants:
                model.graph.initializer.append(numpy_helper.from_array(value, f'given:{name}'))
        for name, value in expected.items():
            model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value), f'expected:{name}'))
        for key, value in [('tolerance', form.tolerance), ('steps', form.steps), *form.shapes.items()]:
            model.metadata_props.add(key=f'case:{key}', value=str(value))
        (STORE / f'{form.name}.onnx').write_bytes(model.SerializeToString(deterministic=True))


def run_mrvlc(mrvlc, form, folder):
    out, args = f'{folder}/{form.name}', []
    bounds = [a for n, _ in form.outputs if n in form.bounds for a in ('--bound', f'{n}={form.bounds[n]}')]
    shapes = [a for n, s in form.shapes.items() for a in ('--input-shape', f'{n}={s}')]
    made = subprocess.run([mrvlc, 'compile', f'{out}.onnx', '-o', f'{out}.d', '--name', 'm', '--target', 'host',
                           *bounds, *shapes], capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip()[:300]
    for name, value in form.inputs:
        if value is not None and name not in form.constants:
            np.save(f'{out}.in.{name}.npy', value)
            args += ['--input', f'{name}={out}.in.{name}.npy']
    ran = subprocess.run([mrvlc, 'run', f'{out}.d', *args, '--output-dir', f'{out}.r', '--cflags', '-O1'],
                         capture_output=True, text=True)
    if ran.returncode:
        return ran.stderr.strip()[:300]
    return {n: np.load(f'{out}.r/{n}.npy') for n, _ in form.outputs if n}


def difference(form, got, expected):
    for name, right in expected.items():
        y = got[name]
        if y.shape != right.shape or y.dtype != right.dtype:
            return f'{name}: {y.dtype}{y.shape}, not {right.dtype}{right.shape}'
        wide = (lambda v: v.astype(np.float64))
        far = np.abs(wide(y) - wide(right)) > form.steps + form.tolerance * np.maximum(1, np.abs(wide(right)))
        if np.any(far):
            at = np.argwhere(far)[0]
            return f'{name}{at.tolist()}: {y[tuple(at)]}, not {right[tuple(at)]} ({far.sum()} of {far.size})'
    return ''


def compare(mrvlc, seed, only):
    cases = [f for f in forms(seed) if only in f.name]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        results = runtime(cases, folder)
        for form in cases:
            expected, got = form.expected or results[form.name], run_mrvlc(mrvlc, form, folder)
            if isinstance(expected, str):
                text = f'ONNX Runtime: {expected}' if isinstance(got, dict) else ''
                print(f'{form.name}: no reference, {text or got}')
                continue
            text = got if isinstance(got, str) else difference(form, got, expected)
            wrong += bool(text)
            if text:
                print(f'{form.name}: {text}')
    print(f'{len(cases)} cases, {wrong} differ')
    return 1 if wrong else 0


if __name__ == '__main__':
    if len(sys.argv) >= 2 and sys.argv[1] == 'record':
        record(sys.argv[2] if len(sys.argv) > 2 else '')
    elif len(sys.argv) >= 3 and sys.argv[1] == 'compare':
        sys.exit(compare(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1,
                         sys.argv[4] if len(sys.argv) > 4 else ''))
    else:
        print(__doc__.strip())
        sys.exit(2)
