// Calls a small script of node or Python, which reads and writes .npy; what it is to do stands in a JSON
// file.
#include "verify/onnx_runtime.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/tensor/npy.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// argv[2]: the JSON file; without one it only loads the library.
constexpr std::string_view kNode = R"js(
const fs = require('fs'), path = require('path');
const load = require('module').createRequire(path.resolve(process.env.ORT_DIR) + '/');
const ort = load('onnxruntime-node');
const types = {
  '<f4': ['float32', Float32Array], '<f8': ['float64', Float64Array], '<f2': ['float16', Uint16Array],
  '|i1': ['int8', Int8Array], '|u1': ['uint8', Uint8Array], '<i2': ['int16', Int16Array],
  '<u2': ['uint16', Uint16Array], '<i4': ['int32', Int32Array], '<u4': ['uint32', Uint32Array],
  '<i8': ['int64', BigInt64Array], '<u8': ['uint64', BigUint64Array], '|b1': ['bool', Uint8Array],
};
function read(file) {
  const bytes = fs.readFileSync(file), length = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + length);
  const kind = types[/'descr': '(.*?)'/.exec(header)[1]];
  const dims = (/'shape': \((.*?)\)/.exec(header)[1].match(/\d+/g) || []).map(Number);
  const data = new kind[1](new Uint8Array(bytes.subarray(10 + length)).slice().buffer);
  return new ort.Tensor(kind[0], data, dims);
}
function write(file, t) {
  const descr = Object.keys(types).find(k => types[k][0] === t.type);
  if (!descr) throw new Error('an output is of type ' + t.type);
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${t.dims.map(d => d + ',').join(' ')}), }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const prefix = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  prefix.writeUInt16LE(header.length, 8);
  const d = t.data;
  fs.writeFileSync(file, Buffer.concat([prefix, Buffer.from(header, 'latin1'),
                                        Buffer.from(d.buffer, d.byteOffset, d.byteLength)]));
}
async function main() {
  const job = JSON.parse(fs.readFileSync(process.argv[2]));
  const session = await ort.InferenceSession.create(
      job.model, {graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, logSeverityLevel: 3});
  const feeds = {};
  job.inputs.forEach(i => { if (session.inputNames.includes(i.name)) feeds[i.name] = read(i.file); });
  const results = await session.run(feeds);
  job.outputs.forEach(o => write(o.file, results[o.name]));
}
if (process.argv.length > 2) main().catch(e => { console.error(e.message); process.exit(1); });
)js";

constexpr std::string_view kPython = R"py(
import json, sys
import numpy, onnxruntime
if len(sys.argv) > 1:
    job = json.load(open(sys.argv[1]))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
        known = {i.name for i in session.get_inputs()}
        feeds = {i["name"]: numpy.load(i["file"]) for i in job["inputs"] if i["name"] in known}
        names = [o["name"] for o in job["outputs"]]
        for o, value in zip(job["outputs"], session.run(names, feeds)):
            if not isinstance(value, numpy.ndarray):
                raise TypeError("an output is no tensor")
            numpy.save(o["file"], value)
    except Exception as error:
        sys.exit(str(error))
)py";

bool loads(const std::vector<std::string>& command, double seconds) {
  const auto ran = run_process(command, {}, seconds);
  return ran.ok() && ran->exit_code == 0 && !ran->late;
}

bool can_be_handed(const TensorType& type) {
  return type.wrapper == Wrapper::None && type.elem != ElementType::String &&
         type.elem != ElementType::BF16 &&
         (is_integer(type.elem) || is_float(type.elem) || type.elem == ElementType::Bool);
}

}  // namespace

Result<OnnxRuntime> OnnxRuntime::find(const fs::path& folder, double seconds) {
  OnnxRuntime out;
  out.folder_ = folder;
  out.seconds_ = seconds;
  const char* place = std::getenv("ORT_DIR");
  if (place != nullptr && *place != '\0') {
    MRVLC_TRY(write_file_atomic(folder / "ort.cjs", std::string(kNode)));
    out.command_ = {"node", (folder / "ort.cjs").string()};
    if (loads(out.command_, seconds)) return out;
  }
  MRVLC_TRY(write_file_atomic(folder / "ort.py", std::string(kPython)));
  out.command_ = {"python3", (folder / "ort.py").string()};
  if (loads(out.command_, seconds)) return out;
  return make_diag<DiagCode::MRV0719>(
      place == nullptr ? "$ORT_DIR is not set, and python3 has no module onnxruntime"
                       : "node finds no onnxruntime-node in $ORT_DIR, and python3 has no module onnxruntime");
}

Result<std::vector<Tensor>> OnnxRuntime::run(const fs::path& model, const ir::Graph& graph,
                                             const std::vector<Tensor>& inputs) const {
  std::error_code ec;
  nlohmann::json job = {{"model", fs::absolute(model, ec).string()},
                        {"inputs", nlohmann::json::array()},
                        {"outputs", nlohmann::json::array()}};
  const auto port = [&](ir::ValueId id, const std::string& file) -> Result<fs::path> {
    if (!can_be_handed(graph.value(id).type))
      return make_diag<DiagCode::MRV0720>(
          fmt::format("'{}' is {}", printable(graph.value(id).name), to_string(graph.value(id).type)));
    return folder_ / file;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::ValueId id = graph.inputs()[i];
    MRVLC_ASSIGN(const fs::path file, port(id, fmt::format("ort_in_{}.npy", i)));
    MRVLC_TRY(write_file_atomic(file, to_npy(inputs[i])));
    job["inputs"].push_back({{"name", graph.value(id).name}, {"file", file.string()}});
  }
  std::vector<fs::path> files;
  for (ir::ValueId id : graph.outputs()) {
    MRVLC_ASSIGN(const fs::path file, port(id, fmt::format("ort_out_{}.npy", files.size())));
    files.push_back(file);
    job["outputs"].push_back({{"name", graph.value(id).name}, {"file", file.string()}});
  }
  const fs::path order = folder_ / "ort.json";
  MRVLC_TRY(write_file_atomic(order, json_line(job)));
  std::vector<std::string> argv = command_;
  argv.push_back(order.string());
  MRVLC_ASSIGN(const ProcessResult ran, run_process(argv, {}, seconds_));
  if (ran.late) return make_diag<DiagCode::MRV0718>("ONNX Runtime", seconds_);
  if (ran.exit_code != 0) return make_diag<DiagCode::MRV0720>(printable(ran.output, 1000));
  std::vector<Tensor> outputs;
  for (const fs::path& file : files) {
    MRVLC_ASSIGN(Tensor value, read_npy(file));
    outputs.push_back(std::move(value));
  }
  return outputs;
}

}  // namespace mrvlc::driver
