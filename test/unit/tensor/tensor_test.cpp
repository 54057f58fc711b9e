#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "mrvlc/tensor/float16.h"
#include "mrvlc/tensor/npy.h"

using namespace mrvlc;

TEST_CASE("every half survives a trip through float") {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    auto bits = static_cast<uint16_t>(h);
    float f = half_to_float(bits);
    if (std::isnan(f)) {
      CHECK(std::isnan(half_to_float(float_to_half(f))));
    } else if (float_to_half(f) != bits) {
      FAIL("half " << h);
    }
  }
}

TEST_CASE("rounding to half is to nearest, ties to even, against the two neighbours") {
  for (uint32_t h = 0; h < 0x7bff; ++h) {
    auto lo = static_cast<uint16_t>(h), hi = static_cast<uint16_t>(h + 1);
    double a = static_cast<double>(half_to_float(lo)), b = static_cast<double>(half_to_float(hi));
    auto middle = static_cast<float>((a + b) / 2);
    if (float_to_half(middle) != ((h & 1) == 0 ? lo : hi)) FAIL("tie after " << h);
    if (float_to_half(std::nextafter(middle, 0.0f)) != lo) FAIL("below the tie after " << h);
    if (float_to_half(std::nextafter(middle, 1e9f)) != hi) FAIL("above the tie after " << h);
  }
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(-1e30f) == 0xfc00);
}

TEST_CASE("double to half rounds once") {
  // 1 + 2^-11 + 2^-40 is above the tie; rounded to float first it would fall on it and go down to 1.
  CHECK(double_to_half(1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(double_to_half(1 + 0x1p-11) == 0x3c00);
  CHECK(double_to_half(-(1 + 0x1p-11 + 0x1p-40)) == 0xbc01);
}

TEST_CASE("npy round trip") {
  for (ElementType elem : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::I64,
                           ElementType::U8, ElementType::Bool}) {
    for (Shape shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}}) {
      Tensor t(TensorType{elem, shape});
      for (int64_t i = 0; i < t.elements(); ++i) t.set_int(i, i % 2);
      auto back = parse_npy(to_npy(t), "x");
      REQUIRE(back.ok());
      CHECK(*back == t);
      CHECK(to_npy(t).find('\n') % 64 == 63);
    }
  }
}

TEST_CASE("a cut or altered npy file is refused, never read beyond") {
  Tensor t = Tensor::of(ElementType::F32, {2, 2}, std::vector<float>{1, 2, 3, 4});
  std::string bytes = to_npy(t);
  for (size_t n = 0; n < bytes.size(); ++n)
    CHECK_FALSE(parse_npy(std::string_view(bytes).substr(0, n), "x").ok());
  for (size_t i = 0; i < 100; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = bytes;
      altered[i] = static_cast<char>(altered[i] ^ (1 << bit));
      auto r = parse_npy(altered, "x");
      if (r.ok()) CHECK(static_cast<size_t>(r->type().bytes()) == r->bytes().size());
    }
  }
}

TEST_CASE("broadcasting follows NumPy") {
  CHECK(broadcast_shapes({3, 1}, {4}) == Shape{3, 4});
  CHECK(broadcast_shapes({2}, {3}) == std::nullopt);
  CHECK(broadcast_shapes({1}, {0}) == Shape{0});
  CHECK(broadcast_strides({3, 1}, {2, 3, 4}) == Shape{0, 1, 0});
}

TEST_CASE("copies of a tensor share bytes until one writes") {
  Tensor a = Tensor::of(ElementType::I32, {2}, std::vector<int64_t>{1, 2});
  Tensor b = a;
  b.set_int(0, 9);
  CHECK(a.as_int(0) == 1);
  CHECK(b.as_int(0) == 9);
  Tensor texts = Tensor::strings({2}, {"a", "b"}), copy = texts;
  copy.mutable_strings()[0] = "changed";
  CHECK(texts.string_data() == std::vector<std::string>{"a", "b"});
  CHECK(copy.string_data() == std::vector<std::string>{"changed", "b"});
}

TEST_CASE("truth values are one bit, whatever is stored") {
  Tensor t(TensorType{ElementType::Bool, {3}});
  for (auto [i, v] : {std::pair(0, 2), std::pair(1, 256), std::pair(2, 0)}) t.set_int(i, v);
  CHECK(t.to_ints() == std::vector<int64_t>{1, 1, 0});
}

TEST_CASE("tensors are equal when their types and values are") {
  const Tensor zeros(TensorType{ElementType::F32, {2, 3}});
  CHECK(zeros == Tensor(TensorType{ElementType::F32, {2, 3}}));
  CHECK_FALSE(zeros == Tensor(TensorType{ElementType::I32, {2, 3}}));
  CHECK_FALSE(zeros == Tensor(TensorType{ElementType::F32, {3, 2}}));
}

