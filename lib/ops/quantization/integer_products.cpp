// Reference and C of integer products; ConvInteger and MatMulInteger (ONNX -10), which give the sums.
#include "quantization/integer_products.h"

#include "common/convert.h"
#include "common/emit_util.h"
#include "common/lanes.h"
#include "macs.h"
#include "mrvlc/support/diag/ops.h"
#include "product/ref_gemm.h"
#include "window/conv_dynamic.h"
#include "window/ref_conv.h"
#include "window/window_attrs.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// -- reference

// Zero point of row, column or channel k.
double zero_point(const EvalContext& context, size_t i, int64_t k) {
  if (!context.has(i)) return 0;
  return context.in(i).as_double(context.in(i).elements() == 1 ? 0 : k);
}

// Elements [first, first + count) of an operand less the zero points; element j has that of k(j).
template <class K>
void load_centred(const EvalContext& context, Centred operand, int64_t first, int64_t count, double* out,
                  K k) {
  load_doubles(context.in(operand.data), first, count, out);
  for (int64_t j = 0; j < count; ++j) out[j] -= zero_point(context, operand.zero, k(first + j));
}

// -- C

// Zero point `i` at `index` as a C expression of its number.
std::string zero_text(EmitContext& context, size_t i, std::string_view index, const std::string& count) {
  if (!context.has(i)) return "0";
  return decoded_text(context, one_or_each(context, i, index, count), context.in_type(i).elem);
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

// The first element of the matrix of batch t: a multiple of t, 0, or looked up.
std::string batch_offset(EmitContext& context, int64_t batches, int64_t size,
                         const std::function<int64_t(int64_t)>& first) {
  bool each = true, same = true;
  for (int64_t i = 0; i < batches; ++i) {
    each = each && first(i) == i * size;
    same = same && first(i) == 0;
  }
  if (same) return "0";
  if (each) return fmt::format("t * {}", size);
  Tensor table(TensorType{E::I64, {batches}});
  for (int64_t i = 0; i < batches; ++i) table.set_int(i, first(i));
  return fmt::format("{}[t]", context.table(table));
}

// Opens the loops over pairs of matrices: t is the number of the pair, and `a` and `b` are its first
// elements.
Status open_matrices(EmitContext& context, const MatMulText& s, const IntegerProduct& product) {
  auto declare = [&](std::string_view name, size_t i, const std::string& first) {
    context.line(
        fmt::format("const {}* {} = {} + {};", c_type(context.in_type(i).elem), name, context.in(i), first));
  };
  if (is_dynamic(context)) {
    s.open_batches(context);
    context.line(fmt::format("const ptrdiff_t t = {};", s.result_matrix()));
    declare("a", product.a.data, fmt::format("({}) * {}", s.matrix(s.a_strides), times(s.m, s.k)));
    declare("b", product.b.data, fmt::format("({}) * {}", s.matrix(s.b_strides), times(s.k, s.n)));
    return {};
  }
  MRVLC_ASSIGN(MatMulShape shape, matmul_shape(product.operands(emit_view(context))));
  const int64_t a = shape.m * shape.k, b = shape.k * shape.n;
  context.loop("t", shape.batches);
  declare("a", product.a.data,
          batch_offset(context, shape.batches, a, [&](int64_t i) { return shape.a_matrix(i) * a; }));
  declare("b", product.b.data,
          batch_offset(context, shape.batches, b, [&](int64_t i) { return shape.b_matrix(i) * b; }));
  return {};
}

// The statement that adds a product of elements less zero points, za and zb, to `sum`.
std::string sum_step(EmitContext& context, const IntegerProduct& product, const std::string& a,
                     const std::string& b) {
  const std::string x = decoded_text(context, a, context.in_type(product.a.data).elem),
                    y = decoded_text(context, b, context.in_type(product.b.data).elem);
  if (zero_type(context, product) == "double") {
    return fmt::format("sum += ((double){} - za) * ((double){} - zb);", x, y);
  }
  return fmt::format("sum += (uint32_t)((int32_t)({} - za) * (int32_t)({} - zb));", x, y);
}

// -- the operators

Result<std::vector<TensorType>> infer_conv_integer(const InferContext& context) {
  MRVLC_ASSIGN(ConvParams p, integer_conv_params(context, kConvInteger));
  Shape shape{p.batch, p.out_channels};
  shape.insert(shape.end(), p.output.begin(), p.output.end());
  return one_type(E::I32, std::move(shape));
}

Result<std::vector<TensorType>> infer_matmul_integer(const InferContext& context) {
  MRVLC_ASSIGN(MatMulShape s, integer_matmul_shape(context, kConvInteger));
  return one_type(E::I32, s.result);
}

Status eval_conv_integer(const EvalContext& context) {
  MRVLC_ASSIGN(ConvParams p, integer_conv_params(context.infer_view(), kConvInteger));
  context.out() = eval_integer_conv(context, p, kConvInteger);
  return {};
}

Status eval_matmul_integer(const EvalContext& context) {
  MRVLC_ASSIGN(MatMulShape s, integer_matmul_shape(context.infer_view(), kConvInteger));
  context.out() = eval_integer_matmul(context, s, kConvInteger);
  return {};
}

StoreSum store_plain(EmitContext& context) {
  return [&context](const std::string& index) {
    context.line(fmt::format("{}[{}] = (int32_t)sum;", context.out(0), index));
  };
}

Status emit_conv_integer(EmitContext& context) {
  MRVLC_ASSIGN(ConvParams p, integer_conv_params(emit_view(context), kConvInteger));
  emit_integer_conv(context, p, kConvInteger, store_plain(context));
  return {};
}

Status emit_dynamic_conv_integer(EmitContext& context) {
  return emit_dynamic_integer_product(context, kConvInteger, [&] { return store_plain(context); });
}

Status emit_matmul_integer(EmitContext& context) {
  return emit_integer_matmul(context, MatMulText(context), kConvInteger, store_plain(context));
}

OpDef integer_product(std::string_view name) {
  OpDef d;
  d.name = name;
  d.since_min = 10;
  d.min_inputs = 2;
  d.max_inputs = 4;
  d.types = kBytes;
  return d;
}

}  // namespace

