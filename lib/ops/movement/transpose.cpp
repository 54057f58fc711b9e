// Transpose (ONNX Transpose-13), DepthToSpace and SpaceToDepth (ONNX DepthToSpace-13): permutations of a
// shape's factors.
#include <numeric>

#include "common/element_bytes.h"
#include "common/text_copy.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Copy of a row-major input of `shape` to the row-major output whose dimension d is input dimension perm[d].
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

// [N, b, b, C', H, W] (DCR) or [N, C', b, b, H, W] (CRD) to [N, C', H, b, W, b].
TextCopy depth_to_space_copy(const Texts& x, const std::string& c, const std::string& b,
                             const std::string& mode) {
  if (mode == "DCR") return permuted_copy({x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2});
  return permuted_copy({x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
}

// [N, C, H', b, W', b] to [N, b, b, C, H', W'].
TextCopy space_to_depth_copy(const Texts& x, const std::string& h, const std::string& w,
                             const std::string& b) {
  return permuted_copy({x[0], x[1], h, b, w, b}, {0, 3, 5, 1, 2, 4});
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

Status eval_transpose(const EvalContext& context) {
  MRVLC_ASSIGN(auto perm, permutation(context.infer_view()));
  run_copy(permuted_copy(texts_of(context.in(0).shape()), perm), context.in(0), context.out());
  return {};
}

// The result's dimensions say what is left of those that are divided.
Status eval_depth_to_space(const EvalContext& context) {
  const InferContext view = context.infer_view();
  const Texts x = texts_of(context.in(0).shape()), y = texts_of(context.out().shape());
  const std::string b = fmt::format("{}", view.int_attr("blocksize"));
  run_copy(depth_to_space_copy(x, y[1], b, view.string_attr("mode")), context.in(0), context.out());
  return {};
}

Status eval_space_to_depth(const EvalContext& context) {
  const Texts x = texts_of(context.in(0).shape()), y = texts_of(context.out().shape());
  const std::string b = fmt::format("{}", context.infer_view().int_attr("blocksize"));
  run_copy(space_to_depth_copy(x, y[2], y[3], b), context.in(0), context.out());
  return {};
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
  emit_copy(context, depth_to_space_copy(x, c, b, context.node().string_attr("mode")));
  return {};
}

Status emit_space_to_depth(EmitContext& context) {
  const int64_t block = context.node().int_attr("blocksize");
  const Texts x = in_dims(context, 0);
  const std::string b = fmt::format("{}", block), h = divided_text(context, x[2], block),
                    w = divided_text(context, x[3], block);
  context.set_dims(0, {x[0], product_text({x[1], b, b}), h, w});
  emit_copy(context, space_to_depth_copy(x, h, w, b));
  return {};
}

OpDef copy_def(std::string_view name, Status (*eval)(const EvalContext&), Status (*emit)(EmitContext&),
               std::vector<ir::AttrSpec> attrs) {
  OpDef d;
  d.name = name;
  d.attrs = std::move(attrs);
  d.types = kMovable;
  d.eval = eval;
  d.emit = d.emit_dynamic = emit;
  d.accel = {LayerKind::Move};
  return d;
}

}  // namespace

const OpDef& def_Transpose() {
  static const OpDef def = [] {
    OpDef d = copy_def("Transpose", eval_transpose, emit_transpose, {optional("perm", ir::AttrKind::Ints)});
    d.infer = d.infer_dynamic = infer_transpose;
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

const OpDef& def_DepthToSpace() {
  static const OpDef def = [] {
    OpDef d = copy_def("DepthToSpace", eval_depth_to_space, emit_depth_to_space,
                       {required("blocksize", ir::AttrKind::Int), with_string("mode", "DCR")});
    d.infer = d.infer_dynamic = infer_depth_to_space;
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true, .by_channel = true};
    return d;
  }();
  return def;
}

const OpDef& def_SpaceToDepth() {
  static const OpDef def = [] {
    OpDef d = copy_def("SpaceToDepth", eval_space_to_depth, emit_space_to_depth,
                       {required("blocksize", ir::AttrKind::Int)});
    d.infer = d.infer_dynamic = infer_space_to_depth;
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true, .by_channel = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
