// Attributes of ONNX's operators that other components read, each by its name here alone: one that is
// misspelt does not compile. What takes more than one attribute, or an operand, is in params.h.
// A node is asked for what its operator has, unless a line says otherwise; defaults are filled in.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::ops::attr {

// False of an operator that has no such attribute.
inline bool given(const ir::Node& n, std::string_view name) {
  return n.op->attr_index(name) >= 0 && n.has_attr(name);
}

// Whether a number that stands for a truth value is given and not 0; false of any operator without it.
inline bool truth(const ir::Node& n, std::string_view name) {
  return given(n, name) && n.int_attr(name) != 0;
}

// Several families. `axis` may count from the end (normalize_axis).
inline int64_t axis(const ir::Node& n) {
  return n.int_attr("axis");
}
inline float alpha(const ir::Node& n) {
  return n.float_attr("alpha");
}
inline float beta(const ir::Node& n) {
  return n.float_attr("beta");
}
inline float gamma(const ir::Node& n) {
  return n.float_attr("gamma");
}
inline const std::string& mode(const ir::Node& n) {
  return n.string_attr("mode");
}

// Windows: Conv, ConvTranspose, pools. Empty where the model gives none.
inline int64_t group(const ir::Node& n) {
  return n.int_attr("group");
}
inline bool has_window(const ir::Node& n) {  // whether its operator has a kernel_shape
  return n.op->attr_index("kernel_shape") >= 0;
}
inline const std::vector<int64_t>& kernel_shape(const ir::Node& n) {
  return n.ints_attr("kernel_shape");
}
inline const std::vector<int64_t>& strides(const ir::Node& n) {
  return n.ints_attr("strides");
}
inline const std::vector<int64_t>& dilations(const ir::Node& n) {
  return n.ints_attr("dilations");
}
inline const std::vector<int64_t>& pads(const ir::Node& n) {
  return n.ints_attr("pads");
}
inline bool pads_by_itself(const ir::Node& n) {  // auto_pad; false of any operator without it
  return given(n, "auto_pad") && n.string_attr("auto_pad") != "NOTSET";
}
inline bool ceil_mode(const ir::Node& n) {
  return truth(n, "ceil_mode");
}
inline bool count_include_pad(const ir::Node& n) {
  return truth(n, "count_include_pad");
}

// Gemm.
inline bool trans_a(const ir::Node& n) {
  return truth(n, "transA");
}
inline bool trans_b(const ir::Node& n) {
  return truth(n, "transB");
}

// Normalisations.
inline float epsilon(const ir::Node& n) {
  return n.float_attr("epsilon");
}
inline bool training_mode(const ir::Node& n) {
  return truth(n, "training_mode");
}

// Reductions.
inline int64_t keepdims(const ir::Node& n) {
  return n.int_attr("keepdims");
}
inline int64_t noop_with_empty_axes(const ir::Node& n) {
  return n.int_attr("noop_with_empty_axes");
}

// Moves.
inline const std::vector<int64_t>& perm(const ir::Node& n) {  // of Transpose; empty: reversed
  return n.ints_attr("perm");
}
inline int64_t blocksize(const ir::Node& n) {
  return n.int_attr("blocksize");
}
inline int64_t allowzero(const ir::Node& n) {
  return n.int_attr("allowzero");
}
inline bool antialias(const ir::Node& n) {
  return truth(n, "antialias");
}

// QuantizeLinear, DequantizeLinear.
inline int64_t block_size(const ir::Node& n) {
  return n.int_attr("block_size");
}

// Constant: its tensor; nullptr where it is given in another form.
inline const Tensor* value(const ir::Node& n) {
  if (!given(n, "value")) return nullptr;
  return std::get_if<Tensor>(&n.attrs[static_cast<size_t>(n.op->attr_index("value"))]);
}

// Recurrent layers: activations of the model's own.
inline bool has_activations(const ir::Node& n) {
  if (!given(n, "activations")) return false;
  const auto& attr = n.attrs[static_cast<size_t>(n.op->attr_index("activations"))];
  const auto* names = std::get_if<std::vector<std::string>>(&attr);
  return names != nullptr && !names->empty();
}

// Control flow. `formals` and `max_rounds` are the compiler's own: what the importer adds.
inline int64_t formals(const ir::Node& n) {
  return n.int_attr("formals");
}
inline int64_t max_rounds(const ir::Node& n) {
  return n.int_attr("max_rounds");
}
inline const std::vector<int64_t>& scan_output_axes(const ir::Node& n) {
  return n.ints_attr("scan_output_axes");
}
inline const std::vector<int64_t>& scan_output_directions(const ir::Node& n) {
  return n.ints_attr("scan_output_directions");
}

// The compiler's own Fence: which value it keeps apart (passes/fences.h).
inline int64_t label(const ir::Node& n) {
  return n.int_attr("label");
}

}  // namespace mrvlc::ops::attr