InferContext IntegerProduct::operands(InferContext context) const {
  context.types = {context.types[a.data], context.types[b.data]};
  context.constants = {context.constant(a.data), context.constant(b.data)};
  return context;
}

Status check_one_or_each(const InferContext& context, size_t i, size_t of, int64_t count) {
  if (!context.has(i)) return {};
  const TensorType& type = context.type(i);
  if (type.elements() == 1 || (type.rank() == 1 && type.elements() == count)) return {};
  return make_diag<DiagCode::MRV0205>(
      to_string(context.type(of).shape), to_string(type.shape),
      fmt::format("input {} must be one element or a vector of {}", i, count));
}

namespace {

Status check_centred(const InferContext& context, Centred operand, TypeSet types, int64_t count) {
  MRVLC_TRY(check_elem(context, operand.data, types));
  if (context.has(operand.zero)) MRVLC_TRY(check_same_elem(context, operand.zero, operand.data));
  return check_one_or_each(context, operand.zero, operand.data, count);
}

}  // namespace

Result<ConvParams> integer_conv_params(const InferContext& context, const IntegerProduct& product) {
  MRVLC_ASSIGN(ConvParams p, conv_params(product.operands(context)));
  MRVLC_TRY(check_centred(context, product.a, product.types, 1));
  MRVLC_TRY(check_centred(context, product.b, product.types, p.out_channels));
  return p;
}

Result<MatMulShape> integer_matmul_shape(const InferContext& context, const IntegerProduct& product) {
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(product.operands(context)));
  MRVLC_TRY(check_centred(context, product.a, product.types, s.m));
  MRVLC_TRY(check_centred(context, product.b, product.types, s.n));
  return s;
}

Tensor eval_integer_conv(const EvalContext& context, const ConvParams& p, const IntegerProduct& product) {
  const int64_t filter =
      std::max<int64_t>(context.in(product.b.data).elements() / std::max<int64_t>(p.out_channels, 1), 1);
  ConvOperands operands;
  operands.data = [&](int64_t first, int64_t count, double* out) {
    load_centred(context, product.a, first, count, out, [](int64_t) { return 0; });
  };
  operands.weights = [&](int64_t first, int64_t count, double* out) {
    load_centred(context, product.b, first, count, out, [&](int64_t j) { return j / filter; });
  };
  operands.bias = [](int64_t) { return 0.0; };
  Tensor sums(TensorType{E::I32, context.out().shape()});
  ref_conv(p, operands, sums);
  return sums;
}

Tensor eval_integer_matmul(const EvalContext& context, const MatMulShape& s, const IntegerProduct& product) {
  const ElementType type =
      product.sum_type(context.in(product.a.data).elem(), context.in(product.b.data).elem());
  Tensor sums(TensorType{type, s.result});
  std::vector<double> a(at(s.m * s.k)), b(at(s.k * s.n)), y(at(s.m * s.n));
  for (int64_t i = 0; i < s.batches; ++i) {
    load_centred(context, product.a, s.a_matrix(i) * s.m * s.k, s.m * s.k, a.data(),
                 [&](int64_t j) { return j / s.k % s.m; });
    load_centred(context, product.b, s.b_matrix(i) * s.k * s.n, s.k * s.n, b.data(),
                 [&](int64_t j) { return j % s.n; });
    y.assign(y.size(), 0.0);
    ref_gemm(s.m, s.n, s.k, a.data(), s.k, b.data(), s.n, y.data(), s.n);
    store_doubles(sums, i * s.m * s.n, s.m * s.n, y.data());
  }
  return sums;
}

