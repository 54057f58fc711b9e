// As what values are stored: fp16, fp32 where they are wide, integers of 8 bits as they are.
#include "lower/lowering.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {

// Of integers that stand for themselves.
isa::Quantization as_they_are(isa::DataType type) {
  return isa::is_integer(type) ? isa::Quantization{0, 1.0f} : isa::Quantization{};
}

ElementType element_type(isa::DataType type) {
  switch (type) {
    case isa::DataType::F16:
      return ElementType::F16;
    case isa::DataType::F32:
      return ElementType::F32;
    case isa::DataType::I8:
      return ElementType::I8;
    case isa::DataType::I32:
      return ElementType::I32;
    case isa::DataType::U8:
      return ElementType::U8;
  }
  return ElementType::F16;
}

isa::DataType Lowering::type_of(ir::ValueId value) const {
  const ElementType elem = graph_.value(value).type.elem;
  if (elem == ElementType::I8) return isa::DataType::I8;
  if (elem == ElementType::U8) return isa::DataType::U8;
  return is_wide(value) ? isa::DataType::F32 : isa::DataType::F16;
}

View Lowering::last_result() {
  View v = result(last());
  const ir::Node& node = graph_.node(layer().nodes.back());
  if (node.is(Op::QuantizeLinear)) v.quantization = quantization_of(graph_, node);
  return v;
}

}  // namespace mrvlc::accel
