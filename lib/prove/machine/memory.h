// Memories whose bytes have a state: undefined, a known byte, or byte k of a value of a type.
#pragma once
#include <vector>

#include "machine/binary.h"

namespace mrvlc::prove {

// A range that an instruction touches: of DDR or of the on-chip memory of a tile.
struct Touch {
  uint32_t space = 0;  // 0 DDR, 1 + tile
  bool writes = false;
  uint64_t begin = 0, end = 0;
};

// Bytes that change; what lies in it moves by copies and keeps its type.
class Cells {
 public:
  explicit Cells(uint64_t begin, uint64_t size) : begin_(begin), kinds_(size, kUndefined), values_(size, 0) {}
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + kinds_.size(); }

  // Throws Refusal: undefined, torn, or of another type.
  Val read(uint64_t at, Type type) const;
  // Bits of a number of fp16, where they are known.
  std::optional<uint16_t> known_half(uint64_t at) const;
  uint8_t read_byte(uint64_t at) const;
  void write(uint64_t at, Type type, Val v);
  void copy_out(uint64_t at, uint64_t bytes, std::vector<uint8_t>& kinds,
                std::vector<uint64_t>& values) const;
  void copy_in(uint64_t at, const uint8_t* kinds, const uint64_t* values, uint64_t bytes);
  void forget(uint64_t at, uint64_t bytes);

  static constexpr uint8_t kUndefined = 0, kByte = 1, kFirst = 16;  // kFirst + 4 type + k

 private:
  uint64_t begin_;
  std::vector<uint8_t> kinds_;
  std::vector<uint64_t> values_;  // of a known byte: it; else the value
};

class Memory {
 public:
  Memory(const Binary& b, const Values& values);

  Val read(uint32_t space, uint64_t at, Type type) const;
  void write(uint32_t space, uint64_t at, Type type, Val v) {
    cells(space, at, size_of(type), true).write(at, type, v);
  }
  // As elements of the field, `count` values one after the other.
  void read_elements(uint32_t space, uint64_t at, Type type, int64_t count, uint64_t* to) const;
  // The same where a value may not lie there: nullopt.
  std::optional<Val> peek(uint32_t space, uint64_t at, Type type) const;
  // Bytes of constants: weights, tables.
  std::string known_bytes(uint32_t space, uint64_t at, uint64_t size) const;
  // Everything is read before anything is written: `read` and `write` in turn.
  struct Bytes {
    std::vector<uint8_t> kinds;
    std::vector<uint64_t> values;
  };
  void fetch(uint32_t space, uint64_t at, uint64_t size, Bytes& into) const;
  void put(uint32_t space, uint64_t at, const Bytes& from, uint64_t offset, uint64_t size);

  Cells& inputs() { return inputs_; }
  const Cells& outputs() const { return outputs_; }
  // That an access lies where it may. Throws Refusal.
  void check(uint32_t space, uint64_t begin, uint64_t end, bool writes) const;

 private:
  const Cells& cells(uint32_t space, uint64_t at, uint64_t size) const;
  Cells& cells(uint32_t space, uint64_t at, uint64_t size, bool) {
    return const_cast<Cells&>(static_cast<const Memory*>(this)->cells(space, at, size));
  }
  bool in_weights(uint32_t space, uint64_t at) const { return space == 0 && at < b_.weights.end; }

  const Binary& b_;
  const Values& values_;
  Cells inputs_, outputs_, scratch_;
  std::vector<Cells> tiles_;
};

}  // namespace mrvlc::prove
