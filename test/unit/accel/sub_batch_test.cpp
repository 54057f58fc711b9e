// Batches in parts: every image is worked on once by every primitive, after what it reads, and where it lies.
#include "plan/sub_batch.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

namespace mrvlc::accel {
namespace {

constexpr int64_t kRows = 4, kRowBytes = 32;  // of an image

Buffer batch_buffer(Buffer::Kind kind, int64_t images) {
  Buffer b;
  b.kind = kind;
  b.pitch = kRowBytes;
  b.rows = images * kRows;
  b.bytes = b.rows * b.pitch;
  return b;
}

// A chain of 1x1 windows; of those in `joined` the rows of all images are one image.
Program chain(int64_t images, const std::vector<bool>& joined) {
  Program p;
  p.images = images;
  p.buffers.push_back(batch_buffer(Buffer::Kind::Input, images));
  for (size_t k = 0; k < joined.size(); ++k) {
    const bool last = k + 1 == joined.size();
    p.buffers.push_back(batch_buffer(last ? Buffer::Kind::Output : Buffer::Kind::Scratch, images));
    WindowOp op;
    op.group_in = op.group_out = 16;
    op.phases = {WindowPhase{}};
    op.in_h = op.out_h = joined[k] ? images * kRows : kRows;
    for (WindowOp::Image* i : {&op.x, &op.out}) {
      i->stride_h = i->stride_w = 16;
      for (int64_t n = 0; n < (joined[k] ? 1 : images); ++n) i->offsets.push_back(n * kRows * 16);
    }
    op.x.buffer = static_cast<uint32_t>(k + 1);
    op.out.buffer = static_cast<uint32_t>(k + 2);
    op.owner.layer = static_cast<uint32_t>(k);
    p.primitives.emplace_back(op);
  }
  return p;
}

// Rows of the whole batch that an operand touches, by way of the part of the buffer that it names.
std::set<int64_t> rows_of(const Program& p, const WindowOp& op, const WindowOp::Image& i) {
  const Buffer& b = p.buffers[i.buffer];
  std::set<int64_t> out;
  for (int64_t offset : i.offsets)
    for (int64_t y = 0; y < op.out_h; ++y) {
      const int64_t row = offset / 16 + y;
      REQUIRE(row >= 0);
      REQUIRE(row < b.rows);
      REQUIRE(out.insert(row + (b.part_of == UINT32_MAX ? 0 : b.first_row)).second);
    }
  return out;
}

uint32_t whole(const Program& p, uint32_t buffer) {
  return p.buffers[buffer].part_of == UINT32_MAX ? buffer : p.buffers[buffer].part_of;
}

// Replays the program row by row: a row is read after it was written, and in the same part.
void check(const Program& p, size_t layers, int64_t images) {
  std::map<std::pair<uint32_t, int64_t>, uint32_t> written;  // buffer of the whole batch, row: part
  std::map<uint32_t, std::set<int64_t>> made;                // by layer
  for (const Primitive& primitive : p.primitives) {
    const auto& op = std::get<WindowOp>(primitive);
    const auto reads = rows_of(p, op, op.x), writes = rows_of(p, op, op.out);
    CHECK(reads == writes);
    for (int64_t row : reads) {
      if (op.owner.layer == 0) continue;
      const auto at = written.find({whole(p, op.x.buffer), row});
      REQUIRE(at != written.end());
      CHECK(at->second == op.x.buffer);
    }
    for (int64_t row : writes) {
      written[{whole(p, op.out.buffer), row}] = op.out.buffer;
      CHECK(made[op.owner.layer].insert(row).second);
    }
  }
  for (uint32_t layer = 0; layer < layers; ++layer)
    CHECK(static_cast<int64_t>(made[layer].size()) == images * kRows);
}

TEST_CASE("every image passes through every primitive once, in order") {
  std::mt19937 random(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 400; ++round) {
    const int64_t images = pick(2, 9);
    std::vector<bool> joined;
    ImagesAtOnce at_once;
    for (int64_t k = pick(1, 9); k > 0; --k) {
      joined.push_back(pick(0, 1) == 1);
      at_once.push_back(std::min<int64_t>(images, int64_t{1} << pick(0, 4)));
    }
    check(in_sub_batches(chain(images, joined), at_once), joined.size(), images);
  }
}

TEST_CASE("as many images at a time as fit, but no peaks of few primitives") {
  const Program p = chain(8, std::vector<bool>(12, true));
  const int64_t image = kRows * kRowBytes;
  CHECK(images_within(p, 1000 * image) == ImagesAtOnce(12, 8));
  CHECK(images_within(p, image) == ImagesAtOnce(12, 1));
  // The first and the last keep one tensor, all others two: too few to be apart from their neighbours.
  const ImagesAtOnce some = images_within(p, 4 * image);
  CHECK(some[5] == 2);
  CHECK(some.front() == 4);
}

TEST_CASE("what joins images works on all of them") {
  Program p = chain(4, {true, true, true});
  auto& middle = std::get<WindowOp>(p.primitives[1]);
  middle.phases[0].kernel_h = 3;
  middle.phases[0].y0 = -1;  // reads the rows above and below, of the neighbouring image too
  const Program out = in_sub_batches(p, {1, 1, 1});
  CHECK(out.primitives.size() == 4 + 1 + 4);
  CHECK(std::get<WindowOp>(out.primitives[4]).out_h == 4 * kRows);
}

}  // namespace
}  // namespace mrvlc::accel
