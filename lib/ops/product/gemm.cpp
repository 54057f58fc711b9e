// Gemm and MatMul (ONNX Gemm-13, MatMul-13).
#include <algorithm>

#include "common/bulk.h"
#include "common/infer_util.h"
#include "macs.h"
#include "product/matmul_shape.h"
#include "product/plain_gemm.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr TypeSet kProductTypes = types_of({E::F32, E::F16, E::F64, E::BF16, E::I32, E::I64, E::U32, E::U64});

Status upgrade_gemm(RawNode& node) {
  node.take("broadcast");  // Gemm-6: without it C has the full shape, which broadcasts as well
  return {};
}

Result<std::vector<TensorType>> infer_gemm(const InferContext& context) {
  MRVLC_TRY(check_same_elem(context, 1));
  if (context.has(2)) MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_ASSIGN(GemmParams p, gemm_params(context));
  return one_type(context.type(0).elem, {p.m, p.n});
}

Result<std::vector<TensorType>> infer_matmul(const InferContext& context) {
  MRVLC_TRY(check_same_elem(context, 1));
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(context));
  return one_type(context.type(0).elem, s.result);
}

std::vector<double> loaded(const Tensor& tensor, int64_t first, int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  load_doubles(tensor, first, count, out.data());
  return out;
}

std::vector<double> transposed(const std::vector<double>& in, int64_t rows, int64_t cols) {
  std::vector<double> out(in.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) out[at(c * rows + r)] = in[at(r * cols + c)];
  }
  return out;
}

// Sums of integers wrap around; factors other than one compute in double.
Status integer_gemm(const EvalContext& context, const GemmParams& p) {
  const Tensor &a = context.in(0), &b = context.in(1);
  Shape strides = context.has(2) ? broadcast_strides(context.in(2).shape(), {p.m, p.n}) : Shape{0, 0};
  Tensor product(TensorType{a.elem(), {}});
  const double lowest = extreme_value(a.elem(), false).as_double(0),
               highest = extreme_value(a.elem(), true).as_double(0);
  for (int64_t i = 0; i < p.m * p.n; ++i) {
    const int64_t row = i / p.n, col = i % p.n, other = row * strides[0] + col * strides[1];
    uint64_t sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum += static_cast<uint64_t>(a.as_int(p.trans_a ? k * p.m + row : row * p.k + k)) *
             static_cast<uint64_t>(b.as_int(p.trans_b ? col * p.k + k : k * p.n + col));
    }
    product.set_int(0, static_cast<int64_t>(sum));
    const bool has_c = context.has(2) && p.beta != 0;
    if (p.alpha == 1 && (!has_c || p.beta == 1)) {
      if (has_c) sum += static_cast<uint64_t>(context.in(2).as_int(other));
      context.out().set_int(i, static_cast<int64_t>(sum));
      continue;
    }
    const double c = has_c ? static_cast<double>(p.beta) * context.in(2).as_double(other) : 0;
    const double v =
        std::clamp(static_cast<double>(p.alpha) * product.as_double(0) + c, lowest, highest);  // NaN stays
    store_run(context.out(), i, 1, 1, &v);
  }
  return {};
}

Status eval_gemm(const EvalContext& context) {
  MRVLC_ASSIGN(GemmParams p, gemm_params(context.infer_view()));
  if (is_integer(context.in(0).elem())) return integer_gemm(context, p);
  std::vector<double> a = loaded(context.in(0), 0, p.m * p.k), b = loaded(context.in(1), 0, p.k * p.n);
  if (p.trans_a) a = transposed(a, p.k, p.m);
  if (p.trans_b) b = transposed(b, p.n, p.k);
  std::vector<double> y(at(p.m * p.n));
  ref_gemm(p.m, p.n, p.k, a.data(), p.k, b.data(), p.n, y.data(), p.n);
  for (double& v : y) v *= static_cast<double>(p.alpha);
  if (context.has(2) && p.beta != 0) {
    Shape strides = broadcast_strides(context.in(2).shape(), {p.m, p.n});
    for (int64_t i = 0; i < p.m * p.n; ++i) {
      y[at(i)] +=
          static_cast<double>(p.beta) * context.in(2).as_double(i / p.n * strides[0] + i % p.n * strides[1]);
    }
  }
  store_doubles(context.out(), 0, p.m * p.n, y.data());
  return {};
}

// Integers wrap around, as in two's complement of the type's width.
void integer_product(const MatMulShape& s, const Tensor& a, const Tensor& b, int64_t a0, int64_t b0,
                     int64_t y0, Tensor& y) {
  for (int64_t i = 0; i < s.m * s.n; ++i) {
    uint64_t sum = 0;
    for (int64_t p = 0; p < s.k; ++p) {
      sum += static_cast<uint64_t>(a.as_int(a0 + i / s.n * s.k + p)) *
             static_cast<uint64_t>(b.as_int(b0 + p * s.n + i % s.n));
    }
    y.set_int(y0 + i, static_cast<int64_t>(sum));
  }
}

Status eval_matmul(const EvalContext& context) {
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(context.infer_view()));
  bool integers = is_integer(context.in(0).elem());
  std::vector<double> y(at(s.m * s.n));
  for (int64_t i = 0; i < s.batches; ++i) {
    int64_t a0 = s.a_matrix(i) * s.m * s.k, b0 = s.b_matrix(i) * s.k * s.n, y0 = i * s.m * s.n;
    if (integers) {
      integer_product(s, context.in(0), context.in(1), a0, b0, y0, context.out());
      continue;
    }
    std::vector<double> a = loaded(context.in(0), a0, s.m * s.k), b = loaded(context.in(1), b0, s.k * s.n);
    y.assign(y.size(), 0.0);
    ref_gemm(s.m, s.n, s.k, a.data(), s.k, b.data(), s.n, y.data(), s.n);
    store_doubles(context.out(), y0, s.m * s.n, y.data());
  }
  return {};
}

}  // namespace

const OpDef& def_Gemm() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Gemm";
    d.macs = gemm_macs;
    d.traits = {.work = Work::Product, .sums_products = true, .passes_size_on = true};
    d.attrs = {with_float("alpha", 1), with_float("beta", 1), with_int("transA", 0), with_int("transB", 0)};
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = kProductTypes;
    d.upgrade = upgrade_gemm;
    d.infer = infer_gemm;
    d.eval = eval_gemm;
    d.emit_kernel = "gemm";
    d.emit = d.emit_dynamic = emit_plain_gemm;
    d.accel = {LayerKind::Fc};
    return d;
  }();
  return def;
}

const OpDef& def_MatMul() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "MatMul";
    d.macs = matmul_macs;
    d.traits = {.work = Work::Product, .sums_products = true, .passes_size_on = true};
    d.min_inputs = d.max_inputs = 2;
    d.types = kProductTypes;
    d.infer = infer_matmul;
    d.eval = eval_matmul;
    d.emit_kernel = "matmul";
    d.emit = d.emit_dynamic = emit_plain_matmul;
    d.accel = {LayerKind::Matmul, LayerKind::Fc};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
