// Gemm and MatMul. A constant right operand is packed here into panels of 16 columns; any other is packed
// panel by panel at run time. Batches of MatMul are a loop over the broadcast leading dimensions.
#include <algorithm>

#include "function.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::chost {
namespace {

constexpr int64_t kLanes = 16, kDepth = 320;

// y[m][n] = a[m][k] * b[k][n], element strides as given; `batch` such products.
struct Product {
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row = 0, a_k = 1, b_k = 0, b_n = 1;
  Shape batch;             // leading dimensions of the result
  Shape a_batch, b_batch;  // strides in elements for each of them
  float alpha = 1;
};

std::vector<float> pack_columns(const Product& p, std::span<const float> b) {
  std::vector<float> packed;
  packed.reserve(static_cast<size_t>(round_up(p.n, kLanes) * p.k));
  for (int64_t n0 = 0; n0 < p.n; n0 += kLanes) {
    for (int64_t k = 0; k < p.k; ++k) {
      for (int64_t n = n0; n < n0 + kLanes; ++n) {
        packed.push_back(n < p.n ? p.alpha * b[static_cast<size_t>(k * p.b_k + n * p.b_n)] : 0.0f);
      }
    }
  }
  return packed;
}

Product matmul_product(const ir::Graph& graph, const ir::Node& node) {
  Shape a = graph.value(node.inputs[0]).type.shape, b = graph.value(node.inputs[1]).type.shape;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  Product p;
  p.m = a[a.size() - 2];
  p.k = p.a_row = a.back();
  p.n = p.b_k = b.back();
  Shape a_lead(a.begin(), a.end() - 2), b_lead(b.begin(), b.end() - 2);
  p.batch = broadcast_shapes(a_lead, b_lead).value_or(Shape());
  p.a_batch = broadcast_strides(a_lead, p.batch);
  p.b_batch = broadcast_strides(b_lead, p.batch);
  for (int64_t& s : p.a_batch) s *= p.m * p.k;
  for (int64_t& s : p.b_batch) s *= p.k * p.n;
  if (b_lead.empty()) {  // one right operand for all: more rows of one product
    p.m *= element_count(p.batch);
    p.batch.clear();
  }
  return p;
}

// "g0 * 12 + g1 * 3", or "0".
std::string batch_offset(const Shape& strides) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != 0) text += fmt::format("{}g{} * {}", text.empty() ? "" : " + ", d, strides[d]);
  }
  return text.empty() ? "0" : text;
}

void emit_product(Function& f, const Product& p, Epilogue& e) {
  const ir::Graph& graph = f.program().graph;
  const ir::Node& last = f.program().node(f.nodes().back());
  const Tensor* constant = graph.constant(f.head().inputs[1]);
  bool packed = constant != nullptr && p.batch.empty();
  bool vector = packed && p.m == 1 && p.a_k == 1;
  f.need(vector ? "gemv" : "gemm");
  declare_epilogue(f, e);
  std::string a = f.read(f.head().inputs[0], "x0"), y = f.write(last.outputs[0], "y0");
  std::string b =
      packed ? f.weights(pack_columns(p, constant->data<float>())) : f.read(f.head().inputs[1], "x1");
  std::string bias = e.bias.empty() ? "NULL" : f.weights(e.bias);
  if (vector) {
    f.put("{}({}, {}, {}, {}, {}, {}, &e);", f.prefixed("K_gemv"), p.n, p.k, a, b, bias, y);
    return;
  }
  int64_t depth = std::max<int64_t>(p.k, 1);
  int64_t block_k = ceil_div(depth, ceil_div(depth, kDepth));
  std::string panel = packed ? "NULL" : fmt::format("(float*){}", f.scratch(block_k * kLanes * 4));
  f.put("const {} p = {{{}, {}, {}, {}, {}, {}, {}, {}, {}}};", f.prefixed("K_gemm_shape"), p.m, p.n, p.k,
        p.a_row, p.a_k, p.b_k, p.b_n, block_k, packed ? 1 : 0);
  for (size_t d = 0; d < p.batch.size(); ++d) f.loop(fmt::format("g{}", d), p.batch[d]);
  std::string matrix = batch_offset(row_major_strides(p.batch));
  f.put("const ptrdiff_t row = ({}) * {};", matrix, p.m);
  f.put("{}(&p, {} + ({}), {} + ({}), {}, {} + row * {}, {}, &e, row, row * {});", f.prefixed("K_gemm"), a,
        batch_offset(p.batch.empty() ? Shape() : p.a_batch), b,
        batch_offset(p.batch.empty() ? Shape() : p.b_batch), bias, y, p.n, panel, p.n);
  for (size_t d = 0; d < p.batch.size(); ++d) f.close();
}

