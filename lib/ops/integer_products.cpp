// ConvInteger and MatMulInteger (ONNX -10): 8-bit operands less their zero points, sums in 32 bits that wrap.
// What lies in the padding of a convolution is the zero point, so it adds nothing.
#include "emit_util.h"
#include "matmul_shape.h"
#include "mrvlc/support/diag/ops.h"
#include "ref_conv.h"
#include "ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr TypeSet kBytes = types_of({E::U8, E::I8});

// The operator without zero points, as the shape rules of the plain one want it.
InferContext operands_only(InferContext context) {
  context.types.resize(2);
  context.constants.resize(2);
  return context;
}

// Zero point `i` belongs to operand i - 2: one element, or one for each of `count` rows, columns or channels.
Status check_zero_point(const InferContext& context, size_t i, int64_t count) {
  if (!context.has(i)) return {};
  MRVLC_TRY(check_same_elem(context, i, i - 2));
  const TensorType& zero = context.type(i);
  if (zero.elements() == 1 || (zero.rank() == 1 && zero.elements() == count)) return {};
  return make_diag<DiagCode::MRV0205>(to_string(context.type(i - 2).shape), to_string(zero.shape),
                                      "the zero point has another size");
}

Result<std::vector<TensorType>> infer_conv_integer(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, kBytes));
  MRVLC_ASSIGN(ConvParams p, conv_params(operands_only(context)));
  MRVLC_TRY(check_zero_point(context, 2, 1));
  MRVLC_TRY(check_zero_point(context, 3, p.out_channels));
  Shape shape{p.batch, p.out_channels};
  shape.insert(shape.end(), p.output.begin(), p.output.end());
  return one_type(E::I32, std::move(shape));
}

Result<std::vector<TensorType>> infer_matmul_integer(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, kBytes));
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(operands_only(context)));
  MRVLC_TRY(check_zero_point(context, 2, s.m));
  MRVLC_TRY(check_zero_point(context, 3, s.n));
  return one_type(E::I32, s.result);
}

// Zero point of row, column or channel k.
double zero_point(const EvalContext& context, size_t i, int64_t k) {
  if (!context.has(i)) return 0;
  return context.in(i).as_double(context.in(i).elements() == 1 ? 0 : k);
}

// Elements [first, first + count) of operand i less the zero points; element j has that of k(j).
template <class K>
void load_centred(const EvalContext& context, size_t i, int64_t first, int64_t count, double* out, K k) {
  load_doubles(context.in(i), first, count, out);
  for (int64_t j = 0; j < count; ++j) out[j] -= zero_point(context, i + 2, k(first + j));
}

Status eval_conv_integer(const EvalContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_params(operands_only(context.infer_view())));
  const int64_t filter = std::max<int64_t>(context.in(1).elements() / p.out_channels, 1);
  ConvOperands operands;
  operands.data = [&](int64_t first, int64_t count, double* out) {
    load_centred(context, 0, first, count, out, [](int64_t) { return 0; });
  };
  operands.weights = [&](int64_t first, int64_t count, double* out) {
    load_centred(context, 1, first, count, out, [&](int64_t j) { return j / filter; });
  };
  operands.bias = [](int64_t) { return 0.0; };
  ref_conv(p, operands, context.out());
  return {};
}

Status eval_matmul_integer(const EvalContext& context) {
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(operands_only(context.infer_view())));
  std::vector<double> a(at(s.m * s.k)), b(at(s.k * s.n)), y(at(s.m * s.n));
  for (int64_t i = 0; i < s.batches; ++i) {
    load_centred(context, 0, s.a_matrix(i) * s.m * s.k, s.m * s.k, a.data(),
                 [&](int64_t j) { return j / s.k % s.m; });
    load_centred(context, 1, s.b_matrix(i) * s.k * s.n, s.k * s.n, b.data(),
                 [&](int64_t j) { return j % s.n; });
    y.assign(y.size(), 0.0);
    ref_gemm(s.m, s.n, s.k, a.data(), s.k, b.data(), s.n, y.data(), s.n);
    store_doubles(context.out(), i * s.m * s.n, s.m * s.n, y.data());
  }
  return {};
}

// Zero point `i` at `index` as a C expression of type int32_t.
std::string zero_text(const EmitContext& context, size_t i, std::string_view index) {
  if (!context.has(i)) return "0";
  return fmt::format("{}[{}]", context.in(i), context.in_type(i).elements() == 1 ? "0" : index);
}

// Input position along dimension d, guarded: leaves a loop over the kernel and an `if` open.
void open_tap(EmitContext& context, const ConvParams& p, size_t d) {
  context.loop(fmt::format("k{}", d), p.kernel[d]);
  context.line(fmt::format("const ptrdiff_t i{0} = o{0} * {1} + k{0} * {2} - {3};", d, p.strides[d],
                           p.dilations[d], signed_text(p.pads_begin[d])));
  context.open(fmt::format("if (i{0} >= 0 && i{0} < {1})", d, p.input[d]));
}

