// Col2Im (ONNX Col2Im-18): adds the columns of blocks back into an image.
#include <algorithm>

#include "common/dims.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct ColParams {
  size_t rank = 0;
  std::vector<int64_t> strides, dilations, pads;
};

Result<ColParams> col_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 3, 3));
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  MRVLC_TRY(check_rank(context, 2, 1, 1));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  MRVLC_TRY(check_elem(context, 2, types_of({E::I64})));
  ColParams p;
  int64_t rank = context.type(1).shape[0];
  if (rank < 1 || rank + 2 > kMaxRank || context.type(2).shape[0] != rank)
    return bad_operands(
        fmt::format("an image of {} dimensions in blocks of {}", rank, context.type(2).shape[0]));
  p.rank = at(rank);
  auto read = [&](std::string_view attr, size_t count, int64_t low) -> Result<std::vector<int64_t>> {
    std::vector<int64_t> given = context.ints_attr(attr);
    if (given.empty()) given.assign(count, low);
    if (given.size() != count)
      return bad_attr(attr, fmt::format("has {} entries, expected {}", given.size(), count));
    for (int64_t v : given) {
      if (v < low || v > kMaxExtent) return bad_attr(attr, fmt::format("has the entry {}", v));
    }
    return given;
  };
  MRVLC_ASSIGN(p.strides, read("strides", p.rank, 1));
  MRVLC_ASSIGN(p.dilations, read("dilations", p.rank, 1));
  MRVLC_ASSIGN(p.pads, read("pads", 2 * p.rank, 0));
  return p;
}

struct ColSizes : ColParams {
  std::vector<int64_t> image, block, steps;  // steps: positions of the block along each dimension
  int64_t batch = 0, channels = 0;
};

Result<ColSizes> col_sizes(const InferContext& context) {
  ColSizes s;
  MRVLC_ASSIGN(static_cast<ColParams&>(s), col_params(context));
  MRVLC_ASSIGN(s.image, known_ints(context, 1, "image_shape", kMaxRank));
  MRVLC_ASSIGN(s.block, known_ints(context, 2, "block_shape", kMaxRank));
  int64_t block = 1, steps = 1;
  for (size_t d = 0; d < s.rank; ++d) {
    if (s.block[d] < 1 || s.block[d] > kMaxExtent)
      return bad_operands(fmt::format("a block of {}", s.block[d]));
    MRVLC_TRY(check_dim(s.image[d], "a size of the image"));
    auto span = checked_mul(s.block[d] - 1, s.dilations[d]);
    int64_t room = span ? s.image[d] + s.pads[d] + s.pads[d + s.rank] - *span - 1 : -1;
    if (room < 0) return bad_operands("a block is larger than the padded image");
    s.steps.push_back(room / s.strides[d] + 1);
    auto blocks = checked_mul(block, s.block[d]), all = checked_mul(steps, s.steps[d]);
    if (!blocks || !all) return bad_operands("the blocks are too large");
    block = *blocks, steps = *all;
  }
  const Shape& x = context.type(0).shape;
  if (x[1] % block != 0 || x[2] != steps)
    return bad_operands(
        fmt::format("columns of {} for {} blocks of {} elements", to_string(x), steps, block));
  s.batch = x[0], s.channels = x[1] / block;
  return s;
}

Result<std::vector<TensorType>> infer_col2im(const InferContext& context) {
  MRVLC_ASSIGN(ColSizes s, col_sizes(context));
  Shape shape = {s.batch, s.channels};
  shape.insert(shape.end(), s.image.begin(), s.image.end());
  return one_type(context.type(0).elem, shape);
}

Result<std::vector<TensorType>> infer_col2im_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(ColParams p, col_params(context));
  TensorType type{context.type(0).elem, Shape(p.rank + 2, kNoBound)};
  type.dynamic = (1u << (p.rank + 2)) - 1u;
  type.shape[0] = context.type(0).shape[0];
  type.shape[1] = context.type(0).shape[1];
  if (!context.type(0).is_dynamic(0)) type.dynamic &= ~1u;
  return std::vector<TensorType>{type};
}

Status eval_col2im(const EvalContext& context) {
  MRVLC_ASSIGN(ColSizes s, col_sizes(context.infer_view()));
  const Tensor& x = context.in(0);
  int64_t image = element_count(s.image), block = element_count(s.block), steps = element_count(s.steps);
  std::vector<double> sum(at(s.batch * s.channels * image));
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t step = i % steps, tap = i / steps % block, to = 0, scale = 1;
    bool inside = true;
    for (size_t d = s.rank; d-- > 0; step /= s.steps[d], tap /= s.block[d], scale *= s.image[d]) {
      int64_t position = step % s.steps[d] * s.strides[d] - s.pads[d] + tap % s.block[d] * s.dilations[d];
      inside = inside && position >= 0 && position < s.image[d];
      to += position * scale;
    }
    if (inside) sum[at(i / steps / block * image + to)] += x.as_double(i);
  }
  for (int64_t i = 0; i < context.out().elements(); ++i) context.out().set_double(i, sum[at(i)]);
  return {};
}

struct ColTexts {
  Texts image, block, steps;
  std::string planes;  // images, one a channel and example
};

