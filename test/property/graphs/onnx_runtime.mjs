#!/usr/bin/env node
// Runs the cases of a folder with ONNX Runtime, without optimisation, and compares with the expected outputs.
//   ORT_DIR=DIR node onnx_runtime.mjs FOLDER RESULT.json     RESULT: case -> "" | "refused: ..." | what differs
// Tensors are read from TensorProto files that hold raw data, as the generator writes them.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const require = createRequire(path.resolve(process.env.ORT_DIR || '.') + '/');
const ort = require('onnxruntime-node');
const [folder, resultFile] = process.argv.slice(2);

const TYPES = {
  1: ['float32', Float32Array, 1e-3], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array, 5e-3], 11: ['float64', Float64Array, 1e-3], 12: ['uint32', Uint32Array],
  13: ['uint64', BigUint64Array],
};

// A TensorProto: dims 1, data_type 2, name 8, raw_data 9.
function readTensor(file) {
  const bytes = fs.readFileSync(file);
  const tensor = { dims: [], name: '' };
  let at = 0;
  const varint = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      const b = bytes[at++];
      value |= BigInt(b & 127) << shift;
      if (b < 128) return Number(value);
      shift += 7n;
    }
  };
  let raw = Buffer.alloc(0);
  while (at < bytes.length) {
    const tag = varint(), field = tag >> 3;
    if ((tag & 7) === 0) {
      const value = varint();
      if (field === 1) tensor.dims.push(value);
      if (field === 2) tensor.type = value;
      continue;
    }
    const size = varint(), end = at + size;
    if (field === 8) tensor.name = bytes.toString('utf8', at, end);
    if (field === 9) raw = bytes.subarray(at, end);
    if (field === 1) while (at < end) tensor.dims.push(varint());
    at = end;
  }
  if (!TYPES[tensor.type]) throw new Error(`element type ${tensor.type}`);
  tensor.data = new TYPES[tensor.type][1](new Uint8Array(raw).buffer);
  return tensor;
}

function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + mantissa / 1024) : 2 ** -14 * (mantissa / 1024));
}

function difference(actual, expected) {
  const [type, , tolerance] = TYPES[expected.type];
  if (actual.type !== type) return `it is ${actual.type}, not ${type}`;
  if (actual.dims.join('x') !== expected.dims.join('x')) return `shape [${actual.dims}], not [${expected.dims}]`;
  for (let i = 0; i < expected.data.length; ++i) {
    let a = actual.data[i], b = expected.data[i];
    if (type === 'float16') { a = fromHalf(a); b = fromHalf(b); }
    const same = tolerance ? Math.abs(a - b) <= tolerance * (1 + Math.abs(b)) || a === b || (a !== a && b !== b)
      : type === 'bool' ? !!a === !!b : a === b;
    if (!same) return `element ${i} is ${a}, not ${b}`;
  }
  return '';
}

function files(data, kind) {
  const found = [];
  for (let i = 0; fs.existsSync(path.join(data, `${kind}_${i}.pb`)); ++i) found.push(path.join(data, `${kind}_${i}.pb`));
  return found;
}

async function run(name) {
  let session;
  try {
    session = await ort.InferenceSession.create(path.join(folder, name, 'model.onnx'), {
      graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
    });
    for (let set = 0; fs.existsSync(path.join(folder, name, `test_data_set_${set}`)); ++set) {
      const text = await runSet(session, path.join(folder, name, `test_data_set_${set}`));
      if (text) return `set ${set}: ${text}`;
    }
    return '';
  } catch (error) {
    return `refused: ${String(error.message).slice(0, 300)}`;
  } finally {
    if (session) await session.release();
  }
}

async function runSet(session, data) {
  const feeds = {};
  for (const file of files(data, 'input')) {
    const t = readTensor(file);
    feeds[t.name] = new ort.Tensor(TYPES[t.type][0], t.data, t.dims);
  }
  const expected = files(data, 'output').map(readTensor), results = await session.run(feeds);
  for (const t of expected) {
    const text = difference(results[t.name], t);
    if (text) return `output ${t.name}: ${text}`;
  }
  return '';
}

const result = {};
for (const name of fs.readdirSync(folder).sort()) {
  result[name] = await run(name);
  fs.writeFileSync(resultFile, JSON.stringify(result));  // whatever may end the process
}
