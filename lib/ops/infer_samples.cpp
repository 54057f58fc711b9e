// Inference by samples: what an operator says of static shapes within the bounds tells which dimensions of
// the results vary. A guess where it is not monotonous in the sizes: generated code checks every dimension
// before it writes anything, so a wrong one is an error at run time.
#include <algorithm>

#include "common/dynamic_util.h"

namespace mrvlc::ops {
namespace {

using Types = std::vector<TensorType>;

// All dynamic dimensions moved together: at the bound, one less, half. A bound of 1 is probed from above,
// where there is room for a difference.
int64_t sample_dim(int64_t bound, int sample) {
  if (sample == 0) return bound;
  if (bound <= 1) return sample + 1;
  return sample == 1 ? bound - 1 : std::max<int64_t>(1, bound / 2);
}

using Sampled = std::vector<const SampledValue*>;

Result<Types> infer_sample(const OpDef& op, const InferContext& context, const Sampled& sampled, int sample) {
  Types types;
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    types.push_back(context.has(i) ? sample_type(context.type(i), sample) : TensorType());
    auto elements = checked_product(types.back().shape);
    if (!elements || *elements > kMaxElements)
      return bad_operands(fmt::format("too little is known of the shape of input {}", i));
  }
  InferContext view = context;
  view.constants.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    view.types[i] = context.has(i) ? &types[i] : nullptr;
    if (i < sampled.size() && sampled[i] != nullptr) view.constants[i] = &(*sampled[i])[at(sample)];
  }
  return op.infer(view);
}

bool comparable(const Types& a, const Types& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].rank() != b[i].rank() || a[i].elem != b[i].elem) return false;
  }
  return true;
}

// Capacity of a result that at the bounds has the shape of an operand with a capacity.
void take_capacity(const InferContext& context, TensorType& result) {
  for (const TensorType* type : context.types) {
    if (type != nullptr && type->capacity >= 0 && type->shape == result.shape && result.dynamic != 0)
      result.capacity = type->capacity;
  }
}

}  // namespace

TensorType sample_type(TensorType type, int sample) {
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.is_dynamic(d)) type.shape[at(d)] = sample_dim(type.shape[at(d)], sample);
  }
  type.dynamic = 0;
  type.capacity = -1;
  return type;
}

Result<Types> infer_by_samples(const OpDef& op, const InferContext& context, const Sampled& sampled) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(Types types, infer_sample(op, context, sampled, 0));
  Types greatest = types;
  bool compared = false;
  for (int sample : {1, 2}) {
    auto other = infer_sample(op, context, sampled, sample);
    if (!other.ok()) continue;
    if (!comparable(types, *other)) return bad_operands("the rank of a result is known at run time only");
    compared = true;
    for (size_t i = 0; i < types.size(); ++i) {
      for (int64_t d = 0; d < types[i].rank(); ++d) {
        int64_t bound = greatest[i].shape[at(d)], dim = (*other)[i].shape[at(d)];
        if (dim != types[i].shape[at(d)]) greatest[i].dynamic |= 1u << d;
        // Samples above a bound of 1 say nothing about the greatest size.
        if (dim > bound && types[i].shape[at(d)] > 1) greatest[i].shape[at(d)] = dim;
      }
    }
  }
  for (TensorType& type : greatest) {
    if (!compared) type.dynamic = (1u << type.rank()) - 1;
    take_capacity(context, type);
  }
  return greatest;
}

}  // namespace mrvlc::ops
