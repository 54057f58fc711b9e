// The operator table. One file an operator or family in lib/ops defines every facet of it; ops.def lists
// them. To add one: CONTRIBUTING.md. A facet is either there or declined with a reason (a test over the table
// asserts that).
#pragma once
#include <functional>
#include <optional>
#include <span>

#include "mrvlc/ir/graph.h"
#include "mrvlc/ops/emit.h"
#include "mrvlc/ops/layer_kind.h"
#include "mrvlc/ops/traits.h"

namespace mrvlc::ops {

// What shape and type inference sees: attributes, input types, and values known at compile time.
class InferContext {
 public:
  const ir::OpSchema* op = nullptr;
  const std::vector<ir::Attr>* attrs = nullptr;
  std::vector<const TensorType*> types;  // nullptr: optional input not given
  std::vector<const Tensor*> constants;  // nullptr: not known at compile time
  size_t num_outputs = 1;

  size_t num_inputs() const { return types.size(); }
  bool has(size_t i) const { return i < types.size() && types[i] != nullptr; }
  const TensorType& type(size_t i) const { return *types[i]; }
  const Tensor* constant(size_t i) const { return i < constants.size() ? constants[i] : nullptr; }
  int64_t int_attr(std::string_view name) const;
  float float_attr(std::string_view name) const;
  const std::string& string_attr(std::string_view name) const;
  const std::vector<int64_t>& ints_attr(std::string_view name) const;  // empty when absent
  const ir::Attr& attr(std::string_view name) const;
};

// What the reference semantics sees. Outputs are allocated with their inferred types, zero-filled; where
// these are not static though every input is known, e.g. of Unique, eval replaces the tensors with what it
// computed.
class EvalContext {
 public:
  const ir::OpSchema* op = nullptr;
  const std::vector<ir::Attr>* attrs = nullptr;
  std::vector<const Tensor*> inputs;  // nullptr: optional input not given
  std::vector<Tensor>* outputs = nullptr;

  // Runs the body of a control flow operator.
  std::function<Result<std::vector<Tensor>>(const ir::Graph& body, const std::vector<Tensor>& inputs)> run;

  bool has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Tensor& in(size_t i) const { return *inputs[i]; }
  Tensor& out(size_t i = 0) const { return (*outputs)[i]; }
  // The same view as inference has, all inputs known; for helpers shared with it (conv_params and friends).
  InferContext infer_view() const;
};

// An element-wise operator's arithmetic on scalars: operands broadcast, computed in double for the reference
// and as a C expression for generated code. `attrs` are the node's slots.
struct ScalarOp {
  // x[0..arity): the operands at one element.
  double (*eval)(const double* x, const ir::OpSchema& op, const std::vector<ir::Attr>& attrs) = nullptr;
  // For integer element types, where double would not be exact; nullptr: eval is used.
  int64_t (*eval_int)(const int64_t* x, const ir::OpSchema& op, const std::vector<ir::Attr>& attrs) = nullptr;
  // C expression; `x` are C expressions of the operands (primary expressions), `elem` the type computed in.
  // May call the helper functions of emit.h by requesting them.
  std::string (*c_expr)(EmitContext& context, const std::vector<std::string>& x, ElementType elem) = nullptr;
  // For U64 where signed arithmetic on the same bits would differ; nullptr: eval_int is used.
  uint64_t (*eval_uint)(const uint64_t* x, const ir::OpSchema& op,
                        const std::vector<ir::Attr>& attrs) = nullptr;
};

struct TypeSet {
  uint32_t bits = 0;
  constexpr bool has(ElementType t) const { return (bits >> static_cast<unsigned>(t) & 1u) != 0; }
};
constexpr TypeSet types_of(std::initializer_list<ElementType> list) {
  TypeSet s;
  for (ElementType t : list) s.bits |= 1u << static_cast<unsigned>(t);
  return s;
}

// An ONNX node as decoded, before it becomes IR: `upgrade` rewrites one of an older opset into the canonical
// (newest) form, e.g. turns Squeeze-1's attribute `axes` into an input. New constant inputs are appended as
// tensors.
struct RawNode {
  int64_t opset = 0;
  const ir::OpSchema* op = nullptr;
  std::vector<std::pair<std::string, ir::Attr>> attrs;  // every attribute of the ONNX node, by name
  // input i: an index >= 0 into the node's ONNX inputs, -1 for absent, or -2-k for new_constants[k].
  std::vector<int64_t> inputs;
  std::vector<TensorType> input_types;  // by ONNX input index (Undefined for an absent one)
  std::vector<Tensor> new_constants;
  // Reshapes the importer puts in front: input position and new shape. Opsets before 7 aligned a broadcast
  // operand to an axis; today's form is the operand with ones appended.
  std::vector<std::pair<size_t, Shape>> reshapes;
  // The importer puts a Flatten to a matrix with this axis in front of input 0, and behind the only result a
  // Reshape to the input's shape: Softmax before opset 13 was over all dimensions from its axis on.
  std::optional<int64_t> rows_from;
  size_t num_outputs = 1;

