// Matrix products of sizes known at run time only.
#include "common/convert.h"
#include "common/dynamic_util.h"
#include "elementwise/elementwise.h"
#include "product/products_dynamic.h"

namespace mrvlc::ops {
namespace {

// C expressions of a[i][p] and b[p][j] as they are multiplied, in the type `type`; or what makes the elements
// of the result.
struct Terms {
  std::string a, b, type;
  std::function<void()> rows = {};
};

// The operands' positions.
struct Operands {
  size_t a = 0, b = 1;
};

std::string_view wrapping_type(ElementType elem) {
  return byte_size(elem) == 8 ? "uint64_t" : "uint32_t";
}

// y[i * n + j] = the sum over p < k; integers wrap.
void emit_sums(EmitContext& c, const Terms& terms, const std::string& y) {
  const ElementType elem = c.out_type(0).elem;
  c.open("for (int64_t i = 0; i < m; ++i)");
  c.line(fmt::format("{}* const row = {} + i * n;", c_type(elem), y));
  c.line("for (int64_t j = 0; j < n; ++j) row[j] = 0;");
  c.open("for (int64_t p = 0; p < k; ++p)");
  c.line(fmt::format("const {} v = {};", terms.type, terms.a));
  std::string step = fmt::format("row[j] += v * {};", terms.b);
  if (!is_float(elem))
    step = fmt::format("row[j] = ({0})(({1})row[j] + ({1})v * ({1})({2}));", c_type(elem),
                       wrapping_type(elem), terms.b);
  c.line("for (int64_t j = 0; j < n; ++j) " + step);
  c.close();
  c.close();
}

Texts lead_of(const Texts& dims) {
  return dims.size() < 2 ? Texts() : Texts(dims.begin(), dims.end() - 2);
}

Texts broadcast_texts(EmitContext& c, const Texts& a, const Texts& b) {
  Texts dims(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= dims.size(); ++i) {
    std::string x = i <= a.size() ? a[a.size() - i] : "1", y = i <= b.size() ? b[b.size() - i] : "1";
    dims[dims.size() - i] = x == y || y == "1" ? x
                            : x == "1"         ? y
                                               : fmt::format("{}({}, {})", c.helper("dynamic_both"), x, y);
  }
  return dims;
}

// Declares `s<NAME>`, strides in matrices for the leading dimensions of the result.
void declare_steps(EmitContext& c, std::string_view name, const Texts& lead, size_t rank) {
  declare_list(c, fmt::format("lead_{}", name), lead);
  c.line(fmt::format("int64_t steps_{}[{}];", name, rank));
  c.line(
      fmt::format("{0}({1}, {2}, lead_{3}, steps_{3});", c.helper("dynamic_steps"), rank, lead.size(), name));
}

std::string offset_of(EmitContext& c, std::string_view name, size_t rank) {
  return fmt::format("{}(g, {}, lead, steps_{})", c.helper("dynamic_offset"), rank, name);
}

// The loop over pairs of matrices at a, b and y.
void emit_batches(EmitContext& c, Operands of, const Texts& a, const Texts& b, const Texts& lead,
                  const Terms& terms) {
  const size_t rank = lead.size();
  std::string first_a = "0", first_b = "0";
  if (rank > 0) {
    declare_list(c, "lead", lead);
    declare_steps(c, "a", lead_of(a), rank);
    declare_steps(c, "b", lead_of(b), rank);
    first_a = offset_of(c, "a", rank) + " * m * k";
    first_b = offset_of(c, "b", rank) + " * k * n";
  }
  c.open(fmt::format("for (int64_t g = 0; g < {}; ++g)",
                     product_text(elements_of("lead", static_cast<int64_t>(rank)))));
  c.line(fmt::format("const {}* const a = {} + {};", c_type(c.in_type(of.a).elem), c.in(of.a), first_a));
  c.line(fmt::format("const {}* const b = {} + {};", c_type(c.in_type(of.b).elem), c.in(of.b), first_b));
  if (terms.rows) {
    terms.rows();
  } else {
    emit_sums(c, terms, c.out(0) + " + g * m * n");
  }
  c.close();
}

// `terms` is asked once the sizes m, n and k are declared.
template <class F>
Status emit_products(EmitContext& c, F terms, Operands of = {}) {
  Texts a = in_dims(c, of.a), b = in_dims(c, of.b);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), "1");
  if (column) b.push_back("1");
  require_equal(c, a.back(), b[b.size() - 2]);
  c.line(fmt::format("const int64_t m = {}, n = {}, k = {};", a[a.size() - 2], b.back(), a.back()));
  Texts lead = broadcast_texts(c, lead_of(a), lead_of(b)), dims = lead;
  if (!row) dims.push_back("m");
  if (!column) dims.push_back("n");
  c.set_dims(0, dims);
  emit_batches(c, of, a, b, lead, terms());
  return {};
}

