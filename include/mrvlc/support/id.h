// Typed 32-bit ids: an index into one store, never mixed up with an index into another.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>

namespace mrvlc {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t index) : index_(index) {}
  constexpr explicit Id(size_t index) : index_(static_cast<uint32_t>(index)) {}
  constexpr bool valid() const { return index_ != kInvalid; }
  constexpr uint32_t index() const { return index_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr uint32_t kInvalid = 0xffffffffu;
  uint32_t index_ = kInvalid;
};

}  // namespace mrvlc

template <class Tag>
struct std::hash<mrvlc::Id<Tag>> {
  size_t operator()(mrvlc::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index()); }
};
