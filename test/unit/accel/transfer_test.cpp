#include "primitive/transfer.h"

#include <catch2/catch.hpp>
#include <map>

#include "primitive/view.h"

namespace mrvlc::accel {
namespace {

// Byte address in DDR -> byte address on chip of every element the transfer moves.
std::map<uint64_t, uint64_t> moved(const std::vector<isa::Dma>& dmas) {
  std::map<uint64_t, uint64_t> out;
  for (const isa::Dma& d : dmas)
    for (uint32_t i = 0; i < d.dims[0]; ++i)
      for (uint32_t j = 0; j < d.dims[1]; ++j)
        for (uint32_t k = 0; k < d.dims[2]; ++k)
          for (uint32_t b = 0; b < d.run_bytes; b += 2) {
            auto step = [&](const std::array<int64_t, 3>& s) {
              return static_cast<uint64_t>(i * s[0] + j * s[1] + k * s[2] + b);
            };
            out[d.src + step(d.src_strides)] = d.dst + step(d.dst_strides);
          }
  return out;
}

void check_box(const Dims& strides, const Dims& extents, bool load) {
  constexpr int64_t kDdr = 1 << 20;
  constexpr uint32_t kOcm = 4096;
  Packed p = pack_box(kDdr, strides, extents, 2, load);
  auto map = moved(load_dmas(p.transfer, kOcm, 1));
  Dims index(extents.size(), 0);
  bool more = true;
  while (more) {
    int64_t ddr = kDdr, ocm = kOcm + p.origin;
    for (size_t d = 0; d < index.size(); ++d) {
      ddr += 2 * index[d] * strides[d];
      ocm += index[d] * p.strides[d];
    }
    auto it = map.find(static_cast<uint64_t>(ddr));
    REQUIRE(it != map.end());
    REQUIRE(it->second == static_cast<uint64_t>(ocm));
    REQUIRE(ocm + 2 <= kOcm + p.bytes);
    more = false;
    for (size_t d = index.size(); d-- > 0 && !more;) {
      more = ++index[d] < extents[d];
      if (!more) index[d] = 0;
    }
  }
}

TEST_CASE("a packed box holds every element where its strides say") {
  check_box({100, 10, 1}, {3, 4, 5}, true);
  check_box({1, 10, 100}, {5, 4, 3}, true);
  check_box({0, 8, 2}, {3, 4, 4}, true);                         // repeated, and a gap that is fetched along
  check_box({0, 8, 2}, {1, 4, 4}, false);                        // the same stored element by element
  check_box({-100, 10, -1}, {3, 4, 5}, true);                    // backwards
  check_box({10000, 1000, 100, 10, 2}, {2, 3, 4, 5, 3}, false);  // more levels than an instruction has
}

TEST_CASE("neighbouring runs join") {
  Packed p = pack_box(0, Dims{20, 4, 1}, Dims{3, 5, 4}, 2, true);
  CHECK(p.transfer.run == 120);
  CHECK(p.transfer.levels.empty());
  CHECK(p.transfer.burst_bytes(128) == 128);
  CHECK(pack_box(0, Dims{20, 4, 1}, Dims{3, 5, 2}, 2, true).transfer.burst_bytes(128) == 15 * 128);
}

TEST_CASE("views reshape when their strides allow it") {
  View v{1, isa::DataType::F16, 0, {2, 3, 4}, {12, 4, 1}};
  auto flat = reshaped(v, {6, 4});
  REQUIRE(flat);
  CHECK(flat->strides == Dims{4, 1});
  View last{1, isa::DataType::F16, 0, {1, 8, 1, 1}, {8, 1, 8, 8}};
  REQUIRE(reshaped(last, {1, 8}));
  View nhwc{1, isa::DataType::F16, 0, {1, 8, 2, 2}, {32, 1, 16, 8}};
  CHECK_FALSE(reshaped(nhwc, {1, 32}));
  auto split = reshaped(nhwc, {1, 2, 4, 2, 2});
  REQUIRE(split);
  CHECK(split->strides == Dims{0, 4, 1, 16, 8});  // the stride of a single element is of no account
}

}  // namespace
}  // namespace mrvlc::accel
