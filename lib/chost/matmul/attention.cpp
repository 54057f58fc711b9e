// Attention: a product of queries and keys, what is done to its scores, Softmax, and the product with the
// values, as one function. Scores of all rows at once would be the largest values of many networks; some rows
// at a time stay in a cache.
#include <algorithm>

#include "function.h"
#include "matmul/product.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/kernel_blocks.h"
#include "mrvlc/ops/op_kind.h"
#include "size.h"

namespace mrvlc::chost {
namespace {

bool over_last_axis(const ir::Graph& graph, const ir::Node& softmax) {
  const int64_t rank = graph.value(softmax.inputs[0]).type.rank(), axis = ops::attr::axis(softmax);
  return axis == -1 || axis == rank - 1;
}

// The operand that is added to the scores, which it may be broadcast to; invalid: the node is no such Add.
ir::ValueId mask_of(const ir::Graph& graph, const ir::Node& node, ir::ValueId scores) {
  if (!node.is(Op::Add) || !all_f32(graph, node) || node.inputs[0] == node.inputs[1]) return {};
  const ir::ValueId other = node.inputs[0] == scores ? node.inputs[1] : node.inputs[0];
  const Shape& shape = graph.value(scores).type.shape;
  return graph.value(node.outputs[0]).type.shape == shape ? other : ir::ValueId();
}

// Matrices that each batch has for itself, with rows enough.
bool multiplies_batches(const ir::Graph& graph, const ir::Node& product) {
  return product.is(Op::MatMul) && all_f32(graph, product) && !graph.is_constant(product.inputs[1]) &&
         graph.value(product.inputs[0]).type.rank() > 2 && graph.value(product.inputs[1]).type.rank() > 2 &&
         graph.value(product.outputs[0]).type.elements() > 0;
}

// Behind both products the leading dimensions are the same.
bool fits(const ir::Graph& graph, const ir::Node& last, ir::ValueId scores) {
  const Shape &a = graph.value(scores).type.shape, &b = graph.value(last.outputs[0]).type.shape;
  return last.inputs[0] == scores && last.inputs[1] != scores && a.size() == b.size() &&
         std::equal(a.begin(), a.end() - 1, b.begin());
}

// Of a group: the product with the values is its last node, Softmax the one before, in front of which a mask
// may be added that the product's epilogue could not take.
struct Parts {
  const ir::Node& product;
  const ir::Node& values;
  size_t past;       // of the epilogue
  ir::ValueId mask;  // invalid: there is none
};

bool is_epilogue_operand(const ir::Graph& graph, ir::ValueId mask, ir::ValueId scores) {
  const OperandKind kind = operand_kind(graph.value(mask).type.shape, graph.value(scores).type.shape);
  return kind == OperandKind::Scalar || kind == OperandKind::Full || kind == OperandKind::Column;
}

Parts parts_of(const Function& f) {
  const Program& program = f.program();
  const std::vector<ir::NodeId>& nodes = f.nodes();
  Parts parts{f.head(), program.node(nodes.back()), nodes.size() - 2, {}};
  if (parts.past < 2) return parts;
  const ir::Node& last = program.node(nodes[parts.past - 1]);
  const ir::ValueId scores = program.node(nodes[parts.past - 2]).outputs[0];
  const ir::ValueId mask = mask_of(program.graph, last, scores);
  if (!mask.valid() || is_epilogue_operand(program.graph, mask, scores)) return parts;
  parts.mask = mask;
  --parts.past;
  return parts;
}

// One loop over all matrices, which threads may share; g0, g1, ... are their places in each dimension.
void open_matrices(Function& f, const Sizes& batch, int64_t matrices, int64_t operations) {
  f.cut_loop("g", matrices, operations);
  int64_t behind = matrices;
  for (size_t d = 0; d < batch.size(); ++d) {
    behind /= std::max<int64_t>(batch[d].number(), 1);
    if (batch[d] != 1) f.put("const ptrdiff_t g{} = g / {} % {};", d, behind, batch[d]);
  }
}

}  // namespace

std::vector<ir::NodeId> attention_tail(const ir::Graph& graph, const ir::Node& product, ir::NodeId last,
                                       const std::function<ir::NodeId(ir::NodeId)>& only_reader) {
  if (!multiplies_batches(graph, product)) return {};
  const Shape& scores = graph.value(product.outputs[0]).type.shape;
  if (scores[scores.size() - 2] < ops::kLeastAttentionRows) return {};
  std::vector<ir::NodeId> tail;
  ir::NodeId next = only_reader(last);
  if (next.valid() && mask_of(graph, graph.node(next), graph.node(last).outputs[0]).valid()) {
    tail.push_back(next);
    next = only_reader(next);
  }
  if (!next.valid() || !graph.node(next).is(Op::Softmax) || !over_last_axis(graph, graph.node(next)))
    return {};
  const ir::NodeId values = only_reader(next);
  if (!values.valid() || !multiplies_batches(graph, graph.node(values)) ||
      !fits(graph, graph.node(values), graph.node(next).outputs[0]))
    return {};
  tail.insert(tail.end(), {next, values});
  return tail;
}

bool is_attention(const Function& f) {
  return f.nodes().size() > 2 && f.head().is(Op::MatMul) && f.program().node(f.nodes().back()).is(Op::MatMul);
}

void emit_attention(Function& f) {
  const ir::Graph& graph = f.program().graph;
  const Parts parts = parts_of(f);
  const Product scores = matmul_product(f, parts.product), values = matmul_product(f, parts.values);
  const int64_t matrices = size_product(scores.batch, 0, scores.batch.size()).number();
  const int64_t m = scores.m.number(), n = scores.n.number(), k = scores.k.number(), d = values.n.number();
  constexpr int64_t kSoftmax = 20;  // of an element, in multiply-adds
  f.need(Piece::attention);
  if (takes_pairs(f, scores) || takes_pairs(f, values)) f.need(Piece::rows12);
  Epilogue e;
  e.past = parts.past;
  fold_epilogue(f, n, e);
  declare_epilogue(f, e);
  const std::string q = read_operand(f, parts.product, 0, "x0"),
                    keys = read_operand(f, parts.product, 1, "x1");
  const std::string v = read_operand(f, parts.values, 1, "x2"), y = f.write(parts.values.outputs[0], "y0");
  Shape mask_strides(scores.batch.size() + 2, 0);
  std::string mask = "NULL";
  if (parts.mask.valid()) {
    mask_strides = broadcast_strides(graph.value(parts.mask).type.shape,
                                     graph.value(parts.product.outputs[0]).type.shape);
    const Sizes leading(mask_strides.begin(), mask_strides.end() - 2);
    mask = fmt::format("{} + ({})", f.read(parts.mask, "x3"), batch_offset(leading));
  }
  const std::string bias = e.bias.empty() ? "NULL" : f.weights(e.bias);
  f.put_struct("s", structs::AttentionShape{.rows = ops::rows_of_scores(m, n),
                                            .mask_row = mask_strides[mask_strides.size() - 2],
                                            .mask_n = mask_strides.back(),
                                            .y_row = d,
                                            .scale = "1.0f"});
  f.put_struct("p", gemm_shape(scores, scores.m.text(), scores.m.text(), block_of(scores.k), 1));
  f.put_struct("r", gemm_shape(values, values.m.text(), values.m.text(), block_of(values.k), 1));
  open_matrices(f, scores.batch, matrices, matrices * m * n * (k + d + kSoftmax));
  const std::string memory = f.scratch(ops::attention_bytes(m, n, k, d, false));
  f.put("{}(&s, &p, &r, {} + ({}), {} + ({}), {} + ({}), {}, {}, {} + g * {}, (float*){}, &e, g * {});",
        f.prefixed("K_attention"), q, batch_offset(scores.a_batch), keys, batch_offset(scores.b_batch), v,
        batch_offset(values.b_batch), bias, mask, y, m * d, memory, m);
  f.close();
}

}  // namespace mrvlc::chost
