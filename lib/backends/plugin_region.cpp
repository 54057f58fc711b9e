// Nodes, values, attributes and layers of a region as arrays of the C interface, by index into each other.
#include "plugin_region.h"

#include <algorithm>

namespace mrvlc::backends {

PluginRegion::PluginRegion(const ir::Graph& graph, const partition::Region& region) : graph_(graph) {
  for (const partition::Layer& layer : region.layers) {
    std::vector<uint32_t>& nodes = lists_.emplace_back();
    const auto first = static_cast<uint32_t>(nodes_.size());
    uint32_t anchor = 0;
    for (ir::NodeId id : layer.nodes) {
      if (id == layer.anchor) anchor = static_cast<uint32_t>(nodes_.size());
      nodes.push_back(static_cast<uint32_t>(nodes_.size()));
      add_node(id);
    }
    layers_.push_back({sizeof(mrvl_plugin_layer), texts_.emplace_back(layer.rule).c_str(),
                       texts_.emplace_back(name(layer.kind)).c_str(), nodes.data(),
                       static_cast<uint32_t>(nodes.size()), anchor});
    add_captures(layer, static_cast<uint32_t>(layers_.size() - 1), first);
  }
  view_.size = sizeof view_;
  view_.inputs = indices(region.inputs);
  view_.outputs = indices(region.outputs);
  view_.input_count = static_cast<uint32_t>(region.inputs.size());
  view_.output_count = static_cast<uint32_t>(region.outputs.size());
  view_.values = values_.data();
  view_.nodes = nodes_.data();
  view_.layers = layers_.data();
  view_.value_count = static_cast<uint32_t>(values_.size());
  view_.node_count = static_cast<uint32_t>(nodes_.size());
  view_.captures = captures_.data();
  view_.capture_count = static_cast<uint32_t>(captures_.size());
  view_.layer_count = static_cast<uint32_t>(layers_.size());
  for (ir::ValueId v : region.inputs) input_bytes_.push_back(values_[value_index_.at(v)].bytes);
  for (ir::ValueId v : region.outputs) output_bytes_.push_back(values_[value_index_.at(v)].bytes);
}

size_t PluginRegion::hash_of_constants() const {
  size_t hash = 0;
  for (std::string_view bytes : constants_) hash = hash * 31 + std::hash<std::string_view>()(bytes);
  return hash;
}

uint32_t PluginRegion::value(ir::ValueId id) {
  if (!id.valid()) return MRVL_PLUGIN_NONE;
  const auto [it, fresh] = value_index_.try_emplace(id, static_cast<uint32_t>(values_.size()));
  if (!fresh) return it->second;
  const ir::Value& v = graph_.value(id);
  mrvl_plugin_value out{};
  out.size = sizeof out;
  out.elem = static_cast<int32_t>(v.type.elem);
  out.name = v.name.c_str();
  const std::vector<int64_t>& dims = ints_.emplace_back(v.type.shape.begin(), v.type.shape.end());
  out.dims = dims.data();
  out.rank = static_cast<uint32_t>(dims.size());
  const Tensor* constant = graph_.constant(id);
  // Texts and elements below a byte have no bytes of their own.
  if (constant != nullptr && byte_size(v.type.elem) > 0) {
    const auto bytes = constant->bytes();
    out.data = bytes.data();
    constants_.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  out.bytes = static_cast<uint64_t>(std::max<int64_t>(0, v.type.bytes()));
  values_.push_back(out);
  return it->second;
}

const uint32_t* PluginRegion::indices(const std::vector<ir::ValueId>& values) {
  std::vector<uint32_t> out;
  for (ir::ValueId v : values) out.push_back(value(v));
  return lists_.emplace_back(std::move(out)).data();
}

void PluginRegion::add_node(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  std::vector<mrvl_plugin_attribute>& attributes = attributes_.emplace_back();
  for (size_t i = 0; i < node.op->attrs.size(); ++i)
    add_attribute(node.op->attrs[i], node.attrs[i], attributes);
  mrvl_plugin_node out{};
  out.size = sizeof out;
  out.name = node.name.c_str();
  out.op_type = texts_.emplace_back(node.op->name).c_str();
  out.domain = texts_.emplace_back(node.op->domain).c_str();
  out.inputs = indices(node.inputs);
  out.outputs = indices(node.outputs);
  out.input_count = static_cast<uint32_t>(node.inputs.size());
  out.output_count = static_cast<uint32_t>(node.outputs.size());
  out.attributes = attributes.data();
  out.attribute_count = static_cast<uint32_t>(attributes.size());
  nodes_.push_back(out);
  node_ids_.push_back(id);
}

// `first_node`: the layer's own.
void PluginRegion::add_captures(const partition::Layer& layer, uint32_t index, uint32_t first_node) {
  for (const partition::LayerCapture& c : layer.captures) {
    mrvl_plugin_capture out{};
    out.size = sizeof out;
    out.name = texts_.emplace_back(c.name).c_str();
    out.layer = index;
    out.node = out.value = MRVL_PLUGIN_NONE;
    const auto node = std::ranges::find(layer.nodes, c.node);
    if (c.node.valid() && node != layer.nodes.end())
      out.node = first_node + static_cast<uint32_t>(node - layer.nodes.begin());
    if (const auto value = value_index_.find(c.value); c.value.valid() && value != value_index_.end())
      out.value = value->second;
    captures_.push_back(out);
  }
}

// Numbers and texts; a tensor, a list of texts or a graph is not shown.
void PluginRegion::add_attribute(const ir::AttrSpec& spec, const ir::Attr& attr,
                                 std::vector<mrvl_plugin_attribute>& list) {
  mrvl_plugin_attribute out{};
  out.size = sizeof out;
  out.name = texts_.emplace_back(spec.name).c_str();
  if (const auto* i = std::get_if<int64_t>(&attr)) {
    out.ints = ints_.emplace_back(std::vector{*i}).data(), out.count = 1;
  } else if (const auto* f = std::get_if<float>(&attr)) {
    out.floats = floats_.emplace_back(std::vector{*f}).data(), out.count = 1;
  } else if (const auto* is = std::get_if<std::vector<int64_t>>(&attr)) {
    out.ints = is->data(), out.count = is->size();
  } else if (const auto* fs = std::get_if<std::vector<float>>(&attr)) {
    out.floats = fs->data(), out.count = fs->size();
  } else if (const auto* text = std::get_if<std::string>(&attr)) {
    out.text = text->c_str(), out.count = text->size();
  } else if (const auto* elem = std::get_if<ElementType>(&attr)) {
    out.ints = ints_.emplace_back(std::vector{static_cast<int64_t>(*elem)}).data(), out.count = 1;
  } else {
    return;
  }
  list.push_back(out);
}

}  // namespace mrvlc::backends
