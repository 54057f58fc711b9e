// Weights as integers: patches against the reference's convolutions, roundings against sums over the data.
#include "weights.h"

#include <cmath>
#include <set>

#include "build.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::quantize {
namespace {

using quantize_test::Net;
using quantize_test::Numbers;

// Inputs that depend on each other, as images' neighbours do.
Matrix correlated(Numbers& numbers, int64_t patches, int64_t depth) {
  Matrix x(patches, depth);
  for (int64_t p = 0; p < patches; ++p) {
    double level = 2 * numbers.normal();
    for (int64_t k = 0; k < depth; ++k) {
      level = 0.8 * level + 0.4 * numbers.normal();
      x(p, k) = std::max(0.0, 1 + level);
    }
  }
  return x;
}

Moments moments_of(const Matrix& x, const Matrix& y) {
  Moments m{x.rows(), {}, true};
  m.groups.push_back({x.transpose() * x, y.transpose() * x, x.colwise().sum(), y.colwise().sum()});
  return m;
}

Matrix random_weights(Numbers& numbers, int64_t rows, int64_t depth) {
  Matrix w(rows, depth);
  for (int64_t i = 0; i < w.size(); ++i) w.data()[i] = numbers.normal();
  return w;
}

double change(const Matrix& w, const Matrix& y, const IntegerWeights& q, const Matrix& x) {
  const Matrix results = (x * real_weights(q).transpose()).rowwise() + q.bias.transpose();
  return (y * w.transpose() - results).squaredNorm();
}

}  // namespace

TEST_CASE("each weight to the nearest", "[quantize]") {
  Numbers numbers(1);
  const ProductShape shape{1, 5, 12, false, 0};
  for (ElementType type : {ElementType::I8, ElementType::I4}) {
    const Matrix w = random_weights(numbers, 5, 12);
    const IntegerWeights q = round_weights(w, shape, nullptr, {type, false, true});
    const double limit = type == ElementType::I8 ? 127 : 7;
    for (int64_t m = 0; m < 5; ++m) {
      const auto scale = static_cast<double>(q.scales[static_cast<size_t>(m)]);
      CHECK(scale <= w.row(m).cwiseAbs().maxCoeff() / limit * 1.0001);
      for (int64_t k = 0; k < 12; ++k) {
        CHECK(std::fabs(q.integers(m, k)) <= limit);
        const bool cut = std::fabs(w(m, k)) > scale * limit;
        if (!cut) CHECK(std::fabs(w(m, k) / scale - q.integers(m, k)) <= 0.5001);
      }
    }
    CHECK(q.bias.isZero());
  }
}

TEST_CASE("weights rounded together change results less than each by itself", "[quantize]") {
  Numbers numbers(2);
  const ProductShape shape{1, 8, 30, false, 0};
  const Matrix w = random_weights(numbers, 8, 30), y = correlated(numbers, 2000, 30);
  Matrix x = y;  // as a network of integers has it
  for (int64_t i = 0; i < x.size(); ++i) x.data()[i] = std::nearbyint(x.data()[i] * 10) / 10 + 0.02;
  const Moments same = moments_of(y, y), m = moments_of(x, y);
  for (ElementType type : {ElementType::I8, ElementType::I4}) {
    const IntegerWeights by_itself = round_weights(w, shape, &same, {type, false, true});
    const IntegerWeights together = round_weights(w, shape, &same, {type, true, true});
    CHECK(change(w, y, together, y) < 0.5 * change(w, y, by_itself, y));
    const IntegerWeights nearest = round_weights(w, shape, &m, {type, false, true});
    const IntegerWeights learned = round_weights(w, shape, &m, {type, true, true});
    CHECK(change(w, y, learned, x) < change(w, y, nearest, x));
    // What is left of the means is the bias.
    const Eigen::VectorXd moved =
        (y * w.transpose() - x * real_weights(learned).transpose()).colwise().mean().transpose();
    CHECK((moved - learned.bias).norm() < 1e-9 * (1 + moved.norm()));
  }
}

