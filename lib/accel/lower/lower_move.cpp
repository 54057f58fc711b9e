// Layers that compute nothing: a new view of the same bytes where strides can say it, copies where not.
#include <algorithm>
#include <cmath>

#include "lower/axis_map.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::accel {
namespace {

Status transpose(Lowering& l, const ir::Node& node) {
  View x = l.read(node.inputs[0]);
  std::vector<int64_t> perm = ops::attr::perm(node);
  if (perm.empty()) {
    perm = identity_perm(x.dims.size());
    std::ranges::reverse(perm);
  }
  l.bind(node.outputs[0], permuted(x, perm), node.id);
  return {};
}

Status slice(Lowering& l, const ir::Node& node) {
  MRVLC_ASSIGN(ops::SliceParams p, ops::slice_params(ops::infer_context(l.graph(), node)));
  View v = l.read(node.inputs[0]);
  for (size_t d = 0; d < p.size.size(); ++d) v = slice(v, d, p.start[d], p.step[d], p.size[d]);
  l.bind(node.outputs[0], v, node.id);
  return {};
}

Status split(Lowering& l, const ir::Node& node) {
  View x = l.read(node.inputs[0]);
  MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(ops::attr::axis(node), static_cast<int64_t>(x.dims.size())));
  auto d = static_cast<size_t>(axis);
  int64_t at = 0;
  for (ir::ValueId out : node.outputs) {
    if (!out.valid()) continue;
    int64_t size = l.shape(out)[d];
    l.bind(out, slice(x, d, at, 1, size), node.id);
    at += size;
  }
  return {};
}

std::vector<Source> pad_axis(const ops::PadParams& p, size_t d, int64_t size) {
  static_assert(kFill == -1, "what PadParams::source says of the value");
  std::vector<Source> map;
  for (int64_t o = 0; o < size + p.begin[d] + p.end[d]; ++o) {
    const int64_t i = p.source(d, o, size);
    map.push_back({i, i, 0});
  }
  return map;
}

Status pad(Lowering& l, const ir::Node& node) {
  MRVLC_ASSIGN(ops::PadParams p, ops::pad_params(ops::infer_context(l.graph(), node)));
  View x = l.read(node.inputs[0]);
  constexpr double kOverflow = 65520;  // rounds to infinity
  if (std::isfinite(p.value) && std::fabs(p.value) >= kOverflow)
    l.warn(make_diag<DiagCode::MRV0508>(p.value), node);
  std::vector<std::vector<Source>> maps;
  for (size_t d = 0; d < x.dims.size(); ++d) maps.push_back(pad_axis(p, d, x.dims[d]));
  copy_mapped(l, x, l.result(node.outputs[0]), maps, static_cast<float>(p.value), node.id);
  return {};
}

Status tile(Lowering& l, const ir::Node& node) {
  View x = l.read(node.inputs[0]), to = l.result(node.outputs[0]);
  std::vector<std::vector<Source>> maps;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    std::vector<Source> map;
    for (int64_t o = 0; o < to.dims[d]; ++o) map.push_back({o % x.dims[d], o % x.dims[d], 0});
    maps.push_back(std::move(map));
  }
  copy_mapped(l, x, to, maps, 0, node.id);
  return {};
}

Status expand(Lowering& l, const ir::Node& node) {
  l.bind(node.outputs[0], broadcast(l.read(node.inputs[0]), l.shape(node.outputs[0])), node.id);
  return {};
}

// The blocks of one side and the channels of the other are two factorings of the same six dimensions.
Status blocks(Lowering& l, const ir::Node& node) {
  bool to_space = node.is(Op::DepthToSpace);
  int64_t b = ops::attr::blocksize(node);
  View x = l.read(node.inputs[0]), y = l.result(node.outputs[0]);
  const View &deep = to_space ? x : y, &wide = to_space ? y : x;
  View w = factored(factored(wide, 3, b), 2, b);  // n c h bh w bw
  bool column_first = to_space && ops::attr::mode(node) == "CRD";
  View d = column_first ? factored(factored(deep, 1, b), 1, b)                      // n c bh bw h w
                        : factored(factored(deep, 1, deep.dims[1] / b / b), 1, b);  // n bh bw c h w
  if (column_first) {
    int64_t perm[] = {0, 1, 4, 2, 5, 3};
    d = permuted(d, perm);
  } else {
    int64_t perm[] = {0, 3, 4, 1, 5, 2};
    d = permuted(d, perm);
  }
  l.copy(to_space ? d : w, to_space ? w : d, node.id);
  return {};
}

}  // namespace

