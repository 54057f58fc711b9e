// Rows of a dilated window in the order of their residues: every row once, and each tap on its own input row.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "plan/cut.h"

namespace mrvlc::accel {
namespace {

WindowOp random_op(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  WindowOp op;
  op.in_h = pick(1, 40);
  op.in_w = op.out_w = 1;
  op.dilation_h = pick(1, 12);
  op.stride_h = pick(1, 4);
  op.phases = {WindowPhase{}};
  op.phases[0].kernel_h = pick(2, 4);
  op.phases[0].y0 = -pick(0, 30);
  op.out_h = pick(1, 40);
  op.x.stride_h = 1;
  op.out.stride_h = 1;
  for (int64_t image = 0; image < pick(1, 3); ++image) {
    op.x.offsets.push_back(1000 * image);
    op.out.offsets.push_back(1000 * image);
  }
  return op;
}

// Addresses of the input that each tap of a row reads; -1: in the padding.
std::vector<int64_t> taps_of(const WindowOp& op, int64_t image, int64_t row) {
  std::vector<int64_t> out;
  for (int64_t r = 0; r < op.phases[0].kernel_h; ++r) {
    const int64_t y = op.phases[0].y0 + row * op.stride_h + r * op.dilation_h;
    const bool inside = y >= 0 && y < op.in_h;
    out.push_back(inside ? op.x.offsets[static_cast<size_t>(image)] + y * op.x.stride_h : -1);
  }
  return out;
}

using Rows = std::map<int64_t, std::vector<int64_t>>;  // by address of the result

TEST_CASE("rows by dilation are all rows, each with its own taps") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const WindowOp op = random_op(random);
    Rows expected, found;
    for (int64_t image = 0; image < op.batch(); ++image)
      for (int64_t y = 0; y < op.out_h; ++y)
        expected[op.out.offsets[static_cast<size_t>(image)] + y] = taps_of(op, image, y);
    const Cut cut{std::uniform_int_distribution<int64_t>(1, 8)(random), 1, true, true};
    for (uint32_t tile = 0; tile < 8; ++tile)
      for (const RowRun& run : row_runs(op, cut, tile_rows(op, cut, tile))) {
        const WindowOp sparse = sparse_rows(op, run.residue);
        REQUIRE(sparse.dilation_h == 1);
        REQUIRE(run.rows.end <= sparse.out_h);
        for (int64_t y = run.rows.begin; y < run.rows.end; ++y) {
          const int64_t to = sparse.out.offsets[static_cast<size_t>(run.image)] + y * sparse.out.stride_h;
          REQUIRE(found.emplace(to, taps_of(sparse, run.image, y)).second);
        }
      }
    REQUIRE(found == expected);
  }
}

TEST_CASE("without a dilation between rows there is one residue") {
  WindowOp op;
  op.phases = {WindowPhase{}};
  op.dilation_h = 6;
  CHECK(row_step(op) == 1);  // a kernel of one row
  op.phases[0].kernel_h = 3;
  CHECK(row_step(op) == 6);
  op.stride_h = 4;
  CHECK(row_step(op) == 3);
}

}  // namespace
}  // namespace mrvlc::accel
