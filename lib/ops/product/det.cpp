// Det (ONNX Det-22): determinants of square matrices, by elimination with partial pivoting.
#include <algorithm>
#include <cmath>

#include "common/dims.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_det(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2));
  const Shape& x = context.type(0).shape;
  if (x.back() != x[x.size() - 2])
    return bad_operands(fmt::format("matrices of {} are not square", to_string(x)));
  return one_type(context.type(0).elem, Shape(x.begin(), x.end() - 2));
}

double determinant(std::vector<double>& a, size_t n) {
  double det = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; ++r) {
      if (std::fabs(a[r * n + k]) > std::fabs(a[pivot * n + k])) pivot = r;
    }
    if (pivot != k) {
      std::swap_ranges(a.begin() + static_cast<ptrdiff_t>(k * n),
                       a.begin() + static_cast<ptrdiff_t>(k * n + n),
                       a.begin() + static_cast<ptrdiff_t>(pivot * n));
      det = -det;
    }
    double p = a[k * n + k];
    det *= p;
    if (p == 0) return det;
    for (size_t r = k + 1; r < n; ++r) {
      double factor = a[r * n + k] / p;
      for (size_t c = k + 1; c < n; ++c) a[r * n + c] -= factor * a[k * n + c];
    }
  }
  return det;
}

Status eval_det(const EvalContext& context) {
  const Tensor& x = context.in(0);
  auto n = x.shape().back();
  std::vector<double> a(at(n * n));
  for (int64_t m = 0; m < context.out().elements(); ++m) {
    for (int64_t i = 0; i < n * n; ++i) a[at(i)] = x.as_double(m * n * n + i);
    context.out().set_double(m, determinant(a, at(n)));
  }
  return {};
}

Status emit_det(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  ElementType elem = context.in_type(0).elem;
  std::string_view type = c_type(elem), abs = elem == E::F32 ? "fabsf" : "fabs";
  Texts x = in_sizes(context, 0);
  require_equal(context, x[x.size() - 1], x[x.size() - 2]);
  context.set_dims(0, Texts(x.begin(), x.end() - 2));
  if (context.out_type(0).elements() == 0) return {};
  int64_t most = context.in_type(0).shape.back();
  context.line(fmt::format("{0}* a = ({0}*){1};", type,
                           context.scratch(std::max<int64_t>(1, most * most) * byte_size(elem))));
  context.line(fmt::format("const ptrdiff_t n = {};", x.back()));
  context.open(fmt::format("for (ptrdiff_t m = 0; m < {}; ++m)", size_product(x, 0, x.size() - 2)));
  context.line(fmt::format("{} det = 1;", type));
  context.line(fmt::format("memcpy(a, {} + m * n * n, (size_t)(n * n) * sizeof *a);", context.in(0)));
  context.open("for (ptrdiff_t k = 0; k < n; ++k)");
  context.line("ptrdiff_t pivot = k;");
  context.open("for (ptrdiff_t r = k + 1; r < n; ++r)");
  context.line(fmt::format("if ({0}(a[r * n + k]) > {0}(a[pivot * n + k])) pivot = r;", abs));
  context.close();
  context.open("for (ptrdiff_t c = k; pivot != k && c < n; ++c)");
  context.line(fmt::format("const {} t = a[k * n + c];", type));
  context.line("a[k * n + c] = a[pivot * n + c];");
  context.line("a[pivot * n + c] = t;");
  context.close();
  context.line("det *= pivot != k ? -a[k * n + k] : a[k * n + k];");
  context.open("for (ptrdiff_t r = k + 1; r < n && (det > 0 || det < 0); ++r)");
  context.line(fmt::format("const {} factor = a[r * n + k] / a[k * n + k];", type));
  context.line("for (ptrdiff_t c = k + 1; c < n; ++c) a[r * n + c] -= factor * a[k * n + c];");
  context.close();
  context.close();
  context.line(fmt::format("{}[m] = det;", context.out(0)));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_Det() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Det";
    d.since_min = 11;
    d.types = kFloats;
    d.infer = infer_det;
    d.eval = eval_det;
    d.emit = d.emit_dynamic = emit_det;
    d.declined = "the accelerator does not divide";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
