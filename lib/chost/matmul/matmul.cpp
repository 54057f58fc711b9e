// Gemm and MatMul. A constant right operand is packed here into panels of 16 columns; any other is packed
// panel by panel at run time. Batches of MatMul are a loop over the broadcast leading dimensions.
#include <algorithm>

#include "choice/choice.h"
#include "conv/parts.h"
#include "function.h"
#include "matmul/product.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"
#include "size.h"

namespace mrvlc::chost {
namespace {

// Of parts: the columns that K_gemv takes at a time, and rows that are tiles of 6 and of 4.
constexpr int64_t kColumns = 64, kRows = 12;

std::vector<float> pack_columns(int64_t n, int64_t k, int64_t b_k, int64_t b_n, float alpha,
                                std::span<const float> b) {
  std::vector<float> packed;
  packed.reserve(static_cast<size_t>(round_up(n, kLanes) * k));
  for (int64_t n0 = 0; n0 < n; n0 += kLanes) {
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = n0; j < n0 + kLanes; ++j) {
        packed.push_back(j < n ? alpha * b[static_cast<size_t>(i * b_k + j * b_n)] : 0.0f);
      }
    }
  }
  return packed;
}

// The right operand is a constant, so its sizes are known.
std::vector<float> packed_operand(const Product& p, const Tensor& b) {
  return pack_columns(p.n.number(), p.k.number(), p.b_k.number(), p.b_n.number(), p.alpha, b.data<float>());
}

// Rows of which all columns are made one after the other: theirs and those of the operand stay in a cache, as
// far as the whole right operand does.
int64_t rows_at_once(int64_t n, int64_t k, Blocks blocks) {
  constexpr int64_t kBytes = 64 << 10, kTile = 12, kLeast = 24;
  return std::max(scaled(kBytes, blocks) / (4 * std::max<int64_t>(n + k, 1)) / kTile * kTile, kLeast);
}

// Of a product with a packed right operand.
class ProductVariants : public LayerVariants {
 public:
  explicit ProductVariants(const Product& p) : p_(p), n_(p.n.number()), k_(p.k.number()) {}

  std::string layer() const override {
    const std::string m = p_.m.known() ? p_.m.text() : "?";
    return fmt::format("MatMul {}x{} by {}x{}{}", m, k_, k_, n_, p_.a_k == 1 ? "" : ", transposed");
  }
  std::span<const Kernel> kernels() const override {
    static constexpr Kernel kKernels[] = {Kernel::SomeRows, Kernel::AllRows};
    return kKernels;
  }
  bool legal(Variant v) override {
    if (v.kernel != Kernel::SomeRows) return v.kernel == Kernel::AllRows && v.blocks == Blocks::Usual;
    const int64_t rows = rows_at_once(n_, k_, v.blocks);
    if (p_.m.known() && rows >= p_.m.number()) return false;  // these are all
    return v.blocks == Blocks::Usual || rows != rows_at_once(n_, k_, Blocks::Usual);
  }
  Variant expected() override {
    constexpr int64_t kRight = 512 << 10;
    return {n_ * k_ * 4 <= kRight && legal({Kernel::SomeRows}) ? Kernel::SomeRows : Kernel::AllRows};
  }

 private:
  const Product& p_;
  int64_t n_, k_;
};

// K_gemm_shape::block_m of a product of m rows, which may be a part of p's.
std::string block_rows(Function& f, const Product& p, const std::string& m, bool packed) {
  if (!packed || !p.n.known() || !p.k.known()) return m;
  ProductVariants variants(p);
  const Variant v = choose_variant(f.program(), f.head(), variants);
  if (v.kernel == Kernel::AllRows) return m;
  return fmt::format("{}", rows_at_once(p.n.number(), p.k.number(), v.blocks));
}

// Whether threads share a product: matrices, or else columns of a vector or rows of one matrix. Nothing may
// follow it.
bool cut_product(Function& f, const Product& p, int64_t items) {
  double work = 1;
  for (const Sizes& sizes : {Sizes{p.m, p.n, p.k}, p.batch}) {
    for (const Size& size : sizes) {
      if (!size.known()) return false;
      work *= static_cast<double>(size.number());
    }
  }
  return items > 1 && f.cut(static_cast<int64_t>(std::min(work, 1e15)));
}

// `first` and `past` of this part of n: runs of `grain`.
void put_range(Function& f, const Size& n, int64_t grain) {
  const int64_t runs = ceil_div(n.number(), grain);
  const std::string share = f.prefixed("K_share");
  f.put("const ptrdiff_t first = {}({}, part, parts) * {};", share, runs, grain);
  f.put("const ptrdiff_t past = part + 1 == parts ? {} : {}({}, part + 1, parts) * {};", n, share, runs,
        grain);
  f.put("if (first >= past) return;");
}

