// A random model while it is made: like an ONNX graph, with what each value holds for the data of its inputs.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mrvlc/ops/op.h"

namespace mrvlc::graphs {

enum class Kind : uint8_t {
  Input,
  Constant,
  Result,
  Outer
};  // Outer: of a body, a value of the model around

struct Value {
  std::string name;
  Kind kind = Kind::Result;
  Tensor data;
  // The same with every rounding replaced by a larger error, to see what the model makes of small errors.
  Tensor shaken;
  bool exact = true;  // no float arithmetic went into it, so that every implementation has the same bits
  bool leaf = false;  // nothing may read it: its shape depends on data
  int outer = -1;     // of Outer
  // The compiler cannot know its shape: an operand that the caller gives decides about it.
  bool dynamic = false;
  // What it holds when inputs have other sizes; dimensions that differ are declared dynamic.
  std::vector<Tensor> others;

  // Set 0 is `data`.
  const Tensor& at(size_t set) const { return set == 0 ? data : others[set - 1]; }
};

struct Model;

struct Node {
  const ops::OpDef* op = nullptr;
  std::vector<int> inputs;  // values; -1: not given
  std::vector<int> outputs;
  std::vector<ir::Attr> attrs;                                         // slots of op->attrs
  std::vector<std::pair<std::string, std::shared_ptr<Model>>> bodies;  // by attribute
};

struct Model {
  std::vector<Value> values;
  std::vector<Node> nodes;  // in order
  std::vector<int> inputs;  // a body's parameters too
  std::vector<int> outputs;
};

// Both versions of the outputs of an operator without bodies.
Result<std::vector<Tensor>> evaluate_op(const ops::OpDef& op, const std::vector<ir::Attr>& attrs,
                                        const std::vector<const Tensor*>& inputs, size_t outputs);
// Of a body: `outer` are the values around it. The first error ends it.
Result<std::vector<Tensor>> evaluate_body(const Model& body, const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& outer);
// Of If, Loop and Scan; `outer` as above.
Result<std::vector<Tensor>> evaluate_control(const Node& node, const std::vector<const Tensor*>& inputs,
                                             const std::vector<Tensor>& outer);

// How many sets of data it has.
size_t data_sets(const Model& model);
// Drops nodes and values that no output needs.
void prune(Model& model);

// The bytes of an ONNX file.
std::string to_onnx(const Model& model);
// As ONNX: FOLDER/model.onnx and FOLDER/test_data_set_<i> with inputs and outputs.
void write_case(const Model& model, const std::filesystem::path& folder);
// For people: the operators and their operands.
std::string to_text(const Model& model);

}  // namespace mrvlc::graphs
