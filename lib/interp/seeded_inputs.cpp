// Inputs from a seed, the same on every machine.
#include "mrvlc/interp/interp.h"
#include "mrvlc/interp/random.h"

namespace mrvlc::interp {
namespace {

// Bits of the mantissa, so that cutting to them keeps every value below 1.
double resolution(ElementType elem) {
  if (elem == ElementType::F16) return 0x1p11;
  return elem == ElementType::BF16 ? 0x1p8 : 0x1p24;
}

void fill_floats(Tensor& t, Mulberry32& random) {
  double steps = resolution(t.elem());
  auto draw = [&] {
    double uniform = static_cast<double>(random.next()) * 0x1p-32;
    return static_cast<double>(static_cast<int64_t>(uniform * steps)) / steps;
  };
  if (t.elem() == ElementType::F32) {
    for (float& v : t.mutable_data<float>()) v = static_cast<float>(draw());
  } else {
    for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, draw());
  }
}

}  // namespace

std::vector<Tensor> seeded_inputs(const ir::Graph& graph, uint32_t seed) {
  Mulberry32 random(seed);
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    TensorType type = graph.value(id).type;
    if (type.wrapper == Wrapper::None)
      type = TensorType{type.elem, type.shape};  // dynamic dimensions at their bounds
    Tensor t(type);
    if (is_float(t.elem())) {
      fill_floats(t, random);
    } else if (t.elem() != ElementType::String) {
      unsigned shift = t.elem() == ElementType::Bool ? 31 : 30;  // the top bit, or the top two: 0 to 3
      for (int64_t i = 0; i < t.elements(); ++i) t.set_int(i, static_cast<int64_t>(random.next() >> shift));
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

}  // namespace mrvlc::interp
