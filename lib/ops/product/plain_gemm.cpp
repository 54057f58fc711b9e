#include "product/plain_gemm.h"

#include "common/convert.h"
#include "common/emit_util.h"
#include "elementwise/elementwise.h"
#include "mrvlc/support/diag/ops.h"
#include "product/matmul_shape.h"

namespace mrvlc::ops {
namespace {

// y = sum over p of a * b at C indices of i, j and p; integers wrap around.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  std::string a, b, y;
};

std::string_view wrapping_type(ElementType elem) {
  return byte_size(elem) == 8 ? "uint64_t" : "uint32_t";
}

void emit_sums(EmitContext& c, const Product& p) {
  const ElementType elem = c.out_type(0).elem;
  c.loop("i", p.m);
  c.loop("j", p.n);
  c.line(fmt::format("{}[{}] = 0;", c.out(0), p.y));
  c.close();
  c.loop("p", p.k);
  c.line(fmt::format("const {} v = {}[{}];", c_type(elem), c.in(0), p.a));
  c.loop("j", p.n);
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

std::string batch_offset(const Shape& strides) {
  std::string text = "0";
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != 0) text += fmt::format(" + g{} * {}", d, strides[d]);
  }
  return text;
}

// y = alpha * y + beta * c, computed in double where the factors ask for it.
void emit_rest(EmitContext& c, const GemmParams& g) {
  const ElementType elem = c.out_type(0).elem;
  const bool plain = g.alpha == 1.0f && (!c.has(2) || g.beta == 1.0f);
  if (plain && !c.has(2)) return;
  std::string y = fmt::format("{}[i * {} + j]", c.out(0), g.n), other = "0";
  if (c.has(2) && g.beta != 0.0f) {
    Shape strides = broadcast_strides(c.in_type(2).shape, {g.m, g.n});
    other = fmt::format("{}[i * {} + j * {}]", c.in(2), strides[0], strides[1]);
  }
  c.loop("i", g.m);
  c.loop("j", g.n);
  if (plain && is_integer(elem)) {
    c.line(fmt::format("{0} = ({1})(({2}){0} + ({2}){3});", y, c_type(elem), wrapping_type(elem), other));
  } else {
    auto factor = [](float v) { return c_literal(static_cast<double>(v), ElementType::F64); };
    c.line(fmt::format("const double v = {} * (double){} + {} * (double){};", factor(g.alpha), y,
                       factor(g.beta), other));
    c.line(fmt::format("{} = {};", y, is_integer(elem) ? saturated_text("v", ElementType::F64, elem) : "v"));
  }
  c.close();
  c.close();
}

}  // namespace

Status emit_plain_gemm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  MRVLC_ASSIGN(GemmParams g, gemm_params(emit_view(c)));
  Product p{g.m, g.n, g.k, {}, {}, fmt::format("i * {} + j", g.n)};
  p.a = g.trans_a ? fmt::format("p * {} + i", g.m) : fmt::format("i * {} + p", g.k);
  p.b = g.trans_b ? fmt::format("j * {} + p", g.k) : fmt::format("p * {} + j", g.n);
  emit_sums(c, p);
  emit_rest(c, g);
  return {};
}

Status emit_plain_matmul(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  MRVLC_ASSIGN(MatMulShape s, matmul_shape(emit_view(c)));
  if (c.out_type(0).elements() == 0) return {};
  for (size_t d = 0; d < s.batch_dims.size(); ++d) c.loop(fmt::format("g{}", d), s.batch_dims[d]);
  c.line(fmt::format("const ptrdiff_t a_at = ({}) * {};", batch_offset(s.a_strides), s.m * s.k));
  c.line(fmt::format("const ptrdiff_t b_at = ({}) * {};", batch_offset(s.b_strides), s.k * s.n));
  c.line(fmt::format("const ptrdiff_t y_at = ({}) * {};", batch_offset(row_major_strides(s.batch_dims)),
                     s.m * s.n));
  emit_sums(c, {s.m, s.n, s.k, fmt::format("a_at + i * {} + p", s.k), fmt::format("b_at + p * {} + j", s.n),
                fmt::format("y_at + i * {} + j", s.n)});
  for (size_t d = 0; d < s.batch_dims.size(); ++d) c.close();
  return {};
}

}  // namespace mrvlc::ops
