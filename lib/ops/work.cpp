// Steps that an evaluation takes, bounded from types and attributes; limits on elements and bytes of a type.
#include "mrvlc/ops/work.h"

#include <algorithm>
#include <bit>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ops.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::ops {
namespace {

using TypesView = std::span<const TensorType* const>;

int64_t elements(TypesView types) {
  int64_t all = 1;
  for (const TensorType* t : types) {
    if (t != nullptr) all = saturating_add(all, t->elements());
  }
  return all;
}

int64_t elements_of(TypesView types, size_t i) {
  return i < types.size() && types[i] != nullptr ? types[i]->elements() : 0;
}

// Products of matrices: every result is a sum along the last dimension of an operand.
int64_t product_work(TypesView inputs, int64_t results) {
  int64_t depth = 1;
  for (const TensorType* t : inputs) {
    if (t == nullptr) continue;
    for (size_t d = t->shape.size() >= 2 ? t->shape.size() - 2 : 0; d < t->shape.size(); ++d)
      depth = std::max(depth, t->shape[d]);
  }
  return saturating_mul(results, depth);
}

// Numbers among the attributes may say how often something is done, e.g. a kernel's size.
int64_t counts(const std::vector<ir::Attr>& attrs) {
  constexpr int64_t kFlag = 16;  // axes, types and the like are smaller
  int64_t n = 1;
  for (const ir::Attr& attr : attrs) {
    if (const auto* i = std::get_if<int64_t>(&attr)) n = saturating_mul(n, *i > kFlag ? *i : 1);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&attr)) {
      for (int64_t i : *list) n = saturating_mul(n, std::max<int64_t>(i, 1));
    }
  }
  return n;
}

int64_t conv_work(Op op, TypesView inputs, TypesView outputs) {
  const size_t weights = op == Op::QLinearConv ? 3 : 1;
  const TensorType* w = weights < inputs.size() ? inputs[weights] : nullptr;
  if (w == nullptr || w->shape.empty()) return elements(inputs);
  const int64_t taps = w->elements() / std::max<int64_t>(1, w->shape[0]);
  return saturating_mul(op == Op::ConvTranspose ? elements_of(inputs, 0) : elements(outputs), taps);
}

// Comparisons of a merge sort.
int64_t sort_work(int64_t elements) {
  return saturating_mul(elements, std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, elements))));
}

// Of each result: up to four elements along a dimension (cubic), times as many where elements are averaged
// that make one. The first two dimensions are images and channels, where they are not resized.
int64_t taps_of(const TensorType& in, const TensorType& out) {
  int64_t taps = 1;
  if (in.rank() != out.rank()) return in.elements();
  for (size_t d = 0; d < in.shape.size(); ++d) {
    if (d < 2 && in.shape[d] == out.shape[d]) continue;
    const int64_t each = 1 + in.shape[d] / std::max<int64_t>(1, out.shape[d]);
    taps = saturating_mul(taps, std::min(in.shape[d], saturating_mul(4, each)));
  }
  return taps;
}

int64_t resample_work(TypesView inputs, TypesView outputs) {
  if (inputs.empty() || inputs[0] == nullptr || outputs.empty() || outputs[0] == nullptr) return 0;
  return saturating_mul(elements(outputs), taps_of(*inputs[0], *outputs[0]));
}

// NonMaxSuppression: every score meets the boxes that its class has kept, whose number the result bounds.
int64_t suppression_work(TypesView inputs, TypesView outputs) {
  const TensorType* scores = inputs.size() > 1 ? inputs[1] : nullptr;
  if (scores == nullptr || scores->rank() != 3) return saturating_mul(elements(inputs), elements(outputs));
  const int64_t classes = std::max<int64_t>(1, saturating_mul(scores->shape[0], scores->shape[1]));
  return saturating_add(elements(inputs),
                        saturating_mul(scores->elements(), 1 + elements(outputs) / classes));
}

}  // namespace

Diag too_large() {
  return make_diag<DiagCode::MRV0209>(fmt::format("more than {}", kMaxElements),
                                      fmt::format("{} elements", kMaxElements));
}

Status check_size(const TensorType& type) {
  constexpr int64_t kMaxBytes = int64_t{1} << 46, kMaxItemBytes = 16, kRow = 128;  // of a sequence's tensor
  bool bounded = true, fits = type.length <= kMaxElements && type.capacity <= kMaxElements;
  for (int64_t d = 0; d < type.rank(); ++d) {
    const int64_t dim = type.shape[static_cast<size_t>(d)];
    fits = fits && dim <= kMaxElements;
    bounded = bounded && !(type.is_dynamic(d) && dim == kNoBound);
  }
  if (fits && (bounded || type.capacity >= 0)) {
    auto count = type.capacity >= 0 ? std::optional(type.capacity) : checked_product(type.shape);
    fits = count && *count <= kMaxElements;
    if (fits && type.length > 0)
      fits = saturating_mul(saturating_add(saturating_mul(*count, kMaxItemBytes), kRow), type.length) <=
             kMaxBytes;
  }
  if (fits) return {};
  return too_large();
}

int64_t evaluation_work(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs, TypesView inputs,
                        TypesView outputs) {
  const int64_t in = elements(inputs), out = elements(outputs), moved = saturating_add(in, out);
  const OpDef& def = static_cast<const OpDef&>(op);
  if (def.scalar != nullptr) return moved;
  if (op.kind == Op::NonMaxSuppression) return suppression_work(inputs, outputs);
  int64_t work = saturating_mul(in, out);
  switch (def.traits.work) {
    case Work::Linear:
      return moved;
    case Work::Results:
      return out;
    case Work::Sorted:
      return saturating_add(out, sort_work(in));
    case Work::Resampled:
      return saturating_add(moved, resample_work(inputs, outputs));
    case Work::Counted:
      work = out;
      break;
    case Work::Product:
      return saturating_add(moved, product_work(inputs, out));
    case Work::Windows:
      return saturating_add(moved, conv_work(op.kind, inputs, outputs));
    case Work::Labels:  // operands may share none
      for (const TensorType* t : inputs)
        work = saturating_mul(work, t == nullptr ? 1 : std::max<int64_t>(1, t->elements()));
      break;
    case Work::Everything:
      break;
  }
  return saturating_mul(work, counts(attrs));
}

int64_t evaluation_work(const ir::Graph& graph, const ir::Node& node) {
  auto types = [&](const std::vector<ir::ValueId>& values) {
    std::vector<const TensorType*> list;
    for (ir::ValueId v : values) list.push_back(v.valid() ? &graph.value(v).type : nullptr);
    return list;
  };
  return evaluation_work(*node.op, node.attrs, types(node.inputs), types(node.outputs));
}

}  // namespace mrvlc::ops
