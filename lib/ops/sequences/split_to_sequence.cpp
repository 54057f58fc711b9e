// SplitToSequence (ONNX SplitToSequence-24).
#include <algorithm>

#include "common/slices.h"
#include "sequences/sequence_emit.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

// How it cuts, as far as it is known before it runs.
struct SplitPlan {
  int64_t axis = 0;
  bool keep = true;     // the axis stays; false: it is dropped, all parts are of size 1
  bool sizes = false;   // the parts' sizes are given, as a vector
  bool chunk = false;   // one size is given for all parts but the last
  int64_t parts = 0;    // at most
  int64_t longest = 0;  // at most, along the axis
  bool equal = false;   // all parts have the size `longest`
};

// One size for all parts but the last.
Status plan_chunks(SplitPlan& p, const TensorType& x, int64_t size) {
  const int64_t dim = x.shape[at(p.axis)];
  if (size < 1) return bad_operands("the size of the parts must be positive");
  p.longest = std::min(size, dim);
  p.parts = dim / size + (dim % size != 0 ? 1 : 0);
  p.equal = !x.is_dynamic(p.axis) && dim % size == 0;
  return {};
}

Status plan_sizes(SplitPlan& p, const TensorType& x, const std::vector<int64_t>& sizes) {
  if (sizes.empty()) return {};
  p.longest = *std::max_element(sizes.begin(), sizes.end());
  p.equal = std::all_of(sizes.begin(), sizes.end(), [&](int64_t s) { return s == sizes[0]; });
  if (p.longest < 0 || p.longest > x.shape[at(p.axis)])
    return bad_operands("the parts are larger than the whole");
  return {};
}

Result<SplitPlan> split_plan(const InferContext& context) {
  SplitPlan p;
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_tensor(context, 0));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(p.axis, normalize_axis(context.int_attr("axis"), x.rank()));
  const int64_t dim = x.shape[at(p.axis)];
  if (!context.has(1)) {
    p.keep = context.int_attr("keepdims") != 0;
    p.parts = dim;
    p.longest = 1;
    p.equal = true;
    return p;
  }
  MRVLC_TRY(check_elem(context, 1, kIndices));
  MRVLC_TRY(check_rank(context, 1, 0, 1));
  p.sizes = context.type(1).rank() == 1;
  p.chunk = !p.sizes;
  p.longest = dim;
  p.parts = p.sizes ? context.type(1).elements() : dim;
  if (const Tensor* split = context.constant(1))
    MRVLC_TRY(p.chunk ? plan_chunks(p, x, split->as_int(0)) : plan_sizes(p, x, split->to_ints()));
  return p;
}

Result<std::vector<TensorType>> infer_split(const InferContext& context) {
  MRVLC_ASSIGN(SplitPlan p, split_plan(context));
  TensorType item = context.type(0);
  const auto axis = at(p.axis);
  if (p.keep) {
    item.shape[axis] = p.longest;
    item.dynamic = p.equal ? item.dynamic & ~(1u << p.axis) : item.dynamic | 1u << p.axis;
  } else {
    item = without_dim(item, p.axis);
  }
  if (item.dynamic == 0) item.capacity = -1;
  return std::vector<TensorType>{sequence_type(item, p.parts)};
}

std::vector<int64_t> sizes_of_parts(const EvalContext& context, const SplitPlan& p) {
  if (p.sizes) return context.in(1).to_ints();
  const int64_t dim = context.in(0).shape()[at(p.axis)], size = p.chunk ? context.in(1).as_int(0) : 1;
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < dim; begin += size) sizes.push_back(std::min(size, dim - begin));
  return sizes;
}

Status eval_split(const EvalContext& context) {
  MRVLC_ASSIGN(SplitPlan p, split_plan(context.infer_view()));
  const Tensor& x = context.in(0);
  const int64_t dim = x.shape()[at(p.axis)];
  std::vector<Tensor> items;
  int64_t begin = 0;
  for (int64_t size : sizes_of_parts(context, p)) {
    if (size < 0 || size > dim - begin) return bad_operands("the parts are larger than the whole");
    Tensor part = cut_out(x, p.axis, begin, size);
    items.push_back(p.keep ? part : part.reshaped(without_dim(part.type(), p.axis).shape));
    begin += size;
  }
  if (begin != dim) return bad_operands("the parts are smaller than the whole");
  context.out() = make_sequence(x.elem(), std::move(items));
  return {};
}

// The loop over the parts: leaves their number n, size, and begin, which is to grow by the size.
void open_parts(EmitContext& context, const SplitPlan& p, const std::string& dim) {
  context.line("int64_t begin = 0, n = 0;");
  context.open(p.sizes ? fmt::format("for (; n < {}; ++n)", context.in_dim(1, 0))
                       : fmt::format("for (; begin < {}; ++n)", dim));
  std::string size = p.sizes   ? fmt::format("(int64_t){}[n]", context.in(1))
                     : p.chunk ? fmt::format("(int64_t)*{}", context.in(1))
                               : std::string("1");
  context.line(fmt::format("int64_t size = {};", size));
  context.fail_if(p.sizes ? "size < 0" : "size < 1");
  if (!p.sizes) context.line(fmt::format("if (size > {0} - begin) size = {0} - begin;", dim));
  context.fail_if(
      fmt::format("size > {} - begin || size > {} || n >= {}", dim, p.longest, context.out_type(0).length));
}

Status emit_split(EmitContext& context) {
  MRVLC_ASSIGN(SplitPlan p, split_plan(emit_view(context)));
  const TensorType& out = context.out_type(0);
  Texts dims = in_dims(context, 0), part = dims, run(dims.begin() + p.axis + 1, dims.end());
  const std::string dim = dims[at(p.axis)], outer = product_text(dims, 0, at(p.axis));
  part[at(p.axis)] = "0";
  if (!p.keep) part.erase(part.begin() + p.axis);
  declare_list(context, "part", part, false);
  run.push_back(fmt::format("{}", memory_bytes(TensorType{context.in_type(0).elem, {}})));
  context.line(fmt::format("const int64_t inner = {};", product_text(run)));
  open_parts(context, p, dim);
  if (p.keep) context.line(fmt::format("part[{}] = size;", p.axis));
  context.line(fmt::format("{}({}, n, part, {}, 0);", context.helper("seq_row"), context.out(0),
                           item_type(out).rank()));
  context.line(fmt::format(
      "{}((unsigned char*){} + {}, size * inner, (const unsigned char*){} + begin * inner, "
      "{} * inner, {}, size * inner);",
      context.helper("dynamic_rows"), context.out(0), slot_offset(out, "n"), context.in(0), dim, outer));
  context.line("begin += size;");
  context.close();
  context.fail_if(fmt::format("begin != {}", dim));
  set_count(context, "n");
  return {};
}

}  // namespace

const OpDef& def_SplitToSequence() {
  static const OpDef def = [] {
    OpDef d = sequence_def("SplitToSequence", 11, 1, 2, infer_split, eval_split, emit_split);
    d.attrs = {with_int("axis", 0), with_int("keepdims", 1)};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
