// Inverse of com.microsoft: square matrices, by Gauss and Jordan's elimination with partial pivoting. A
// matrix that has none gives infinities and NaN.
#include <algorithm>
#include <cmath>

#include "common/dims.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_inverse(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2));
  const Shape& x = context.type(0).shape;
  if (x.back() != x[x.size() - 2])
    return bad_operands(fmt::format("matrices of {} are not square", to_string(x)));
  return one_type(context.type(0).elem, x);
}

// Rows of n numbers and n more: the matrix, and what becomes its inverse.
void invert(std::vector<double>& a, size_t n) {
  const size_t w = 2 * n;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; ++r)
      if (std::fabs(a[r * w + k]) > std::fabs(a[pivot * w + k])) pivot = r;
    for (size_t c = 0; pivot != k && c < w; ++c) std::swap(a[k * w + c], a[pivot * w + c]);
    const double p = a[k * w + k];
    for (size_t c = 0; c < w; ++c) a[k * w + c] /= p;
    for (size_t r = 0; r < n; ++r) {
      const double factor = a[r * w + k];
      for (size_t c = k; r != k && c < w; ++c) a[r * w + c] -= factor * a[k * w + c];
    }
  }
}

Status eval_inverse(const EvalContext& context) {
  const Tensor& x = context.in(0);
  const int64_t n = x.shape().back(), size = n * n;
  std::vector<double> a(at(2 * size));
  for (int64_t first = 0; first < context.out().elements(); first += size) {
    for (int64_t i = 0; i < size; ++i) {
      a[at(i / n * 2 * n + i % n)] = x.as_double(first + i);
      a[at(i / n * 2 * n + n + i % n)] = i / n == i % n ? 1 : 0;
    }
    invert(a, at(n));
    for (int64_t i = 0; i < size; ++i) context.out().set_double(first + i, a[at(i / n * 2 * n + n + i % n)]);
  }
  return {};
}

// `a` has rows of 2 n numbers.
void emit_elimination(EmitContext& context, std::string_view type, std::string_view abs) {
  context.open("for (ptrdiff_t k = 0; k < n; ++k)");
  context.line("ptrdiff_t pivot = k;");
  context.open("for (ptrdiff_t r = k + 1; r < n; ++r)");
  context.line(fmt::format("if ({0}(a[r * w + k]) > {0}(a[pivot * w + k])) pivot = r;", abs));
  context.close();
  context.open("for (ptrdiff_t c = 0; pivot != k && c < w; ++c)");
  context.line(fmt::format("const {} t = a[k * w + c];", type));
  context.line("a[k * w + c] = a[pivot * w + c];");
  context.line("a[pivot * w + c] = t;");
  context.close();
  context.line(fmt::format("const {} p = a[k * w + k];", type));
  context.line("for (ptrdiff_t c = 0; c < w; ++c) a[k * w + c] /= p;");
  context.open("for (ptrdiff_t r = 0; r < n; ++r)");
  context.line(fmt::format("const {} factor = a[r * w + k];", type));
  context.line("for (ptrdiff_t c = k; r != k && c < w; ++c) a[r * w + c] -= factor * a[k * w + c];");
  context.close();
  context.close();
}

Status emit_inverse(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  const ElementType elem = context.in_type(0).elem;
  const std::string_view type = c_type(elem), abs = elem == E::F32 ? "fabsf" : "fabs";
  const Texts x = in_sizes(context, 0);
  require_equal(context, x[x.size() - 1], x[x.size() - 2]);
  context.set_dims(0, x);
  if (context.out_type(0).elements() == 0) return {};
  const int64_t most = context.in_type(0).shape.back();
  context.line(fmt::format("{0}* a = ({0}*){1};", type,
                           context.scratch(std::max<int64_t>(1, 2 * most * most) * byte_size(elem))));
  context.line(fmt::format("const ptrdiff_t n = {}, w = 2 * n;", x.back()));
  context.open(fmt::format("for (ptrdiff_t m = 0; m < {}; ++m)", size_product(x, 0, x.size() - 2)));
  context.open("for (ptrdiff_t r = 0; r < n; ++r)");
  context.line(fmt::format("memcpy(a + r * w, {} + (m * n + r) * n, (size_t)n * sizeof *a);", context.in(0)));
  context.line("for (ptrdiff_t c = 0; c < n; ++c) a[r * w + n + c] = r == c ? 1 : 0;");
  context.close();
  emit_elimination(context, type, abs);
  context.line(fmt::format(
      "for (ptrdiff_t r = 0; r < n; ++r) memcpy({} + (m * n + r) * n, a + r * w + n, (size_t)n * sizeof *a);",
      context.out(0)));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_Inverse() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Inverse";
    d.domain = "com.microsoft";
    d.since_min = 1;
    d.types = kFloats;
    d.infer = infer_inverse;
    d.eval = eval_inverse;
    d.emit = d.emit_dynamic = emit_inverse;
    d.declined = "the accelerator does not divide";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