std::string_view zero_type(const EmitContext& context, const IntegerProduct& product) {
  const ElementType type =
      product.sum_type(context.in_type(product.a.data).elem, context.in_type(product.b.data).elem);
  return type == E::F64 ? "double" : "int32_t";
}

std::string one_or_each(EmitContext& context, size_t i, std::string_view index, const std::string& count) {
  if (!context.has(i)) return "0";
  const std::string given = product_text(in_dims(context, i));
  if (given == "1") return fmt::format("{}[0]", context.in(i));
  if (given == count) return fmt::format("{}[{}]", context.in(i), index);
  context.fail_if(fmt::format("{0} != 1 && {0} != {1}", given, count));
  return fmt::format("{}[{} == 1 ? 0 : {}]", context.in(i), given, index);
}

void emit_integer_conv(EmitContext& context, const ConvParams& p, const IntegerProduct& product,
                       const StoreSum& store) {
  const size_t rank = p.kernel.size();
  const int64_t channels = p.in_channels / p.group;
  if (context.out_type(0).elements() == 0) return;
  context.loop("n", p.batch);
  context.loop("m", p.out_channels);
  context.line(fmt::format("const int32_t zx = {}, zw = {};", zero_text(context, product.a.zero, "0", "1"),
                           zero_text(context, product.b.zero, "m", fmt::format("{}", p.out_channels))));
  context.line(fmt::format("const ptrdiff_t first = n * {} + m / {} * {};", p.in_channels,
                           p.out_channels / p.group, channels));
  for (size_t d = 0; d < rank; ++d) context.loop(fmt::format("o{}", d), p.output[d]);
  context.line("uint32_t sum = 0;");
  context.loop("c", channels);
  for (size_t d = 0; d < rank; ++d) open_tap(context, p, d);
  context.line(fmt::format("sum += (uint32_t)((int32_t)({}[{}] - zx) * (int32_t)({}[{}] - zw));",
                           context.in(product.a.data), nested_index("first + c", "i", p.input),
                           context.in(product.b.data),
                           nested_index(fmt::format("m * {} + c", channels), "k", p.kernel)));
  for (size_t d = 0; d < 2 * rank + 1; ++d) context.close();
  store(nested_index(fmt::format("n * {} + m", p.out_channels), "o", p.output));
  for (size_t d = 0; d < rank + 2; ++d) context.close();
}

Status emit_dynamic_integer_product(EmitContext& c, const IntegerProduct& p,
                                    const std::function<StoreSum()>& prepare) {
  std::string x = one_or_each(c, p.a.zero, "0", "1");
  std::string w = one_or_each(c, p.b.zero, "m", c.in_dim(p.b.data, 0));
  return emit_dynamic_integer_conv(c, {p.a.data, p.b.data, std::move(x), std::move(w)}, prepare);
}

Status emit_integer_matmul(EmitContext& context, const MatMulText& s, const IntegerProduct& product,
                           const StoreSum& store) {
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_TRY(open_matrices(context, s, product));
  const std::string zb = zero_text(context, product.b.zero, "j", s.n),
                    za = zero_text(context, product.a.zero, "i", s.m);
  const std::string_view zero = zero_type(context, product);
  open_loop(context, "i", s.m);
  open_loop(context, "j", s.n);
  context.line(fmt::format("const {0} za = ({0}){1}, zb = ({0}){2};", zero, za, zb));
  context.line(fmt::format("{} sum = 0;", zero == "double" ? "double" : "uint32_t"));
  open_loop(context, "k", s.k);
  context.line(
      sum_step(context, product, fmt::format("a[i * {} + k]", s.k), fmt::format("b[k * {} + j]", s.n)));
  context.close();
  store(fmt::format("(t * {} + i) * {} + j", s.m, s.n));
  for (int d = 0; d < 2; ++d) context.close();
  is_dynamic(context) ? s.close_batches(context) : context.close();
  return {};
}

const OpDef& def_ConvInteger() {
  static const OpDef def = [] {
    OpDef d = integer_product("ConvInteger");
    d.macs = conv_macs;
    d.attrs = conv_attrs();
    d.infer = infer_conv_integer;
    d.eval = eval_conv_integer;
    d.emit = emit_conv_integer;
    d.emit_dynamic = emit_dynamic_conv_integer;
    d.traits = {.work = Work::Windows, .quantised = true, .by_channel = true};
    d.accel = {LayerKind::IntegerConv};
    return d;
  }();
  return def;
}

const OpDef& def_MatMulInteger() {
  static const OpDef def = [] {
    OpDef d = integer_product("MatMulInteger");
    d.declined = "accelerator: products of integers are those of convolutions";
    d.macs = matmul_macs;
    d.infer = infer_matmul_integer;
    d.eval = eval_matmul_integer;
    d.emit = d.emit_dynamic = emit_matmul_integer;
    d.traits = {.work = Work::Product, .quantised = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
