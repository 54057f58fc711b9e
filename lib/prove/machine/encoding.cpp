// Which bytes of a body mean something, and which codes there are.
#include <fmt/format.h>

#include <utility>

#include "machine/binary.h"

namespace mrvlc::prove {
namespace {

[[noreturn]] void refuse_code(std::string text) {
  throw Refusal{std::move(text)};
}

using Fields = std::vector<std::pair<size_t, size_t>>;  // offset, size

const Fields& fields_of(Opcode op) {
  static const Fields none;
  static const Fields dma{{64, 3}, {68, 4}, {72, 16}, {88, 12}, {104, 48}};
  static const Fields conv{{64, 3}, {68, 132}, {200, 6}, {208, 8}};
  static const Fields elementwise{{64, 1},   {68, 28}, {96, 5},   {102, 22}, {124, 5},
                                  {130, 22}, {152, 5}, {158, 22}, {180, 1},  {184, 24}};
  static const Fields reduce{{64, 1}, {68, 28}, {96, 5}, {102, 22}, {124, 5}, {130, 22}, {152, 1}, {156, 20}};
  static const Fields pool{{64, 3}, {68, 80}, {148, 1}, {152, 12}, {164, 4}, {168, 8}};
  switch (op) {
    case Opcode::Dma:
      return dma;
    case Opcode::Conv:
    case Opcode::Depthwise:
      return conv;
    case Opcode::Elementwise:
      return elementwise;
    case Opcode::Reduce:
      return reduce;
    case Opcode::Pool:
      return pool;
    case Opcode::Sync:
      break;
  }
  return none;
}

void check_reserved(const Instruction& i) {
  std::array<bool, 256> used{};
  for (const auto& [begin, size] : fields_of(i.op))
    for (size_t b = begin; b < begin + size; ++b) used[b] = true;
  for (size_t b : {185, 186, 187})
    if (i.op == Opcode::Conv || i.op == Opcode::Depthwise) used[b] = false;
  for (size_t b = 64; b < 256; ++b)
    if (!used[b] && i.u8(b) != 0) refuse_code(fmt::format("reserved byte {} is not 0", b));
}

void check_type(uint8_t code) {
  if (code > 4 || code == 3) refuse_code(fmt::format("type {} is not executed", code));
}

bool bytes(uint8_t code) {
  return code == 2 || code == 4;
}

void check_quantum(uint8_t type, int16_t zero, float scale, bool reads) {
  if (!bytes(type)) {
    if (zero != 0 || std::bit_cast<uint32_t>(scale) != 0)
      refuse_code("a zero point or scale of what is no integer");
    return;
  }
  const int16_t low = type == 2 ? -128 : 0, high = type == 2 ? 127 : 255;
  if (zero < low || zero > high) refuse_code("a zero point beyond its type");
  if (reads && !(scale > 0 && scale < kInfinity)) refuse_code("a scale that is not finite and above 0");
}

void check_activation(const Instruction& i, size_t at, uint8_t out) {
  const uint8_t code = i.u8(at);
  if (code > 7) refuse_code("unknown activation");
  if (code == 7 && !bytes(out)) refuse_code("a table of bytes for what is no byte");
  if ((code == 6 || code == 7) && i.u32(at + 12) % 16 != 0) refuse_code("a table is not aligned");
}

void check_operand(const Instruction& i, size_t at, size_t scale) {
  check_type(i.u8(at + 4));
  check_quantum(i.u8(at + 4), i.i16(at + 6), i.f32(scale), true);
}

void check_window(const Instruction& i, size_t sizes, std::initializer_list<size_t> more) {
  const auto positive = [&](size_t at) {
    if (i.u32(at) == 0 || i.u32(at) > (1u << 24)) refuse_code("a size of a window is 0 or too large");
  };
  for (size_t at : {sizes, sizes + 4}) positive(at);
  for (size_t at = sizes + 16; at < sizes + 40; at += 4) positive(at);
  for (size_t at : more) positive(at);
}

void check_product(const Instruction& i) {
  const uint8_t out = i.u8(64), x = i.u8(65), w = i.u8(66);
  for (uint8_t t : {out, x, w}) check_type(t);
  if (bytes(x) != bytes(w) || x == 1 || w == 1)
    refuse_code("operands of a product of types that do not go together");
  for (const auto& [type, at] : {std::pair{x, size_t{200}}, std::pair{w, size_t{202}}})
    check_quantum(type, i.i16(at), 0, false);
  check_quantum(out, i.i16(204), i.f32(208), true);
  if (!bytes(x) && i.u32(212) != 0) refuse_code("scales of a product of numbers");
  if (bytes(x) && i.u32(172) != 0xffffffffu) refuse_code("a residual of a product of integers");
  check_activation(i, 184, out);
  check_window(i, 80, {124, 128, 148});
  if (i.op == Opcode::Conv && (i.u32(120) == 0 || i.u32(120) > (1u << 24))) refuse_code("no channels");
}

void check_dma(const Instruction& i, uint32_t tiles) {
  const uint8_t from = i.u8(64), to = i.u8(65), mask = i.u8(66);
  if (from > 1 || to > 1 || mask >> tiles != 0) refuse_code("a copy names no memory");
  if ((to == 0) != (mask == 0)) refuse_code("a copy names tiles that do not go with its destination");
  if (i.queue == 0 && (from != 0 || to != 1)) refuse_code("DMA in copies to no on-chip memory");
  if (i.queue == 1 && from != 1) refuse_code("DMA out copies from no on-chip memory");
  if (i.u32(68) == 0) refuse_code("a copy of nothing");
}

void check_dims(const Instruction& i, size_t at, size_t count) {
  uint64_t all = 1;
  for (size_t d = 0; d < count; ++d) {
    if (i.u32(at + 4 * d) == 0) refuse_code("a dimension of 0");
    all *= i.u32(at + 4 * d);
    if (all > (uint64_t{1} << 26)) refuse_code("more elements than an instruction can have");
  }
}

void check_vector(const Instruction& i) {
  if (i.op == Opcode::Elementwise) {
    if (i.u8(64) > 19) refuse_code("unknown operation");
    check_dims(i, 76, 5);
    check_operand(i, 96, 196);
    check_operand(i, 124, 200);
    check_operand(i, 152, 204);
    check_activation(i, 180, i.u8(100));
    return;
  }
  if (i.op == Opcode::Reduce) {
    if (i.u8(64) > 4) refuse_code("unknown operation");
    check_dims(i, 76, 5);
    check_operand(i, 96, 168);
    check_operand(i, 124, 172);
    check_activation(i, 152, i.u8(100));
    return;
  }
  if (i.u8(64) > 2) refuse_code("unknown operation");
  const uint8_t x = i.u8(65), out = i.u8(66);
  check_type(x);
  check_type(out);
  if (x == 1 || out == 1) refuse_code("a pool of a type that it does not take");
  check_quantum(x, i.i16(164), i.f32(168), true);
  check_quantum(out, i.i16(166), i.f32(172), true);
  check_activation(i, 148, out);
  check_window(i, 84, {124, 128, 132});
}

}  // namespace

void check_encoding(const Instruction& i, uint32_t tiles) {
  if (i.tile >= tiles || i.queue > 3) refuse_code("a tile or queue that is not there");
  const bool product = i.op == Opcode::Conv || i.op == Opcode::Depthwise;
  if (!product && (i.first || i.last)) refuse_code("flags of what is no product");
  const bool right =
      i.op == Opcode::Sync || (i.op == Opcode::Dma ? i.queue < 2 : i.queue == (product ? 2 : 3));
  if (!right) refuse_code("the instruction does not run in its queue");
  for (const Wait& w : i.waits)
    if (w.tile >= tiles || w.queue > 3) refuse_code("a wait for a tile or queue that is not there");
  check_reserved(i);
  if (i.op == Opcode::Dma) return check_dma(i, tiles);
  if (product) return check_product(i);
  if (i.op != Opcode::Sync) check_vector(i);
}

}  // namespace mrvlc::prove
