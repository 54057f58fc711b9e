// Loops over rows, depth and columns, sizes as C text; integers wrap around; then alpha, beta and C of Gemm.
#include "product/plain_gemm.h"

#include "common/convert.h"
#include "common/lanes.h"
#include "elementwise/elementwise.h"
#include "mrvlc/support/diag/ops.h"
#include "product/matmul_shape.h"

namespace mrvlc::ops {
namespace {

// y = sum over p < k of a * b at C indices of i < m, j < n and p; integers wrap around.
struct Product {
  std::string m, n, k, a, b, y;
};

std::string_view wrapping_type(ElementType elem) {
  return byte_size(elem) == 8 ? "uint64_t" : "uint32_t";
}

void emit_sums(EmitContext& c, const Product& p) {
  const ElementType elem = c.out_type(0).elem;
  open_loop(c, "i", p.m);
  open_loop(c, "j", p.n);
  c.line(fmt::format("{}[{}] = 0;", c.out(0), p.y));
  c.close();
  open_loop(c, "p", p.k);
  c.line(fmt::format("const {} v = {}[{}];", c_type(elem), c.in(0), p.a));
  open_loop(c, "j", p.n);
  std::string y = fmt::format("{}[{}]", c.out(0), p.y), b = fmt::format("{}[{}]", c.in(1), p.b);
  if (is_float(elem)) {
    c.line(fmt::format("{} += v * {};", y, b));
  } else {
    c.line(
        fmt::format("{0} = ({1})(({2}){0} + ({2})v * ({2}){3});", y, c_type(elem), wrapping_type(elem), b));
  }
  c.close();
  c.close();
  c.close();
}

// The element of C for row i and column j.
std::string addend(EmitContext& c, const std::string& m, const std::string& n) {
  if (!c.has(2) || c.node().float_attr("beta") == 0.0f) return "0";
  const Texts dims = in_sizes(c, 2);
  const std::string row = dims.size() < 2 ? "0" : broadcast_step(c, dims[0], m, dims[1]),
                    column = dims.empty() ? "0" : broadcast_step(c, dims.back(), n, "1");
  return fmt::format("{}[i * {} + j * {}]", c.in(2), row, column);
}

// y = alpha * y + beta * c, computed in double where the factors ask for it.
void emit_rest(EmitContext& c, const std::string& m, const std::string& n) {
  const ElementType elem = c.out_type(0).elem;
  const float alpha = c.node().float_attr("alpha"), beta = c.node().float_attr("beta");
  const bool plain = alpha == 1.0f && (!c.has(2) || beta == 1.0f);
  if (plain && !c.has(2)) return;
  const std::string y = fmt::format("{}[i * {} + j]", c.out(0), n), other = addend(c, m, n);
  open_loop(c, "i", m);
  open_loop(c, "j", n);
  if (plain && is_integer(elem)) {
    c.line(fmt::format("{0} = ({1})(({2}){0} + ({2}){3});", y, c_type(elem), wrapping_type(elem), other));
  } else {
    auto factor = [](float v) { return c_literal(static_cast<double>(v), ElementType::F64); };
    c.line(fmt::format("const double v = {} * (double){} + {} * (double){};", factor(alpha), y, factor(beta),
                       other));
    c.line(fmt::format("{} = {};", y, is_integer(elem) ? saturated_text("v", ElementType::F64, elem) : "v"));
  }
  c.close();
  c.close();
}

}  // namespace

Status emit_plain_gemm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  const bool trans_a = c.node().int_attr("transA") != 0, trans_b = c.node().int_attr("transB") != 0;
  const Texts a = in_dims(c, 0), b = in_dims(c, 1);
  require_equal(c, a[trans_a ? 0 : 1], b[trans_b ? 1 : 0]);
  const std::string m = named_size(c, "m", a[trans_a ? 1 : 0]), n = named_size(c, "n", b[trans_b ? 0 : 1]),
                    k = named_size(c, "k", a[trans_a ? 0 : 1]);
  c.set_dims(0, {m, n});
  Product p{m, n, k, {}, {}, fmt::format("i * {} + j", n)};
  p.a = trans_a ? fmt::format("p * {} + i", m) : fmt::format("i * {} + p", k);
  p.b = trans_b ? fmt::format("j * {} + p", k) : fmt::format("p * {} + j", n);
  emit_sums(c, p);
  emit_rest(c, m, n);
  return {};
}

Status emit_plain_matmul(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  const MatMulText s(c);
  if (c.out_type(0).elements() == 0) return {};
  s.open_batches(c);
  c.line(fmt::format("const ptrdiff_t a_at = ({}) * {};", s.matrix(s.a_strides), times(s.m, s.k)));
  c.line(fmt::format("const ptrdiff_t b_at = ({}) * {};", s.matrix(s.b_strides), times(s.k, s.n)));
  c.line(fmt::format("const ptrdiff_t y_at = ({}) * {};", s.result_matrix(), times(s.m, s.n)));
  emit_sums(c, {s.m, s.n, s.k, fmt::format("a_at + i * {} + p", s.k), fmt::format("b_at + p * {} + j", s.n),
                fmt::format("y_at + i * {} + j", s.n)});
  s.close_batches(c);
  return {};
}

}  // namespace mrvlc::ops
