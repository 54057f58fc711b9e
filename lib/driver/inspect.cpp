// `mrvlc inspect`: what the importer thinks of a model.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/compiled_model.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/onnx/operator_use.h"
#include "mrvlc/onnx/test_data.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/saturating.h"
#include "stages/ineffective_options.h"

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
  if (json) return json_document(declared_json(options, *uses));
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
  std::string type, name;
  std::vector<std::string> results;  // types
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
    for (ir::ValueId v : n.outputs) o.results.push_back(to_string(g.value(v).type));
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

Counted count(const ir::Graph& g, const std::vector<Operator>& operators) {
  Counted c;
  for (size_t i = 0; i < g.value_slots(); ++i) {
    const ir::Value& v = g.value(ir::ValueId(i));
    if (v.kind != ir::ValueKind::Constant) continue;
    c.parameters += v.type.elements();
    c.bytes += v.type.bytes();
  }
  for (const Operator& o : operators) {
    ++c.operators[o.type];
    c.macs = saturating_add(c.macs, o.macs);
  }
  return c;
}

// metadata_props of the model, its graph and its functions, by what they are of.
Json metadata_json(const ir::Graph& g) {
  Json out = Json::object();
  if (g.metadata == nullptr) return out;
  for (const ir::Described& part : g.metadata->parts)
    for (const auto& [key, value] : part.properties)
      out[printable(part.of)][printable(key.str())] = printable(value.str());
  return out;
}

std::string model_json(const std::string& file, const onnx::Model& model) {
  const ir::Graph& g = model.graph;
  Json inputs = Json::array(), outputs = Json::array(), nodes = Json::array();
  for (ir::ValueId id : g.inputs()) inputs.push_back(port_json(g.value(id)));
  for (ir::ValueId id : g.outputs()) outputs.push_back(port_json(g.value(id)));
  const std::vector<Operator> operators = operators_of(g);
  for (const Operator& o : operators)
    nodes.push_back({{"op", o.type}, {"name", printable(o.name)}, {"types", o.results}, {"macs", o.macs}});
  const Counted c = count(g, operators);
  return json_document(Json({{"file", file},
                             {"ir_version", model.ir_version},
                             {"opset", model.opset},
                             {"producer", printable(model.producer)},
                             {"metadata", metadata_json(g)},
                             {"inputs", std::move(inputs)},
                             {"outputs", std::move(outputs)},
                             {"onnx_nodes", g.sources().size()},
                             {"parameters", c.parameters},
                             {"parameter_bytes", c.bytes},
                             {"macs", c.macs},
                             {"operators", c.operators},
                             {"nodes", std::move(nodes)}}));
}

std::string model_text(const std::string& file, const onnx::Model& model) {
  const ir::Graph& g = model.graph;
  std::string out = fmt::format("{}: IR version {}, opset {}, producer '{}'\n", file, model.ir_version,
                                model.opset, printable(model.producer));
  out += metadata_lines(g);
  for (ir::ValueId id : g.inputs())
    out += fmt::format("input  {} : {}\n", printable(g.value(id).name), to_string(g.value(id).type));
  for (ir::ValueId id : g.outputs())
    out += fmt::format("output {} : {}\n", printable(g.value(id).name), to_string(g.value(id).type));
  std::string nodes;
  const std::vector<Operator> operators = operators_of(g);
  for (const Operator& o : operators)
    nodes += fmt::format("  {:<20} {:<40} {:<28} {}\n", o.type, printable(o.name, 40),
                         fmt::format("{}", fmt::join(o.results, ", ")),
                         o.macs == 0 ? "" : fmt::format("{} MACs", o.macs));
  const Counted c = count(g, operators);
  out += fmt::format("{} ONNX nodes, {} operators, {} parameters ({} B), {} MACs\noperators:",
                     g.sources().size(), operators.size(), c.parameters, c.bytes, c.macs);
  for (const auto& [op, number] : c.operators) out += fmt::format(" {}:{}", op, number);
  return out + "\n" + nodes;
}

}  // namespace

std::optional<std::string> inspect(const CompileOptions& options, Diagnostics& diagnostics, bool json) {
  auto model = onnx::import_file(options.model, options.import, diagnostics);
  if (!model) return as_declared(options, json);
  warn_ineffective_shapes(options, *model, diagnostics);
  const std::string file = printable(options.model.filename().string(), 4096);
  return json ? model_json(file, *model) : model_text(file, *model);
}

}  // namespace mrvlc::driver
