// DFT (ONNX DFT-20).
#include <algorithm>

#include "common/dims.h"
#include "signal/fft.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Before opset 20 the axis was an attribute, 1 by default.
Status upgrade_dft(RawNode& node) {
  if (node.opset >= 20) return {};
  ir::Attr axis = node.take("axis");
  const auto* given = std::get_if<int64_t>(&axis);
  if (ir::is_set(axis) && given == nullptr) return bad_attr("axis", "must be an integer");
  node.add_constant_input(2, Tensor::of<int64_t>(E::I64, {}, {given == nullptr ? 1 : *given}));
  return {};
}

struct DftForm {
  bool inverse = false, onesided = false;
  int64_t rank = 0, parts = 1, out_parts = 2;  // parts: 1 real, 2 complex

  bool to_real() const { return inverse && onesided; }
  int64_t default_length(int64_t dim) const { return to_real() ? 2 * (dim - 1) : dim; }
  int64_t result(int64_t length) const { return onesided && !inverse ? length / 2 + 1 : length; }
};

Result<DftForm> dft_form(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2));
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (!context.has(i)) continue;
    MRVLC_TRY(check_elem(context, i, kIndices));
    if (context.type(i).rank() > 1 || context.type(i).elements() != 1)
      return bad_operands(fmt::format("input {} must be one number", i));
  }
  DftForm f;
  f.inverse = context.int_attr("inverse") != 0;
  f.onesided = context.int_attr("onesided") != 0;
  f.rank = context.type(0).rank();
  f.parts = context.type(0).shape.back();
  f.out_parts = f.to_real() ? 1 : 2;
  if ((f.parts != 1 && f.parts != 2) || context.type(0).is_dynamic(f.rank - 1))
    return bad_operands("the last dimension must be 1 (real) or 2 (complex)");
  if (f.onesided && !f.inverse && f.parts == 2) return bad_attr("onesided", "is set for complex data");
  return f;
}

// The axis when it is known, -1 when it is not.
Result<int64_t> dft_axis(const InferContext& context, const DftForm& form) {
  int64_t axis = -2;
  if (context.has(2)) {
    if (context.constant(2) == nullptr) return int64_t{-1};
    MRVLC_ASSIGN(axis, known_int(context, 2, "axis"));
  }
  MRVLC_ASSIGN(axis, normalize_axis(axis, form.rank));
  if (axis == form.rank - 1) return bad_operands("the axis is the one of real and imaginary parts");
  return axis;
}

// Bound of the result along dimension d when the transform runs along it.
Result<int64_t> dft_bound(const InferContext& context, const DftForm& form, int64_t d) {
  int64_t length = form.default_length(context.type(0).shape[at(d)]);
  if (context.has(1)) {
    if (context.constant(1) == nullptr) return kNoBound;
    MRVLC_ASSIGN(length, known_int(context, 1, "dft_length"));
  }
  if (length < 1) return bad_operands(fmt::format("a transform of length {}", length));
  MRVLC_TRY(check_dim(length, "the length"));
  return form.result(length);
}

// The result has the data's shape whatever the axis is.
bool keeps_shape(const InferContext& context, const DftForm& form) {
  return !form.onesided && !context.has(1) && context.type(0).elements() != 0;
}

Result<std::vector<TensorType>> infer_dft(const InferContext& context) {
  MRVLC_ASSIGN(DftForm form, dft_form(context));
  MRVLC_ASSIGN(int64_t axis, dft_axis(context, form));
  Shape shape = context.type(0).shape;
  shape.back() = form.out_parts;
  if (axis < 0 && !keeps_shape(context, form)) MRVLC_TRY(known_int(context, 2, "axis"));
  if (axis >= 0) {
    if (context.has(1)) MRVLC_TRY(known_int(context, 1, "dft_length"));
    MRVLC_ASSIGN(shape[at(axis)], dft_bound(context, form, axis));
  }
  return one_type(context.type(0).elem, shape);
}

Result<std::vector<TensorType>> infer_dft_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(DftForm form, dft_form(context));
  MRVLC_ASSIGN(int64_t axis, dft_axis(context, form));
  TensorType type{context.type(0).elem, context.type(0).shape};
  type.dynamic = context.type(0).dynamic;
  type.shape.back() = form.out_parts;
  for (int64_t d = 0; d + 1 < form.rank; ++d) {
    if (axis >= 0 && axis != d) continue;
    int64_t& dim = type.shape[at(d)];
    // An axis too short to be transformed is not the one.
    if (axis < 0 && !context.has(1) && dim != kNoBound && form.default_length(dim) < 1) continue;
    MRVLC_ASSIGN(int64_t bound, dft_bound(context, form, d));
    bool known = bound != kNoBound && !type.is_dynamic(d) && (axis == d || bound == dim);
    if (axis < 0 && bound != kNoBound) bound = dim == kNoBound ? kNoBound : std::max(bound, dim);
    if (!known) type.dynamic |= 1u << d;
    dim = bound;
  }
  return std::vector<TensorType>{type};
}

