// Selectors looked up: a file may name every node of a large model, one by one.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/partition/answers.h"

namespace mrvlc::partition {

class Selectors {
 public:
  Selectors(const ir::Graph& graph, const std::vector<ir::NodeId>& order);
  // The ONNX nodes that the selector names, and those that nodes it names were made of: sorted.
  std::vector<ir::SourceId> named(const std::string& selector) const;
  std::optional<ir::ValueId> value(const std::string& name) const;

 private:
  // By the text that names them, as the model and as reports spell it.
  using Table = std::unordered_map<std::string, std::vector<ir::SourceId>>;
  void add_sources();
  void add_nodes();
  void find_exact(const Selector& selector, std::vector<ir::SourceId>& out) const;
  void find_pattern(const std::string& selector, std::vector<ir::SourceId>& out) const;
  void add_readers(std::string_view value, std::vector<ir::SourceId>& out) const;

  const ir::Graph& graph_;
  const std::vector<ir::NodeId>& order_;
  Table names_, operators_, ids_, results_;
  std::unordered_map<std::string, ir::ValueId> values_;
};

}  // namespace mrvlc::partition
