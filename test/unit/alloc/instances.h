// Problems to solve, and what makes an answer valid.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/alloc/alloc.h"

namespace mrvlc::alloc::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  int64_t below(int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(n));
  }

 private:
  uint64_t state_;
};

// Cuts a rectangle of `time` by `size` into `count` items by straight cuts through a piece each: a packing
// without waste, so the least peak is `size`. In mixed order.
std::vector<Item> guillotine(int64_t time, int64_t size, size_t count, uint64_t seed);

// A network-like sequence: most buffers live for a few steps, some for long.
std::vector<Item> network(size_t count, uint64_t seed);

// The least possible peak, by trying every order of placement; for at most 8 items.
int64_t least_peak(const std::vector<Item>& items);

// Empty when offsets are aligned, in [0, peak), and no two items overlap in time and space; else what is
// wrong.
std::string fault(const std::vector<Item>& items, const Placement& placement, int64_t alignment = 1);

// `id,lower,upper,size` with a heading.
std::vector<Item> read_csv(const std::filesystem::path& file);

}  // namespace mrvlc::alloc::test
