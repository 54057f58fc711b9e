// Element-wise operators on shapes that are known at run time only: strides are made at run time, then
// neighbouring dimensions are merged, so that operands of one shape are read in one loop.
#include <algorithm>

#include "common/dynamic_util.h"
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

// Static types that agree if any do: what is not known is what the known dimensions ask for, else 1.
std::vector<TensorType> plain_types(const InferContext& c, const Dims& result) {
  std::vector<TensorType> types;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    types.push_back(c.has(i) ? c.type(i) : TensorType());
    TensorType& type = types.back();
    size_t skipped = result.size() - type.shape.size();
    for (size_t d = 0; d < type.shape.size(); ++d) {
      const Dim& whole = result[skipped + d];
      if ((type.dynamic >> d & 1u) != 0) type.shape[d] = whole.dynamic ? 1 : whole.bound;
    }
    type.dynamic = 0;
    type.capacity = -1;
  }
  return types;
}

// Dimension d of the result.
std::string result_dim(EmitContext& c, size_t d, size_t rank) {
  Texts found;
  for (size_t i = 0; i < c.node().inputs.size(); ++i) {
    if (!c.has(i)) continue;
    size_t own = c.in_type(i).shape.size();
    if (d + own < rank) continue;
    std::string text = c.in_dim(i, static_cast<int64_t>(d + own - rank));
    if (text != "1" && std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  }
  if (found.empty()) return "1";
  std::string text = found[0];
  for (size_t i = 1; i < found.size(); ++i)
    text = fmt::format("{}({}, {})", c.helper("dynamic_both"), text, found[i]);
  return text;
}

bool is_single(const EmitContext& c, size_t i) {
  return c.in_type(i).is_static() && c.in_type(i).elements() == 1;
}

// Operands that are read by index.
std::vector<size_t> varying(const EmitContext& c) {
  std::vector<size_t> list;
  for (size_t i = 0; i < c.node().inputs.size(); ++i) {
    if (c.has(i) && !is_single(c, i)) list.push_back(i);
  }
  return list;
}

// Arrays n (sizes of the loops) and s (strides of operand j from j * rank on).
void declare_loops(EmitContext& c, const std::vector<size_t>& operands, size_t rank) {
  declare_list(c, "n", out_dims(c), false);
  c.line(fmt::format("int64_t s[{}];", operands.size() * rank));
  for (size_t j = 0; j < operands.size(); ++j) {
    size_t i = operands[j];
    declare_list(c, fmt::format("d{}", j), in_dims(c, i));
    c.line(fmt::format("{}({}, {}, d{}, s + {});", c.helper("dynamic_steps"), rank, c.in_type(i).rank(), j,
                       j * rank));
  }
  c.line(fmt::format("{}({}, {}, n, s);", c.helper("dynamic_merge"), rank, operands.size()));
}

// Operands as local variables, set at the loops' indices; constants stand in place.
struct Loads {
  std::vector<std::string> x, index;  // names, and positions ("" for a constant)
};

Loads load_operands(const EmitContext& c, const std::vector<size_t>& operands, const Texts& index) {
  size_t count = c.node().inputs.size();
  Loads loads{std::vector<std::string>(count), std::vector<std::string>(count)};
  for (size_t i = 0; i < count; ++i) {
    if (!c.has(i)) continue;
    const Tensor* constant = c.constant(i);
    if (constant != nullptr && constant->elements() == 1 && constant->elem() != ElementType::String) {
      loads.x[i] = element_literal(*constant, 0);
      continue;
    }
    auto found = std::find(operands.begin(), operands.end(), i);
    loads.x[i] = fmt::format("a{}", i);
    loads.index[i] = found == operands.end() ? "0" : index[static_cast<size_t>(found - operands.begin())];
  }
  return loads;
}

Texts index_texts(size_t operands, size_t rank) {
  Texts index;
  for (size_t j = 0; j < operands; ++j) {
    Texts terms;
    for (size_t d = 0; d < rank; ++d) terms.push_back(fmt::format("i{} * s[{}]", d, j * rank + d));
    index.push_back(fmt::format("{}", fmt::join(terms, " + ")));
  }
  return index;
}

void emit_element(const ScalarOp& op, EmitContext& c, const Loads& loads, bool fold, double divisor) {
  std::string y = fmt::format("{}[k]", c.out(0));
  std::string value = fold ? std::string() : stored(c, op.c_expr(c, loads.x, computed_type(c)));
  for (size_t i = 0; i < loads.x.size(); ++i) {
    // Some expressions do without an operand, e.g. PRelu of unsigned elements.
    bool used = fold || value.find(loads.x[i]) != std::string::npos;
    if (!used || loads.index[i].empty()) continue;
    c.line(
        fmt::format("const {} {} = {}[{}];", c_type(c.in_type(i).elem), loads.x[i], c.in(i), loads.index[i]));
  }
  if (fold) {
    emit_fold(op, c, loads.x, y, divisor);
  } else {
    c.line(fmt::format("{} = {};", y, value));
  }
}

}  // namespace

Result<std::vector<TensorType>> infer_dynamic_elementwise(const InferContext& c) {
  MRVLC_TRY(check_tensors(c));
  Dims dims;
  int64_t elements = 1;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (!c.has(i)) continue;
    dims = broadcast_dims(dims, dims_of(c.type(i)));
    elements = all_pairs(elements, c.type(i).elements());
  }
  std::vector<TensorType> plain = plain_types(c, dims);
  InferContext view = c;
  for (size_t i = 0; i < plain.size(); ++i) view.types[i] = c.has(i) ? &plain[i] : nullptr;
  MRVLC_ASSIGN(auto types, static_cast<const OpDef&>(*c.op).infer(view));
  return one_type(types[0].elem, dims, elements);
}

void require_first_shape(EmitContext& c) {
  size_t rank = c.in_type(0).shape.size();
  for (size_t d = 0; d < rank; ++d) {
    require_equal(c, c.in_dim(0, static_cast<int64_t>(d)), result_dim(c, d, rank));
  }
}

Status emit_dynamic_scalar(const ScalarOp& op, EmitContext& c, bool fold, double divisor) {
  size_t rank = c.out_type(0).shape.size();
  Texts dims;
  for (size_t d = 0; d < rank; ++d) dims.push_back(result_dim(c, d, rank));
  c.set_dims(0, dims);
  std::vector<size_t> operands = varying(c);
  if (operands.size() < 2 || rank == 0) {
    c.line(fmt::format("const int64_t n = {};", product_text(out_dims(c))));
    c.open("for (int64_t k = 0; k < n; ++k)");
    emit_element(op, c, load_operands(c, operands, Texts(operands.size(), "k")), fold, divisor);
    c.close();
    return {};
  }
  declare_loops(c, operands, rank);
  c.line("int64_t k = 0;");
  for (size_t d = 0; d < rank; ++d) c.open(fmt::format("for (int64_t i{0} = 0; i{0} < n[{0}]; ++i{0})", d));
  emit_element(op, c, load_operands(c, operands, index_texts(operands.size(), rank)), fold, divisor);
  c.line("++k;");
  for (size_t d = 0; d < rank; ++d) c.close();
  return {};
}

Status emit_dynamic_elementwise(EmitContext& c) {
  const OpDef& op = op_def(c.node());
  return emit_dynamic_scalar(*op.scalar, c, op.max_inputs < 0);
}

}  // namespace mrvlc::ops
