// Names that a node and its bodies read; nodes sorted where the file has them unsorted; cycles shown.
#include "order.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

void add_captured(const pb::GraphProto& graph, std::vector<std::string_view>& names);

// Calls visit(graph) for the graphs in a node's attributes. Protobuf's limit on nesting bounds the recursion
// over graphs.
template <class Visit>
void for_each_graph(const pb::NodeProto& node, const Visit& visit) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const auto& graph : attribute.graphs()) visit(graph);
  }
}

void add_names_read(const pb::NodeProto& node, std::vector<std::string_view>& names) {
  for (const auto& input : node.input()) {
    if (!input.empty()) names.push_back(input);
  }
  for_each_graph(node, [&](const pb::GraphProto& graph) { add_captured(graph, names); });
}

void add_captured(const pb::GraphProto& graph, std::vector<std::string_view>& names) {
  std::unordered_set<std::string_view> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
  std::vector<std::string_view> read;
  for (const auto& node : graph.node()) {
    for (const auto& output : node.output()) own.insert(output);
    add_names_read(node, read);
  }
  for (const auto& output : graph.output()) read.push_back(output.name());
  std::copy_if(read.begin(), read.end(), std::back_inserter(names),
               [&](auto name) { return own.count(name) == 0; });
}

class Sorter {
 public:
  Sorter(const Nodes& nodes, const NameScope& scope, Sink& sink)
      : nodes_(nodes), scope_(scope), sink_(sink) {}

  NodeOrder run() {
    producer_.reserve(static_cast<size_t>(nodes_.size()));
    for (int i = 0; i < nodes_.size(); ++i) define(static_cast<uint32_t>(i));
    NodeOrder order;
    order.nodes.reserve(static_cast<size_t>(nodes_.size()));
    for (int i = 0; i < nodes_.size(); ++i) {
      if (!check_reads(static_cast<uint32_t>(i))) order.was_sorted = false;
      order.nodes.push_back(static_cast<uint32_t>(i));
    }
    if (!order.was_sorted) order.nodes = sort();
    return order;
  }

 private:
  const pb::NodeProto& node(uint32_t i) const { return nodes_[static_cast<int>(i)]; }

  void define(uint32_t i) {
    bool any = false;
    for (const auto& output : node(i).output()) {
      if (output.empty()) continue;
      any = true;
      if (scope_.defined(output) || !producer_.emplace(output, i).second) {
        sink_.add(scope_.at(make_diag<DiagCode::MRV0110>(printable(output)), i));
      }
    }
    if (!any) sink_.add(scope_.at(make_diag<DiagCode::MRV0118>(), i));
  }

  // False when the node reads a name that it or a later one defines.
  bool check_reads(uint32_t i) {
    bool sorted = true;
    read_.clear();
    add_names_read(node(i), read_);
    for (std::string_view name : read_) {
      auto it = producer_.find(name);
      if (it != producer_.end()) {
        sorted = sorted && it->second < i;
      } else if (!scope_.defined(name)) {
        sink_.add(scope_.at(make_diag<DiagCode::MRV0111>(printable(name)), i));
      }
    }
    return sorted;
  }

  std::vector<uint32_t> sort() {
    std::vector<std::vector<uint32_t>> users(static_cast<size_t>(nodes_.size()));
    std::vector<uint32_t> missing(users.size(), 0);
    for (uint32_t i = 0; i < users.size(); ++i) {
      for (std::string_view name : names_read(node(i))) {
        auto it = producer_.find(name);
        if (it == producer_.end()) continue;
        users[it->second].push_back(i);
        ++missing[i];
      }
    }
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t i = 0; i < users.size(); ++i) {
      if (missing[i] == 0) ready.push(i);
    }
    std::vector<uint32_t> order;
    while (!ready.empty()) {
      uint32_t i = ready.top();
      ready.pop();
      order.push_back(i);
      for (uint32_t user : users[i]) {
        if (--missing[user] == 0) ready.push(user);
      }
    }
    if (order.size() < users.size()) report_cycle(users, missing);
    return order;
  }

  // Every node left waits for another that is left: going from one to such a producer must come back.
  void report_cycle(const std::vector<std::vector<uint32_t>>& users, const std::vector<uint32_t>& missing) {
    std::vector<uint32_t> waits_for(users.size());
    uint32_t at = 0;
    for (uint32_t i = 0; i < users.size(); ++i) {
      if (missing[i] == 0) continue;
      for (uint32_t user : users[i]) waits_for[user] = i;
      at = i;
    }
    std::vector<bool> seen(users.size(), false);
    for (; !seen[at]; at = waits_for[at]) seen[at] = true;
    std::vector<std::string> shown;
    uint32_t start = at;
    do {
      at = waits_for[at];
      if (shown.size() < 8) shown.push_back("'" + printable(node(at).output(0)) + "'");
    } while (at != start && shown.size() < 8);
    std::reverse(shown.begin(), shown.end());
    sink_.add(scope_.at(make_diag<DiagCode::MRV0112>(fmt::format("{}", fmt::join(shown, " -> "))), start));
  }

  const Nodes& nodes_;
  const NameScope& scope_;
  Sink& sink_;
  std::unordered_map<std::string_view, uint32_t> producer_;
  std::vector<std::string_view> read_;  // by one node
};

}  // namespace

std::vector<std::string_view> names_read(const pb::NodeProto& node) {
  std::vector<std::string_view> names;
  add_names_read(node, names);
  return names;
}

NodeOrder order_nodes(const Nodes& nodes, const NameScope& scope, Sink& sink) {
  return Sorter(nodes, scope, sink).run();
}

}  // namespace mrvlc::onnx