  // Type of the ONNX input at position `i`; nullptr when it is absent or a new constant.
  const TensorType* input_type(size_t i) const;

  const ir::Attr* find(std::string_view attr) const;
  // Removes the attribute and returns its value (monostate when it is absent).
  ir::Attr take(std::string_view attr);
  // Appends a constant input at position `at` (absent inputs in between).
  void add_constant_input(size_t at, Tensor tensor);
};

struct OpDef : ir::OpSchema {
  int since_min = 1, since_max = 28;   // opsets of its domain whose form `upgrade` understands
  int min_inputs = 1, max_inputs = 1;  // max_inputs -1: variadic
  int min_outputs = 1, max_outputs = 1;
  TypeSet types;  // element types of the main data input that inference admits

  Status (*upgrade)(RawNode& node) = nullptr;  // nullptr: the form never changed in a way that matters
  Result<std::vector<TensorType>> (*infer)(const InferContext& context) = nullptr;
  // Types of the outputs when a shape is known at run time only: an operand's type has dynamic dimensions or
  // is wrapped, or an operand that decides about the shape is no constant (infer gives MRV0207). The rank
  // must be known; a dimension that nothing bounds is dynamic with kNoBound. nullptr: infer is asked for some
  // sizes within the bounds, and dimensions that differ are dynamic (infer.cpp).
  Result<std::vector<TensorType>> (*infer_dynamic)(const InferContext& context) = nullptr;
  Status (*eval)(const EvalContext& context) = nullptr;
  const ScalarOp* scalar = nullptr;                // element-wise operators
  Status (*emit)(EmitContext& context) = nullptr;  // body of the C function
  // Body of the C function for operands or results whose shapes are known at run time only, see emit.h.
  Status (*emit_dynamic)(EmitContext& context) = nullptr;
  std::string_view emit_kernel;  // instead of `emit`: name of the packed kernel family in lib/chost/kernels
  LayerKinds accel;              // kinds of accelerator layers it can be the anchor of; layer_kinds.def
  std::string_view declined;     // why facets are missing (emit or accel), for the support table
  // Multiply-accumulates of a node with `results` elements in its first output: the products that are summed
  // (taps in the padding count). nullptr: none. See work.h.
  int64_t (*macs)(const InferContext& context, int64_t results) = nullptr;
  OpTraits traits;
};
inline OpDef with_traits(OpDef op, const OpTraits& traits) {
  op.traits = traits;
  return op;
}

// ops.def order; stable within a version.
const std::vector<const OpDef*>& all_ops();
const OpDef* find_op(std::string_view domain, std::string_view name);  // at borders: what was read
const OpDef& op_def(Op op);                                            // not of Op::None
const OpDef& op_def(const ir::Node& node);  // every node of a graph built on this table has one
inline const OpTraits& traits(const ir::Node& node) {
  return op_def(node).traits;
}
// Makes integers of what need not be any: operators that round, and conversions to integers.
bool rounds_to_integers(const ir::Graph& graph, const ir::Node& node);
const ir::OpRegistry& registry();

// Inference for a node with arity and type checks around op.infer; sizes are checked for overflow and
// kMaxElements.
Result<std::vector<TensorType>> infer_types(const OpDef& op, const InferContext& context);
// Re-infers every node of a graph and compares with its value types (nodes whose shapes need values that are
// not constants are skipped).
Status verify_types(const ir::Graph& graph);
InferContext infer_context(const ir::Graph& graph, const ir::Node& node);

}  // namespace mrvlc::ops
