// Pad (ONNX Pad-21): constant, reflect, edge, wrap; negative padding crops.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "common/mapped_copy.h"
#include "common/text_copy.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Opset 1 has the attribute `paddings`, opset 2 to 10 `pads` and `value`.
Status upgrade_pad(RawNode& node) {
  if (node.opset >= 11) return {};
  MRVLC_TRY(attr_to_input(node, node.find("paddings") != nullptr ? "paddings" : "pads", 1));
  ir::Attr value = node.take("value");
  if (!ir::is_set(value)) return {};
  const float* number = std::get_if<float>(&value);
  if (number == nullptr) return bad_attr("value", "must be a number");
  const TensorType* data = node.input_type(0);
  if (data == nullptr) return bad_operands("the data is missing");
  node.add_constant_input(2, Tensor::of<double>(data->elem, {}, {static_cast<double>(*number)}));
  return {};
}

Result<std::vector<TensorType>> infer_pad(const InferContext& context) {
  if (context.has(2)) {
    MRVLC_TRY(check_same_elem(context, 2));
    if (context.type(2).elements() != 1) return bad_operands("constant_value must be one element");
  }
  MRVLC_ASSIGN(PadParams p, pad_params(context));
  TensorType type = context.type(0);
  for (size_t d = 0; d < type.shape.size(); ++d) {
    type.shape[d] += p.begin[d] + p.end[d];
    MRVLC_TRY(check_dim(type.shape[d], "a dimension of the result"));
  }
  return std::vector<TensorType>{type};
}

// Of every dimension: how much of the input is kept, where that begins in the input and in the result.
struct PadTexts {
  Texts kept, crop, shift;
};

PadTexts known_texts(const PadParams& p, const Shape& in) {
  PadTexts t;
  for (size_t d = 0; d < in.size(); ++d) {
    const int64_t begin = p.begin[d], end = p.end[d];
    t.kept.push_back(fmt::format("{}", in[d] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0)));
    t.crop.push_back(fmt::format("{}", std::max<int64_t>(-begin, 0)));
    t.shift.push_back(fmt::format("{}", std::max<int64_t>(begin, 0)));
  }
  return t;
}

// What is kept of the input, placed in the output.
TextCopy interior(const PadTexts& p, const Texts& x, const Texts& y) {
  TextCopy copy{p.kept, stride_texts(x), stride_texts(y)};
  Texts from, to;
  for (size_t d = 0; d < x.size(); ++d) {
    from.push_back(product_text({p.crop[d], copy.in[d]}));
    to.push_back(product_text({p.shift[d], copy.out[d]}));
  }
  copy.in_offset = sum_text(from), copy.out_offset = sum_text(to);
  return copy;
}

MappedCopy mapped(const PadParams& p, const Shape& in, const Shape& out) {
  MappedCopy copy{in, {}};
  for (size_t d = 0; d < in.size(); ++d)
    copy.from.push_back(index_table(out[d], [&](int64_t o) { return p.source(d, o, in[d]); }));
  return copy;
}

void fill(Tensor& out, const Tensor* value) {
  if (value == nullptr) return;  // zero-filled
  for (int64_t i = 0; i < out.elements(); ++i) {
    is_float(out.elem()) ? out.set_double(i, value->as_double(0)) : out.set_int(i, value->as_int(0));
  }
}

Status eval_pad(const EvalContext& context) {
  MRVLC_ASSIGN(PadParams p, pad_params(context.infer_view()));
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  if (y.elements() == 0) return {};
  if (p.mode != "constant") {
    MRVLC_TRY(check_table_sizes(y.shape()));
    run_mapped_copy(mapped(p, x.shape(), y.shape()), x, y);
    return {};
  }
  fill(y, context.has(2) ? &context.in(2) : nullptr);
  run_copy(interior(known_texts(p, x.shape()), texts_of(x.shape()), texts_of(y.shape())), x, y);
  return {};
}

