// MaxUnpool (ONNX -22): elements go back to where MaxPool found them, zeros elsewhere. The indices count the
// elements of the unpooled shape that the window implies; a given output_shape may be larger.
#include "common/index_util.h"
#include "common/lanes.h"
#include "mrvlc/ops/run_time_shapes.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct UnpoolShapes {
  Shape implied, output;
};

// Entries of a window attribute, `count` of them.
Result<std::vector<int64_t>> entries(const InferContext& context, std::string_view attr, size_t count,
                                     int64_t low, int64_t fallback) {
  std::vector<int64_t> given = context.ints_attr(attr);
  if (given.empty()) given.assign(count, fallback);
  if (given.size() != count)
    return bad_attr(attr, fmt::format("has {} entries, expected {}", given.size(), count));
  for (int64_t v : given) {
    if (v < low || v > kMaxExtent) return bad_attr(attr, fmt::format("has the entry {}", v));
  }
  return given;
}

struct UnpoolWindow {
  std::vector<int64_t> stride, offset;  // a dimension of n elements becomes (n - 1) * stride + offset

  Result<int64_t> size(size_t d, int64_t n) const {
    auto reach = checked_mul(n - 1, stride[d]);
    if (!reach || *reach > kMaxElements) return too_large();
    if (*reach + offset[d] >= 1) return *reach + offset[d];
    return bad_attr("pads", fmt::format("leave nothing of spatial dimension {}", d));
  }
};

Result<UnpoolWindow> unpool_window(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 3));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  const size_t rank = context.type(0).shape.size() - 2;
  if (context.ints_attr("kernel_shape").empty()) return bad_attr("kernel_shape", "is missing");
  MRVLC_ASSIGN(auto kernel, entries(context, "kernel_shape", rank, 1, 1));
  MRVLC_ASSIGN(auto pads, entries(context, "pads", 2 * rank, 0, 0));
  UnpoolWindow w;
  MRVLC_ASSIGN(w.stride, entries(context, "strides", rank, 1, 1));
  for (size_t d = 0; d < rank; ++d) w.offset.push_back(kernel[d] - pads[d] - pads[d + rank]);
  return w;
}

Status read_output_shape(const InferContext& context, UnpoolShapes& s) {
  s.output = s.implied;
  if (!context.has(2)) return {};
  MRVLC_ASSIGN(s.output, known_ints(context, 2, "output_shape", kMaxRank));
  bool fits = s.output.size() == s.implied.size();
  for (size_t d = 0; fits && d < s.output.size(); ++d) fits = s.output[d] >= s.implied[d];
  if (fits) return {};
  return make_diag<DiagCode::MRV0205>(to_string(s.implied), to_string(s.output),
                                      "the output does not hold what is unpooled");
}

Result<UnpoolShapes> unpool_shapes(const InferContext& context) {
  MRVLC_ASSIGN(UnpoolWindow w, unpool_window(context));
  const Shape& x = context.type(0).shape;
  if (context.type(1).shape != x) {
    return make_diag<DiagCode::MRV0205>(to_string(x), to_string(context.type(1).shape),
                                        "one index an element is expected");
  }
  UnpoolShapes s;
  s.implied = {x[0], x[1]};
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    MRVLC_ASSIGN(int64_t size, w.size(d, x[d + 2]));
    s.implied.push_back(size);
  }
  auto count = checked_product(s.implied);
  if (!count || *count > kMaxElements) return too_large();
  MRVLC_TRY(read_output_shape(context, s));
  return s;
}

ElementRange unpool_range(const InferContext& context, const UnpoolShapes& s) {
  return {1, context.type(1).elements(), 0, element_count(s.implied) - 1};
}

Result<std::vector<TensorType>> infer_unpool(const InferContext& context) {
  MRVLC_ASSIGN(UnpoolShapes s, unpool_shapes(context));
  MRVLC_TRY(check_known(context, unpool_range(context, s)));
  return one_type(context.type(0).elem, s.output);
}

Status eval_unpool(const EvalContext& context) {
  MRVLC_ASSIGN(UnpoolShapes s, unpool_shapes(context.infer_view()));
  const int64_t count = element_count(s.implied);
  const Shape strides = row_major_strides(s.output);
  for (int64_t i = 0; i < context.in(0).elements(); ++i) {
    int64_t rest = context.in(1).as_int(i), to = 0;
    if (rest < 0 || rest >= count)
      return bad_operands(fmt::format("index {} is out of range for {} elements", rest, count));
    for (size_t d = s.implied.size(); d-- > 0; rest /= s.implied[d]) to += rest % s.implied[d] * strides[d];
    context.out().set_double(to, context.in(0).as_double(i));
  }
  return {};
}

