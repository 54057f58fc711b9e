// Nodes and constants, with the attributes that are numbers or texts.
#include "model_program.h"

namespace mrvlc::prove {
namespace {

Json attributes_of(const ir::Node& n) {
  Json j = Json::object();
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    const std::string key(n.op->attrs[i].name);
    if (const auto* v = std::get_if<int64_t>(&n.attrs[i])) j[key] = *v;
    if (const auto* f = std::get_if<float>(&n.attrs[i])) j[key] = static_cast<double>(*f);
    if (const auto* s = std::get_if<std::string>(&n.attrs[i])) j[key] = *s;
    if (const auto* v = std::get_if<std::vector<int64_t>>(&n.attrs[i])) j[key] = *v;
    if (const auto* v = std::get_if<std::vector<float>>(&n.attrs[i])) j[key] = *v;
    if (const auto* t = std::get_if<Tensor>(&n.attrs[i]); t != nullptr && t->elements() == 1)
      j[key] = t->as_double(0);
  }
  return j;
}

ValueInfo info_of(const ir::Graph& g, ir::ValueId id) {
  if (!id.valid()) return {};
  const ir::Value& v = g.value(id);
  return {v.name, v.type.elem, v.type.shape};
}

Layer layer_of(const ir::Graph& g, ir::NodeId id) {
  const ir::Node& from = g.node(id);
  Node n{std::string(from.op->name), std::string(from.op->domain), {}, {}, {}, attributes_of(from)};
  for (ir::SourceId s : g.lineage(id).sources) n.sources.push_back(g.sources()[s.index()].id);
  for (ir::ValueId v : from.inputs) n.inputs.push_back(v.valid() ? g.value(v).name : "");
  for (ir::ValueId v : from.outputs) n.outputs.push_back(info_of(g, v));
  Layer l;
  l.nodes.push_back(std::move(n));
  return l;
}

}  // namespace

RegionHints model_program(const ir::Graph& g) {
  RegionHints out;
  for (size_t i = 0; i < g.value_slots(); ++i) {
    const ir::ValueId id(static_cast<uint32_t>(i));
    if (g.is_constant(id))
      out.constants.emplace(g.value(id).name, FoldedConstant{info_of(g, id), false, {}, {}});
  }
  for (ir::ValueId v : g.outputs()) out.outputs.push_back({info_of(g, v), ElementType::Undefined, {}});
  for (ir::NodeId n : g.topological_order()) out.layers.push_back(layer_of(g, n));
  return out;
}

}  // namespace mrvlc::prove
