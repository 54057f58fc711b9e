// MaxUnpool (ONNX -22): elements go back to where MaxPool found them, zeros elsewhere. The indices count the
// elements of the unpooled shape that the window implies; a given output_shape may be larger.
#include "emit_util.h"
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
  MRVLC_TRY(check_rank(context, 0, 3));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  const Shape& x = context.type(0).shape;
  if (context.type(1).shape != x) {
    return make_diag<DiagCode::MRV0205>(to_string(x), to_string(context.type(1).shape),
                                        "one index an element is expected");
  }
  const size_t rank = x.size() - 2;
  if (context.ints_attr("kernel_shape").empty()) return bad_attr("kernel_shape", "is missing");
  MRVLC_ASSIGN(auto kernel, entries(context, "kernel_shape", rank, 1, 1));
  MRVLC_ASSIGN(auto strides, entries(context, "strides", rank, 1, 1));
  MRVLC_ASSIGN(auto pads, entries(context, "pads", 2 * rank, 0, 0));
  UnpoolShapes s;
  s.implied = {x[0], x[1]};
  for (size_t d = 0; d < rank; ++d) {
    auto reach = checked_mul(x[d + 2] - 1, strides[d]);
    if (!reach || *reach > kMaxElements) return bad_attr("strides", "make the output too large");
    int64_t size = *reach + kernel[d] - pads[d] - pads[d + rank];
    if (size < 1) return bad_attr("pads", fmt::format("leave nothing of spatial dimension {}", d));
    s.implied.push_back(size);
  }
  auto count = checked_product(s.implied);
  if (!count || *count > kMaxElements) return bad_operands("the result is too large");
  MRVLC_TRY(read_output_shape(context, s));
  return s;
}

Result<std::vector<TensorType>> infer_unpool(const InferContext& context) {
  MRVLC_ASSIGN(UnpoolShapes s, unpool_shapes(context));
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

Status emit_unpool(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(UnpoolShapes s, unpool_shapes(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  context.line(fmt::format("memset({}, 0, {});", context.out(0), context.out_type(0).bytes()));
  context.loop("i", context.in_type(0).elements());
  context.line(fmt::format("const int64_t n = {}[i];", context.in(1)));
  context.line(fmt::format("if (n < 0 || n >= {}) continue;", element_count(s.implied)));
  std::string to = "n";
  if (s.output != s.implied) {
    const Shape strides = row_major_strides(s.output), own = row_major_strides(s.implied);
    to.clear();
    for (size_t d = 0; d < own.size(); ++d) {
      to += fmt::format("{}n / {} % {} * {}", d == 0 ? "" : " + ", own[d], std::max<int64_t>(s.implied[d], 1),
                        strides[d]);
    }
  }
  context.line(fmt::format("{}[{}] = {}[i];", context.out(0), to, context.in(0)));
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
    d.eval = eval_unpool;
    d.emit = emit_unpool;
    d.declined = "accelerator: no unit writes where data says";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