// Arrays begin, end (amounts), kept (elements of the input that are left), n (the result).
void declare_amounts(EmitContext& context, bool constant_mode) {
  const int64_t rank = context.in_type(0).rank();
  const std::string count = context.has(3) ? product_text(in_dims(context, 3)) : fmt::format("{}", rank);
  require_equal(context, product_text(in_dims(context, 1)), product_text({count, "2"}));
  if (rank == 0) return;
  declare_list(context, "dim", in_dims(context, 0));
  context.line(fmt::format("int64_t begin[{0}] = {{0}}, end[{0}] = {{0}}, kept[{0}], n[{0}];", rank));
  context.line("unsigned seen = 0;");
  context.open(fmt::format("for (int64_t j = 0; j < {}; ++j)", count));
  context.line(fmt::format("const int64_t d = {}({}, {});", context.helper("dynamic_axis"),
                           context.has(3) ? context.in(3) + "[j]" : std::string("j"), rank));
  context.fail_if("d < 0 || (seen >> d & 1u)");
  context.line("seen |= 1u << d;");
  context.line(fmt::format("begin[d] = {}[j];", context.in(1)));
  context.line(fmt::format("end[d] = {}[j + {}];", context.in(1), count));
  context.close();
  context.open(fmt::format("for (int d = 0; d < {}; ++d)", rank));
  const std::string most = fmt::format("INT64_C({})", kMaxElements);
  context.fail_if(fmt::format("begin[d] < -{0} || begin[d] > {0} || end[d] < -{0} || end[d] > {0}", most));
  context.line("kept[d] = dim[d] + (begin[d] < 0 ? begin[d] : 0) + (end[d] < 0 ? end[d] : 0);");
  context.line("n[d] = dim[d] + begin[d] + end[d];");
  context.fail_if(constant_mode ? "kept[d] < 0"
                                : "kept[d] < 0 || (kept[d] == 0 && (begin[d] > 0 || end[d] > 0))");
  context.close();
}

// Of the arrays of declare_amounts().
PadTexts declared_texts(int64_t rank) {
  PadTexts t{elements_of("kept", rank), {}, {}};
  for (const std::string& begin : elements_of("begin", rank)) {
    t.crop.push_back(fmt::format("({0} < 0 ? -{0} : 0)", begin));
    t.shift.push_back(fmt::format("({0} > 0 ? {0} : 0)", begin));
  }
  return t;
}

// The value everywhere, then what is kept.
void emit_constant_mode(EmitContext& context, const PadTexts& p) {
  const Tensor* known = context.has(2) ? context.constant(2) : nullptr;
  std::string value = "0";
  if (context.has(2))
    value = known != nullptr ? element_literal(*known, 0) : fmt::format("*{}", context.in(2));
  const Texts dims = out_dims(context);
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = {};", product_text(dims),
                           context.out(0), value));
  emit_copy(context, interior(p, in_dims(context, 0), dims));
}

// An index table for every dimension.
Status emit_table_mode(EmitContext& context, const PadParams& p) {
  const Shape& y = context.out_type(0).shape;
  MRVLC_TRY(check_table_sizes(y));
  emit_mapped_copy(context, mapped(p, context.in_type(0).shape, y));
  return {};
}

// Indices are worked out when it runs.
void emit_declared_mode(EmitContext& context, const std::string& mode) {
  const int number = mode == "reflect" ? 0 : mode == "edge" ? 1 : 2;
  context.line(fmt::format("{}({}, {}, {}, {}, n, dim, begin, kept, {});", context.helper("dynamic_pad"),
                           context.out(0), context.in(0), byte_size(context.in_type(0).elem),
                           context.in_type(0).rank(), number));
}

Status emit_pad(EmitContext& context) {
  const std::string& mode = context.node().string_attr("mode");
  const int64_t rank = context.in_type(0).rank();
  const bool constant = mode == "constant", dynamic = is_dynamic(context);
  if (dynamic) {
    declare_amounts(context, constant);
    context.set_dims(0, elements_of("n", rank));
    if (constant || rank == 0) return emit_constant_mode(context, declared_texts(rank)), Status();
    return emit_declared_mode(context, mode), Status();
  }
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_ASSIGN(PadParams p, pad_params(emit_view(context)));
  if (!constant) return emit_table_mode(context, p);
  return emit_constant_mode(context, known_texts(p, context.in_type(0).shape)), Status();
}

}  // namespace

const OpDef& def_Pad() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Pad";
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .passes_size_on = true};
    d.attrs = {with_string("mode", "constant")};
    d.min_inputs = 2;
    d.max_inputs = 4;
    d.types = kFixedSize;
    d.upgrade = upgrade_pad;
    d.infer = infer_pad;
    d.eval = eval_pad;
    d.infer_dynamic = infer_dynamic_pad;
    d.emit = d.emit_dynamic = emit_pad;
    d.accel = {LayerKind::Move};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
