#include "primitive/prune.h"

#include <catch2/catch.hpp>

namespace mrvlc::accel {
namespace {

constexpr uint32_t kIn = 1, kMiddle = 2, kFirstOut = 3;

WindowOp::Image image(uint32_t buffer, int64_t width, int64_t channels) {
  WindowOp::Image i;
  i.buffer = buffer;
  i.stride_h = width * channels;
  i.stride_w = channels;
  i.offsets = {0};
  return i;
}

WindowOp convolution(uint32_t from, uint32_t to, int64_t in, int64_t kernel, int64_t stride) {
  WindowOp op;
  op.in_h = op.in_w = in;
  op.out_h = op.out_w = (in - 1) / stride + 1;
  op.stride_h = op.stride_w = stride;
  op.group_in = op.group_out = 16;
  WindowPhase phase;
  phase.kernel_h = phase.kernel_w = kernel;
  phase.y0 = phase.x0 = -(kernel / 2);
  op.phases = {phase};
  op.x = image(from, in, 16);
  op.out = image(to, op.out_w, 16);
  return op;
}

Buffer buffer(Buffer::Kind kind, int64_t width) {
  Buffer b;
  b.kind = kind;
  b.pitch = 32;
  b.rows = width * width;
  b.grain = width;
  b.bytes = b.rows * b.pitch;
  return b;
}

// A 3x3 convolution over 14 x 14 pixels, read by windows of the given kernel and strides.
Program network(int64_t kernel, std::vector<int64_t> strides, Buffer::Kind middle = Buffer::Kind::Scratch) {
  Program p;
  p.buffers.push_back(buffer(Buffer::Kind::Input, 14));
  p.buffers.push_back(buffer(middle, 14));
  p.primitives.push_back(convolution(kIn, kMiddle, 14, 3, 1));
  for (size_t k = 0; k < strides.size(); ++k) {
    p.buffers.push_back(buffer(Buffer::Kind::Output, (14 - 1) / strides[k] + 1));
    p.primitives.push_back(
        convolution(kMiddle, kFirstOut + static_cast<uint32_t>(k), 14, kernel, strides[k]));
  }
  return p;
}

const WindowOp& window(const Program& p, size_t k) {
  return std::get<WindowOp>(p.primitives[k]);
}

TEST_CASE("an image that 1x1 windows of stride 2 read is made a quarter as large") {
  Program p = network(1, {2, 2});
  prune_unread_pixels(p);
  const WindowOp& made = window(p, 0);
  CHECK(made.out_h == 7);
  CHECK(made.out_w == 7);
  CHECK(made.stride_h == 2);
  CHECK(made.stride_w == 2);
  CHECK(made.in_h == 14);
  CHECK(made.phases[0].kernel_h == 3);
  CHECK(made.phases[0].y0 == -1);
  CHECK(p.buffers[kMiddle].bytes == 49 * 32);
  CHECK(p.buffers[kMiddle].rows == 49);
  for (size_t k : {size_t{1}, size_t{2}}) {
    const WindowOp& reader = window(p, k);
    CHECK(reader.stride_h == 1);
    CHECK(reader.stride_w == 1);
    CHECK(reader.in_h == 7);
    CHECK(reader.out_h == 7);
    CHECK(reader.x.stride_h == 7 * 16);
    CHECK(reader.x.offsets == made.out.offsets);
  }
}

TEST_CASE("an image of which every pixel is read, or that leaves the region, stays") {
  auto unchanged = [](Program p) {
    prune_unread_pixels(p);
    return window(p, 0).out_h == 14 && window(p, 0).stride_h == 1 && p.buffers[kMiddle].rows == 14 * 14;
  };
  CHECK(unchanged(network(1, {1})));
  CHECK(unchanged(network(3, {2})));                        // reads between
  CHECK(unchanged(network(1, {2, 1})));                     // one of two reads all
  CHECK(unchanged(network(1, {2, 3})));                     // not the same pixels
  CHECK(unchanged(network(1, {2}, Buffer::Kind::Output)));  // the host reads all
  Program residual = network(1, {2});
  std::get<WindowOp>(residual.primitives[1]).has_residual = true;  // adds the image it reads
  std::get<WindowOp>(residual.primitives[1]).residual = image(kMiddle, 14, 16);
  CHECK(unchanged(std::move(residual)));
  Program rows = network(1, {2});  // every second row, all of it
  auto& reader = std::get<WindowOp>(rows.primitives[1]);
  reader.stride_w = 1;
  reader.out_w = 14;
  CHECK(unchanged(std::move(rows)));
}

// Of two images, in buffers of twice the size.
Program batch_of_two(int64_t out) {
  Program p = network(1, {2});
  for (size_t b = 1; b < p.buffers.size(); ++b) {
    p.buffers[b].rows *= 2;
    p.buffers[b].bytes *= 2;
  }
  for (Primitive& primitive : p.primitives) {
    auto& op = std::get<WindowOp>(primitive);
    op.x.offsets.push_back(14 * 14 * 16);
    op.out.offsets.push_back(op.out.buffer == kMiddle ? 14 * 14 * 16 : out * out * 16);
  }
  return p;
}

TEST_CASE("images of a batch are made smaller one by one") {
  Program p = batch_of_two(7);
  prune_unread_pixels(p);
  const WindowOp &made = window(p, 0), &reader = window(p, 1);
  CHECK(made.out_h == 7);
  CHECK(made.x.offsets == std::vector<int64_t>{0, 14 * 14 * 16});
  CHECK(made.out.offsets == std::vector<int64_t>{0, 7 * 7 * 16});
  CHECK(reader.x.offsets == made.out.offsets);
  CHECK(p.buffers[kMiddle].rows == 2 * 49);
  CHECK(p.buffers[kMiddle].bytes == 2 * 49 * 32);
}

TEST_CASE("rows of all images joined are parted again, of 1x1 windows alone") {
  const auto joined = [](int64_t kernel) {
    Program p = batch_of_two(7);
    auto& op = std::get<WindowOp>(p.primitives[0]);
    op.phases[0].kernel_h = op.phases[0].kernel_w = kernel;
    op.phases[0].y0 = op.phases[0].x0 = -(kernel / 2);
    op.in_h = op.out_h = 2 * 14;
    op.x.offsets.resize(1);
    op.out.offsets.resize(1);
    prune_unread_pixels(p);
    return window(p, 0);
  };
  CHECK(joined(1).out_h == 7);
  CHECK(joined(1).in_h == 14);
  CHECK(joined(1).x.offsets == std::vector<int64_t>{0, 14 * 14 * 16});
  CHECK(joined(3).out_h == 2 * 14);  // its windows reach from one image into the next
}

}  // namespace
}  // namespace mrvlc::accel
