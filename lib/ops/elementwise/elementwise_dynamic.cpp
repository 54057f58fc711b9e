// Types of element-wise operators on shapes that are known at run time only, and the loops of their C:
// strides are made at run time, then neighbouring dimensions are merged, so that operands of one shape are
// read in one loop.
#include <algorithm>

#include "common/lanes.h"
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

void set_broadcast_dims(EmitContext& c) {
  const size_t rank = c.out_type(0).shape.size();
  Texts dims;
  for (size_t d = 0; d < rank; ++d) dims.push_back(result_dim(c, d, rank));
  c.set_dims(0, dims);
}

namespace {

// Does not vary.
bool is_single(const EmitContext& c, size_t i) {
  return c.in_type(i).is_static() && c.in_type(i).elements() == 1;
}

// Loops over arrays that are made at run time: n, sizes of the loops, and s, strides of the operands one
// after the other; neighbours that all operands agree on are one loop.
LoopTexts run_time_loops(EmitContext& c, const std::vector<size_t>& operands) {
  const size_t rank = c.out_type(0).shape.size();
  declare_list(c, "n", out_dims(c), false);
  c.line(fmt::format("int64_t s[{}];", operands.size() * rank));
  LoopTexts loops{elements_of("n", static_cast<int64_t>(rank)), {}};
  for (size_t j = 0; j < operands.size(); ++j) {
    declare_list(c, fmt::format("d{}", j), in_dims(c, operands[j]));
    c.line(fmt::format("{}({}, {}, d{}, s + {});", c.helper("dynamic_steps"), rank,
                       c.in_type(operands[j]).rank(), j, j * rank));
    Texts& strides = loops.strides.emplace_back();
    for (size_t d = 0; d < rank; ++d) strides.push_back(fmt::format("s[{}]", j * rank + d));
  }
  c.line(fmt::format("{}({}, {}, n, s);", c.helper("dynamic_merge"), rank, operands.size()));
  return loops;
}

}  // namespace

LoopTexts element_loops(EmitContext& c) {
  std::vector<size_t> varying;
  std::vector<Shape> shapes;
  const size_t inputs = c.node().inputs.size();
  for (size_t i = 0; i < inputs; ++i) {
    if (c.has(i)) shapes.push_back(c.in_type(i).shape);
    if (c.has(i) && !is_single(c, i)) varying.push_back(i);
  }
  if (!is_dynamic(c)) return texts_of(broadcast_loops(c.out_type(0).shape, shapes));
  // One operand that varies is read in the order in which the result is written.
  const bool merged = varying.size() < 2 || c.out_type(0).rank() == 0;
  LoopTexts loops =
      merged ? LoopTexts{{named_size(c, "n", product_text(out_dims(c)))}, {}} : run_time_loops(c, varying);
  if (merged) loops.strides.assign(varying.size(), {"1"});
  const Texts still(loops.size.size(), "0");
  for (size_t i = 0, j = 0; i < inputs; ++i) {
    if (!c.has(i)) continue;
    if (is_single(c, i)) loops.strides.insert(loops.strides.begin() + static_cast<ptrdiff_t>(j), still);
    ++j;
  }
  return loops;
}

}  // namespace mrvlc::ops
