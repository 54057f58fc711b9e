// `mrvlc inspect`: what the importer thinks of a model.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "mrvlc/onnx/test_data.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/saturating.h"
#include "unheeded.h"

namespace mrvlc::driver {
namespace {

// Inputs as the model declares them, where it cannot be read before their shapes are given: what to give.
std::optional<std::string> open_inputs(const CompileOptions& options, const Diagnostics& diagnostics) {
  const auto open = [](const Diag& d) { return d.code == DiagCode::MRV0131; };
  const auto inputs = onnx::declared_inputs(options.model);
  if (!inputs.ok() || std::ranges::none_of(diagnostics.list(), open)) return std::nullopt;
  std::string out;
  for (const onnx::DeclaredValue& input : *inputs) {
    std::vector<std::string> dims;
    for (const int64_t d : input.shape) dims.push_back(d < 0 ? "?" : std::to_string(d));
    out += fmt::format("input  {} : {}\n", printable(input.name),
                       input.has_shape ? fmt::format("[{}]", fmt::join(dims, ",")) : "of any shape");
  }
  return out;
}

}  // namespace

std::optional<std::string> inspect(const CompileOptions& options, Diagnostics& diagnostics) {
  auto model = onnx::import_file(options.model, import_options(options), diagnostics);
  if (!model) return open_inputs(options, diagnostics);
  const ir::Graph& g = model->graph;
  warn_unheeded_shapes(options, g, diagnostics);
  std::string out = fmt::format("{}: IR version {}, opset {}, producer '{}'\n",
                                printable(options.model.filename().string(), 4096), model->ir_version,
                                model->opset, printable(model->producer));
  for (ir::ValueId id : g.inputs())
    out += fmt::format("input  {} : {}\n", printable(g.value(id).name), to_string(g.value(id).type));
  for (ir::ValueId id : g.outputs())
    out += fmt::format("output {} : {}\n", printable(g.value(id).name), to_string(g.value(id).type));
  int64_t parameters = 0, parameter_bytes = 0, macs = 0;
  for (size_t i = 0; i < g.value_slots(); ++i) {
    const ir::Value& v = g.value(ir::ValueId(i));
    if (v.kind != ir::ValueKind::Constant) continue;
    parameters += v.type.elements();
    parameter_bytes += v.type.bytes();
  }
  std::map<std::string, int> counts;
  std::string nodes;
  for (ir::NodeId id : g.topological_order()) {
    const ir::Node& n = g.node(id);
    ++counts[std::string(n.op->name)];
    int64_t m = ops::macs(g, n);
    macs = saturating_add(macs, m);
    std::string types;
    for (ir::ValueId o : n.outputs) types += (types.empty() ? "" : ", ") + to_string(g.value(o).type);
    nodes += fmt::format("  {:<20} {:<40} {:<28} {}\n", n.op->name, printable(n.name, 40), types,
                         m == 0 ? "" : fmt::format("{} MACs", m));
  }
  out += fmt::format("{} ONNX nodes, {} operators, {} parameters ({} B), {} MACs\noperators:",
                     g.sources().size(), g.topological_order().size(), parameters, parameter_bytes, macs);
  for (const auto& [op, count] : counts) out += fmt::format(" {}:{}", op, count);
  return out + "\n" + nodes;
}

}  // namespace mrvlc::driver
