// Networks of integers for tests.
#include "networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::mesh_test {
namespace {

int64_t drawn(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

std::string numbers(Random& random, int64_t count, int64_t low, int64_t high) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(drawn(random, low, high));
  return fmt::format("[{}]", fmt::join(list, ", "));
}

struct Conv {
  int64_t in = 0, out = 0, group = 1;
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[4] = {0, 0, 0, 0};

  int64_t size(int64_t of, int d) const {
    return (of + pad[d] + pad[d + 2] - (kernel[d] - 1) * dilation[d] - 1) / stride[d] + 1;
  }
};

Conv random_conv(Random& random, int64_t channels) {
  Conv c;
  const bool depthwise = drawn(random, 0, 2) == 0;
  c.in = channels;
  c.group = depthwise ? channels : channels % 2 == 0 && drawn(random, 0, 1) == 0 ? 2 : 1;
  c.out = c.group * drawn(random, 1, 3);
  for (int d = 0; d < 2; ++d) {
    c.kernel[d] = drawn(random, 1, 3), c.stride[d] = drawn(random, 1, 2), c.dilation[d] = drawn(random, 1, 2);
    c.pad[d] = drawn(random, 0, c.kernel[d] - 1), c.pad[d + 2] = drawn(random, 0, c.kernel[d] - 1);
  }
  return c;
}

// Constants of a convolution called %NAME, and the node; operand %FROM.
std::string conv_text(Random& random, const Conv& c, const std::string& name, const std::string& from,
                      int64_t h, int64_t w) {
  const int64_t weights = c.out * c.in / c.group * c.kernel[0] * c.kernel[1];
  return fmt::format(
      " const %{0}w : i8[{1},{2},{3},{4}] = {5}\n const %{0}b : i32[{1}] = {6}\n"
      " %{0} = QLinearConv(%{7}, %s, %z, %{0}w, %t, %u, %s, %z, %{0}b) {{auto_pad = \"NOTSET\", dilations = "
      "[{8}, {9}], "
      "group = {10}, kernel_shape = [{3}, {4}], pads = [{11}], strides = [{12}, {13}]}} : "
      "i8[1,{1},{14},{15}]\n",
      name, c.out, c.in / c.group, c.kernel[0], c.kernel[1], numbers(random, weights, -128, 127),
      numbers(random, c.out, -2000, 2000), from, c.dilation[0], c.dilation[1], c.group,
      fmt::join(c.pad, ", "), c.stride[0], c.stride[1], c.size(h, 0), c.size(w, 1));
}

// Scale 0.05, zero 3; weights' scale 0.01, zero 0; scale 0.07, zero -9.
constexpr const char* kConstants =
    " const %s : f32[] = x\"cdcc4c3d\"\n const %z : i8[] = [3]\n const %t : f32[] = x\"0ad7233c\"\n const %u "
    ": i8[] = [0]\n"
    " const %v : f32[] = x\"295c8f3d\"\n const %y : i8[] = [-9]\n";

}  // namespace

ir::Graph graph_of(const std::string& body) {
  auto g = ir::parse("graph \"g\" {\n" + body + "}\n", ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << body);
  return *std::move(g);
}

ir::Graph random_network(Random& random) {
  const int64_t channels = drawn(random, 1, 6), h = drawn(random, 4, 13), w = drawn(random, 4, 9);
  std::string text = fmt::format(" input %x : i8[1,{},{},{}]\n", channels, h, w) + kConstants;
  const Conv a = random_conv(random, channels);
  const int64_t ah = a.size(h, 0), aw = a.size(w, 1);
  text += conv_text(random, a, "a", "x", h, w);
  Conv b;
  b.in = a.out, b.out = a.out;
  b.kernel[0] = b.kernel[1] = 3;
  for (int64_t& p : b.pad) p = 1;
  text += conv_text(random, b, "b", "a", ah, aw);
  const std::string type = fmt::format("[1,{},{},{}]", a.out, ah, aw);
  text += fmt::format(
      " %c = DequantizeLinear(%a, %s, %z) : f32{0}\n %d = DequantizeLinear(%b, %v, %y) : f32{0}\n %e = "
      "Add(%c, %d) : f32{0}\n"
      " %f = Relu(%e) : f32{0}\n %g = QuantizeLinear(%f, %v, %y) : i8{0}\n",
      type);
  const char* pool = drawn(random, 0, 1) == 0 ? "MaxPool" : "AveragePool";
  text += fmt::format(
      " %h = DequantizeLinear(%g, %v, %y) : f32{0}\n %i = {1}(%h) {{auto_pad = \"NOTSET\", kernel_shape = "
      "[2, 2], "
      "pads = [0, 0, 1, 1], strides = [2, 1]}} : f32[1,{2},{3},{4}]\n",
      type, pool, a.out, (ah + 1 - 2) / 2 + 1, aw);
  return graph_of(text + " output %i\n");
}

ir::Graph small_network() {
  Random random(7);
  Conv c;
  c.in = c.out = 4;
  c.kernel[0] = c.kernel[1] = 3;
  for (int64_t& p : c.pad) p = 1;
  const std::string type = "[1,4,16,16]";
  return graph_of(
      " input %x : i8[1,4,16,16]\n" + std::string(kConstants) + conv_text(random, c, "a", "x", 16, 16) +
      fmt::format(" %c = DequantizeLinear(%a, %s, %z) : f32{0}\n %d = DequantizeLinear(%x, %v, %y) : f32{0}\n"
                  " %e = Add(%c, %d) : f32{0}\n %f = QuantizeLinear(%e, %v, %y) : i8{0}\n output %f\n",
                  type));
}

}  // namespace mrvlc::mesh_test
