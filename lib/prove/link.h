// Claim B: the layers of proof.json and the ONNX graph are the same functions, in the field.
#pragma once
#include <memory>

#include "reference.h"

namespace mrvlc::prove {

struct Linked {
  std::vector<bool> declared;        // by layer
  std::vector<std::string> why_not;  // by layer
};

class Linker {
 public:
  Linker(const ir::Graph& model, const Field& field);
  Linked link(const RegionHints& region);
  // A node that only hands its operand on, or is a constant: nothing computes it.
  bool changes_nothing(const std::string& source) const { return handed_on_.contains(source); }

  // ONNX nodes that read a result of this one, and its results.
  std::vector<std::string> users_of(const std::string& source) const;
  const std::vector<std::string>& results_of(const std::string& source) const { return results_.at(source); }
  bool has(const std::string& source) const { return results_.contains(source); }

 private:
  bool equals_source(const Symbols* own, const Node& node) const;
  Symbols fresh(const std::string& name, const Shape& shape) const;

  const ir::Graph& g_;
  Values values_;
  RegionHints model_;  // the ONNX graph, a layer a node
  std::unique_ptr<Constants> constants_;
  std::unique_ptr<Reference> reference_;
  SumsMemo memo_;
  std::set<std::string> handed_on_;
  std::map<std::string, std::vector<std::string>> results_;  // of each ONNX node
};

}  // namespace mrvlc::prove
