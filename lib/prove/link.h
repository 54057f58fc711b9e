// Claim B: the layers of proof.json and the ONNX graph are the same functions, in the field.
#pragma once
#include <memory>

#include "reference.h"

namespace mrvlc::prove {

struct Linked {
  std::vector<bool> declared;                  // by layer
  std::vector<std::string> why_not;            // by layer
  std::map<std::string, std::string> matched;  // values of layers that are the model's, and their names there
};

class Linker {
 public:
  // `taken`: values that stand for themselves on both sides, as claim A takes them from the binary.
  Linker(const ir::Graph& model, const Field& field, const std::set<std::string>& taken);
  Linked link(const RegionHints& region);
  // A node that only hands its operand on, or is a constant: nothing computes it.
  bool changes_nothing(const std::string& source) const { return handed_on_.contains(source); }
  // Values of the model that nobody says how they are computed.
  const std::set<std::string>& fresh_values() const { return fresh_; }

 private:
  const std::string* equal_source(const Symbols* own, const Node& node) const;
  bool same(const Symbols* a, const Symbols* b) const;
  Symbols fresh(const std::string& name, const Shape& shape) const;
  void evaluate_model(const std::set<std::string>& taken);

  const ir::Graph& g_;
  Values values_;
  RegionHints model_;  // the ONNX graph, a layer a node
  std::unique_ptr<Constants> constants_;
  std::unique_ptr<Reference> reference_;
  SumsMemo memo_;
  std::set<std::string> handed_on_, fresh_;
  std::set<std::string> open_;  // shapes known at run time only: these values have no elements here
  std::map<std::string, Symbols> computed_;                  // of taken values: what the model computes
  std::map<std::string, std::vector<std::string>> results_;  // of each ONNX node
};

}  // namespace mrvlc::prove
