#include <catch2/catch.hpp>

#include "../ops/case.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::ops::test {
namespace {

struct Spatial {  // a random window problem with equal parameters in every dimension checked one by one
  std::vector<int64_t> size, kernel, strides, dilations, begin, end, output;
};

int64_t pick(std::mt19937& engine, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(engine() % static_cast<uint32_t>(high - low + 1));
}

Spatial random_spatial(std::mt19937& engine, size_t rank, int64_t most) {
  Spatial s;
  for (size_t d = 0; d < rank; ++d) {
    s.kernel.push_back(pick(engine, 1, 3));
    s.dilations.push_back(pick(engine, 1, 2));
    s.size.push_back(pick(engine, (s.kernel[d] - 1) * s.dilations[d] + 1, most));
    s.strides.push_back(pick(engine, 1, 3));
    s.begin.push_back(pick(engine, 0, 2));
    s.end.push_back(pick(engine, 0, 2));
    int64_t room = s.size[d] + s.begin[d] + s.end[d] - (s.kernel[d] - 1) * s.dilations[d] - 1;
    s.output.push_back(room / s.strides[d] + 1);
  }
  return s;
}

Shape joined(Shape head, const std::vector<int64_t>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

std::vector<int64_t> unflatten(int64_t i, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) index[d] = i % sizes[d];
  return index;
}

// Position in the padded-away input that kernel element k reads at output o; -1 in the padding.
int64_t source(const Spatial& s, const std::vector<int64_t>& o, const std::vector<int64_t>& k) {
  int64_t flat = 0;
  for (size_t d = 0; d < o.size(); ++d) {
    int64_t i = o[d] * s.strides[d] + k[d] * s.dilations[d] - s.begin[d];
    if (i < 0 || i >= s.size[d]) return -1;
    flat = flat * s.size[d] + i;
  }
  return flat;
}

Case with_window(Case c, const Spatial& s) {
  std::vector<int64_t> pads = s.begin;
  pads.insert(pads.end(), s.end.begin(), s.end.end());
  c.set("strides", list(s.strides)).set("dilations", list(s.dilations)).set("pads", list(pads));
  return c;
}

// The definition, one multiplication at a time.
std::vector<double> naive_conv(const Spatial& s, const Tensor& x, const Tensor& w, const Tensor& b,
                               int64_t group) {
  int64_t batch = x.shape()[0], c_in = w.shape()[1], c_out = w.shape()[0];
  int64_t inputs = element_count(s.size), outputs = element_count(s.output), taps = element_count(s.kernel);
  std::vector<double> y;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t m = 0; m < c_out; ++m) {
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = b.as_double(m);
        for (int64_t c = 0; c < c_in; ++c) {
          for (int64_t k = 0; k < taps; ++k) {
            int64_t at = source(s, unflatten(o, s.output), unflatten(k, s.kernel));
            int64_t channel = n * c_in * group + m / (c_out / group) * c_in + c;
            if (at >= 0) sum += x.as_double(channel * inputs + at) * w.as_double((m * c_in + c) * taps + k);
          }
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

// Scatter of every input element; s describes the convolution this one is the adjoint of.
std::vector<double> naive_transpose(const Spatial& s, const Tensor& x, const Tensor& w, const Tensor& b,
                                    int64_t group) {
  int64_t batch = x.shape()[0], c_in = x.shape()[1], m_group = w.shape()[1], c_out = m_group * group;
  int64_t big = element_count(s.size), small = element_count(s.output), taps = element_count(s.kernel);
  std::vector<double> y(static_cast<size_t>(batch * c_out * big));
  for (size_t i = 0; i < y.size(); ++i) y[i] = b.as_double(static_cast<int64_t>(i) / big % c_out);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < c_in; ++c) {
      for (int64_t i = 0; i < small * m_group * taps; ++i) {
        int64_t o = i % small, m = i / small % m_group, k = i / small / m_group;
        int64_t at = source(s, unflatten(o, s.output), unflatten(k, s.kernel));
        int64_t channel = n * c_out + c / (c_in / group) * m_group + m;
        if (at >= 0) {
          y[static_cast<size_t>(channel * big + at)] +=
              x.as_double((n * c_in + c) * small + o) * w.as_double((c * m_group + m) * taps + k);
        }
      }
    }
  }
  return y;
}

}  // namespace

TEST_CASE("Conv agrees with its definition for random windows and groups") {
  std::mt19937 engine(1);
  for (int i = 0; i < 60; ++i) {
    Spatial s = random_spatial(engine, static_cast<size_t>(1 + i % 3), 9);
    int64_t group = pick(engine, 1, 3), c_in = pick(engine, 1, 3), c_out = group * pick(engine, 1, 5);
    Tensor x = random_tensor(ElementType::F32, joined({2, c_in * group}, s.size), engine());
    Tensor w = random_tensor(ElementType::F32, joined({c_out, c_in}, s.kernel), engine());
    Tensor b = random_tensor(ElementType::F32, {c_out}, engine());
    Case c = with_window(Case("Conv").set("group", num(group)).in(x).in(w).in(b), s);
    REQUIRE(c.value().shape() == joined({2, c_out}, s.output));
    REQUIRE(greatest_error(c.value(), naive_conv(s, x, w, b, group)) < 1e-7);
  }
}