TEST_CASE("a type admits what fits its bounds") {
  TensorType type{ElementType::F32, {4, 5}};
  type.dynamic = 1u;  // the first dimension: up to 4
  auto admitted = [&](Shape shape) { return admits(type, TensorType{ElementType::F32, std::move(shape)}); };
  for (int64_t rows : {0, 1, 4}) CHECK(admitted({rows, 5}));
  CHECK_FALSE(admitted({5, 5}));
  CHECK_FALSE(admitted({4, 4}));
  CHECK_FALSE(admitted({4, 6}));
  CHECK_FALSE(admitted({4}));
  type.dynamic = 3u;
  CHECK(admitted({4, 1}));
  CHECK_FALSE(admitted({5, 1}));  // few elements, and yet too many rows
}

// A file as NumPy writes it.
static std::string npy(const std::string& header, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size());
  out += '\0';
  return out + header + data;
}

TEST_CASE("npy files in the other order of dimensions, and of bytes") {
  // numpy.arange(6, dtype='>i2').reshape(2, 3), in both orders
  const std::string rows("\0\0\0\1\0\2\0\3\0\4\0\5", 12), columns("\0\0\0\3\0\1\0\4\0\2\0\5", 12);
  for (const bool fortran : {false, true}) {
    const std::string header = std::string("{'descr': '>i2', 'fortran_order': ") +
                               (fortran ? "True" : "False") + ", 'shape': (2, 3), }\n";
    const std::string file = npy(header, fortran ? columns : rows);
    const auto read = parse_npy(file, "x");
    REQUIRE(read.ok());
    CHECK(*read == Tensor::of<int16_t>(ElementType::I16, {2, 3}, {0, 1, 2, 3, 4, 5}));
    CHECK_FALSE(is_plain_npy(file));
    CHECK(is_plain_npy(to_npy(*read)));
  }
  // Three dimensions: element [i, j, k] lies at i + 2 (j + 3 k).
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += static_cast<char>(100 * i + 10 * j + k);
  const auto read =
      parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }\n", data), "x");
  REQUIRE(read.ok());
  for (int64_t at = 0; at < 24; ++at) CHECK(read->as_int(at) == 100 * (at / 12) + 10 * (at / 4 % 3) + at % 4);
  CHECK_FALSE(
      parse_npy(npy("{'descr': '<i2', 'fortran_order': Maybe, 'shape': (2, 3), }\n", rows), "x").ok());
  CHECK_FALSE(parse_npy(npy("{'descr': '>c2', 'fortran_order': True, 'shape': (2, 3), }\n", rows), "x").ok());
}

TEST_CASE("npy headers are those of NumPy") {
  auto header = [](const Shape& shape) {
    const std::string file = to_npy(Tensor(TensorType{ElementType::F32, shape}));
    return file.substr(10, file.find('}') - 9);
  };
  CHECK(header({}) == "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
  CHECK(header({3}) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
  CHECK(header({3, 4}) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
}

TEST_CASE("views are read where they are, at any address, and never written") {
  std::string memory(4 * sizeof(float) + 1, '\0');
  const float values[] = {1, 2, 3, 4};
  std::memcpy(memory.data() + 1, values, sizeof values);
  auto owner = std::make_shared<int>(0);
  std::weak_ptr<int> alive = owner;
  {
    auto bytes = std::as_bytes(std::span(memory.data() + 1, sizeof values));
    Tensor t = Tensor::view({ElementType::F32, {4}}, bytes, std::move(owner));
    CHECK(t.bytes().data() == bytes.data());
    Tensor copy = t.reshaped({2, 2});
    CHECK(copy.to_doubles() == std::vector<double>{1, 2, 3, 4});
    // Not an address for a float: both tensors read the one copy.
    CHECK(reinterpret_cast<uintptr_t>(t.data<float>().data()) % alignof(float) == 0);
    CHECK(t.data<float>().data() == copy.data<float>().data());
    CHECK(t == Tensor::of<float>(ElementType::F32, {4}, {1, 2, 3, 4}));
    t = Tensor();
    copy.mutable_data<float>()[0] = 9;  // the only tensor left, but not of these bytes
    CHECK(copy.to_doubles() == std::vector<double>{9, 2, 3, 4});
    CHECK(std::memcmp(memory.data() + 1, values, sizeof values) == 0);
    CHECK(alive.expired());
  }
}

TEST_CASE("floats turn into integers without undefined behaviour") {
  Tensor t(TensorType{ElementType::I64, {1}});
  t.set_double(0, std::numeric_limits<double>::quiet_NaN());
  CHECK(t.as_int(0) == 0);
  t.set_double(0, 1e300);
  CHECK(t.as_int(0) == INT64_MAX);
  t.set_double(0, 0x1p63);
  CHECK(t.as_int(0) == INT64_MAX);
  t.set_double(0, -0x1p63);
  CHECK(t.as_int(0) == INT64_MIN);
}