// y = alpha * y + beta * c, for operands the kernel does not take.
void emit_gemm_rest(Function& f, const ops::GemmParams& g, float alpha) {
  bool has_c = f.head().inputs.size() > 2 && f.head().inputs[2].valid();
  if (!has_c && alpha == 1.0f) return;
  std::string y = f.write(f.head().outputs[0], "y0"), c = "0.0f";
  if (has_c) {
    Shape strides = broadcast_strides(f.program().graph.value(f.head().inputs[2]).type.shape, {g.m, g.n});
    c = fmt::format("{}[i * {} + j * {}]", f.read(f.head().inputs[2], "x2"), strides[0], strides[1]);
  }
  auto literal = [](float v) { return ops::c_literal(static_cast<double>(v), ElementType::F32); };
  f.loop("i", g.m);
  f.loop("j", g.n);
  f.put("{0}[i * {1} + j] = {2} * {0}[i * {1} + j] + {3} * {4};", y, g.n, literal(alpha), literal(g.beta), c);
  f.close();
  f.close();
}

Status emit_gemm(Function& f) {
  const ir::Graph& graph = f.program().graph;
  MRVLC_ASSIGN(ops::GemmParams g, ops::gemm_params(ops::infer_context(graph, f.head())));
  Product p;
  p.m = g.m;
  p.n = g.n;
  p.k = g.k;
  p.a_row = g.trans_a ? 1 : g.k;
  p.a_k = g.trans_a ? g.m : 1;
  p.b_k = g.trans_b ? 1 : g.n;
  p.b_n = g.trans_b ? g.k : 1;
  bool packed = graph.is_constant(f.head().inputs[1]);
  p.alpha = packed ? g.alpha : 1.0f;
  Epilogue e;
  bool has_c = f.head().inputs.size() > 2 && f.head().inputs[2].valid();
  const Tensor* c = has_c ? graph.constant(f.head().inputs[2]) : nullptr;
  OperandKind kind = c != nullptr ? operand_kind(c->shape(), {g.m, g.n}) : OperandKind::Other;
  // As [m, n] with m 1 the kinds Full and Column are the same thing.
  bool column = c != nullptr && (kind == OperandKind::Scalar || kind == OperandKind::Column ||
                                 (kind == OperandKind::Full && g.m == 1));
  bool simple = (packed || g.alpha == 1.0f) && (!has_c || column);
  if (column && simple) {
    for (int64_t n = 0; n < g.n; ++n) {
      e.bias.push_back(g.beta * static_cast<float>(c->as_double(kind == OperandKind::Scalar ? 0 : n)));
    }
  }
  if (simple) fold_epilogue(f, g.n, e);
  emit_product(f, p, e);
  if (!simple) emit_gemm_rest(f, g, packed ? 1.0f : g.alpha);
  return {};
}

}  // namespace

Status emit_matmul(Function& f) {
  if (f.head().is("Gemm")) return emit_gemm(f);
  Product p = matmul_product(f.program().graph, f.head());
  Epilogue e;
  fold_epilogue(f, p.n, e);
  emit_product(f, p, e);
  return {};
}

}  // namespace mrvlc::chost
