#!/usr/bin/env node
// The ONNX Runtime side of bench.sh; $ORT_DIR holds node_modules/onnxruntime-node.
//
//   bench_ort.mjs inputs MODEL.onnx DIR                    writes seeded inputs, prints NAME=FILE.npy for each
//   bench_ort.mjs time MODEL.onnx N NAME=FILE.npy...       runs N times on one thread, prints median_ms, min_ms and
//                                                          cpu_ms, the processor time of a run in the middle
//   bench_ort.mjs first MODEL.onnx NAME=FILE.npy...        runs once, prints first_ms, from before the library is loaded to the
//                                                          result, and mib, the memory that loading and running took
//
// Dimensions that the model leaves open are 1; floats are uniform in [0, 1), all other types 0. Float16 is held as bits.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const begin = performance.now(), rss = process.memoryUsage().rss;
const require = createRequire(path.resolve(process.env.ORT_DIR || '.') + '/');
const ort = require('onnxruntime-node');

const TYPES = {
  float32: ['<f4', Float32Array], float16: ['<f2', Uint16Array], float64: ['<f8', Float64Array], int8: ['|i1', Int8Array], uint8: ['|u1', Uint8Array],
  int16: ['<i2', Int16Array], int32: ['<i4', Int32Array], int64: ['<i8', BigInt64Array], bool: ['|b1', Uint8Array],
};

function fail(message) {
  console.error(`bench_ort: ${message}`);
  process.exit(1);
}

// The linear congruential generator of Numerical Recipes: repeatable, and good enough to fill an input.
let state = 1;
function uniform() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 4294967296;
}

// Bits of a float16 near v in [0, 1): v is cut to 11 significant bits, so the rest is exact; small values become 0.
function halfBits(v) {
  if (v < 2 ** -14) return 0;
  const exponent = Math.floor(Math.log2(v));
  return ((exponent + 15) << 10) | Math.floor((v / 2 ** exponent - 1) * 1024);
}

// Version 1.0 of the .npy format: magic, header length, a Python dict padded to 64 bytes, the elements.
function writeNpy(file, descr, dims, data) {
  const shape = `(${dims.map(d => `${d},`).join(' ')})`;
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`;
  const header = dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11) + '\n';
  const prefix = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  prefix.writeUInt16LE(header.length, 8);
  fs.writeFileSync(file, Buffer.concat([prefix, Buffer.from(header), Buffer.from(data.buffer)]));
}

function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, start);
  const descr = /'descr': '(.*?)'/.exec(header)[1];
  const dims = (/'shape': \((.*?)\)/.exec(header)[1].match(/\d+/g) || []).map(Number);
  const type = Object.keys(TYPES).find(k => TYPES[k][0] === descr) ?? fail(`${file}: type ${descr}`);
  const data = new Uint8Array(bytes.subarray(start)).slice().buffer;
  return new ort.Tensor(type, new TYPES[type][1](data), dims);
}

function makeInputs(session, dir) {
  fs.mkdirSync(dir, { recursive: true });
  session.inputMetadata.forEach((input, k) => {
    const [descr, Elements] = TYPES[input.type] ?? fail(`input '${input.name}' has type ${input.type}`);
    const dims = input.shape.map(d => (typeof d === 'number' && d > 0 ? d : 1));
    const data = new Elements(dims.reduce((a, b) => a * b, 1));
    const draw = input.type === 'float16' ? () => halfBits(uniform()) : uniform;
    if (input.type.startsWith('float')) data.forEach((_, i) => { data[i] = draw(); });
    const file = path.join(dir, `${k}.npy`);
    writeNpy(file, descr, dims, data);
    console.log(`${input.name}=${file}`);
  });
}

function readInputs(inputs) {
  return Object.fromEntries(inputs.map(i => [i.slice(0, i.lastIndexOf('=')), readNpy(i.slice(i.lastIndexOf('=') + 1))]));
}

async function first(session, inputs) {
  await session.run(readInputs(inputs));
  const ms = performance.now() - begin;
  console.log(`first_ms ${ms.toFixed(3)} mib ${((process.memoryUsage().rss - rss) / 2 ** 20).toFixed(2)}`);
}

async function time(session, iterations, inputs) {
  const feeds = readInputs(inputs);
  await session.run(feeds); // the first run allocates
  // Samples as those of the generated main.c: batches of runs that take a while, as far as there are eight.
  const sample = async batch => {
    const used = process.cpuUsage(), start = performance.now();
    for (let i = 0; i < batch; ++i) await session.run(feeds);
    const ms = (performance.now() - start) / batch, { user, system } = process.cpuUsage(used);
    return { ms, cpu: (user + system) / 1e3 / batch };
  };
  const once = (await sample(1)).ms;
  let batch = 1, disturbed = 0;
  while (batch < iterations / 8 && once * batch < 0.2) batch *= 2;
  const samples = [];
  for (let i = 0; i < Math.max(1, Math.floor(iterations / batch)); ++i) {
    samples.push(await sample(batch));
    if (samples.at(-1).ms > 1.05 * samples.at(-1).cpu) ++disturbed;
  }
  const middle = (key) => samples.map(s => s[key]).sort((a, b) => a - b)[samples.length >> 1].toFixed(4);
  const least = Math.min(...samples.map(s => s.ms)).toFixed(4);
  console.log(`median_ms ${middle('ms')} min_ms ${least} cpu_ms ${middle('cpu')} disturbed ${disturbed} of ${samples.length}`);
}

const [mode, model, ...rest] = process.argv.slice(2);
if (!model || !['inputs', 'time', 'first'].includes(mode)) {
  fail('usage: inputs MODEL DIR | time MODEL N NAME=FILE... | first MODEL NAME=FILE...');
}
const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: 'all', intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential',
  logSeverityLevel: 3,
});
if (mode === 'inputs') makeInputs(session, rest[0]);
else if (mode === 'first') await first(session, rest);
else await time(session, Number(rest[0]), rest.slice(1));
