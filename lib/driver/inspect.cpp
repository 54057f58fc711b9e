// `mrvlc inspect`: what the importer thinks of a model.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiled_model.h"
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

std::string shown_operator(const onnx::OperatorUse& use) {
  return fmt::format("{}{}{}", printable(use.domain), use.domain.empty() ? "" : ".", printable(use.name));
}

Json declared_ports(const Result<std::vector<onnx::DeclaredValue>>& values) {
  Json out = Json::array();
  if (!values.ok()) return out;
  for (const onnx::DeclaredValue& value : *values) {
    Json dims = Json::array();
    for (size_t i = 0; i < value.shape.size(); ++i)
      dims.push_back(value.shape[i] >= 0 ? Json(value.shape[i]) : Json(printable(value.symbols[i])));
    out.push_back({{"name", printable(value.name)}, {"shape", value.has_shape ? std::move(dims) : Json()}});
  }
  return out;
}

// The same in JSON: open dimensions are their names.
Json declared_json(const CompileOptions& options, const std::vector<onnx::OperatorUse>& uses) {
  Json known = Json::object(), missing = Json::object();
  int64_t nodes = 0;
  for (const onnx::OperatorUse& use : uses) {
    nodes += use.nodes;
    (use.supported ? known : missing)[shown_operator(use)] = use.nodes;
  }
  return {{"file", printable(options.model.filename().string(), 4096)},
          {"inputs", declared_ports(onnx::declared_inputs(options.model))},
          {"outputs", declared_ports(onnx::declared_outputs(options.model))},
          {"onnx_nodes", nodes},
          {"operators", std::move(known)},
          {"not_supported", std::move(missing)}};
}

// What the file says, where it cannot be imported: inputs, outputs, operators, and those that are missing.
std::optional<std::string> as_declared(const CompileOptions& options, bool json) {
  const auto uses = onnx::operators_of(options.model);
  if (!uses.ok()) return std::nullopt;
  if (json) return declared_json(options, *uses).dump(1) + "\n";
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

Json port_json(const ir::Value& v) {
  Json port = {{"name", printable(v.name)}, {"type", to_string(v.type)}, {"shape", v.type.shape}};
  Json open = Json::array();
  for (int64_t d = 0; d < v.type.rank(); ++d)
    if (v.type.is_dynamic(d)) open.push_back(d);
  if (!open.empty()) port["open"] = std::move(open);
  return port;
}

// What is counted of an imported model.
struct Counted {
  int64_t parameters = 0, bytes = 0, macs = 0;
  std::map<std::string, int> operators;
};

// In order of work, each node with its multiply-accumulates.
template <class Visit>
Counted count(const ir::Graph& g, Visit visit) {
  Counted c;
  for (size_t i = 0; i < g.value_slots(); ++i) {
    const ir::Value& v = g.value(ir::ValueId(i));
    if (v.kind != ir::ValueKind::Constant) continue;
    c.parameters += v.type.elements();
    c.bytes += v.type.bytes();
  }
  for (ir::NodeId id : g.topological_order()) {
    const ir::Node& n = g.node(id);
    const int64_t macs = ops::macs(g, n);
    ++c.operators[std::string(n.op->name)];
    c.macs = saturating_add(c.macs, macs);
    visit(n, macs);
  }
  return c;
}

std::string model_json(const std::string& file, const onnx::Model& model) {
  const ir::Graph& g = model.graph;
  Json inputs = Json::array(), outputs = Json::array(), nodes = Json::array();
  for (ir::ValueId id : g.inputs()) inputs.push_back(port_json(g.value(id)));
  for (ir::ValueId id : g.outputs()) outputs.push_back(port_json(g.value(id)));
  const Counted c = count(g, [&](const ir::Node& n, int64_t macs) {
    Json types = Json::array();
    for (ir::ValueId o : n.outputs) types.push_back(to_string(g.value(o).type));
    nodes.push_back(
        {{"op", n.op->name}, {"name", printable(n.name)}, {"types", std::move(types)}, {"macs", macs}});
  });
  return Json({{"file", file},
               {"ir_version", model.ir_version},
               {"opset", model.opset},
               {"producer", printable(model.producer)},
               {"inputs", std::move(inputs)},
               {"outputs", std::move(outputs)},
               {"onnx_nodes", g.sources().size()},
               {"parameters", c.parameters},
               {"parameter_bytes", c.bytes},
               {"macs", c.macs},
               {"operators", c.operators},
               {"nodes", std::move(nodes)}})
             .dump(1) +
         "\n";
}

std::string model_text(const std::string& file, const onnx::Model& model) {
  const ir::Graph& g = model.graph;
  std::string out = fmt::format("{}: IR version {}, opset {}, producer '{}'\n", file, model.ir_version,
                                model.opset, printable(model.producer));
  for (ir::ValueId id : g.inputs())
    out += fmt::format("input  {} : {}\n", printable(g.value(id).name), to_string(g.value(id).type));
  for (ir::ValueId id : g.outputs())
    out += fmt::format("output {} : {}\n", printable(g.value(id).name), to_string(g.value(id).type));
  std::string nodes;
  const Counted c = count(g, [&](const ir::Node& n, int64_t macs) {
    std::string types;
    for (ir::ValueId o : n.outputs) types += (types.empty() ? "" : ", ") + to_string(g.value(o).type);
    nodes += fmt::format("  {:<20} {:<40} {:<28} {}\n", n.op->name, printable(n.name, 40), types,
                         macs == 0 ? "" : fmt::format("{} MACs", macs));
  });
  out += fmt::format("{} ONNX nodes, {} operators, {} parameters ({} B), {} MACs\noperators:",
                     g.sources().size(), g.topological_order().size(), c.parameters, c.bytes, c.macs);
  for (const auto& [op, number] : c.operators) out += fmt::format(" {}:{}", op, number);
  return out + "\n" + nodes;
}

}  // namespace

std::optional<std::string> inspect(const CompileOptions& options, Diagnostics& diagnostics, bool json) {
  auto model = onnx::import_file(options.model, import_options(options), diagnostics);
  if (!model) return as_declared(options, json);
  warn_unheeded_shapes(options, model->graph, diagnostics);
  const std::string file = printable(options.model.filename().string(), 4096);
  return json ? model_json(file, *model) : model_text(file, *model);
}

}  // namespace mrvlc::driver
