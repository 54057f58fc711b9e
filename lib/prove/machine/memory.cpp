// Reading needs all bytes of one value, in order, of the type that the instruction names.
#include "machine/memory.h"

#include <fmt/format.h>

#include <cstring>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::prove {
namespace {

[[noreturn]] void refuse_access(std::string text) {
  throw Refusal{std::move(text)};
}

// The number that known bytes are, as `type`.
Val number_of_bytes(const uint8_t* bytes, Type type) {
  switch (type) {
    case Type::F16: {
      uint16_t h = 0;
      std::memcpy(&h, bytes, sizeof h);
      return number(half_to_float(h));
    }
    case Type::F32: {
      float f = 0;
      std::memcpy(&f, bytes, sizeof f);
      return number(f);
    }
    case Type::I8:
      return number(static_cast<float>(static_cast<int8_t>(*bytes)));
    case Type::U8:
      return number(static_cast<float>(*bytes));
    case Type::I32:
      break;
  }
  refuse_access("a value of 32-bit integers is read");
}

std::string_view type_name(Type t) {
  constexpr std::string_view kNames[] = {"fp16", "fp32", "int8", "int32", "uint8"};
  return kNames[static_cast<size_t>(t)];
}

}  // namespace

Val Cells::read(uint64_t at, Type type) const {
  const uint64_t i = at - begin_;
  const uint32_t size = size_of(type);
  const uint8_t first = kinds_[i];
  if (first == kByte) {
    uint8_t bytes[4] = {};
    for (uint32_t k = 0; k < size; ++k) {
      if (kinds_[i + k] != kByte)
        refuse_access(fmt::format("a {} at {:#x} is made of parts", type_name(type), at));
      bytes[k] = static_cast<uint8_t>(values_[i + k]);
    }
    return number_of_bytes(bytes, type);
  }
  if (first == kUndefined) refuse_access(fmt::format("{:#x} is read and undefined", at));
  const auto expected = static_cast<uint8_t>(kFirst + 4 * static_cast<uint32_t>(type));
  for (uint32_t k = 0; k < size; ++k)
    if (kinds_[i + k] != expected + k || values_[i + k] != values_[i])
      refuse_access(fmt::format("{:#x} is read as {}, and no such value lies there", at, type_name(type)));
  return values_[i];
}

std::optional<uint16_t> Cells::known_half(uint64_t at) const {
  const uint64_t i = at - begin_;
  if (kinds_[i] != kByte || kinds_[i + 1] != kByte) return std::nullopt;
  return static_cast<uint16_t>(values_[i] | values_[i + 1] << 8);
}

uint8_t Cells::read_byte(uint64_t at) const {
  if (kinds_[at - begin_] != kByte) refuse_access(fmt::format("{:#x} is no constant of the model", at));
  return static_cast<uint8_t>(values_[at - begin_]);
}

void Cells::write(uint64_t at, Type type, Val v) {
  const uint64_t i = at - begin_;
  for (uint32_t k = 0; k < size_of(type); ++k) {
    kinds_[i + k] = static_cast<uint8_t>(kFirst + 4 * static_cast<uint32_t>(type) + k);
    values_[i + k] = v;
  }
}

void Cells::copy_out(uint64_t at, uint64_t bytes, std::vector<uint8_t>& kinds,
                     std::vector<uint64_t>& values) const {
  const auto i = static_cast<std::ptrdiff_t>(at - begin_), n = static_cast<std::ptrdiff_t>(bytes);
  kinds.insert(kinds.end(), kinds_.begin() + i, kinds_.begin() + i + n);
  values.insert(values.end(), values_.begin() + i, values_.begin() + i + n);
}

void Cells::copy_in(uint64_t at, const uint8_t* kinds, const uint64_t* values, uint64_t bytes) {
  std::memcpy(&kinds_[at - begin_], kinds, bytes);
  std::memcpy(&values_[at - begin_], values, bytes * sizeof(uint64_t));
}

void Cells::forget(uint64_t at, uint64_t bytes) {
  std::memset(&kinds_[at - begin_], kUndefined, bytes);
}

Memory::Memory(const Binary& b, const Values& values)
    : b_(b),
      values_(values),
      inputs_(b.inputs.begin, b.inputs.end - b.inputs.begin),
      outputs_(b.outputs.begin, b.outputs.end - b.outputs.begin),
      scratch_(b.scratch.begin, b.scratch.end - b.scratch.begin) {
  for (uint32_t t = 0; t < b.tiles; ++t) tiles_.emplace_back(0, b.ocm_bytes);
}

void Memory::check(uint32_t space, uint64_t begin, uint64_t end, bool writes) const {
  const bool inside =
      end > begin &&
      (space > 0 ? end <= b_.ocm_bytes
                 : (!writes && b_.weights.contains(begin, end)) || b_.inputs.contains(begin, end) ||
                       b_.outputs.contains(begin, end) || b_.scratch.contains(begin, end));
  if (!inside)
    refuse_access(fmt::format("an access of {:#x} to {:#x} of {} lies in no memory{}", begin, end,
                              space == 0 ? std::string("DDR") : fmt::format("tile {}", space - 1),
                              writes ? " that may be written" : ""));
}

const Cells& Memory::cells(uint32_t space, uint64_t at, uint64_t size) const {
  if (space > 0) return tiles_[space - 1];
  for (const Cells* c : {&inputs_, &outputs_, &scratch_})
    if (at >= c->begin() && at + size <= c->end()) return *c;
  refuse_access(fmt::format("{:#x} of DDR is no memory that values lie in", at));
}

Val Memory::read(uint32_t space, uint64_t at, Type type) const {
  if (in_weights(space, at))
    return number_of_bytes(reinterpret_cast<const uint8_t*>(b_.weight_bytes.data()) + at, type);
  return cells(space, at, size_of(type)).read(at, type);
}

void Memory::read_elements(uint32_t space, uint64_t at, Type type, int64_t count, uint64_t* to) const {
  const uint64_t size = size_of(type);
  const Cells& c = cells(space, at, size * static_cast<uint64_t>(count));
  for (int64_t i = 0; i < count; ++i, at += size) {
    const std::optional<uint16_t> half = type == Type::F16 ? c.known_half(at) : std::nullopt;
    to[i] = half ? values_.field().of_half(*half) : values_.element(c.read(at, type));
  }
}

std::optional<Val> Memory::peek(uint32_t space, uint64_t at, Type type) const {
  if (space > tiles_.size()) return std::nullopt;
  try {
    check(space, at, at + size_of(type), true);
    return read(space, at, type);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

std::string Memory::known_bytes(uint32_t space, uint64_t at, uint64_t size) const {
  if (in_weights(space, at)) return std::string(b_.weight_bytes.substr(at, size));
  const Cells& c = cells(space, at, size);
  std::string out(size, '\0');
  for (uint64_t i = 0; i < size; ++i) out[i] = static_cast<char>(c.read_byte(at + i));
  return out;
}

void Memory::fetch(uint32_t space, uint64_t at, uint64_t size, Bytes& into) const {
  if (!in_weights(space, at)) return cells(space, at, size).copy_out(at, size, into.kinds, into.values);
  into.kinds.insert(into.kinds.end(), size, Cells::kByte);
  for (uint64_t i = 0; i < size; ++i) into.values.push_back(static_cast<uint8_t>(b_.weight_bytes[at + i]));
}

void Memory::put(uint32_t space, uint64_t at, const Bytes& from, uint64_t offset, uint64_t size) {
  cells(space, at, size, true).copy_in(at, from.kinds.data() + offset, from.values.data() + offset, size);
}

}  // namespace mrvlc::prove