// What K_gemv, for weights of 16 bits K_gemv_half, needs.
void need_gemv(Function& f, const Product& p, bool halves) {
  f.need(halves ? Piece::gemv_half : Piece::gemv);
  const bool one_panel = p.n.known() && p.n.number() <= 3 * kLanes;
  if (!one_panel && f.program().options.optimize != Optimize::Size)
    f.need(halves ? Piece::gemv_panels_half : Piece::gemv_panels);
}

// One vector times a packed matrix; `cut`: this part of its columns.
void put_gemv(Function& f, const Product& p, const Epilogue& e, bool cut, const std::string& a,
              const std::string& b, const std::string& bias, const std::string& y, bool halves) {
  const std::string gemv = f.prefixed(halves ? "K_gemv_half" : "K_gemv");
  if (!cut) return f.put("{}({}, {}, {}, {}, {}, {}, &e);", gemv, p.n, p.k, a, b, bias, y);
  put_range(f, p.n, kColumns);
  put_part_epilogue(f, e.next < f.nodes().size(), "0", "first", "first");
  f.put("{}(past - first, {}, {}, {} + first * {}, {}, {} + first, &own);", gemv, p.k, a, b, p.k,
        bias == "NULL" ? bias : bias + " + first", y);
}

// `packed`: K_gemm_shape::b_packed.
void declare_gemm_shape(Function& f, const Product& p, const std::string& m, const Size& block, int packed) {
  f.put_struct("p", gemm_shape(p, m, block_rows(f, p, m, packed != 0), block, packed));
}

// Loops over matrices; `cut`: this part of the first.
void open_batch(Function& f, const Product& p, bool cut) {
  for (size_t d = 0; d < p.batch.size(); ++d) {
    const std::string share = f.prefixed("K_share");
    const Size& n = p.batch[d];
    f.open(d == 0 && cut
               ? fmt::format("for (ptrdiff_t g0 = {0}({1}, part, parts); g0 < {0}({1}, part + 1, parts); "
                             "++g0)",
                             share, n)
               : fmt::format("for (ptrdiff_t g{0} = 0; g{0} < {1}; ++g{0})", d, n));
  }
}

// What a product is computed from: C expressions.
struct Operands {
  std::string a, b, bias, y;
};

// Matrices, by K_row or K_gemm; `rows`: this part of the rows of one.
void put_matrices(Function& f, const Product& p, const Operands& o, bool row_alone, bool rows,
                  const std::string& panel) {
  Sizes leading;
  for (size_t d = 0; d < p.batch.size(); ++d) leading.push_back(size_product(p.batch, d + 1, p.batch.size()));
  f.put("const ptrdiff_t row = {};", rows ? "first" : fmt::format("({}) * {}", batch_offset(leading), p.m));
  const std::string a =
      fmt::format("{} + ({})", o.a,
                  rows ? "first * " + p.a_row.text() : batch_offset(p.batch.empty() ? Sizes() : p.a_batch));
  const std::string b = fmt::format("{} + ({})", o.b, batch_offset(p.batch.empty() ? Sizes() : p.b_batch));
  if (row_alone) {
    f.put("{}({}, {}, {}, {}, {}, {}, {}, {} + row * {}, &e, row, row * {});", f.prefixed("K_row"), p.n, p.k,
          a, b, p.b_k, p.b_n, o.bias, o.y, p.n, p.n);
  } else {
    f.put("{}(&p, {}, {}, {}, {} + row * {}, {}, &e, row, row * {});", f.prefixed("K_gemm"), a, b, o.bias,
          o.y, p.n, panel, p.n);
  }
}

// Whether K_row takes it: a row by a matrix that is read once, where it lies.
bool is_row(const Product& p, bool packed) {
  return !packed && p.m == 1 && p.a_k == 1 && (p.b_n == 1 || p.b_k == 1);
}

void need_gemm(Function& f, const Product& p, bool row_alone, bool halves) {
  if (row_alone) {
    f.need(Piece::row);
    return;
  }
  f.need(Piece::gemm);
  if (takes_pairs(f, p)) f.need(Piece::rows12);
  if (halves) f.need(Piece::half_panels);
}

// Operands are declared in this order.
Operands read_operands(Function& f, const Product& p, const Epilogue& e, bool packed, bool vector,
                       bool halves) {
  Operands o;
  o.a = read_operand(f, f.head(), 0, "x0");
  o.y = f.write(f.program().node(f.nodes().back()).outputs[0], "y0");
  if (!packed) {
    o.b = read_operand(f, f.head(), 1, "x1");
  } else {
    const std::vector<float> weights = packed_operand(p, *f.program().graph.constant(f.head().inputs[1]));
    o.b = vector && halves ? f.halves(weights) : f.panels(weights, halves);
  }
  o.bias = e.bias.empty() ? "NULL" : f.weights(e.bias);
  return o;
}