// -- shapes known at run time only

Result<std::vector<TensorType>> infer_dynamic_unpool(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(UnpoolWindow w, unpool_window(context));
  Dims dims = dims_of(context.type(0));
  for (size_t d = 0; d < w.stride.size(); ++d) {
    MRVLC_ASSIGN(dims[d + 2].bound, w.size(d, std::max<int64_t>(dims[d + 2].bound, 1)));
  }
  if (!context.has(2)) return one_type(context.type(0).elem, dims);
  dims.assign(dims.size(), kAnyDim);
  if (context.constant(2) != nullptr) {
    MRVLC_ASSIGN(Shape given, known_ints(context, 2, "output_shape", kMaxRank));
    if (given.size() != dims.size()) return bad_operands("output_shape has another rank");
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = Dim{given[d], false};
  }
  return one_type(context.type(0).elem, dims);
}

// The shape that the window implies, in an array; sets that of the result.
Status implied_texts(EmitContext& context, Texts& implied) {
  MRVLC_ASSIGN(UnpoolWindow w, unpool_window(emit_view(context)));
  const Texts x = in_dims(context, 0), indices = in_dims(context, 1);
  const int64_t rank = context.in_type(0).rank();
  implied = x;
  for (size_t d = 0; d < x.size(); ++d) {
    require_equal(context, x[d], indices[d]);
    if (d >= 2)
      implied[d] = fmt::format("({} - 1) * {} + {}", x[d], w.stride[d - 2], signed_text(w.offset[d - 2]));
  }
  declare_list(context, "implied", implied);
  implied = elements_of("implied", rank);
  if (context.has(2)) require_equal(context, context.in_dim(2, 0), fmt::format("{}", rank));
  Texts results = implied;
  for (size_t d = 0; d < x.size(); ++d) {
    if (context.has(2)) results[d] = fmt::format("{}[{}]", context.in(2), d);
    context.fail_if(context.has(2) ? fmt::format("{0} < 0 || {1} < {0}", implied[d], results[d])
                                   : fmt::format("{} < 0", implied[d]));
  }
  context.set_dims(0, results);
  return {};
}

// In parentheses where it is not one word.
std::string factor(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

// Element `n` of the implied shape in the result, which may be larger.
std::string unpooled_index(const Texts& implied, const Texts& result) {
  if (implied == result) return "n";
  const Texts strides = stride_texts(result), own = stride_texts(implied);
  std::string to;
  for (size_t d = 0; d < own.size(); ++d) {
    to += fmt::format("{}n / {} % {} * {}", d == 0 ? "" : " + ", factor(own[d]),
                      implied[d] == "0" ? "1" : implied[d], factor(strides[d]));
  }
  return to;
}

Status emit_unpool(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  Texts implied;
  RangeCheck check = RangeCheck::None;
  if (is_dynamic(context)) {
    MRVLC_TRY(implied_texts(context, implied));
  } else {
    MRVLC_ASSIGN(UnpoolShapes s, unpool_shapes(emit_view(context)));
    implied = texts_of(s.implied);
    MRVLC_ASSIGN(check, require_each(context, unpool_range(emit_view(context), s)));
  }
  const Texts result = out_dims(context);
  const std::string count = product_text(result);
  if (count == "0") return {};
  context.line(
      fmt::format("memset({}, 0, {});", context.out(0), bytes_text(context.out_type(0).elem, count)));
  open_loop(context, "i", product_text(in_dims(context, 0)));
  context.line(fmt::format("const int64_t n = {}[i];", context.in(1)));
  const std::string outside = fmt::format("n < 0 || n >= {}", product_text(implied));
  if (is_dynamic(context)) {
    context.fail_if(outside);
  } else if (check != RangeCheck::Before) {
    auto* values = dynamic_cast<RunTimeShapes*>(&context);
    if (values == nullptr || !values->fail_on_value(outside))
      context.line(fmt::format("if ({}) continue;", outside));
  }
  context.line(
      fmt::format("{}[{}] = {}[i];", context.out(0), unpooled_index(implied, result), context.in(0)));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_MaxUnpool() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "MaxUnpool";
    d.since_min = 9;
    d.attrs = {required("kernel_shape", ir::AttrKind::Ints), optional("pads", ir::AttrKind::Ints),
               optional("strides", ir::AttrKind::Ints)};
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = kFloats;
    d.infer = infer_unpool;
    d.infer_dynamic = infer_dynamic_unpool;
    d.eval = eval_unpool;
    d.emit = d.emit_dynamic = emit_unpool;
    d.declined = "accelerator: no unit writes where data says";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