Status emit_blocks(EmitContext& context, const ColParams& p, const ColTexts& s) {
  MRVLC_TRY(require_widened(context));
  std::string_view type = c_type(context.in_type(0).elem);
  context.line(fmt::format("const {}* x = {};", type, context.in(0)));
  context.open(fmt::format("for (ptrdiff_t n = 0; n < {}; ++n)", s.planes));
  context.line(fmt::format("{}* y = {} + n * {};", type, context.out(0), size_product(s.image)));
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = 0;", size_product(s.image)));
  auto loop = [&](char name, size_t d, const std::string& n) {
    context.open(fmt::format("for (ptrdiff_t {0}{1} = 0; {0}{1} < {2}; ++{0}{1})", name, d, n));
  };
  for (size_t d = 0; d < p.rank; ++d) loop('k', d, s.block[d]);
  std::string inside, to;
  for (size_t d = 0; d < p.rank; ++d) {
    loop('s', d, s.steps[d]);
    context.line(fmt::format("const ptrdiff_t p{0} = s{0} * {1} - {2} + k{0} * {3};", d, p.strides[d],
                             p.pads[d], p.dilations[d]));
    inside += fmt::format("{}p{} >= 0 && p{} < {}", d == 0 ? "" : " && ", d, d, s.image[d]);
    to = d == 0 ? "p0" : fmt::format("{} * {} + p{}", d == 1 ? to : "(" + to + ")", s.image[d], d);
  }
  context.line(fmt::format("if ({}) y[{}] += *x;", inside, to));
  context.line("++x;");
  for (size_t d = 0; d < 2 * p.rank + 1; ++d) context.close();
  return {};
}

Result<ColTexts> known_sizes(const EmitContext& context) {
  MRVLC_ASSIGN(ColSizes s, col_sizes(emit_view(context)));
  ColTexts t;
  for (size_t d = 0; d < s.rank; ++d) {
    t.image.push_back(fmt::format("{}", s.image[d]));
    t.block.push_back(fmt::format("{}", s.block[d]));
    t.steps.push_back(fmt::format("{}", s.steps[d]));
  }
  t.planes = fmt::format("{}", s.batch * s.channels);
  return t;
}

// The sizes are read into variables and checked like col_sizes does.
ColTexts read_sizes(EmitContext& context, const ColParams& p) {
  ColTexts t;
  Texts dims = {context.in_dim(0, 0), ""};
  constexpr int64_t kMost = 1 << 30;  // products of two stay small
  std::string blocks = "1", steps = "1";
  for (size_t d = 0; d < p.rank; ++d) {
    auto i = static_cast<int64_t>(d);
    context.line(fmt::format("const int64_t image{0} = {1}, block{0} = {2};", d, int_operand(context, 1, i),
                             int_operand(context, 2, i)));
    context.fail_if(
        fmt::format("image{0} < 0 || image{0} > {1} || block{0} < 1 || block{0} > {1}", d, kMost));
    context.line(
        fmt::format("const int64_t room{0} = image{0} + INT64_C({1}) - (block{0} - 1) * INT64_C({2}) - 1;", d,
                    p.pads[d] + p.pads[d + p.rank], p.dilations[d]));
    context.fail_if(fmt::format("room{0} < 0", d));
    context.line(fmt::format("const ptrdiff_t steps{0} = (ptrdiff_t)(room{0} / {1} + 1);", d, p.strides[d]));
    context.line(fmt::format("const int64_t blocks{0} = {1} * block{0}, all{0} = {2} * (int64_t)steps{0};", d,
                             blocks, steps));
    context.fail_if(fmt::format("blocks{0} > {1} || all{0} > {1}", d, kMost));
    blocks = fmt::format("blocks{}", d), steps = fmt::format("all{}", d);
    t.image.push_back(fmt::format("(ptrdiff_t)image{}", d));
    t.block.push_back(fmt::format("(ptrdiff_t)block{}", d));
    t.steps.push_back(fmt::format("steps{}", d));
    dims.push_back(fmt::format("image{}", d));
  }
  context.fail_if(
      fmt::format("{0} % {1} != 0 || {2} != {3}", context.in_dim(0, 1), blocks, context.in_dim(0, 2), steps));
  dims[1] = fmt::format("{} / {}", context.in_dim(0, 1), blocks);
  context.set_dims(0, dims);
  t.planes = size_product({dim_text(context.out_dim(0, 0)), dim_text(context.out_dim(0, 1))});
  return t;
}

Status emit_col2im(EmitContext& context) {
  MRVLC_ASSIGN(ColParams p, col_params(emit_view(context)));
  if (is_dynamic(context)) return emit_blocks(context, p, read_sizes(context, p));
  MRVLC_ASSIGN(ColTexts t, known_sizes(context));
  return emit_blocks(context, p, t);
}

}  // namespace

const OpDef& def_Col2Im() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Col2Im";
    d.since_min = 18;
    d.attrs = {optional("dilations", ir::AttrKind::Ints), optional("pads", ir::AttrKind::Ints),
               optional("strides", ir::AttrKind::Ints)};
    d.min_inputs = d.max_inputs = 3;
    d.types = kFloats;
    d.infer = infer_col2im;
    d.infer_dynamic = infer_col2im_dynamic;
    d.eval = eval_col2im;
    d.emit = d.emit_dynamic = emit_col2im;
    d.declined = "the accelerator has no sums at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
