// A region as the plug-in sees it: plain structures that point into the graph and into vectors held here.
#pragma once
#include <deque>
#include <map>

#include "mrvl/plugin.h"
#include "mrvlc/partition/region.h"

namespace mrvlc::backends {

class PluginRegion {
 public:
  PluginRegion(const ir::Graph& graph, const partition::Region& region);
  PluginRegion(const PluginRegion&) = delete;
  PluginRegion& operator=(const PluginRegion&) = delete;

  const mrvl_plugin_region& view() const { return view_; }
  ir::NodeId node(uint32_t index) const { return node_ids_[index]; }
  // In this process alone: of the bytes that the plug-in is shown and must not change.
  size_t hash_of_constants() const;
  const std::vector<uint64_t>& input_bytes() const { return input_bytes_; }
  const std::vector<uint64_t>& output_bytes() const { return output_bytes_; }

 private:
  uint32_t value(ir::ValueId id);
  const uint32_t* indices(const std::vector<ir::ValueId>& values);
  void add_node(ir::NodeId id);
  void add_captures(const partition::Layer& layer, uint32_t index, uint32_t first_node);
  void add_attribute(const ir::AttrSpec& spec, const ir::Attr& attr,
                     std::vector<mrvl_plugin_attribute>& list);

  const ir::Graph& graph_;
  std::vector<mrvl_plugin_value> values_;
  std::vector<mrvl_plugin_node> nodes_;
  std::vector<mrvl_plugin_layer> layers_;
  std::vector<mrvl_plugin_capture> captures_;
  std::vector<ir::NodeId> node_ids_;
  std::map<ir::ValueId, uint32_t> value_index_;
  std::vector<uint64_t> input_bytes_, output_bytes_;
  std::vector<std::string_view> constants_;
  // What the structures point to; the elements of a deque stay where they are.
  std::deque<std::vector<uint32_t>> lists_;
  std::deque<std::vector<mrvl_plugin_attribute>> attributes_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::string> texts_;
  mrvl_plugin_region view_{};
};

}  // namespace mrvlc::backends
