// Which ONNX nodes stand behind values: all that lead to one, back to values that are given.
#pragma once
#include <map>
#include <set>
#include <string>

#include "mrvlc/ir/graph.h"

namespace mrvlc::prove {

class Cones {
 public:
  // `given`: names of values behind which nothing is asked.
  Cones(const ir::Graph& model, const std::set<std::string>& given);
  // Ids of the nodes that a value is made of, as far as given ones; nothing where the model has no such
  // value.
  void add(const std::string& value);
  const std::set<std::string>& nodes() const { return nodes_; }
  bool has(const std::string& value) const { return by_name_.contains(value); }

 private:
  const ir::Graph& g_;
  const std::set<std::string>& given_;
  std::map<std::string, ir::ValueId> by_name_;
  std::set<ir::NodeId> visited_;
  std::set<std::string> nodes_;
};

}  // namespace mrvlc::prove
