// fold-pad
//   before  %1 = Pad(%x, [0,0,1,1,0,0,1,1])    %2 = Conv(%1, %w) {pads = [0, 0, 0, 0]}
//   after   %2 = Conv(%x, %w) {pads = [1, 1, 1, 1]}
// Preconditions: constant padding of spatial dimensions only, none negative, read by nothing else; the
// reader's own pads are explicit. Conv: value 0. AveragePool: value 0, and the reader counts its pads already
// or has none, and does not round up. MaxPool: value -inf. Safe because these readers see exactly such a
// border where they pad themselves, and a pool's pads are narrower than its window: 0 in Conv and in an
// AveragePool that counts its pads, -inf in MaxPool.
#include <algorithm>
#include <array>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool all_zero(const std::vector<int64_t>& v) {
  return std::all_of(v.begin(), v.end(), [](int64_t x) { return x == 0; });
}

// begin and end pads of the spatial dimensions as the attribute `pads` has them; nullopt when the Pad does
// anything else.
std::optional<std::vector<int64_t>> spatial_pads(const Graph& g, const Node& pad, double& value) {
  auto p = ops::pad_params(ops::infer_context(g, pad));
  if (!p.ok() || p->mode != "constant" || p->begin.size() < 3) return std::nullopt;
  std::vector<int64_t> pads;
  for (const auto* side : {&p->begin, &p->end}) {
    if ((*side)[0] != 0 || (*side)[1] != 0) return std::nullopt;
    pads.insert(pads.end(), side->begin() + 2, side->end());
  }
  if (std::any_of(pads.begin(), pads.end(), [](int64_t x) { return x < 0; })) return std::nullopt;
  value = p->value;
  return pads;
}

bool reader_takes(const Node& n, double value) {
  if (n.is(Op::Conv)) return value == 0;
  if (ops::attr::ceil_mode(n)) return false;
  if (n.is(Op::MaxPool)) return std::isinf(value) && value < 0 && n.outputs.size() == 1;
  return value == 0 && (ops::attr::count_include_pad(n) || all_zero(ops::attr::pads(n)));
}

// With those that the reader has.
std::vector<int64_t> all_pads(const Node& n, std::vector<int64_t> pads) {
  const auto& own = ops::attr::pads(n);
  for (size_t i = 0; i < own.size() && i < pads.size(); ++i) pads[i] += own[i];
  return pads;
}

// A window of a pool holds an element of the input wherever it stands: ONNX has no pads as wide as the
// window.
bool window_reaches_input(const Node& n, const std::vector<int64_t>& pads) {
  if (n.is(Op::Conv)) return true;
  const auto &kernel = ops::attr::kernel_shape(n), &dilations = ops::attr::dilations(n);
  for (size_t i = 0; i < pads.size() && !kernel.empty(); ++i) {
    const size_t d = i % kernel.size();
    const int64_t dilation = dilations.empty() ? 1 : dilations[d];
    if (pads[i] > (kernel[d] - 1) * dilation) return false;
  }
  return true;
}

std::vector<Attr> with_pads(const Node& n, std::vector<int64_t> pads) {
  std::vector<Attr> attrs = n.attrs;
  ir::set_attr(*n.op, attrs, "pads", Attr(std::move(pads)));
  if (n.is(Op::AveragePool)) ir::set_attr(*n.op, attrs, "count_include_pad", Attr(int64_t{1}));
  return attrs;
}

bool fold_pad_into(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Conv, Op::AveragePool, Op::MaxPool)) return false;
  if (ops::attr::pads_by_itself(n)) return false;
  const Node* pad = producer_of(g, n.inputs[0], Op::Pad);
  if (pad == nullptr || !single_use(g, n.inputs[0]) || g.use_count(n.outputs[0]) == 0) return false;
  double value = 0;
  auto pads = spatial_pads(g, *pad, value);
  if (!pads || !reader_takes(n, value)) return false;
  pads = all_pads(n, *std::move(pads));
  if (!window_reaches_input(n, *pads)) return false;
  NodeId pad_id = pad->id;
  std::vector<Attr> attrs = with_pads(n, std::move(*pads));
  std::vector<ValueId> inputs = n.inputs;
  inputs[0] = pad->inputs[0];
  TensorType type = type_of(g, n.outputs[0]);
  std::array<NodeId, 2> from{pad_id, id};
  NodeId now = rw.create(*n.op, std::move(inputs), std::move(attrs), {type}, from);
  bypass(rw, id, rw.output(now), "merged with the Pad before it");
  erase_if_unused(rw, pad_id, "merged with the layer that reads it");
  return true;
}

}  // namespace

Status fold_pad(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "fold-pad", is_any<Op::Conv, Op::AveragePool, Op::MaxPool>, fold_pad_into);
  return {};
}

}  // namespace mrvlc::passes
