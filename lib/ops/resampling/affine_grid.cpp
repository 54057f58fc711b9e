// AffineGrid (ONNX AffineGrid-20): the positions at which GridSample reads for an affine map.
#include "common/dims.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Spatial dimensions, 2 or 3, as theta says.
Result<int64_t> spatial_rank(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 3, 3));
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  const Shape &theta = context.type(0).shape, &size = context.type(1).shape;
  int64_t rank = theta[1];
  if ((rank != 2 && rank != 3) || theta[2] != rank + 1 || size[0] != rank + 2)
    return bad_operands(fmt::format("theta of {} for {} sizes", to_string(theta), size[0]));
  return rank;
}

Result<std::vector<TensorType>> infer_affine_grid(const InferContext& context) {
  MRVLC_ASSIGN(int64_t rank, spatial_rank(context));
  MRVLC_ASSIGN(auto size, known_ints(context, 1, "size", kMaxRank));
  for (int64_t dim : size) MRVLC_TRY(check_dim(dim, "a size"));
  if (size[0] != context.type(0).shape[0])
    return bad_operands(fmt::format("{} maps for a batch of {}", context.type(0).shape[0], size[0]));
  Shape shape = {size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(rank);
  return one_type(context.type(0).elem, shape);
}

Result<std::vector<TensorType>> infer_affine_grid_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(int64_t rank, spatial_rank(context));
  TensorType type{context.type(0).elem, Shape(at(rank + 2), kNoBound)};
  type.shape[0] = context.type(0).shape[0];
  type.shape.back() = rank;
  type.dynamic = ((1u << (rank + 1)) - 2u) | (context.type(0).dynamic & 1u);
  return std::vector<TensorType>{type};
}

// From -1 to 1, at the outermost elements' middles or, with `align`, at the edges.
double coordinate(int64_t i, int64_t size, bool align) {
  if (!align) return static_cast<double>(2 * i + 1 - size) / static_cast<double>(size);
  return size == 1 ? -1 : static_cast<double>(2 * i + 1 - size) / static_cast<double>(size - 1);
}

Status eval_affine_grid(const EvalContext& context) {
  bool align = context.infer_view().int_attr("align_corners") != 0;
  const Tensor& theta = context.in(0);
  Tensor& y = context.out();
  const Shape& shape = y.shape();
  int64_t rank = shape.back();
  for (int64_t i = 0; i < y.elements(); ++i) {
    int64_t k = i % rank, rest = i / rank;
    double position[4] = {0, 0, 0, 1};
    for (int64_t d = rank; d >= 1; rest /= shape[at(d)], --d)
      position[rank - d] = coordinate(rest % shape[at(d)], shape[at(d)], align);
    double sum = theta.as_double((rest * rank + k) * (rank + 1) + rank);
    for (int64_t j = 0; j < rank; ++j)
      sum += theta.as_double((rest * rank + k) * (rank + 1) + j) * position[j];
    y.set_double(i, sum);
  }
  return {};
}

void emit_coordinate(EmitContext& context, int64_t axis, const std::string& size, ElementType elem,
                     bool align) {
  std::string_view type = c_type(elem);
  std::string scaled = fmt::format("({})(2 * i{} + 1 - {})", type, axis, size);
  std::string text = align ? fmt::format("{0} > 1 ? {1} / ({2})({0} - 1) : -1", size, scaled, type)
                           : fmt::format("{} / ({}){}", scaled, type, size);
  context.line(fmt::format("const {} p{} = {};", type, axis, text));
}

Status emit_affine_grid(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  const int64_t rank = context.out_type(0).shape.back();
  Texts dims = {int_operand(context, 1)}, sizes;
  require_equal(context, dims[0], context.in_dim(0, 0));
  for (int64_t d = 0; d < rank; ++d) dims.push_back(int_operand(context, 1, d + 2));
  dims.push_back(fmt::format("{}", rank));
  context.set_dims(0, dims);
  if (context.out_type(0).elements() == 0) return {};
  for (int64_t d = 0; d < rank; ++d)
    sizes.push_back(named_size(context, fmt::format("d{}", d), context.out_dim(0, d + 1)));
  ElementType elem = context.in_type(0).elem;
  bool align = context.node().int_attr("align_corners") != 0;
  context.line(fmt::format("{}* y = {};", c_type(elem), context.out(0)));
  context.open(fmt::format("for (ptrdiff_t n = 0; n < {}; ++n)", dim_text(context.in_dim(0, 0))));
  context.line(fmt::format("const {}* t = {} + n * {};", c_type(elem), context.in(0), rank * (rank + 1)));
  for (int64_t d = 0; d < rank; ++d) {
    context.open(fmt::format("for (ptrdiff_t i{0} = 0; i{0} < {1}; ++i{0})", d, sizes[at(d)]));
    emit_coordinate(context, d, sizes[at(d)], elem, align);
  }
  std::string sum;  // the last dimension is x
  for (int64_t j = 0; j < rank; ++j) sum += fmt::format("t[k * {} + {}] * p{} + ", rank + 1, j, rank - 1 - j);
  context.line(
      fmt::format("for (ptrdiff_t k = 0; k < {0}; ++k) *y++ = {1}t[k * {2} + {0}];", rank, sum, rank + 1));
  for (int64_t d = 0; d <= rank; ++d) context.close();
  return {};
}

}  // namespace

const OpDef& def_AffineGrid() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "AffineGrid";
    d.traits = {.work = Work::Results};
    d.since_min = 20;
    d.attrs = {with_int("align_corners", 0)};
    d.min_inputs = d.max_inputs = 2;
    d.types = kFloats;
    d.infer = infer_affine_grid;
    d.infer_dynamic = infer_affine_grid_dynamic;
    d.eval = eval_affine_grid;
    d.emit = d.emit_dynamic = emit_affine_grid;
    d.declined = "the accelerator has no such arithmetic on positions";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
