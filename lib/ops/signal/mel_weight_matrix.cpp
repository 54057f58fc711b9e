// MelWeightMatrix (ONNX MelWeightMatrix-17): triangular filters, evenly spaced on the mel scale, that turn a
// spectrum into mel bins. Everything is computed in double, because truncation decides where a filter begins.
#include <algorithm>
#include <cmath>

#include "common/dims.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<ElementType> mel_elem(const InferContext& context) {
  for (size_t i = 0; i < 5; ++i) {
    MRVLC_TRY(check_elem(context, i, i < 3 ? kIndices : kFloats));
    if (context.type(i).elements() != 1) return bad_operands(fmt::format("input {} must be one number", i));
  }
  ElementType elem = std::get<ElementType>(context.attr("output_datatype"));
  if (!kNumeric.has(elem)) return bad_attr("output_datatype", fmt::format("is {}", name(elem)));
  return elem;
}

Result<std::vector<TensorType>> infer_mel(const InferContext& context) {
  MRVLC_ASSIGN(ElementType elem, mel_elem(context));
  MRVLC_ASSIGN(int64_t bins, known_int(context, 0, "num_mel_bins"));
  MRVLC_ASSIGN(int64_t length, known_int(context, 1, "dft_length"));
  MRVLC_TRY(check_dim(bins, "the number of mel bins"));
  MRVLC_TRY(check_dim(length, "the length of the transform"));
  return one_type(elem, {length / 2 + 1, bins});
}

Result<std::vector<TensorType>> infer_mel_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(ElementType elem, mel_elem(context));
  TensorType type{elem, {kNoBound, kNoBound}};
  type.dynamic = 3;
  return std::vector<TensorType>{type};
}

double to_mel(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}

// Spectrum bin where filter edge i lies.
int64_t edge(int64_t i, int64_t mel_bins, int64_t length, double rate, double low, double high) {
  double mel = static_cast<double>(i) * ((high - low) / static_cast<double>(mel_bins + 2)) + low;
  double bin = std::floor(static_cast<double>(length + 1) * (700 * (std::pow(10, mel / 2595) - 1)) / rate);
  return bin >= 0 && bin <= static_cast<double>(length) ? static_cast<int64_t>(bin) : length + 1;
}

Status eval_mel(const EvalContext& context) {
  Tensor& y = context.out();
  int64_t rows = y.shape()[0], cols = y.shape()[1], length = context.in(1).as_int(0);
  double rate = context.in(2).as_double(0), low = to_mel(context.in(3).as_double(0)),
         high = to_mel(context.in(4).as_double(0));
  for (int64_t c = 0; c < cols; ++c) {
    int64_t from = edge(c, cols, length, rate, low, high),
            middle = edge(c + 1, cols, length, rate, low, high),
            to = edge(c + 2, cols, length, rate, low, high);
    for (int64_t r = std::min(from, middle); r < rows && r <= std::max(middle, to); ++r) {
      double v = 0;
      if (r >= from && r <= middle)
        v = from == middle ? 1 : static_cast<double>(r - from) / static_cast<double>(middle - from);
      if (r >= middle && r < to) v = static_cast<double>(to - r) / static_cast<double>(to - middle);
      y.set_double(r * cols + c, v);
    }
  }
  return {};
}

// Leaves the edges of filter c in edge[0..3).
void emit_edges(EmitContext& context) {
  auto number = [](double v) { return c_literal(v, E::F64); };
  context.line("ptrdiff_t edge[3];");
  context.open("for (ptrdiff_t k = 0; k < 3; ++k)");
  context.line("const double mel = (double)(c + k) * ((high - low) / (double)(cols + 2)) + low;");
  context.line(fmt::format(
      "const double bin = floor((double)(length + 1) * ({0} * (pow({1}, mel / {2}) - 1)) / rate);",
      number(700), number(10), number(2595)));
  context.line("edge[k] = bin >= 0 && bin <= (double)length ? (ptrdiff_t)bin : length + 1;");
  context.close();
}

Status emit_mel(EmitContext& context) {
  MRVLC_TRY(require_widened_result(context));
  for (size_t i = 3; i < 5; ++i) MRVLC_TRY(require_widened(context, i));
  const std::string bins = int_operand(context, 0), length = int_operand(context, 1);
  context.fail_if(fmt::format("{0} < 0 || {1} < 0 || {1} > {2}", bins, length, kMaxExtent / 2));
  context.set_dims(0, {fmt::format("{} / 2 + 1", length), bins});
  std::string_view type = c_type(context.out_type(0).elem);
  auto mel = [&](size_t i) {
    return fmt::format("{} * log10(1 + (double){}[0] / {})", c_literal(2595.0, E::F64), context.in(i),
                       c_literal(700.0, E::F64));
  };
  Texts dims = out_sizes(context, 0);
  context.line(
      fmt::format("const ptrdiff_t rows = {}, cols = {}, length = (ptrdiff_t){};", dims[0], dims[1], length));
  context.line(fmt::format("const double rate = (double){}, low = {}, high = {};", int_operand(context, 2),
                           mel(3), mel(4)));
  context.line(fmt::format("for (ptrdiff_t i = 0; i < rows * cols; ++i) {}[i] = 0;", context.out(0)));
  context.open("for (ptrdiff_t c = 0; c < cols; ++c)");
  emit_edges(context);
  context.open("for (ptrdiff_t r = 0; r < rows; ++r)");
  context.line("double v = 0;");
  context.line("if (r >= edge[0] && r <= edge[1])");
  context.line("  v = edge[0] == edge[1] ? 1 : (double)(r - edge[0]) / (double)(edge[1] - edge[0]);");
  context.line("if (r >= edge[1] && r < edge[2]) v = (double)(edge[2] - r) / (double)(edge[2] - edge[1]);");
  context.line(fmt::format("{}[r * cols + c] = ({})v;", context.out(0), type));
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_MelWeightMatrix() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "MelWeightMatrix";
    d.since_min = 17;
    d.attrs = {{"output_datatype", ir::AttrKind::Type, ir::Attr(E::F32), false}};
    d.min_inputs = d.max_inputs = 5;
    d.types = kIndices;
    d.infer = infer_mel;
    d.infer_dynamic = infer_mel_dynamic;
    d.eval = eval_mel;
    d.emit = d.emit_dynamic = emit_mel;
    d.declined = "computed at compile time, or on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
