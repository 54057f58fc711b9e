// Operators that move elements: views where the memory is the same, copies elsewhere.
#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/params.h"
#include "network/builder.h"

namespace mrvlc::mesh {
namespace {

// By dimension of the shape: its stride in memory.
std::vector<int64_t> strides_of(const Shape& shape, const std::vector<size_t>& order) {
  std::vector<int64_t> strides(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= shape[order[i]];
  }
  return strides;
}

Copy copy_of(const Shape& shape, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  Copy copy;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) copy.loops.push_back({shape[d], from[d], to[d]});
  // The last loop goes along the result's memory.
  std::ranges::stable_sort(copy.loops, std::greater<>(), &Copy::Loop::to);
  return copy;
}

}  // namespace

Stored NetworkBuilder::in_order(const ir::Node& n, const Stored& value, std::vector<size_t> order) {
  const Tensor3& t = tensor(value);
  const Tensor3 as = folded(value.shape, order);
  const bool same_folds = as.rows == t.rows && as.width == t.width && as.channels == t.channels;
  if (same_order(value.shape, value.order, order) && (same_folds || refold(value.tensor, as)))
    return {value.tensor, value.shape, std::move(order)};
  const Elem elem = t.elem;
  Stored y = new_stored(n, {}, elem, value.shape, order);
  out_.tensors.back().name = tensor(value).name;
  Layer layer = new_layer(n, Kind::Move, {value}, y);
  layer.copies = {copy_of(value.shape, strides_of(value.shape, value.order), strides_of(value.shape, order))};
  out_.layers.push_back(std::move(layer));
  return y;
}

// The same bytes with other rows: an input that no layer reads yet, in the model's order, may have any.
bool NetworkBuilder::refold(uint32_t number, const Tensor3& as) {
  const auto input = std::ranges::find(out_.inputs, number, &HostPort::tensor);
  const auto reads = [&](const Layer& l) {
    return std::ranges::find(l.planned.inputs, number) != l.planned.inputs.end();
  };
  if (input == out_.inputs.end() || std::ranges::any_of(out_.layers, reads)) return false;
  Tensor3& t = out_.tensors[number];
  const auto contiguous = [](const Tensor3& of) {
    return std::vector<int64_t>{of.width * of.channels, of.channels, 1};
  };
  const auto matters = [&](const std::vector<int64_t>& strides) {
    const std::vector<int64_t> want = contiguous(t);
    return (t.rows > 1 && strides[0] != want[0]) || (t.width > 1 && strides[1] != want[1]) ||
           (t.channels > 1 && strides[2] != want[2]);
  };
  if (matters(input->strides)) return false;
  t.rows = as.rows, t.width = as.width, t.channels = as.channels;
  input->strides = contiguous(t);
  return true;
}

Stored NetworkBuilder::row_major(const ir::Node& n, const Stored& value) {
  return in_order(n, value, identity_order(value.shape.size()));
}

// Of numbers that are computed where they are read the operands are viewed.
Status NetworkBuilder::add_view(const ir::Node& n) {
  const Shape& shape = g_.value(n.outputs[0]).type.shape;
  const auto viewed = [&](const Stored& value) {
    const Stored x = row_major(n, value);
    Stored y{x.tensor, shape, identity_order(shape.size())};
    const Tensor3 as = folded(shape, y.order), t = tensor(x);
    if (as.rows == t.rows && as.width == t.width && as.channels == t.channels) return y;
    if (refold(x.tensor, as)) return y;
    y = new_stored(n, n.outputs[0], t.elem, shape, y.order);
    Layer layer = new_layer(n, Kind::Move, {x}, y);
    layer.copies = {Copy{{{t.rows * t.width * t.channels, 1, 1}}, 0, 0}};
    out_.layers.push_back(std::move(layer));
    return y;
  };
  if (const auto found = numbers_.find(n.inputs[0]);
      found != numbers_.end() && found->second.steps.size() == 1) {
    Numbers numbers = found->second;
    numbers.operands[0] = viewed(numbers.operands[0]);
    numbers_[n.outputs[0]] = std::move(numbers);
    return {};
  }
  MRVLC_ASSIGN(const Stored x, stored(n, n.inputs[0]));
  stored_[n.outputs[0]] = viewed(x);
  return {};
}

Status NetworkBuilder::add_transpose(const ir::Node& n) {
  MRVLC_ASSIGN(const Stored x, stored(n, n.inputs[0]));
  const std::vector<int64_t>& given = ops::attr::perm(n);
  const size_t rank = x.shape.size();
  std::vector<size_t> perm(rank), position(rank);
  for (size_t d = 0; d < rank; ++d) perm[d] = given.empty() ? rank - 1 - d : static_cast<size_t>(given[d]);
  for (size_t d = 0; d < rank; ++d) position[perm[d]] = d;
  // The memory stays: dimension d of the result is perm[d] of the operand.
  Stored y{x.tensor, g_.value(n.outputs[0]).type.shape, {}};
  for (const size_t d : x.order) y.order.push_back(position[d]);
  stored_[n.outputs[0]] = std::move(y);
  return {};
}

Status NetworkBuilder::add_concat(const ir::Node& n) {
  const Shape& shape = g_.value(n.outputs[0]).type.shape;
  MRVLC_ASSIGN(const int64_t axis,
               ops::normalize_axis(ops::attr::axis(n), static_cast<int64_t>(shape.size())));
  std::vector<Stored> operands;
  for (const ir::ValueId v : n.inputs) {
    MRVLC_ASSIGN(const Stored x, stored(n, v));
    operands.push_back(in_order(n, x, operands.empty() ? x.order : operands[0].order));
  }
  const Stored y = new_stored(n, n.outputs[0], tensor(operands[0]).elem, shape, operands[0].order);
  Layer layer = new_layer(n, Kind::Move, operands, y);
  const std::vector<int64_t> to = strides_of(shape, y.order);
  int64_t at = 0;
  for (const Stored& x : operands) {
    Copy copy = copy_of(x.shape, strides_of(x.shape, x.order), to);
    copy.to = at * to[static_cast<size_t>(axis)];
    at += x.shape[static_cast<size_t>(axis)];
    layer.copies.push_back(std::move(copy));
  }
  out_.layers.push_back(std::move(layer));
  stored_[n.outputs[0]] = y;
  return {};
}

Status NetworkBuilder::add_slice(const ir::Node& n) {
  MRVLC_ASSIGN(const ops::SliceParams p, ops::slice_params(ops::infer_context(g_, n)));
  MRVLC_ASSIGN(const Stored x, stored(n, n.inputs[0]));
  const Shape& shape = g_.value(n.outputs[0]).type.shape;
  const Stored y = new_stored(n, n.outputs[0], tensor(x).elem, shape, x.order);
  Layer layer = new_layer(n, Kind::Move, {x}, y);
  std::vector<int64_t> from = strides_of(x.shape, x.order);
  int64_t first = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    first += p.start[d] * from[d];
    from[d] *= p.step[d];
  }
  layer.copies = {copy_of(shape, from, strides_of(shape, y.order))};
  layer.copies[0].from = first;
  out_.layers.push_back(std::move(layer));
  stored_[n.outputs[0]] = y;
  return {};
}

}  // namespace mrvlc::mesh
