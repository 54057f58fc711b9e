// SwiGLU (ONNX -28): a * sigmoid(alpha * a) * b.
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

double swiglu(const double* x, const ir::OpSchema&, const Attrs& attrs) {
  return x[0] / (1 + std::exp(-float_slot(attrs, 0) * x[0])) * x[1];
}

}  // namespace

const OpDef& def_SwiGLU() {
  static constexpr ScalarOp scalar{swiglu, nullptr,
                                   c_pattern<"{x} / (1.0{f} + {exp}(-{alpha} * {x})) * {y}">};
  static const OpDef op = [] {
    OpDef d = elementwise("SwiGLU", 2, spec::kFloats, scalar, {spec::with_float("alpha", 1)});
    d.since_min = 28;
    return host_only(std::move(d), "accelerator: no unit multiplies by an activated operand");
  }();
  return op;
}

}  // namespace mrvlc::ops
