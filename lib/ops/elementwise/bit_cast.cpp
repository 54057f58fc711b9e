// BitCast (ONNX BitCast-26): the same bits as another type of the same width.
#include "common/dims.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Bits of an element, less than eight for types that have a byte of their own in memory.
int bits_of(ElementType elem) {
  switch (elem) {
    case E::U4:
    case E::I4:
    case E::F4E2M1:
      return 4;
    case E::U2:
    case E::I2:
      return 2;
    default:
      return static_cast<int>(8 * byte_size(elem));
  }
}

Result<std::vector<TensorType>> infer_bit_cast(const InferContext& context) {
  ElementType from = context.type(0).elem, to = std::get<ElementType>(context.attr("to"));
  if (!kFixedSize.has(to) || bits_of(from) != bits_of(to))
    return bad_attr("to", fmt::format("is {}, which does not have the bits of {}", name(to), name(from)));
  return std::vector<TensorType>{context.type(0).with_elem(to)};
}

bool is_signed(ElementType elem) {
  return is_signed_integer(elem) || elem == E::I4 || elem == E::I2;
}

// Narrow signed integers are held sign-extended, narrow unsigned ones and the bits of F4E2M1 with zeros
// above, and a bool as 0 or 1.
bool plain(ElementType from, ElementType to) {
  return to != E::Bool && (bits_of(from) >= 8 || from == to);
}

Status eval_bit_cast(const EvalContext& context) {
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  auto in = x.data<uint8_t>();
  auto out = y.mutable_data<uint8_t>();
  int bits = bits_of(y.elem());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = in[i];
    if (plain(x.elem(), y.elem())) continue;
    auto mask = static_cast<uint8_t>((1u << bits) - 1u);
    out[i] = in[i] & mask;
    bool negative = is_signed(y.elem()) && (out[i] >> (bits - 1) & 1) != 0;
    if (negative) out[i] |= static_cast<uint8_t>(~mask);
    if (y.elem() == E::Bool) out[i] = in[i] != 0;
  }
  return {};
}

Status emit_bit_cast(EmitContext& context) {
  context.set_dims(0, in_dims(context, 0));
  ElementType from = context.in_type(0).elem, to = context.out_type(0).elem;
  int64_t bits = bits_of(to);
  std::string count = size_product(in_sizes(context, 0));
  if (plain(from, to)) {
    context.line(
        fmt::format("memcpy({0}, {1}, (size_t){2} * sizeof *{0});", context.out(0), context.in(0), count));
    return {};
  }
  std::string value = fmt::format("{}[i]", context.in(0)), type(c_type(to));
  int64_t mask = (int64_t{1} << bits) - 1, sign = int64_t{1} << (bits - 1);
  std::string text = fmt::format("({}){} & {}", "unsigned", value, mask);
  if (to == E::Bool) text = fmt::format("{} != 0", value);
  if (to != E::Bool && is_signed(to)) text = fmt::format("(int)((({}) ^ {}u)) - {}", text, sign, sign);
  context.line(
      fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = ({})({});", count, context.out(0), type, text));
  return {};
}

}  // namespace

const OpDef& def_BitCast() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "BitCast";
    d.traits = {.work = Work::Linear};
    d.since_min = 26;
    d.attrs = {required("to", ir::AttrKind::Type)};
    d.types = kFixedSize;
    d.infer = infer_bit_cast;
    d.eval = eval_bit_cast;
    d.emit = d.emit_dynamic = emit_bit_cast;
    d.declined = "runs on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
