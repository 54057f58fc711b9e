// Layers that move elements: strided copies of at most five dimensions.
#include <algorithm>

#include "legal/legal.h"
#include "mrvlc/ops/attributes.h"

namespace mrvlc::accel {
namespace {

// Neighbours of the result that are neighbours of the operand too move as one dimension.
int64_t transposed_rank(const Shape& in, const std::vector<int64_t>& perm) {
  std::vector<int64_t> order;  // perm without dimensions of size 1, renumbered by position in the operand
  for (int64_t p : perm) {
    if (in[static_cast<size_t>(p)] != 1)
      order.push_back(std::count_if(in.begin(), in.begin() + p, [](int64_t d) { return d != 1; }));
  }
  int64_t groups = order.empty() ? 0 : 1;
  for (size_t i = 1; i < order.size(); ++i) groups += order[i] == order[i - 1] + 1 ? 0 : 1;
  return groups;
}

// Dimensions marked true are addressed on their own, the others merge with neighbours of their sort.
int64_t grouped_rank(const Shape& shape, const std::vector<bool>& alone) {
  int64_t groups = 0;
  bool dynamic = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (alone[d] || !dynamic) ++groups;
    dynamic = !alone[d];
  }
  return groups;
}

Legality transpose(const LegalContext& c) {
  std::vector<int64_t> perm = ops::attr::perm(c.anchor());
  if (perm.empty()) {
    for (int64_t d = c.in().rank(); d > 0; --d) perm.push_back(d - 1);
  }
  return collapsed_rank("transposition", transposed_rank(c.in().shape, perm));
}

Legality slice(const LegalContext& c) {
  for (size_t i = 1; i < c.anchor().inputs.size(); ++i)
    MRVLC_LEGAL(constant_input(c, i, "list of starts, ends, axes or steps"));
  auto p = ops::slice_params(ops::infer_context(c.graph, c.anchor()));
  if (!p.ok()) return refuse(p.error());
  std::vector<bool> alone;
  for (size_t d = 0; d < p->size.size(); ++d)
    alone.push_back(p->step[d] != 1 || p->size[d] != c.in().shape[d]);
  return collapsed_rank("slice", grouped_rank(p->size, alone));
}

// A side that repeats more than what is kept turns around, or begins anew: a copy for each time.
Legality one_turn(const ops::PadParams& p, size_t d, int64_t size) {
  if (p.mode != "reflect" && p.mode != "wrap") return legal();
  const int64_t kept = size + std::min<int64_t>(p.begin[d], 0) + std::min<int64_t>(p.end[d], 0);
  const int64_t most = p.mode == "wrap" ? kept : kept - 1;
  for (int64_t side : {p.begin[d], p.end[d]})
    MRVLC_LEGAL(at_most("pads", fmt::format("the {} padding of dimension {}", p.mode, d), side, most));
  return legal();
}

Legality pad(const LegalContext& c) {
  for (size_t i = 1; i < c.anchor().inputs.size(); ++i)
    MRVLC_LEGAL(constant_input(c, i, "list of pads, the value or list of axes"));
  auto p = ops::pad_params(ops::infer_context(c.graph, c.anchor()));
  if (!p.ok()) return refuse(p.error());
  for (size_t d = 0; d < p->begin.size(); ++d) MRVLC_LEGAL(one_turn(*p, d, c.in().shape[d]));
  std::vector<bool> alone;
  for (size_t d = 0; d < p->begin.size(); ++d) alone.push_back(p->begin[d] != 0 || p->end[d] != 0);
  return collapsed_rank("padding", grouped_rank(c.out().shape, alone));
}

Legality split(const LegalContext& c) {
  return constant_input(c, 1, "list of sizes");
}

Legality expand(const LegalContext& c) {
  MRVLC_LEGAL(constant_input(c, 1, "shape"));
  return collapsed_rank("expansion", broadcast_rank({&c.in().shape}, c.out().shape));
}

Legality tile(const LegalContext& c) {
  MRVLC_LEGAL(constant_input(c, 1, "list of repeats"));
  const Shape &in = c.in().shape, &out = c.out().shape;
  int64_t groups = 0;
  bool dynamic = false;
  for (size_t d = 0; d < in.size(); ++d) {
    bool repeated = in[d] != out[d];
    if (repeated)
      groups += in[d] > 1 ? 2 : 1;  // one dimension over the repeats, one inside
    else if (in[d] > 1 && !dynamic)
      ++groups;
    if (repeated || in[d] > 1) dynamic = !repeated;
  }
  return collapsed_rank("tiling", groups);
}

Legality blocks(const LegalContext& c) {
  if (c.in().rank() != 4) {
    return refuse("rank", std::to_string(c.in().rank()), "4",
                  fmt::format("the operand has rank {}; the accelerator takes 4.", c.in().rank()));
  }
  return at_most("batch", "the batch", c.in().shape[0], c.machine.max_batch);
}

Legality resize_attributes(const ir::Node& n, const ops::ResizeParams& p) {
  if (p.mode != "nearest" && p.mode != "linear") {
    return refuse(
        "mode", printable(p.mode, 40), "nearest or linear",
        fmt::format("resize mode is {}; the accelerator takes nearest and linear.", printable(p.mode, 40)));
  }
  if (p.coordinate_mode == "tf_crop_and_resize") {
    return refuse("coordinate_transformation_mode", p.coordinate_mode, "any but tf_crop_and_resize",
                  "cropping and resizing in one operator is not done on the accelerator.");
  }
  if (ops::attr::antialias(n)) {
    return refuse("antialias", "1", "0", "the accelerator resizes without antialiasing.");
  }
  return legal();
}

}  // namespace

