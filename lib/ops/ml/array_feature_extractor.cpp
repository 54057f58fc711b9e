// ArrayFeatureExtractor (ai.onnx.ml -1): elements of the last dimension by index; a vector is one row.
#include <functional>

#include "common/index_util.h"
#include "common/slices.h"
#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct Extraction {
  int64_t rows, dim, count;
  Shape result;
};

Result<Extraction> extraction(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  const Shape& x = context.type(0).shape;
  Extraction e{1, x.back(), element_count(context.type(1).shape), Shape(x.begin(), x.end() - 1)};
  e.rows = element_count(e.result);
  if (x.size() == 1) e.result = {1};
  e.result.push_back(e.count);
  return e;
}

Result<std::vector<TensorType>> infer_extractor(const InferContext& context) {
  MRVLC_ASSIGN(Extraction e, extraction(context));
  MRVLC_TRY(check_known_indices(context, 1, {e.dim, false}));
  return one_type(context.type(0).elem, e.result);
}

Status eval_extractor(const EvalContext& context) {
  MRVLC_ASSIGN(Extraction e, extraction(context.infer_view()));
  MRVLC_ASSIGN(auto indices, read_indices(context.in(1), e.dim));
  take_slices({e.rows, e.dim, 1}, indices, context.in(0), context.out());
  return {};
}

Status emit_extractor(EmitContext& context) {
  const Texts x = in_dims(context, 0);
  const std::string count = product_text(in_dims(context, 1));
  Texts dims(x.begin(), x.end() - 1);
  if (dims.empty()) dims = {"1"};
  dims.push_back(count);
  context.set_dims(0, dims);
  MRVLC_ASSIGN(const RangeCheck check, require_indices(context, 1, x.back()));
  if (context.out_type(0).elements() == 0) return {};
  open_loop(context, "j", count);
  emit_index(context, "k", context.in(1) + "[j]", x.back(), check);
  open_loop(context, "r", product_text(x, 0, x.size() - 1));
  context.line(
      fmt::format("{}[r * {} + j] = {}[r * {} + k];", context.out(0), count, context.in(0), x.back()));
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_ArrayFeatureExtractor() {
  static const OpDef op = [] {
    OpDef d = ml::op("ArrayFeatureExtractor");
    d.types.bits |= types_of({E::String}).bits;
    d.min_inputs = d.max_inputs = 2;
    d.infer = infer_extractor;
    d.eval = eval_extractor;
    d.emit = d.emit_dynamic = emit_extractor;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