struct DftSizes {
  int64_t outer = 1, dim = 0, inner = 1, length = 0, result = 0;
};

Result<DftSizes> dft_sizes(const InferContext& context, const DftForm& form) {
  DftSizes s;
  const Shape& x = context.type(0).shape;
  MRVLC_ASSIGN(int64_t axis, dft_axis(context, form));
  s.dim = x[at(axis)];
  s.outer = element_count(Shape(x.begin(), x.begin() + axis));
  s.inner = element_count(Shape(x.begin() + axis + 1, x.end() - 1));
  s.length = form.default_length(s.dim);
  if (context.has(1)) {
    MRVLC_ASSIGN(s.length, known_int(context, 1, "dft_length"));
  }
  s.result = form.result(s.length);
  return s;
}

// The line's first numbers, zeros after them; half of a symmetric spectrum is completed.
void load_line(const Tensor& x, const DftForm& form, const DftSizes& s, int64_t first,
               std::vector<double>& a) {
  std::fill(a.begin(), a.end(), 0.0);
  int64_t given = std::min(s.dim, form.to_real() ? s.length / 2 + 1 : s.length);
  for (int64_t k = 0; k < given; ++k) {
    int64_t i = (first + k * s.inner) * form.parts;
    a[at(2 * k)] = x.as_double(i);
    if (form.parts == 2) a[at(2 * k + 1)] = x.as_double(i + 1);
  }
  if (!form.to_real()) return;
  a[1] = 0;
  if (s.length % 2 == 0) a[at(s.length + 1)] = 0;
  for (int64_t k = 1; 2 * k < s.length; ++k) {
    a[at(2 * (s.length - k))] = a[at(2 * k)];
    a[at(2 * (s.length - k) + 1)] = -a[at(2 * k + 1)];
  }
}

Status eval_dft(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(DftForm form, dft_form(view));
  MRVLC_ASSIGN(DftSizes s, dft_sizes(view, form));
  if (context.out().elements() == 0) return {};
  std::vector<double> a(at(2 * s.length)), b(a.size()), w = fft_twiddles(s.length, form.inverse);
  double scale = form.inverse ? 1 / static_cast<double>(s.length) : 1;
  for (int64_t line = 0; line < s.outer * s.inner; ++line) {
    int64_t o = line / s.inner, i = line % s.inner;
    load_line(context.in(0), form, s, o * s.dim * s.inner + i, a);
    fft(a, b, w);
    for (int64_t k = 0; k < s.result; ++k) {
      for (int64_t part = 0; part < form.out_parts; ++part) {
        context.out().set_double(((o * s.result + k) * s.inner + i) * form.out_parts + part,
                                 a[at(2 * k + part)] * scale);
      }
    }
  }
  return {};
}

// -- C

// Declares outer, dim and inner.
void emit_sizes(EmitContext& context, int64_t axis) {
  Texts x = in_sizes(context, 0);
  if (axis >= 0) {
    context.line(fmt::format("const ptrdiff_t outer = {}, dim = {}, inner = {};",
                             size_product(x, 0, at(axis)), x[at(axis)],
                             size_product(x, at(axis) + 1, x.size() - 1)));
    return;
  }
  size_t lines = x.size() - 1;
  context.line(
      fmt::format("const ptrdiff_t dims[{}] = {};", lines, list_text(Texts(x.begin(), x.end() - 1))));
  context.line(fmt::format("ptrdiff_t axis = {}, outer = 1, inner = 1;",
                           axis_text(int_operand(context, 2), static_cast<int64_t>(x.size()))));
  context.line(fmt::format("if (axis < 0) axis += {};", x.size()));
  context.line(fmt::format("axis = axis < 0 ? 0 : axis < {0} ? axis : {0};", lines - 1));
  context.line("for (ptrdiff_t d = 0; d < axis; ++d) outer *= dims[d];");
  context.line(fmt::format("for (ptrdiff_t d = axis + 1; d < {}; ++d) inner *= dims[d];", lines));
  context.line("const ptrdiff_t dim = dims[axis];");
}

std::string length_text(EmitContext& context, const DftForm& form) {
  if (context.has(1)) return fmt::format("(ptrdiff_t){}", int_operand(context, 1));
  return form.to_real() ? "2 * (dim - 1)" : "dim";
}