Legality legal_resize(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  for (size_t i = 1; i < n.inputs.size(); ++i)
    MRVLC_LEGAL(constant_input(c, i, "region, list of scales or sizes"));
  if (c.in().rank() != 4) {
    return refuse(
        "rank", std::to_string(c.in().rank()), "4",
        fmt::format("the operand has rank {}; the accelerator resizes images of rank 4.", c.in().rank()));
  }
  auto p = ops::resize_params(ops::infer_context(c.graph, n));
  if (!p.ok()) return refuse(p.error());
  MRVLC_LEGAL(resize_attributes(n, *p));
  for (size_t d = 0; d < 2; ++d) {
    if (p->output[d] == c.in().shape[d] && p->scale[d] == 1) continue;
    return refuse("resized dimensions", fmt::format("dimension {}", d), "the last two",
                  fmt::format("dimension {} is resized; the accelerator resizes the last two.", d));
  }
  return at_most("batch", "the batch", c.in().shape[0], c.machine.max_batch);
}

Legality legal_concat(const LegalContext& c) {
  for (ir::ValueId in : c.anchor().inputs) {
    if (!in.valid() || c.type(in).elements() > 0) continue;
    return refuse("dimensions >= 1", to_string(c.type(in).shape), "at least 1 each",
                  "one of the parts holds no elements.");
  }
  return legal();  // before the axis, the axis, after it: three dimensions at most
}

Legality legal_move(const LegalContext& c) {
  switch (c.anchor().kind()) {
#define MRVLC_MOVE(op, function) \
  case Op::op:                   \
    return function(c);
#include "mrvlc/accel/moves.def"
#include "mrvlc/ops/op_kind.h"
#undef MRVLC_MOVE
    default:
      break;
  }
  return refuse("operator", std::string(c.anchor().op->name), "an operator that moves elements",
                fmt::format("the accelerator has no copy for {}.", c.anchor().op->name));
}

Legality legal_reshape(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  for (size_t i = 1; i < n.inputs.size(); ++i) MRVLC_LEGAL(constant_input(c, i, "shape or list of axes"));
  return legal();
}

}  // namespace mrvlc::accel
