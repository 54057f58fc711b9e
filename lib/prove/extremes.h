// Members of maxima or minima, by the symbols of these.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mrvlc::prove {

// Most values that are asked for are none: a filter of a bit each says so, where a large table is many misses
// of the cache.
class Extremes {
 public:
  const std::vector<uint64_t>* find(uint64_t symbol) const {
    if (filter_.empty() || (filter_[word(symbol)] >> (symbol & 63) & 1) == 0) return nullptr;
    const auto found = members_.find(symbol);
    return found == members_.end() ? nullptr : &found->second;
  }
  void add(uint64_t symbol, std::vector<uint64_t> members) {
    if (filter_.empty()) filter_.assign(kWords, 0);
    filter_[word(symbol)] |= uint64_t{1} << (symbol & 63);
    members_.emplace(symbol, std::move(members));
  }

 private:
  static constexpr size_t kWords = 1 << 16;
  // Symbols are random in all their bits.
  static size_t word(uint64_t symbol) { return symbol >> 6 & (kWords - 1); }

  std::vector<uint64_t> filter_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> members_;
};

}  // namespace mrvlc::prove