TEST_CASE("inputs that are always zero do no harm", "[quantize]") {
  Numbers numbers(3);
  const ProductShape shape{1, 4, 6, false, 0};
  const Matrix w = random_weights(numbers, 4, 6), x = Matrix::Zero(50, 6);
  const Moments m = moments_of(x, x);
  const IntegerWeights q = round_weights(w, shape, &m, {ElementType::I8, true, true});
  CHECK(q.integers.allFinite());
  for (float s : q.scales) CHECK((std::isfinite(s) && s > 0));
}

TEST_CASE("a few positions of each sample are all of them over many", "[quantize]") {
  Net net(8);
  const ir::ValueId x = net.input("x", {1, 1, 8, 8});
  net.graph.add_output(net.node("Conv", {x, net.constant({1, 1, 1, 1})}, "y"));
  Tensor numbered(TensorType{ElementType::F32, {1, 1, 8, 8}});
  for (int64_t i = 0; i < 64; ++i) numbered.set_double(i, static_cast<double>(i));
  const Patches patches(net.graph, net.graph.node(net.graph.topological_order()[0]), 4);
  REQUIRE(patches.of_sample() == 4);
  std::set<double> seen;
  for (int64_t sample = 0; sample < 40; ++sample) {
    const Matrix m = patches.take(numbered, sample, 0);
    for (int64_t i = 0; i < 4; ++i) seen.insert(m(i, 0));
  }
  CHECK(seen.size() == 64);
}

TEST_CASE("patches times weights are the convolution", "[quantize]") {
  struct Case {
    int64_t channels, results, group;
    std::vector<int64_t> pads, strides, dilations;
  };
  const Case cases[] = {{3, 4, 1, {1, 1, 1, 1}, {1, 1}, {1, 1}},
                        {4, 4, 4, {0, 2, 1, 0}, {2, 1}, {1, 2}},
                        {6, 4, 2, {2, 0, 0, 2}, {1, 3}, {2, 1}}};
  for (const Case& c : cases) {
    Net net(7);
    const ir::ValueId x = net.input("x", {2, c.channels, 7, 9});
    const ir::ValueId w = net.constant({c.results, c.channels / c.group, 3, 2});
    const ir::ValueId y =
        net.node("Conv", {x, w}, "y",
                 {{"pads", c.pads}, {"strides", c.strides}, {"dilations", c.dilations}, {"group", c.group}});
    net.graph.add_output(y);
    const ir::Node& node = net.graph.node(net.graph.value(y).producer);
    const Tensor data = net.samples(1)[0][0];
    const auto expected = interp::run(net.graph, {data});
    REQUIRE(expected.ok());
    const ProductShape shape = product_shape(net.graph, node);
    const Matrix weights = weight_matrix(*net.graph.constant(w), shape);
    CHECK(weight_tensor(weights, shape, net.graph.value(w).type.shape) == *net.graph.constant(w));
    const Patches patches(net.graph, node, 1 << 20);
    REQUIRE(patches.known());
    const int64_t pixels = element_count(net.graph.value(y).type.shape) / 2 / c.results;
    REQUIRE(patches.of_sample() == 2 * pixels);
    for (int64_t g = 0; g < c.group; ++g) {
      const Matrix results =
          patches.take(data, 0, g) * weights.middleRows(g * shape.rows, shape.rows).transpose();
      for (int64_t p = 0; p < results.rows(); ++p)
        for (int64_t r = 0; r < shape.rows; ++r) {
          const int64_t at = (p / pixels * c.results + g * shape.rows + r) * pixels + p % pixels;
          CHECK(results(p, r) == Approx((*expected)[0].as_double(at)).margin(1e-5));
        }
    }
  }
}

}  // namespace mrvlc::quantize