void emit_load(EmitContext& context, const DftForm& form, std::string_view type) {
  std::string parts = fmt::format("x[k * inner * {}", form.parts);
  context.line(fmt::format("const {}* x = {} + (line / inner * dim * inner + line % inner) * {};", type,
                           context.in(0), form.parts));
  context.line(fmt::format("const ptrdiff_t half = {};", form.to_real() ? "n / 2 + 1" : "n"));
  context.open("for (ptrdiff_t k = 0; k < half; ++k)");
  context.line(fmt::format("a[2 * k] = k < dim ? {}] : 0;", parts));
  context.line(form.parts == 2 ? fmt::format("a[2 * k + 1] = k < dim ? {} + 1] : 0;", parts)
                               : std::string("a[2 * k + 1] = 0;"));
  context.close();
  if (!form.to_real()) return;
  context.line("a[1] = 0;");
  context.line("if (n % 2 == 0) a[n + 1] = 0;");
  context.open("for (ptrdiff_t k = 1; 2 * k < n; ++k)");
  context.line("a[2 * (n - k)] = a[2 * k];");
  context.line("a[2 * (n - k) + 1] = -a[2 * k + 1];");
  context.close();
}

void emit_lines(EmitContext& context, const DftForm& form, const FftCode& code) {
  std::string_view type = c_type(code.elem);
  emit_fft_start(context, code);
  if (form.inverse) context.line(fmt::format("const {0} scale = 1 / ({0})n;", type));
  context.open("for (ptrdiff_t line = 0; line < outer * inner; ++line)");
  emit_load(context, form, type);
  emit_fft(context, code);
  context.line(fmt::format("{}* y = {} + (line / inner * count * inner + line % inner) * {};", type,
                           context.out(0), form.out_parts));
  context.open("for (ptrdiff_t k = 0; k < count; ++k)");
  for (int64_t part = 0; part < form.out_parts; ++part) {
    context.line(fmt::format("y[k * inner * {}{}] = a[2 * k{}]{};", form.out_parts, part == 0 ? "" : " + 1",
                             part == 0 ? "" : " + 1", form.inverse ? " * scale" : ""));
  }
  context.close();
  context.close();
}

// Bound of the transform's length, from that of the result.
int64_t most_numbers(EmitContext& context, const DftForm& form, int64_t axis) {
  const Shape& y = context.out_type(0).shape;
  int64_t most = axis >= 0 ? y[at(axis)] : *std::max_element(y.begin(), y.end() - 1);
  return form.onesided && !form.inverse ? 2 * most - 1 : most;
}

Status emit_dft(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(DftForm form, dft_form(view));
  MRVLC_ASSIGN(int64_t axis, dft_axis(view, form));
  FftCode code{context.in_type(0).elem, -1, most_numbers(context, form, axis), form.inverse};
  if (!is_dynamic(context)) {
    if (context.out_type(0).elements() == 0) return {};
    if (axis >= 0) {
      MRVLC_ASSIGN(DftSizes s, dft_sizes(view, form));
      code.known = s.length;
    }
  }
  if (axis < 0) {
    std::string a = int_operand(context, 2);
    context.fail_if(fmt::format("{0} < -{1} || {0} > {2} || {0} == -1", a, form.rank, form.rank - 2));
  }
  emit_sizes(context, axis);
  if (context.has(1))
    context.fail_if(fmt::format("{0} < 1 || {0} > {1} || {0} > PTRDIFF_MAX / 2", int_operand(context, 1),
                                kMaxExtent / 2));
  context.line(fmt::format("const ptrdiff_t n = {};", length_text(context, form)));
  context.fail_if("n < 1");
  context.line(
      fmt::format("const ptrdiff_t count = {};", form.onesided && !form.inverse ? "n / 2 + 1" : "n"));
  Texts dims;
  for (int64_t d = 0; d + 1 < form.rank; ++d) {
    std::string own = context.in_dim(0, d);
    dims.push_back(axis >= 0 ? (axis == d ? "count" : own) : fmt::format("axis == {} ? count : {}", d, own));
  }
  dims.push_back(fmt::format("{}", form.out_parts));
  context.set_dims(0, dims);
  emit_lines(context, form, code);
  return {};
}

}  // namespace

const OpDef& def_DFT() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "DFT";
    d.since_min = 17;
    d.attrs = {with_int("inverse", 0), with_int("onesided", 0)};
    d.max_inputs = 3;
    d.types = kFloats;
    d.upgrade = upgrade_dft;
    d.infer = infer_dft;
    d.infer_dynamic = infer_dft_dynamic;
    d.eval = eval_dft;
    d.emit = d.emit_dynamic = emit_dft;
    d.declined = "the accelerator has no Fourier transform";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