Status lower_move(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  Status s;
  switch (node.kind()) {
#define MRVLC_MOVE(op, function) \
  case Op::op:                   \
    s = function(l, node);       \
    break;
#include "mrvlc/accel/moves.def"
#include "mrvlc/ops/op_kind.h"
#undef MRVLC_MOVE
    default:
      s = make_diag<DiagCode::MRV0502>("operator " + std::string(node.op->name));
  }
  MRVLC_TRY(std::move(s));
  return finish_layer(l, node.outputs[0]);
}

Status lower_concat(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  View whole = l.result(node.outputs[0]);
  MRVLC_ASSIGN(int64_t axis,
               ops::normalize_axis(ops::attr::axis(node), static_cast<int64_t>(whole.dims.size())));
  auto d = static_cast<size_t>(axis);
  int64_t at = 0;
  for (ir::ValueId in : node.inputs) {
    int64_t size = l.shape(in)[d];
    View place = slice(whole, d, at, 1, size), x = l.read(in);
    at += size;
    if (x != place) l.copy(x, place, node.id);  // equal: its producer wrote it here
  }
  return finish_layer(l, node.outputs[0]);
}

namespace {

bool only_feeds_products(const Lowering& l, ir::ValueId value) {
  if (l.is_region_output(value) || l.graph().is_output(value)) return false;
  for (ir::NodeId user : l.graph().value(value).users) {
    const partition::Layer* layer = l.layer_of(user);
    const ir::Node& node = l.graph().node(user);
    bool product = layer != nullptr && layer->anchor == user && layer->kind == LayerKind::Fc &&
                   node.inputs[0] == value && l.graph().is_constant(node.inputs[1]);
    if (product && node.is(Op::Gemm)) product = !ops::attr::trans_a(node);
    if (!product) return false;
  }
  return !l.graph().value(value).users.empty();
}

// Rows whose elements are dense in some order, so that a product can take them in the order they are stored.
bool dense_rows(const View& v) {
  Dims expected = dense_strides(v.dims, [&] {
    std::vector<int64_t> perm = identity_perm(v.dims.size());
    std::ranges::stable_sort(perm.begin() + 1, perm.end(), [&](int64_t a, int64_t b) {
      return v.strides[static_cast<size_t>(a)] > v.strides[static_cast<size_t>(b)];
    });
    return perm;
  }());
  for (size_t d = 1; d < v.dims.size(); ++d)
    if (v.dims[d] != 1 && v.strides[d] != expected[d]) return false;
  return true;
}

}  // namespace

Status lower_reshape(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  ir::ValueId out = node.outputs[0];
  View x = l.read(node.inputs[0]);
  const Dims& dims = l.shape(out);
  if (std::optional<View> v = reshaped(x, dims)) {
    l.bind(out, *v, node.id);
    return finish_layer(l, out);
  }
  bool flattens =
      dims.size() == 2 && x.dims.size() > 2 && dims[0] == x.dims[0] && l.layer().nodes.size() == 1;
  if (flattens && only_feeds_products(l, out) && dense_rows(x)) {
    l.defer(out, x);
    return {};
  }
  // The copy goes to where the result is wanted, seen under the operand's shape if strides allow.
  View to = l.is_region_output(out) || !l.channels_last(out) ? l.result(out) : View{};
  std::optional<View> target = to.dims.empty() ? std::nullopt : reshaped(to, x.dims);
  if (target) {
    l.copy(x, *target, node.id);
    return finish_layer(l, out);
  }
  View flat = l.scratch(x.dims, identity_perm(x.dims.size()), x.type);
  l.copy(x, flat, node.id);
  l.bind(out, *reshaped(flat, dims), node.id);
  return finish_layer(l, out);
}

}  // namespace mrvlc::accel
