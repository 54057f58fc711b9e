// The means by which the vector unit computes an operator element by element; the table is vector_unit.def.
#pragma once
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {

enum class VectorForm : uint8_t {
  None,  // it does not
  Activation,
  Table,
  Instruction,
  Sequence,
  Binary,
  Power,
  Quantize,  // numbers to integers of 8 bits, as they are stored
};

constexpr VectorForm vector_form(Op op) {
  switch (op) {
#define MRVLC_ACTIVATION(op) \
  case Op::op:               \
    return VectorForm::Activation;
#define MRVLC_TABLE(op) \
  case Op::op:          \
    return VectorForm::Table;
#define MRVLC_INSTRUCTION(op, instruction) \
  case Op::op:                             \
    return VectorForm::Instruction;
#define MRVLC_SEQUENCE(op, function) \
  case Op::op:                       \
    return VectorForm::Sequence;
#define MRVLC_BINARY(op, instruction) \
  case Op::op:                        \
    return VectorForm::Binary;
#define MRVLC_POWER(op) \
  case Op::op:          \
    return VectorForm::Power;
#define MRVLC_QUANTIZE(op) \
  case Op::op:             \
    return VectorForm::Quantize;
#include "mrvlc/accel/vector_unit.def"
    default:
      return VectorForm::None;
  }
}

// Of two operands, each of which may vary; all others are functions of the first.
constexpr bool is_binary(VectorForm form) {
  switch (form) {
    case VectorForm::Binary:
    case VectorForm::Power:
      return true;
    case VectorForm::None:
    case VectorForm::Activation:
    case VectorForm::Table:
    case VectorForm::Instruction:
    case VectorForm::Sequence:
    case VectorForm::Quantize:
      return false;
  }
  return false;
}

}  // namespace mrvlc::accel
