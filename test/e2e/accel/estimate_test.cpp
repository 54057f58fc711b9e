// The analytic model that schedules are chosen by, against the simulator.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "harness.h"
#include "mrvlc/cost/timing.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

struct Sample {
  std::string what;
  double estimated = 0, simulated = 0;
  double error() const { return std::fabs(estimated - simulated) / simulated; }
};

class Samples {
 public:
  void add(const Net& net, const std::string& what, uint32_t tiles) {
    INFO(what << ", " << tiles << " tiles");
    auto compiled = accel::compile_region(net.graph, net.region, machine(),
                                          {tiles, "net", isa::Architecture::Experimental});
    INFO((compiled.ok() ? "" : compiled.error().message));
    REQUIRE(compiled.ok());
    auto timing = cost::time_program(compiled->binary.main, machine());
    REQUIRE(timing.ok());
    list_.push_back({what + ", " + std::to_string(tiles) + " tiles",
                     static_cast<double>(compiled->estimated_cycles), static_cast<double>(timing->cycles)});
  }

  // Short programs are mostly latency, which the model knows to a few instructions only.
  void check() {
    constexpr double kShort = 3000, kShortError = 900, kError = 0.35, kMedian = 0.05;
    REQUIRE(!list_.empty());
    std::ranges::stable_sort(list_, std::greater(), &Sample::error);
    for (size_t i = 0; i < std::min<size_t>(list_.size(), 8); ++i) {
      const Sample& s = list_[i];
      UNSCOPED_INFO(s.what << ": estimated " << s.estimated << ", simulated " << s.simulated << ", off by "
                           << 100 * s.error() << " %");
    }
    CHECK(list_[list_.size() / 2].error() < kMedian);
    size_t far = 0;
    for (const Sample& s : list_) {
      double allowed = s.simulated > kShort ? kError * s.simulated : kShortError;
      far += std::fabs(s.estimated - s.simulated) > allowed;
    }
    CHECK(far == 0);
  }

 private:
  std::vector<Sample> list_;
};

std::string size_text(const Shape& shape) {
  std::string text;
  for (int64_t d : shape) text += (text.empty() ? "" : "x") + std::to_string(d);
  return text;
}

constexpr uint32_t kTiles[] = {1, 2, 4, 8};

struct ConvCase {
  Shape in;
  int64_t out, kernel, stride, group;
};

TEST_CASE("the estimate of convolutions") {
  const ConvCase cases[] = {
      {{1, 64, 56, 56}, 64, 3, 1, 1},   {{1, 64, 56, 56}, 256, 1, 1, 1},    {{1, 256, 56, 56}, 64, 1, 1, 1},
      {{1, 128, 28, 28}, 128, 3, 1, 1}, {{1, 256, 14, 14}, 256, 3, 1, 1},   {{1, 512, 7, 7}, 512, 3, 1, 1},
      {{1, 2048, 7, 7}, 512, 1, 1, 1},  {{1, 3, 112, 112}, 64, 7, 2, 1},    {{1, 128, 56, 56}, 128, 3, 2, 1},
      {{1, 96, 56, 56}, 96, 3, 1, 96},  {{1, 384, 14, 14}, 384, 3, 2, 384}, {{1, 32, 20, 20}, 32, 5, 1, 32},
      {{1, 24, 17, 19}, 40, 3, 1, 1},   {{1, 16, 8, 8}, 16, 1, 1, 1}};
  Samples samples;
  for (const ConvCase& c : cases)
    for (uint32_t tiles : kTiles) {
      Net net(1);
      ir::ValueId x = net.input(c.in);
      int64_t pad = c.kernel / 2;
      std::vector<ir::ValueId> inputs = {x, net.constant({c.out, c.in[1] / c.group, c.kernel, c.kernel}),
                                         net.constant({c.out})};
      net.output(net.layer(
          "conv", "Conv", inputs,
          {{"group", c.group}, {"strides", Ints{c.stride, c.stride}}, {"pads", Ints{pad, pad, pad, pad}}}));
      samples.add(net,
                  "conv " + size_text(c.in) + " to " + std::to_string(c.out) + " k" +
                      std::to_string(c.kernel) + (c.group > 1 ? " depthwise" : ""),
                  tiles);
    }
  samples.check();
}

TEST_CASE("the estimate of matrix products and pools") {
  Samples samples;
  for (uint32_t tiles : kTiles) {
    for (auto [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{1, 2048, 1000},
                           {128, 256, 256},
                           {64, 1024, 512},
                           {197, 64, 300}}) {
      Net net(2);
      net.output(net.layer("fc", "MatMul", {net.input({m, k}), net.constant({k, n})}));
      samples.add(net, "matmul " + size_text({m, k, n}), tiles);
    }
    for (auto [shape, kernel, stride] : {std::tuple<Shape, int64_t, int64_t>{{1, 64, 112, 112}, 3, 2},
                                         {{1, 256, 28, 28}, 2, 2},
                                         {{1, 192, 28, 28}, 3, 1}})
      for (const char* op : {"MaxPool", "AveragePool"}) {
        Net net(3);
        net.output(net.layer("pool", op, {net.input(shape)},
                             {{"kernel_shape", Ints{kernel, kernel}}, {"strides", Ints{stride, stride}}}));
        samples.add(net, std::string(op) + " " + size_text(shape), tiles);
      }
    Net net(4);
    net.output(net.layer("pool", "GlobalAveragePool", {net.input({1, 512, 14, 14})}));
    samples.add(net, "GlobalAveragePool", tiles);
  }
  samples.check();
}

TEST_CASE("the estimate of element-wise layers") {
  Samples samples;
  for (uint32_t tiles : kTiles)
    for (const Shape& shape :
         {Shape{1, 64, 56, 56}, {1, 16, 100, 100}, {1, 256, 7, 7}, {1, 1000}, {1, 128, 768}}) {
      for (const char* op : {"Add", "Mul"}) {
        Net net(5);
        net.output(net.layer("elementwise", op, {net.input(shape), net.input(shape)}));
        samples.add(net, op + (" " + size_text(shape)), tiles);
      }
      for (const char* op : {"Relu", "Sigmoid"}) {
        Net net(6);
        net.output(net.layer("elementwise", op, {net.input(shape)}));
        samples.add(net, op + (" " + size_text(shape)), tiles);
      }
      Net net(7);
      net.output(net.layer("softmax", "Softmax", {net.input(shape)}));
      samples.add(net, "Softmax " + size_text(shape), tiles);
    }
  samples.check();
}

}  // namespace
}  // namespace mrvlc::accel_test
