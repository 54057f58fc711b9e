#include "primitive/rect.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

namespace mrvlc::accel {
namespace {

// Bytes of the buffer, one by one.
std::set<int64_t> touched(int64_t first, const std::vector<Walk>& walks, int64_t element) {
  std::set<int64_t> out;
  std::vector<int64_t> index(walks.size(), 0);
  for (;;) {
    int64_t at = first;
    for (size_t d = 0; d < walks.size(); ++d) at += index[d] * walks[d].stride;
    for (int64_t b = 0; b < element; ++b) out.insert(at + b);
    size_t d = walks.size();
    while (d-- > 0 && ++index[d] == walks[d].count) index[d] = 0;
    if (d == SIZE_MAX) return out;
  }
}

bool inside(const Rect& r, int64_t byte, int64_t pitch) {
  return byte / pitch >= r.row0 && byte / pitch < r.row1 && byte % pitch >= r.byte0 && byte % pitch < r.byte1;
}

size_t outside(const std::set<int64_t>& bytes, const Rect& r, int64_t pitch) {
  size_t n = 0;
  for (int64_t b : bytes) n += !inside(r, b, pitch);
  return n;
}

TEST_CASE("a rectangle is itself") {
  std::mt19937 random(1);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 500; ++i) {
    constexpr int64_t kElement = 2;
    int64_t columns = pick(1, 12), pitch = columns * kElement, rows = pick(1, 9);
    int64_t c0 = pick(0, columns - 1), c1 = pick(c0 + 1, columns), r0 = pick(0, 5);
    std::array<Walk, 2> walks = {Walk{rows, pitch}, Walk{c1 - c0, kElement}};
    Rect r = rect_of(r0 * pitch + c0 * kElement, walks, kElement, pitch);
    CHECK(r == Rect{r0, r0 + rows, c0 * kElement, c1 * kElement});
    // The same bytes from the other end.
    std::array<Walk, 2> back = {Walk{rows, -pitch}, Walk{c1 - c0, -kElement}};
    CHECK(rect_of((r0 + rows - 1) * pitch + (c1 - 1) * kElement, back, kElement, pitch) == r);
  }
}

TEST_CASE("every byte that a strided access touches lies in its rectangle") {
  std::mt19937 random(2);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 4000; ++i) {
    int64_t element = int64_t{2} << pick(0, 1), pitch = element * pick(1, 24), lowest = 0;
    std::vector<Walk> walks(static_cast<size_t>(pick(0, 4)));
    for (Walk& w : walks) {
      w.count = pick(1, 5);
      w.stride = element * pick(-9, 9);
      if (pick(0, 2) == 0) w.stride = pitch * pick(-3, 3);
      lowest += std::min<int64_t>(0, (w.count - 1) * w.stride);
    }
    int64_t first = element * pick(0, 40) - lowest;
    std::set<int64_t> bytes = touched(first, walks, element);
    Rect r = rect_of(first, walks, element, pitch);
    INFO("case " << i << ": pitch " << pitch << ", first " << first);
    CHECK(outside(bytes, r, pitch) == 0);
    // No more rows than lie between the first and the last byte.
    CHECK(r.row0 == *bytes.begin() / pitch);
    CHECK(r.row1 == *bytes.rbegin() / pitch + 1);
  }
}

TEST_CASE("meet, hull and contains agree with sets of cells") {
  std::mt19937 random(3);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  auto any = [&] {
    Rect r{pick(0, 5), 0, pick(0, 5), 0};
    r.row1 = r.row0 + pick(0, 4);
    r.byte1 = r.byte0 + pick(0, 4);
    return r;
  };
  auto has = [](const Rect& r, int64_t row, int64_t byte) {
    return row >= r.row0 && row < r.row1 && byte >= r.byte0 && byte < r.byte1;
  };
  for (int i = 0; i < 2000; ++i) {
    Rect a = any(), b = any(), both = meet(a, b), all = hull(a, b);
    bool within = true;
    int64_t cells = 0, wrong = 0;
    for (int64_t row = 0; row < 10; ++row)
      for (int64_t byte = 0; byte < 10; ++byte) {
        bool in_a = has(a, row, byte), in_b = has(b, row, byte);
        within = within && (!in_b || in_a);
        cells += in_a && in_b;
        wrong += (in_a && in_b) != has(both, row, byte);
        wrong += (in_a || in_b) && !has(all, row, byte);
      }
    CHECK(wrong == 0);
    CHECK(both.bytes() == cells);
    CHECK(contains(a, b) == within);
  }
}

}  // namespace
}  // namespace mrvlc::accel