TEST_CASE("Conv: more than one block of columns and depth") {
  Spatial s{{40, 41}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {40, 41}};
  Tensor x = random_tensor(ElementType::F32, {1, 37, 40, 41}, 2),
         w = random_tensor(ElementType::F32, {6, 37, 3, 3}, 3);
  Tensor b = random_tensor(ElementType::F32, {6}, 4);
  Case c = with_window(Case("Conv").in(x).in(w).in(b), s);
  REQUIRE(greatest_error(c.value(), naive_conv(s, x, w, b, 1)) < 1e-7);
}

TEST_CASE("Conv: automatic padding follows ONNX") {
  Tensor x = iota(ElementType::F32, {1, 1, 5}), w = floats({1, 1, 2}, {1, 1});
  REQUIRE(Case("Conv").set("auto_pad", text("SAME_UPPER")).in(x).in(w).value().to_doubles() ==
          std::vector<double>{1, 3, 5, 7, 4});
  REQUIRE(Case("Conv").set("auto_pad", text("SAME_LOWER")).in(x).in(w).value().to_doubles() ==
          std::vector<double>{0, 1, 3, 5, 7});
  REQUIRE(Case("Conv").set("auto_pad", text("VALID")).in(x).in(w).value().to_doubles() ==
          std::vector<double>{1, 3, 5, 7});
}

TEST_CASE("Conv rounds float16 once") {
  Tensor x = random_tensor(ElementType::F16, {1, 8, 6, 6}, 5),
         w = random_tensor(ElementType::F16, {4, 8, 3, 3}, 6);
  Spatial s{{6, 6}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {4, 4}};
  Tensor y = Case("Conv").in(x).in(w).value();
  Tensor expected(y.type());
  auto exact = naive_conv(s, x, w, Tensor(TensorType{ElementType::F16, {4}}), 1);
  for (size_t i = 0; i < exact.size(); ++i) expected.set_double(static_cast<int64_t>(i), exact[i]);
  REQUIRE(y == expected);
}

TEST_CASE("ConvTranspose is the adjoint of Conv") {
  std::mt19937 engine(7);
  for (int i = 0; i < 60; ++i) {
    Spatial s = random_spatial(engine, static_cast<size_t>(1 + i % 3), 7);
    int64_t group = pick(engine, 1, 2), c_in = group * pick(engine, 1, 3), c_out = pick(engine, 1, 3);
    Tensor x = random_tensor(ElementType::F32, joined({2, c_in}, s.output), engine());
    Tensor w = random_tensor(ElementType::F32, joined({c_in, c_out}, s.kernel), engine());
    Tensor b = random_tensor(ElementType::F32, {c_out * group}, engine());
    Case c = with_window(Case("ConvTranspose").set("group", num(group)).in(x).in(w).in(b), s);
    // output_padding makes up for the rows the convolution's stride skipped.
    std::vector<int64_t> extra;
    for (size_t d = 0; d < s.size.size(); ++d) {
      extra.push_back(s.size[d] - ((s.output[d] - 1) * s.strides[d] + (s.kernel[d] - 1) * s.dilations[d] + 1 -
                                   s.begin[d] - s.end[d]));
    }
    c.set("output_padding", list(extra));
    REQUIRE(c.value().shape() == joined({2, c_out * group}, s.size));
    REQUIRE(greatest_error(c.value(), naive_transpose(s, x, w, b, group)) < 1e-7);
  }
}

TEST_CASE("ConvTranspose: output_shape and automatic padding choose the padding") {
  Tensor x = floats({1, 1, 2}, {1, 2}), w = floats({1, 1, 3}, {1, 10, 100});
  // Full result with stride 2: 1 10 102 20 200.
  auto run = [&](Case c) { return c.set("strides", list({2})).in(x).in(w).value().to_doubles(); };
  REQUIRE(run(Case("ConvTranspose")) == std::vector<double>{1, 10, 102, 20, 200});
  REQUIRE(run(Case("ConvTranspose").set("output_shape", list({4}))) == std::vector<double>{10, 102, 20, 200});
  REQUIRE(run(Case("ConvTranspose").set("auto_pad", text("SAME_UPPER"))) ==
          std::vector<double>{1, 10, 102, 20});
  REQUIRE(run(Case("ConvTranspose").set("auto_pad", text("SAME_LOWER"))) ==
          std::vector<double>{10, 102, 20, 200});
  REQUIRE(run(Case("ConvTranspose").set("output_shape", list({6}))) ==
          std::vector<double>{1, 10, 102, 20, 200, 0});
}

}  // namespace mrvlc::ops::test
