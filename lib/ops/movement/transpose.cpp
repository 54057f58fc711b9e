// Transpose (ONNX Transpose-13), DepthToSpace and SpaceToDepth (ONNX DepthToSpace-13): permutations of a
// shape's factors.
#include <numeric>

#include "common/strided_copy.h"
#include "common/text_copy.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Copy of a row-major input of `shape` to the row-major output whose dimension d is input dimension perm[d].
StridedCopy permuted_copy(const Shape& shape, const std::vector<int64_t>& perm) {
  Shape strides = row_major_strides(shape);
  StridedCopy copy;
  for (int64_t d : perm) {
    copy.size.push_back(shape[at(d)]);
    copy.in.push_back(strides[at(d)]);
  }
  copy.out = row_major_strides(copy.size);
  return copy;
}

TextCopy permuted_copy(const Texts& shape, const std::vector<int64_t>& perm) {
  const Texts strides = stride_texts(shape);
  TextCopy copy;
  for (int64_t d : perm) {
    copy.size.push_back(shape[at(d)]);
    copy.in.push_back(strides[at(d)]);
  }
  copy.out = stride_texts(copy.size);
  return copy;
}

Result<std::vector<int64_t>> permutation(const InferContext& context) {
  int64_t rank = context.type(0).rank();
  std::vector<int64_t> perm = context.ints_attr("perm");
  if (!is_attr_set(context, "perm")) {
    perm.resize(at(rank));
    std::iota(perm.rbegin(), perm.rend(), int64_t{0});
  }
  if (static_cast<int64_t>(perm.size()) != rank) {
    return bad_attr("perm", fmt::format("has {} entries for rank {}", perm.size(), rank));
  }
  // Passes and the accelerator read the attribute as it stands, and ONNX counts its entries from 0 only.
  for (int64_t d : perm) {
    if (d < 0) return bad_attr("perm", fmt::format("has the entry {}", d));
  }
  return normalize_axes(perm, rank);
}

Result<StridedCopy> transpose_plan(const InferContext& context) {
  MRVLC_ASSIGN(auto perm, permutation(context));
  return permuted_copy(context.type(0).shape, perm);
}

Result<std::vector<TensorType>> infer_transpose(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(auto perm, permutation(context));
  Dims own = dims_of(context.type(0)), dims;
  for (int64_t d : perm) dims.push_back(own[at(d)]);
  return one_type(context.type(0).elem, dims, context.type(0).elements());
}

Result<int64_t> block_size(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 4, 4));
  int64_t block = context.int_attr("blocksize");
  if (block < 1 || block > (1 << 15)) return bad_attr("blocksize", fmt::format("is {}", block));
  return block;
}

// Of the factors that the plans below name.
const std::vector<int64_t> kDepthFirst = {0, 3, 4, 1, 5, 2}, kColumnFirst = {0, 1, 4, 2, 5, 3},
                           kSpaceToDepth = {0, 3, 5, 1, 2, 4};

// [N, b, b, C', H, W] (DCR) or [N, C', b, b, H, W] (CRD) to [N, C', H, b, W, b].
Result<StridedCopy> depth_to_space_plan(const InferContext& context) {
  MRVLC_ASSIGN(int64_t b, block_size(context));
  const Shape& x = context.type(0).shape;
  int64_t c = x[1] / (b * b);
  if (context.string_attr("mode") == "DCR") return permuted_copy({x[0], b, b, c, x[2], x[3]}, kDepthFirst);
  return permuted_copy({x[0], c, b, b, x[2], x[3]}, kColumnFirst);
}

// A dimension divided by what must divide it.
Result<Dim> divided(Dim dim, int64_t by) {
  if (!dim.dynamic && dim.bound % by != 0)
    return bad_attr("blocksize", fmt::format("asks for {} to be divided by {}", dim.bound, by));
  return Dim{dim.bound / by, dim.dynamic};
}

Result<std::vector<TensorType>> infer_depth_to_space(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(int64_t b, block_size(context));
  const std::string& mode = context.string_attr("mode");
  if (mode != "DCR" && mode != "CRD")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(mode)));
  Dims x = dims_of(context.type(0));
  MRVLC_ASSIGN(x[1], divided(x[1], b * b));
  for (size_t d : {size_t{2}, size_t{3}}) x[d] = product({x[d], Dim{b, false}});
  return one_type(context.type(0).elem, x, context.type(0).elements());
}

