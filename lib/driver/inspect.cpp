// `mrvlc inspect`: what the importer thinks of a model.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "mrvlc/ir/metadata.h"
#include "mrvlc/onnx/operator_use.h"
#include "mrvlc/onnx/test_data.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/saturating.h"
#include "unheeded.h"

namespace mrvlc::driver {
namespace {

std::string declared_lines(std::string_view kind, const Result<std::vector<onnx::DeclaredValue>>& values) {
  std::string out;
  if (!values.ok()) return out;
  for (const onnx::DeclaredValue& value : *values) {
    std::vector<std::string> dims;
    for (size_t i = 0; i < value.shape.size(); ++i) {
      const std::string symbol = printable(value.symbols[i]);
      dims.push_back(value.shape[i] >= 0 ? std::to_string(value.shape[i]) : symbol.empty() ? "?" : symbol);
    }
    out += fmt::format("{} {} : {}\n", kind, printable(value.name),
                       value.has_shape ? fmt::format("[{}]", fmt::join(dims, ",")) : "of any shape");
  }
  return out;
}

// metadata_props of the model, its graph and its functions; of long texts the beginning.
std::string metadata_lines(const ir::Graph& graph) {
  std::string out;
  if (graph.metadata == nullptr) return out;
  for (const ir::Described& part : graph.metadata->parts)
    for (const auto& [key, value] : part.properties)
      out += fmt::format("metadata of {}: {}: {}\n", printable(part.of), printable(key.str()),
                         printable(value.str()));
  return out;
}

// What an ONNX node became: an operator, or several where it was taken apart, the last of which gives its
// results.
struct Operator {
  std::string type, name, results;
  int64_t macs = 0;
};

std::vector<Operator> operators_of(const ir::Graph& g) {
  std::map<std::vector<ir::SourceId>, size_t> left;  // operators of the same ONNX node that are still to come
  const std::vector<ir::NodeId> order = g.topological_order();
  for (ir::NodeId id : order) ++left[g.lineage(id).sources];
  std::map<std::vector<ir::SourceId>, int64_t> macs;  // of operators that are parts
  std::vector<Operator> out;
  for (ir::NodeId id : order) {
    const ir::Node& n = g.node(id);
    const std::vector<ir::SourceId>& sources = g.lineage(id).sources;
    Operator o{std::string(n.op->name), n.name, {}, ops::macs(g, n)};
    for (ir::ValueId v : n.outputs) o.results += (o.results.empty() ? "" : ", ") + to_string(g.value(v).type);
    const auto parts = macs.find(sources);
    if (--left[sources] > 0) {
      int64_t& sum = parts == macs.end() ? macs[sources] : parts->second;
      sum = saturating_add(sum, o.macs);
      continue;
    }
    if (parts != macs.end()) {
      const ir::Source& source = g.sources()[sources.back().index()];
      o.type = printable((source.domain.empty() ? "" : source.domain + ".") + source.op_type);
      o.name = source.name;
      o.macs = saturating_add(o.macs, parts->second);
    }
    out.push_back(std::move(o));
  }
  return out;
}

std::string shown_operator(const onnx::OperatorUse& use) {
  return fmt::format("{}{}{}", printable(use.domain), use.domain.empty() ? "" : ".", printable(use.name));
}

// What the file says, where it cannot be imported: inputs, outputs, operators, and those that are missing.
std::optional<std::string> as_declared(const CompileOptions& options) {
  const auto uses = onnx::operators_of(options.model);
  if (!uses.ok()) return std::nullopt;
  std::string out = declared_lines("input ", onnx::declared_inputs(options.model));
  out += declared_lines("output", onnx::declared_outputs(options.model));
  std::string known, missing;
  int64_t nodes = 0;
  for (const onnx::OperatorUse& use : *uses) {
    nodes += use.nodes;
    (use.supported ? known : missing) += fmt::format(" {}:{}", shown_operator(use), use.nodes);
  }
  out += fmt::format("{} ONNX nodes\noperators:{}\n", nodes, known);
  if (!missing.empty()) out += fmt::format("not supported:{}\n", missing);
  return out;
}

}  // namespace

std::optional<std::string> inspect(const CompileOptions& options, Diagnostics& diagnostics) {
  auto model = onnx::import_file(options.model, import_options(options), diagnostics);
  if (!model) return as_declared(options);
  const ir::Graph& g = model->graph;
  warn_unheeded_shapes(options, g, diagnostics);
  std::string out = fmt::format("{}: IR version {}, opset {}, producer '{}'\n",
                                printable(options.model.filename().string(), 4096), model->ir_version,
                                model->opset, printable(model->producer));
  out += metadata_lines(g);
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
  const std::vector<Operator> operators = operators_of(g);
  for (const Operator& o : operators) {
    ++counts[o.type];
    macs = saturating_add(macs, o.macs);
    nodes += fmt::format("  {:<20} {:<40} {:<28} {}\n", o.type, printable(o.name, 40), o.results,
                         o.macs == 0 ? "" : fmt::format("{} MACs", o.macs));
  }
  out += fmt::format("{} ONNX nodes, {} operators, {} parameters ({} B), {} MACs\noperators:",
                     g.sources().size(), operators.size(), parameters, parameter_bytes, macs);
  for (const auto& [op, count] : counts) out += fmt::format(" {}:{}", op, count);
  return out + "\n" + nodes;
}

}  // namespace mrvlc::driver
