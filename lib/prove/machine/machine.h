// Executes a binary on symbols, instruction by instruction, and checks on the way what docs/isa.md asks for.
#pragma once
#include <functional>
#include <memory>
#include <set>

#include "machine/memory.h"
#include "machine/observe.h"
#include "machine/races.h"
#include "products.h"

namespace mrvlc::prove {

struct Limits {
  uint64_t ocm_bytes = 0, accumulator_pixels = 0;
  std::vector<uint32_t> tile_counts;
};

// Which instruction contradicts what.
struct Located {
  uint32_t section = 0, instruction = 0;
  std::string text;
};

class Machine {
 public:
  // `open`: tables of functions that are not known are functions of their own.
  Machine(const Binary& b, Values& values, const Limits& limits, bool open);
  Memory& memory() { return memory_; }
  // Calls `stored(section, instruction, value)` for each element that arithmetic stores. Throws Located.
  using Stored = std::function<void(uint32_t, uint32_t, Val)>;
  void run(const Stored& stored, Observer* observer = nullptr);
  // Tables that were no function's when they were used, and where first. Of an open machine alone.
  struct UnknownTable {
    uint32_t id = 0;
    Located first;
  };
  const std::vector<UnknownTable>& unknown_tables() const { return unknown_; }

 private:
  struct Operand {
    uint64_t at = 0;
    Type type = Type::F16;
    Quantum quantum;
    std::array<int64_t, 5> strides{};
  };
  struct Epilogue {
    uint8_t activation = 0;
    float alpha = 0, beta = 0;
    uint64_t table = 0;
    uint32_t table_id = 0;
  };
  struct Sums {
    bool integers = false;
    int64_t out_h = 0, out_w = 0, channels = 0;
    std::vector<uint64_t> exact;         // of integers
    std::optional<OrderedSums> ordered;  // of numbers
    bool defined() const { return integers ? !exact.empty() : ordered.has_value(); }
  };
  void run_section(uint32_t section, const Stored& stored);
  void execute(const Instruction& i);
  void dma(const Instruction& i);
  void product(const Instruction& i);
  std::vector<uint64_t> inputs_of(const Instruction& i, const Window& w, int64_t channels);
  std::vector<uint64_t> weights_of(const Instruction& i, int64_t taps, int64_t channels, int64_t n);
  Sums& sums_of(const Instruction& i, const Window& w);
  void read_channels(const Instruction& i, std::vector<Val>& shift, std::vector<Val>& factor);
  void finish_product(const Instruction& i, const Window& w, const std::vector<uint64_t>& sums);
  void elementwise(const Instruction& i);
  Val operation(const Instruction& i, Val a, Val b);
  void reduce(const Instruction& i);
  void pool(const Instruction& i);
  Window window(const Instruction& i, size_t sizes) const;

  Operand operand(const Instruction& i, size_t at, size_t scale) const;
  Epilogue epilogue(const Instruction& i, size_t at);
  // The last step: activation, rounding to the type.
  Val finish(Val v, const Epilogue& e, Type type, Quantum quantum);
  Val read(const Operand& o, uint64_t at);
  void touch_operand(const Operand& o, const std::array<uint32_t, 5>& dims, bool writes);
  void write(uint64_t at, Type type, Val v);
  // A run of bytes in the memory of the instruction's tile.
  void touch(uint64_t begin, uint64_t end, bool writes) { touch(space_, begin, end, writes); }
  void touch(uint32_t space, uint64_t begin, uint64_t end, bool writes);
  void check_overlap() const;

  const Binary& b_;
  Values& v_;
  Limits limits_;
  bool open_;
  Memory memory_;
  Races races_;
  std::vector<Sums> sums_;  // by tile
  uint32_t space_ = 1, section_ = 0, index_ = 0;
  std::vector<Touch> touched_;
  std::vector<std::vector<bool>> by_init_;  // bytes of each tile that init wrote
  const Stored* stored_ = nullptr;
  Observer* observer_ = nullptr;
  std::vector<UnknownTable> unknown_;
};

}  // namespace mrvlc::prove
