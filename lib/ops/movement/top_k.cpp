// TopK (ONNX TopK-11): the k greatest or least elements along an axis, in order, the lower index first among
// equals.
#include <algorithm>
#include <numeric>

#include "common/dynamic_facets.h"
#include "common/emit_util.h"
#include "common/slices.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Opset 1 has k as an attribute.
Status upgrade_top_k(RawNode& node) {
  ir::Attr k = node.take("k");
  if (!ir::is_set(k)) return {};
  const auto* value = std::get_if<int64_t>(&k);
  if (value == nullptr) return bad_attr("k", "must be an integer");
  node.add_constant_input(1, Tensor::of<int64_t>(E::I64, {1}, {*value}));
  return {};
}

struct TopKSizes : AxisSizes {
  int64_t axis = 0, k = 0;
};

Result<TopKSizes> top_k_sizes(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  MRVLC_ASSIGN(int64_t k, known_int(context, 1, "K"));
  TopKSizes s{axis_sizes(context.type(0).shape, axis), axis, k};
  if (s.k < 0 || s.k > s.dim) return bad_operands(fmt::format("k is {} for a dimension of {}", s.k, s.dim));
  return s;
}

Result<std::vector<TensorType>> infer_top_k(const InferContext& context) {
  MRVLC_ASSIGN(TopKSizes s, top_k_sizes(context));
  Shape shape = context.type(0).shape;
  shape[at(s.axis)] = s.k;
  return std::vector<TensorType>{{context.type(0).elem, shape}, {E::I64, shape}};
}

bool less(const Tensor& x, int64_t a, int64_t b) {
  if (is_float(x.elem())) return x.as_double(a) < x.as_double(b);
  if (x.elem() == E::U64) return static_cast<uint64_t>(x.as_int(a)) < static_cast<uint64_t>(x.as_int(b));
  return x.as_int(a) < x.as_int(b);
}

Status eval_top_k(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(TopKSizes s, top_k_sizes(view));
  bool largest = view.int_attr("largest") != 0;
  const Tensor& x = context.in(0);
  std::vector<int64_t> order(at(s.dim));
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    int64_t base = row / s.inner * s.dim * s.inner + row % s.inner;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int64_t i = base + a * s.inner, j = base + b * s.inner;
      return largest ? less(x, j, i) : less(x, i, j);
    });
    for (int64_t i = 0; i < s.k; ++i) {
      int64_t to = (row / s.inner * s.k + i) * s.inner + row % s.inner, from = base + order[at(i)] * s.inner;
      is_float(x.elem()) ? context.out(0).set_double(to, x.as_double(from))
                         : context.out(0).set_int(to, x.as_int(from));
      context.out(1).set_int(to, order[at(i)]);
    }
  }
  return {};
}

// Insertion into the sorted list of the best so far; most elements fail the comparison with its last.
Status emit_top_k(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(TopKSizes s, top_k_sizes(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  std::string_view type = c_type(context.in_type(0).elem);
  std::string_view better = context.node().int_attr("largest") != 0 ? ">" : "<";
  context.loop("o", s.outer);
  context.loop("i", s.inner);
  context.line(fmt::format("const {}* x = {} + o * {} + i;", type, context.in(0), s.dim * s.inner));
  context.line(fmt::format("{}* y = {} + o * {} + i;", type, context.out(0), s.k * s.inner));
  context.line(fmt::format("int64_t* at = {} + o * {} + i;", context.out(1), s.k * s.inner));
  context.loop("j", s.dim);
  context.line(fmt::format("const {} v = x[j * {}];", type, s.inner));
  context.line(fmt::format("ptrdiff_t k = j < {0} ? j : {0};", s.k));
  context.line(fmt::format("if (k == {} && !(v {} y[{}])) continue;", s.k, better, (s.k - 1) * s.inner));
  context.line(fmt::format("if (k == {0}) k = {1};", s.k, s.k - 1));
  context.open(fmt::format("for (; k > 0 && v {} y[(k - 1) * {}]; --k)", better, s.inner));
  context.line(fmt::format("y[k * {0}] = y[(k - 1) * {0}];", s.inner));
  context.line(fmt::format("at[k * {0}] = at[(k - 1) * {0}];", s.inner));
  context.close();
  context.line(fmt::format("y[k * {}] = v;", s.inner));
  context.line(fmt::format("at[k * {}] = j;", s.inner));
  context.close();
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_TopK() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "TopK";
    d.attrs = {with_int("axis", -1), with_int("largest", 1), with_int("sorted", 1)};
    d.min_inputs = d.max_inputs = 2;
    d.min_outputs = d.max_outputs = 2;
    d.types = kNumeric;
    d.upgrade = upgrade_top_k;
    d.infer = infer_top_k;
    d.eval = eval_top_k;
    d.emit = emit_top_k;
    d.infer_dynamic = infer_dynamic_top_k;
    d.emit_dynamic = emit_dynamic_top_k;
    d.declined = "the accelerator does not sort";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
