// NonMaxSuppression (ONNX NonMaxSuppression-11): the best boxes of every class, without those that overlap a
// better one. Computed in float like generated code, because comparisons decide about the result's shape.
#include <algorithm>
#include <limits>

#include "common/dims.h"
#include "mrvlc/ops/kernel_structs.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Status check_nms(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 3, 3));
  MRVLC_TRY(check_rank(context, 1, 3, 3));
  MRVLC_TRY(check_same_elem(context, 1));
  for (size_t i = 2; i < 5; ++i) {
    if (!context.has(i)) continue;
    MRVLC_TRY(check_elem(context, i, i == 2 ? types_of({E::I64}) : types_of({E::F32})));
    MRVLC_TRY(check_rank(context, i, 0, 1));
    if (!context.type(i).is_static() || context.type(i).elements() != 1)
      return bad_operands(fmt::format("input {} must be one number", i));
  }
  int64_t center = context.int_attr("center_point_box");
  if (center != 0 && center != 1) return bad_attr("center_point_box", fmt::format("is {}", center));
  return {};
}

struct Box {
  float x1, y1, x2, y2;
};

Box read_box(const Tensor& boxes, int64_t i, bool center) {
  float v[4];
  for (int64_t k = 0; k < 4; ++k) v[k] = static_cast<float>(boxes.as_double(i * 4 + k));
  if (center) return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

bool overlap(const Box& a, const Box& b, float threshold) {
  float w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1), h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (!(w > 0) || !(h > 0)) return false;
  float area_a = (a.x2 - a.x1) * (a.y2 - a.y1), area_b = (b.x2 - b.x1) * (b.y2 - b.y1), common = w * h;
  float all = area_a + area_b - common;
  return area_a > 0 && area_b > 0 && all > 0 && common / all > threshold;
}

struct NmsOperands {
  const Tensor *boxes, *scores;
  int64_t most = 0;
  float iou = 0, score = 0;
  bool has_score = false, center = false;
};

// The boxes of one class of one example, best first.
std::vector<int64_t> select(const NmsOperands& n, int64_t first_box, int64_t first_score, int64_t count) {
  std::vector<int64_t> selected;
  std::vector<bool> out(at(count));
  auto score = [&](int64_t i) { return static_cast<float>(n.scores->as_double(first_score + i)); };
  while (static_cast<int64_t>(selected.size()) < n.most) {
    int64_t best = -1;
    for (int64_t i = 0; i < count; ++i) {
      float s = score(i);
      if (out[at(i)] || s != s || (n.has_score && !(s > n.score))) continue;
      if (best < 0 || s > score(best)) best = i;
    }
    if (best < 0) break;
    selected.push_back(best);
    Box box = read_box(*n.boxes, first_box + best, n.center);
    out[at(best)] = true;
    for (int64_t i = 0; i < count; ++i) {
      if (!out[at(i)] && overlap(box, read_box(*n.boxes, first_box + i, n.center), n.iou)) out[at(i)] = true;
    }
  }
  return selected;
}

Status check_sizes(const InferContext& context) {
  const Shape &boxes = context.type(0).shape, &scores = context.type(1).shape;
  if (boxes[0] == scores[0] && boxes[1] == scores[2] && boxes[2] == 4) return {};
  return bad_operands(fmt::format("boxes of {} with scores of {}", to_string(boxes), to_string(scores)));
}

Result<Tensor> suppress(const InferContext& context) {
  MRVLC_TRY(check_nms(context));
  MRVLC_TRY(check_sizes(context));
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (context.has(i) && context.constant(i) == nullptr)
      return make_diag<DiagCode::MRV0207>(fmt::format("{} (its values decide the shape of the result)", i));
  }
  NmsOperands n{context.constant(0), context.constant(1)};
  if (context.has(2)) n.most = context.constant(2)->as_int(0);
  if (context.has(3)) n.iou = static_cast<float>(context.constant(3)->as_double(0));
  n.has_score = context.has(4);
  if (n.has_score) n.score = static_cast<float>(context.constant(4)->as_double(0));
  n.center = context.int_attr("center_point_box") != 0;
  int64_t classes = n.scores->shape()[1], count = n.boxes->shape()[1];
  std::vector<int64_t> result;
  for (int64_t i = 0; i < n.boxes->shape()[0] * classes; ++i) {
    for (int64_t box : select(n, i / classes * count, i * count, count))
      result.insert(result.end(), {i / classes, i % classes, box});
  }
  return Tensor::of(E::I64, {static_cast<int64_t>(result.size() / 3), 3}, result);
}

// Comparisons of boxes at most.
int64_t comparisons(const InferContext& context) {
  const Shape& scores = context.type(1).shape;
  int64_t most =
      context.has(2) && context.constant(2) != nullptr ? context.constant(2)->as_int(0) : scores[2];
  int64_t picks = std::clamp<int64_t>(most, 0, scores[2]);
  return checked_mul(element_count(scores), picks).value_or(kMaxElements);
}

