// matmul-to-gemm
//   before  %1 = MatMul(%x, %w)    %2 = Add(%1, %b)      (%w [K,N], %b [N] or [1,N] constant, %x [M,K])
//   after   %2 = Gemm(%x, %w, %b)
// Preconditions: rank 2; weights and row constant; nothing else reads the product.
// Safe because Gemm with its defaults is x*w + b.
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool is_row(const Graph& g, ValueId v, int64_t n) {
  if (!g.is_constant(v)) return false;
  const Shape& s = type_of(g, v).shape;
  return s == Shape{n} || s == Shape{1, n};
}

bool gemm_form(const Graph& g, const Node& matmul, ValueId row, const TensorType& result) {
  if (!g.is_constant(matmul.inputs[1]) || !is_float(result.elem)) return false;
  const TensorType &x = type_of(g, matmul.inputs[0]), &w = type_of(g, matmul.inputs[1]);
  if (x.rank() != 2 || w.rank() != 2) return false;
  return type_of(g, matmul.outputs[0]) == result && is_row(g, row, w.shape[1]);
}

bool merge(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Add) || g.use_count(n.outputs[0]) == 0) return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Node* matmul = producer_of(g, n.inputs[i], Op::MatMul);
    ValueId row = n.inputs[1 - i];
    TensorType type = type_of(g, n.outputs[0]);
    if (matmul == nullptr || !single_use(g, n.inputs[i]) || !gemm_form(g, *matmul, row, type)) continue;
    NodeId matmul_id = matmul->id;
    ValueId gemm = make(rw, Op::Gemm, {matmul->inputs[0], matmul->inputs[1], row}, type, {matmul_id, id}, {},
                        matmul->name);
    bypass(rw, id, gemm, "merged with the MatMul before it into Gemm");
    erase_if_unused(rw, matmul_id, "merged with the Add after it into Gemm");
    return true;
  }
  return false;
}

}  // namespace

Status matmul_to_gemm(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "matmul-to-gemm", is_any<Op::Add>, merge);
  return {};
}

}  // namespace mrvlc::passes