void emit_product(Function& f, const Product& p, Epilogue& e, bool alone) {
  const bool packed = f.program().graph.is_constant(f.head().inputs[1]) && p.batch.empty();
  const bool vector = packed && p.m == 1 && p.a_k == 1, matrices = !p.batch.empty();
  auto runs = [](const Size& n, int64_t grain) { return n.known() ? ceil_div(n.number(), grain) : 0; };
  const bool cut = alone && cut_product(f, p,
                                        matrices ? runs(p.batch[0], 1)
                                        : vector ? runs(p.n, kColumns)
                                                 : runs(p.m, kRows));
  const bool halves = packed && f.program().stores_halves(f.head().inputs[1]), row_alone = is_row(p, packed);
  if (vector) {
    need_gemv(f, p, halves);
  } else {
    need_gemm(f, p, row_alone, halves);
  }
  declare_epilogue(f, e);
  const Operands o = read_operands(f, p, e, packed, vector, halves);
  if (vector) return put_gemv(f, p, e, cut, o.a, o.b, o.bias, o.y, halves);
  const Size block = block_of(p.k);
  std::string panel = "NULL";
  if (!row_alone && (!packed || halves)) {
    const int64_t depth = block.known() ? block.number() : ops::kMostDepth;
    const int64_t panels = packed ? 1 : 2;  // K_gemm packs two where any product of the program has pairs
    panel = fmt::format("(float*){}", f.scratch(panels * depth * kLanes * 4));
  }
  const bool rows = cut && !matrices;
  if (rows) put_range(f, p.m, kRows);
  if (!row_alone) declare_gemm_shape(f, p, rows ? "past - first" : p.m.text(), block, halves ? 2 : packed);
  open_batch(f, p, cut);
  put_matrices(f, p, o, row_alone, rows, panel);
  for (size_t d = 0; d < p.batch.size(); ++d) f.close();
}

// y = alpha * y + beta * c, for operands the kernel does not take.
void emit_gemm_rest(Function& f, const Product& p, const std::string& c, float alpha, float beta) {
  auto literal = [](float v) { return ops::c_literal(static_cast<double>(v), ElementType::F32); };
  std::string y = f.write(f.head().outputs[0], "y0");
  f.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", p.m));
  f.open(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j)", p.n));
  f.put("{0}[i * {1} + j] = {2} * {0}[i * {1} + j] + {3} * {4};", y, p.n, literal(alpha), literal(beta), c);
  f.close();
  f.close();
}

// Bias of the columns when C is a constant that gives one; empty otherwise.
std::vector<float> column_bias(Function& f, const Product& p, const Tensor* c, float beta) {
  if (c == nullptr || !p.n.known()) return {};
  OperandKind kind = operand_kind(c->shape(), f.program().graph.value(f.head().outputs[0]).type.shape);
  // As [m, n] with m 1 the kinds Full and Column are the same thing.
  bool column =
      kind == OperandKind::Scalar || kind == OperandKind::Column || (kind == OperandKind::Full && p.m == 1);
  std::vector<float> bias;
  for (int64_t n = 0; column && n < p.n.number(); ++n)
    bias.push_back(beta * static_cast<float>(c->as_double(kind == OperandKind::Scalar ? 0 : n)));
  return bias;
}

Status emit_gemm(Function& f) {
  const ir::Graph& graph = f.program().graph;
  const float alpha = ops::attr::alpha(f.head()), beta = ops::attr::beta(f.head());
  Product p = gemm_product(f);
  // Weights of 16 bits are packed as they are.
  bool packed = graph.is_constant(f.head().inputs[1]) && !f.program().stores_halves(f.head().inputs[1]);
  p.alpha = packed ? alpha : 1.0f;
  Epilogue e;
  bool has_c = f.head().inputs.size() > 2 && f.head().inputs[2].valid();
  std::vector<float> bias = column_bias(f, p, has_c ? graph.constant(f.head().inputs[2]) : nullptr, beta);
  bool simple = (packed || alpha == 1.0f) && (!has_c || !bias.empty() || p.n == 0);
  if (simple) {
    e.bias = std::move(bias);
    fold_epilogue(f, p.n.known() ? p.n.number() : 0, e);
  }
  std::string added = simple ? "" : has_c ? added_operand(f, p) : "0.0f";
  emit_product(f, p, e, simple);
  if (!simple) emit_gemm_rest(f, p, added, packed ? 1.0f : alpha, beta);
  return {};
}

}  // namespace

Status emit_matmul(Function& f) {
  if (f.head().is(Op::Gemm)) return emit_gemm(f);
  Product p = matmul_product(f, f.head());
  Epilogue e;
  fold_epilogue(f, p.n.known() ? p.n.number() : 0, e);
  emit_product(f, p, e, true);
  return {};
}

}  // namespace mrvlc::chost