// Of many boxes the result's length is left dynamic: inference must not take long.
Result<std::vector<TensorType>> infer_nms(const InferContext& context) {
  constexpr int64_t kMostComparisons = int64_t{1} << 24;
  MRVLC_TRY(check_nms(context));
  MRVLC_TRY(check_sizes(context));
  if (comparisons(context) > kMostComparisons)
    return make_diag<DiagCode::MRV0207>("0 (its values decide the shape of the result)");
  MRVLC_ASSIGN(Tensor result, suppress(context));
  return std::vector<TensorType>{result.type()};
}

Result<std::vector<TensorType>> infer_nms_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_nms(context));
  Dims scores = dims_of(context.type(1));
  if (!context.has(2)) scores[2] = {0, true};
  if (context.has(2) && context.constant(2) != nullptr) {
    int64_t most = std::max<int64_t>(0, context.constant(2)->as_int(0));
    if (scores[2].bound == kNoBound || scores[2].bound > most) scores[2].bound = most;
  }
  return std::vector<TensorType>{type_of(E::I64, {{product(scores).bound, true}, {3, false}})};
}

Status eval_nms(const EvalContext& context) {
  MRVLC_ASSIGN(context.out(), suppress(context.infer_view()));
  return {};
}

Status emit_nms(EmitContext& context) {
  MRVLC_ASSIGN(Tensor value, suppress(emit_view(context)));
  emit_constant_output(context, value);
  return {};
}

// -- C

// Boxes of one class that are kept at most.
int64_t most_kept(const EmitContext& context) {
  const int64_t count = context.in_type(1).shape[2];
  const Tensor* most = context.has(2) ? context.constant(2) : nullptr;
  return most == nullptr ? count : std::clamp<int64_t>(most->as_int(0), 0, count);
}

// Appends to the list the boxes of each class that are kept.
void emit_classes(EmitContext& context, const std::string& classes) {
  const int64_t count = context.in_type(1).shape[2];
  const std::string order = context.scratch(std::max<int64_t>(1, count) * 2 * 8),
                    kept = context.scratch((most_kept(context) / 16 + 1) * 5 * 16 * 4);
  const std::string most = context.has(2) ? int_operand(context, 2) : "0";
  const structs::Suppression shape{.count = "count",
                                   .most = fmt::format("(ptrdiff_t)({0} < count ? {0} : count)", most),
                                   .iou = context.has(3) ? context.in(3) + "[0]" : "0",
                                   .least = context.has(4) ? context.in(4) : "NULL",
                                   .center = context.node().int_attr("center_point_box")};
  context.line(
      fmt::format("const {} shape = {};", context.helper("suppression"), structs::initialiser(shape)));
  context.open(fmt::format("for (ptrdiff_t k = 0; k < {}; ++k)", classes));
  context.line(fmt::format("const float* boxes = {} + k / classes * count * 4;", context.in(0)));
  context.line(fmt::format("total += {}(&shape, boxes, {} + k * count, {}, {}, k * count, list + total);",
                           context.helper("suppress"), context.in(1), order, kept));
  context.close();
}

Status emit_nms_dynamic(EmitContext& context) {
  require_equal(context, context.in_dim(0, 0), context.in_dim(1, 0));
  require_equal(context, context.in_dim(0, 1), context.in_dim(1, 2));
  require_equal(context, context.in_dim(0, 2), "4");
  Texts scores = in_sizes(context, 1);
  context.line(fmt::format("const ptrdiff_t classes = {}, count = {};", scores[1], scores[2]));
  // Indices of boxes have 32 bits while they are sorted.
  const Shape& bounds = context.in_type(1).shape;
  if (bounds[2] > std::numeric_limits<uint32_t>::max()) context.fail_if("(uint64_t)count > UINT32_MAX");
  // Where the result is declared shorter, more boxes are an error of set_dims, after the list was written.
  const int64_t room = std::max<int64_t>(1, bounds[0] * bounds[1] * most_kept(context));
  context.line(fmt::format("ptrdiff_t* list = (ptrdiff_t*){};", context.scratch(room * 8)));
  context.line("ptrdiff_t total = 0;");
  emit_classes(context, size_product(scores, 0, 2));
  context.set_dims(0, {"total", "3"});
  context.open("for (ptrdiff_t i = 0; i < total; ++i)");
  context.line(fmt::format("{}[i * 3] = list[i] / count / classes;", context.out(0)));
  context.line(fmt::format("{}[i * 3 + 1] = list[i] / count % classes;", context.out(0)));
  context.line(fmt::format("{}[i * 3 + 2] = list[i] % count;", context.out(0)));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_NonMaxSuppression() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "NonMaxSuppression";
    d.traits = {.data_dependent_shape = true};
    d.since_min = 10;
    d.attrs = {with_int("center_point_box", 0)};
    d.min_inputs = 2;
    d.max_inputs = 5;
    d.types = types_of({E::F32});
    d.infer = infer_nms;
    d.infer_dynamic = infer_nms_dynamic;
    d.eval = eval_nms;
    d.emit = emit_nms;
    d.emit_dynamic = emit_nms_dynamic;
    d.declined = "the accelerator has no shapes that depend on values";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
