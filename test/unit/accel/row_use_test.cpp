// Groups of the vector unit row by row: which rows they read for those that they make.
#include "plan/row_use.h"

#include <catch2/catch.hpp>

namespace mrvlc::accel {
namespace {

constexpr int64_t kWidth = 4;  // elements of a row

// Images of one channel: 8 rows of `kWidth`, and 20.
std::vector<Buffer> buffers() {
  std::vector<Buffer> out(3);
  for (size_t b = 1; b < out.size(); ++b) {
    out[b].pitch = kWidth * 2;
    out[b].rows = b == 1 ? 8 : 20;
    out[b].bytes = out[b].rows * out[b].pitch;
  }
  return out;
}

PeGroup copy(Dims dims, int64_t from, Dims from_strides, int64_t to, Dims to_strides) {
  PeGroup g;
  g.dims = dims;
  PeStage s;
  s.a = {PeOperand::Kind::External, {1, isa::DataType::F16, from, dims, from_strides, {}}, 0};
  s.dst = {PeOperand::Kind::External, {2, isa::DataType::F16, to, dims, to_strides, {}}, 0};
  g.stages = {s};
  return g;
}

Span read(const PeGroup& g, const RowUse& use, Span rows) {
  return part_read(g, use, 1, {rows, {0, 1}}).rows;
}

TEST_CASE("a Pad's image lies some rows below") {
  const PeGroup g = copy({8, kWidth}, 0, {kWidth, 1}, 3 * kWidth, {kWidth, 1});
  const auto use = row_use(g, buffers());
  REQUIRE(use);
  CHECK(use->mapped);
  CHECK(rows_made(g, *use, {0, 20}) == Span{3, 11});
  CHECK(rows_made(g, *use, {0, 3}).empty());
  CHECK(rows_made(g, *use, {2, 5}) == Span{3, 5});
  CHECK(read(g, *use, {3, 5}) == Span{0, 2});
}

TEST_CASE("rows reflected are read upwards") {
  const PeGroup g = copy({3, kWidth}, 3 * kWidth, {-kWidth, 1}, 0, {kWidth, 1});
  const auto use = row_use(g, buffers());
  REQUIRE(use);
  CHECK(rows_made(g, *use, {1, 9}) == Span{1, 3});
  CHECK(read(g, *use, {1, 3}) == Span{1, 3});
  CHECK(read(g, *use, {0, 1}) == Span{3, 4});
}

TEST_CASE("rows repeated are made together") {
  const PeGroup g = copy({8, 2, kWidth}, 0, {kWidth, 0, 1}, 0, {2 * kWidth, kWidth, 1});
  const auto use = row_use(g, buffers());
  REQUIRE(use);
  CHECK(rows_made(g, *use, {3, 5}) == Span{2, 6});  // rows 1 and 2 of the operand, twice each
  CHECK(read(g, *use, {2, 6}) == Span{1, 3});
  Primitive part = g;
  keep_part(part, *use, {{2, 6}, {0, 1}});
  const View& to = std::get<PeGroup>(part).stages[0].dst.view;
  CHECK(to.dims == Dims{2, 2, kWidth});
  CHECK(to.offset == 2 * kWidth);
}

TEST_CASE("one row alone") {
  const PeGroup g = copy({kWidth}, 0, {1}, 19 * kWidth, {1});
  const auto use = row_use(g, buffers());
  REQUIRE(use);
  CHECK(rows_made(g, *use, {10, 20}) == Span{19, 20});
  CHECK(rows_made(g, *use, {0, 19}).empty());
}

TEST_CASE("sums along columns are rows, sums over rows are none") {
  PeGroup g = copy({8, kWidth}, 0, {kWidth, 1}, 0, {kWidth, 0});
  g.stages[0].reduce = true;
  CHECK(row_use(g, buffers()));
  g = copy({8, kWidth}, 0, {kWidth, 1}, 0, {0, 1});
  g.stages[0].reduce = true;
  CHECK(!row_use(g, buffers()));
}

}  // namespace
}  // namespace mrvlc::accel