// Stride of a dimension of C that broadcasts to `size`.
std::string operand_stride(EmitContext& c, const std::string& dim, const std::string& size,
                           const std::string& stride) {
  if (dim == "1") return "0";
  c.fail_if(fmt::format("{0} != {1} && {0} != 1", dim, size));
  return fmt::format("({} == 1 ? 0 : {})", dim, stride);
}

// y = alpha * y + beta * c, computed in double where the factors ask for it.
void emit_rest(EmitContext& c) {
  const ElementType elem = c.out_type(0).elem;
  const float alpha = c.node().float_attr("alpha"), beta = c.node().float_attr("beta");
  const bool plain = alpha == 1.0f && (!c.has(2) || beta == 1.0f);
  if (plain && !c.has(2)) return;
  std::string y = fmt::format("{}[i * n + j]", c.out(0)), other = "0";
  if (c.has(2) && beta != 0.0f) {
    Texts dims = in_dims(c, 2);
    std::string column = dims.empty() ? "0" : operand_stride(c, dims.back(), "n", "1");
    std::string row = dims.size() < 2 ? "0" : operand_stride(c, dims[0], "m", dims[1]);
    other = fmt::format("{}[i * {} + j * {}]", c.in(2), row, column);
  }
  c.open("for (int64_t i = 0; i < m; ++i)");
  c.open("for (int64_t j = 0; j < n; ++j)");
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

std::string dynamic_one_or_each(EmitContext& c, size_t i, std::string_view index, const std::string& count) {
  if (!c.has(i)) return "0";
  const TensorType& type = c.in_type(i);
  if (type.is_static() && type.elements() == 1) return fmt::format("{}[0]", c.in(i));
  std::string given = product_text(in_dims(c, i));
  c.fail_if(fmt::format("{0} != 1 && {0} != {1}", given, count));
  return fmt::format("{}[{} == 1 ? 0 : {}]", c.in(i), given, index);
}

Status emit_dynamic_matmul(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  std::string type(c_type(c.out_type(0).elem));
  return emit_products(c, [&] { return Terms{"a[i * k + p]", "b[p * n + j]", type}; });
}

Status emit_dynamic_matmul_integer(EmitContext& c) {
  return emit_products(c, [&] {
    std::string za = dynamic_one_or_each(c, 2, "i", "m"), zb = dynamic_one_or_each(c, 3, "j", "n");
    return Terms{fmt::format("a[i * k + p] - {}", za), fmt::format("b[p * n + j] - {}", zb), "int32_t"};
  });
}

Status emit_dynamic_products(EmitContext& c, const IntegerProduct& product,
                             const std::function<StoreSum()>& prepare) {
  auto terms = [&] {
    const std::string za = dynamic_one_or_each(c, product.a.zero, "i", "m"),
                      zb = dynamic_one_or_each(c, product.b.zero, "j", "n");
    const std::string_view type = zero_type(c, product);
    auto zero = [&c](const std::string& text, size_t i) { return decoded_text(c, text, c.in_type(i).elem); };
    const std::string first = zero(za, product.a.zero), second = zero(zb, product.b.zero);
    return Terms{
        {}, {}, {}, [&c, product, type, first, second, store = prepare()] {
          c.open("for (int64_t i = 0; i < m; ++i)");
          c.open("for (int64_t j = 0; j < n; ++j)");
          c.line(fmt::format("const {0} za = ({0}){1}, zb = ({0}){2};", type, first, second));
          c.line(fmt::format("{} sum = 0;", type == "double" ? "double" : "uint32_t"));
          c.line("for (int64_t p = 0; p < k; ++p) " + sum_step(c, product, "a[i * k + p]", "b[p * n + j]"));
          store("(g * m + i) * n + j");
          c.close();
          c.close();
        }};
  };
  return emit_products(c, terms, {product.a.data, product.b.data});
}

Status emit_dynamic_gemm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  const bool trans_a = c.node().int_attr("transA") != 0, trans_b = c.node().int_attr("transB") != 0;
  Texts a = in_dims(c, 0), b = in_dims(c, 1);
  require_equal(c, a[trans_a ? 0 : 1], b[trans_b ? 1 : 0]);
  c.line(fmt::format("const int64_t m = {}, n = {}, k = {};", a[trans_a ? 1 : 0], b[trans_b ? 0 : 1],
                     a[trans_a ? 0 : 1]));
  c.set_dims(0, {"m", "n"});
  emit_sums(c,
            {fmt::format("{}[{}]", c.in(0), trans_a ? "p * m + i" : "i * k + p"),
             fmt::format("{}[{}]", c.in(1), trans_b ? "j * k + p" : "p * n + j"),
             std::string(c_type(c.out_type(0).elem))},
            c.out(0));
  emit_rest(c);
  return {};
}

}  // namespace mrvlc::ops