// [N, C, H', b, W', b] to [N, b, b, C, H', W'].
Result<StridedCopy> space_to_depth_plan(const InferContext& context) {
  MRVLC_ASSIGN(int64_t b, block_size(context));
  const Shape& x = context.type(0).shape;
  return permuted_copy({x[0], x[1], x[2] / b, b, x[3] / b, b}, kSpaceToDepth);
}

Result<std::vector<TensorType>> infer_space_to_depth(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(int64_t b, block_size(context));
  Dims x = dims_of(context.type(0));
  x[1] = product({x[1], Dim{b * b, false}});
  for (size_t d : {size_t{2}, size_t{3}}) {
    MRVLC_ASSIGN(x[d], divided(x[d], b));
  }
  return one_type(context.type(0).elem, x, context.type(0).elements());
}

Status emit_transpose(EmitContext& context) {
  MRVLC_ASSIGN(auto perm, permutation(emit_view(context)));
  const Texts own = in_dims(context, 0);
  Texts dims;
  for (int64_t d : perm) dims.push_back(own[at(d)]);
  context.set_dims(0, dims);
  emit_copy(context, permuted_copy(own, perm));
  return {};
}

// A dimension divided by what must divide it.
std::string divided_text(EmitContext& context, const std::string& dim, int64_t by) {
  if (is_number(dim)) return fmt::format("{}", std::stoll(dim) / by);
  context.fail_if(fmt::format("{} % {} != 0", dim, by));
  return fmt::format("({} / {})", dim, by);
}

Status emit_depth_to_space(EmitContext& context) {
  const int64_t block = context.node().int_attr("blocksize");
  const Texts x = in_dims(context, 0);
  const std::string b = fmt::format("{}", block), c = divided_text(context, x[1], block * block);
  context.set_dims(0, {x[0], c, product_text({x[2], b}), product_text({x[3], b})});
  const bool depth_first = context.node().string_attr("mode") == "DCR";
  emit_copy(context, depth_first ? permuted_copy({x[0], b, b, c, x[2], x[3]}, kDepthFirst)
                                 : permuted_copy({x[0], c, b, b, x[2], x[3]}, kColumnFirst));
  return {};
}

Status emit_space_to_depth(EmitContext& context) {
  const int64_t block = context.node().int_attr("blocksize");
  const Texts x = in_dims(context, 0);
  const std::string b = fmt::format("{}", block), h = divided_text(context, x[2], block),
                    w = divided_text(context, x[3], block);
  context.set_dims(0, {x[0], product_text({x[1], b, b}), h, w});
  emit_copy(context, permuted_copy({x[0], x[1], h, b, w, b}, kSpaceToDepth));
  return {};
}

template <CopyPlan Plan>
OpDef copy_def(std::string_view name, std::vector<ir::AttrSpec> attrs) {
  OpDef d;
  d.name = name;
  d.attrs = std::move(attrs);
  d.types = kMovable;
  d.eval = eval_copy<Plan>;
  d.accel = {LayerKind::Move};
  return d;
}

}  // namespace

const OpDef& def_Transpose() {
  static const OpDef def = [] {
    OpDef d = copy_def<transpose_plan>("Transpose", {optional("perm", ir::AttrKind::Ints)});
    d.infer = d.infer_dynamic = infer_transpose;
    d.emit = d.emit_dynamic = emit_transpose;
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

const OpDef& def_DepthToSpace() {
  static const OpDef def = [] {
    OpDef d = copy_def<depth_to_space_plan>(
        "DepthToSpace", {required("blocksize", ir::AttrKind::Int), with_string("mode", "DCR")});
    d.infer = d.infer_dynamic = infer_depth_to_space;
    d.emit = d.emit_dynamic = emit_depth_to_space;
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true, .by_channel = true};
    return d;
  }();
  return def;
}

const OpDef& def_SpaceToDepth() {
  static const OpDef def = [] {
    OpDef d = copy_def<space_to_depth_plan>("SpaceToDepth", {required("blocksize", ir::AttrKind::Int)});
    d.infer = d.infer_dynamic = infer_space_to_depth;
    d.emit = d.emit_dynamic = emit_space_to_depth;
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true, .by_channel = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
