// CenterCropPad (ONNX CenterCropPad-18): cuts or fills with zeros on both sides, the odd element at the end.
#include <algorithm>
#include <numeric>

#include "common/dims.h"
#include "common/strided_copy.h"
#include "common/text_copy.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<int64_t>> cropped_axes(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  MRVLC_TRY(check_elem(context, 1, kIndices));
  std::vector<int64_t> axes = context.ints_attr("axes");
  if (!is_attr_set(context, "axes")) {
    axes.resize(at(context.type(0).rank()));
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  MRVLC_ASSIGN(axes, normalize_axes(axes, context.type(0).rank()));
  if (context.type(1).shape[0] != static_cast<int64_t>(axes.size()))
    return bad_operands(fmt::format("{} sizes for {} axes", context.type(1).shape[0], axes.size()));
  return axes;
}

Result<std::vector<TensorType>> infer_crop(const InferContext& context) {
  MRVLC_ASSIGN(auto axes, cropped_axes(context));
  MRVLC_ASSIGN(auto sizes, known_ints(context, 1, "shape", kMaxRank));
  Shape shape = context.type(0).shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    MRVLC_TRY(check_dim(sizes[i], "a dimension"));
    shape[at(axes[i])] = sizes[i];
  }
  return one_type(context.type(0).elem, shape);
}

Result<std::vector<TensorType>> infer_crop_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(auto axes, cropped_axes(context));
  TensorType type{context.type(0).elem, context.type(0).shape};
  type.dynamic = context.type(0).dynamic;
  const Tensor* sizes = context.constant(1);
  for (size_t i = 0; i < axes.size(); ++i) {
    uint32_t bit = 1u << axes[i];
    if (sizes != nullptr) MRVLC_TRY(check_dim(sizes->as_int(static_cast<int64_t>(i)), "a dimension"));
    type.shape[at(axes[i])] = sizes != nullptr ? sizes->as_int(static_cast<int64_t>(i)) : kNoBound;
    type.dynamic = sizes != nullptr ? type.dynamic & ~bit : type.dynamic | bit;
  }
  return std::vector<TensorType>{type};
}

// The part of the data that is kept, from its place in the input to that in the result.
StridedCopy kept(const Shape& x, const Shape& y) {
  StridedCopy copy{{}, row_major_strides(x), row_major_strides(y), 0, 0};
  for (size_t d = 0; d < x.size(); ++d) {
    copy.size.push_back(std::min(x[d], y[d]));
    if (x[d] > y[d]) copy.in_offset += (x[d] - y[d]) / 2 * copy.in[d];
    if (y[d] > x[d]) copy.out_offset += (y[d] - x[d]) / 2 * copy.out[d];
  }
  return copy;
}

Status eval_crop(const EvalContext& context) {
  run_copy(kept(context.in(0).shape(), context.out().shape()), context.in(0), context.out());
  return {};
}

// What of one dimension is kept: how much, and where it begins in the input and in the result.
struct KeptDim {
  std::string size, from, to;
};

KeptDim kept_dim(const std::string& x, const std::string& y) {
  if (const auto known = numbers_of({x, y})) {
    const int64_t a = (*known)[0], b = (*known)[1], size = std::min(a, b);
    return {fmt::format("{}", size), fmt::format("{}", (a - size) / 2), fmt::format("{}", (b - size) / 2)};
  }
  const std::string smaller = fmt::format("({0} < {1} ? {0} : {1})", x, y);
  return {smaller, fmt::format("(({} - {}) / 2)", x, smaller), fmt::format("(({} - {}) / 2)", y, smaller)};
}

Status set_cropped_dims(EmitContext& context) {
  MRVLC_ASSIGN(auto axes, cropped_axes(emit_view(context)));
  Texts dims = in_dims(context, 0);
  for (size_t i = 0; i < axes.size(); ++i)
    dims[at(axes[i])] = int_operand(context, 1, static_cast<int64_t>(i));
  context.set_dims(0, dims);
  return {};
}

Status emit_crop(EmitContext& context) {
  if (is_dynamic(context)) MRVLC_TRY(set_cropped_dims(context));
  const Texts x = in_dims(context, 0), y = out_dims(context), in = stride_texts(x), out = stride_texts(y);
  const std::string count = product_text(y);
  if (count == "0") return {};
  TextCopy copy{{}, in, out};
  Texts from, to;
  for (size_t d = 0; d < x.size(); ++d) {
    const KeptDim kept = kept_dim(x[d], y[d]);
    copy.size.push_back(kept.size);
    from.push_back(product_text({kept.from, in[d]}));
    to.push_back(product_text({kept.to, out[d]}));
  }
  copy.in_offset = sum_text(from), copy.out_offset = sum_text(to);
  const ElementType elem = context.out_type(0).elem;
  if (copy.size != y)
    context.line(fmt::format("memset({}, 0, {});", context.out(0), bytes_text(elem, count)));
  emit_copy(context, copy);
  return {};
}

}  // namespace

const OpDef& def_CenterCropPad() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "CenterCropPad";
    d.traits = {.moves = Moves::Copied, .work = Work::Linear};
    d.since_min = 18;
    d.attrs = {optional("axes", ir::AttrKind::Ints)};
    d.min_inputs = d.max_inputs = 2;
    d.types = kFixedSize;
    d.infer = infer_crop;
    d.infer_dynamic = infer_crop_dynamic;
    d.eval = eval_crop;
    d.emit = d.emit_dynamic = emit_crop;
    d.declined = "runs on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