// Row-major index of dimensions `prefix`0, `prefix`1, ... under `outer`.
std::string nested_index(std::string outer, std::string_view prefix, const std::vector<int64_t>& sizes) {
  for (size_t d = 0; d < sizes.size(); ++d)
    outer = fmt::format("({}) * {} + {}{}", outer, sizes[d], prefix, d);
  return outer;
}

Status emit_conv_integer(EmitContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_params(operands_only(emit_view(context))));
  const size_t rank = p.kernel.size();
  const int64_t channels = p.in_channels / p.group;
  if (context.out_type(0).elements() == 0) return {};
  context.loop("n", p.batch);
  context.loop("m", p.out_channels);
  context.line(
      fmt::format("const int32_t zx = {}, zw = {};", zero_text(context, 2, "0"), zero_text(context, 3, "m")));
  context.line(fmt::format("const ptrdiff_t first = n * {} + m / {} * {};", p.in_channels,
                           p.out_channels / p.group, channels));
  for (size_t d = 0; d < rank; ++d) context.loop(fmt::format("o{}", d), p.output[d]);
  context.line("uint32_t sum = 0;");
  context.loop("c", channels);
  for (size_t d = 0; d < rank; ++d) open_tap(context, p, d);
  context.line(fmt::format("sum += (uint32_t)((int32_t)({}[{}] - zx) * (int32_t)({}[{}] - zw));",
                           context.in(0), nested_index("first + c", "i", p.input), context.in(1),
                           nested_index(fmt::format("m * {} + c", channels), "k", p.kernel)));
  for (size_t d = 0; d < 2 * rank + 1; ++d) context.close();
  context.line(fmt::format("{}[{}] = (int32_t)sum;", context.out(0),
                           nested_index(fmt::format("n * {} + m", p.out_channels), "o", p.output)));
  for (size_t d = 0; d < rank + 2; ++d) context.close();
  return {};
}

// The product of one pair of matrices at elements a0, b0, giving those from y0 on.
void emit_matrices(EmitContext& context, const MatMulShape& s, int64_t a0, int64_t b0, int64_t y0) {
  context.loop("i", s.m);
  context.loop("j", s.n);
  context.line(
      fmt::format("const int32_t za = {}, zb = {};", zero_text(context, 2, "i"), zero_text(context, 3, "j")));
  context.line("uint32_t sum = 0;");
  context.loop("k", s.k);
  context.line(fmt::format(
      "sum += (uint32_t)((int32_t)({}[{} + i * {} + k] - za) * (int32_t)({}[{} + k * {} + j] - zb));",
      context.in(0), a0, s.k, context.in(1), b0, s.n));
  context.close();
  context.line(fmt::format("{}[{} + i * {} + j] = (int32_t)sum;", context.out(0), y0, s.n));
  context.close();
  context.close();
}

Status emit_matmul_integer(EmitContext& context) {
  constexpr int64_t kMostBatches = 64;  // each is a loop nest of its own
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(operands_only(emit_view(context))));
  if (context.out_type(0).elements() == 0) return {};
  if (s.batches > kMostBatches)
    return bad_operands(fmt::format("{} matrices; C is emitted for at most {}", s.batches, kMostBatches));
  for (int64_t i = 0; i < s.batches; ++i)
    emit_matrices(context, s, s.a_matrix(i) * s.m * s.k, s.b_matrix(i) * s.k * s.n, i * s.m * s.n);
  return {};
}

OpDef integer_product(std::string_view name) {
  OpDef d;
  d.name = name;
  d.since_min = 10;
  d.min_inputs = 2;
  d.max_inputs = 4;
  d.types = kBytes;
  d.declined = "accelerator: quantised layers are taken in their QDQ form";
  return d;
}

}  // namespace

const OpDef& def_ConvInteger() {
  static const OpDef def = [] {
    OpDef d = integer_product("ConvInteger");
    d.attrs = {with_string("auto_pad", "NOTSET"),
               optional("dilations", ir::AttrKind::Ints),
               with_int("group", 1),
               optional("kernel_shape", ir::AttrKind::Ints),
               optional("pads", ir::AttrKind::Ints),
               optional("strides", ir::AttrKind::Ints)};
    d.infer = infer_conv_integer;
    d.eval = eval_conv_integer;
    d.emit = emit_conv_integer;
    return d;
  }();
  return def;
}

const OpDef& def_MatMulInteger() {
  static const OpDef def = [] {
    OpDef d = integer_product("MatMulInteger");
    d.infer = infer_matmul_integer;
    d.eval = eval_matmul_integer;
    d.emit = emit_matmul_integer;
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
