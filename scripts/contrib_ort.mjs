#!/usr/bin/env node
// The ONNX Runtime side of contrib_cases.py: runs the cases of a folder without optimisation.
//   ORT_DIR=DIR node contrib_ort.mjs FOLDER      NAME.onnx, NAME.json: inputs; writes NAME.out.json
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const require = createRequire(path.resolve(process.env.ORT_DIR || '.') + '/');
const ort = require('onnxruntime-node');
const folder = process.argv[2];

const ARRAYS = {
  float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
  int32: Int32Array, int64: BigInt64Array, bool: Uint8Array, float16: Uint16Array, float64: Float64Array,
};

async function run(name) {
  const given = JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`)));
  try {
    const session = await ort.InferenceSession.create(path.join(folder, `${name}.onnx`), {
      graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
    });
    const feeds = {};
    for (const [key, { type, dims, data }] of Object.entries(given)) {
      const bytes = new Uint8Array(Buffer.from(data, 'base64'));
      feeds[key] = new ort.Tensor(type, new ARRAYS[type](bytes.buffer), dims);
    }
    const results = await session.run(feeds), out = {};
    for (const [key, t] of Object.entries(results)) {
      const bytes = Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength);
      out[key] = { type: t.type, dims: t.dims, data: bytes.toString('base64') };
    }
    await session.release();
    return out;
  } catch (error) {
    return { error: String(error.message).slice(0, 400) };
  }
}

for (const file of fs.readdirSync(folder).sort()) {
  if (!file.endsWith('.onnx')) continue;
  const name = file.slice(0, -5), out = path.join(folder, `${name}.out.json`);
  if (fs.existsSync(out)) continue;
  fs.writeFileSync(out, JSON.stringify({ error: 'it ends the process' }));
  fs.writeFileSync(out, JSON.stringify(await run(name)));
}
