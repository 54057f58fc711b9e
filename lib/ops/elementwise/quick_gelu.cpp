// QuickGelu of com.microsoft, which exporters of transformers write: x * sigmoid(alpha * x).
#include "elementwise/elementwise.h"

namespace mrvlc::ops {

const OpDef& def_QuickGelu() {
  static const OpDef op = [] {
    OpDef d = float_unary<"{x} / (1.0{f} + {exp}(-{alpha} * {x}))">(
        "QuickGelu", {spec::with_float("alpha", 1.702f)},
        [](double x, const Attrs& a) { return x / (1 + std::exp(-float_slot(a, 0) * x)); });
    d.domain = "com.microsoft";
    return host_only(std::move(d), "accelerator: taken where the model spells it out in Sigmoid and Mul");
  }();
  return op;
}

}  // namespace mrvlc::ops
