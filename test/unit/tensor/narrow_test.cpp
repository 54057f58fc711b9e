#include "mrvlc/tensor/narrow.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "mrvlc/tensor/npy.h"

using namespace mrvlc;

namespace {

using E = ElementType;
constexpr E kFloats[] = {E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F8E8M0, E::F4E2M1};

int codes_of(E elem) {
  return 1 << bit_size(elem);
}

uint8_t code(int c) {
  return static_cast<uint8_t>(c);
}

}  // namespace

TEST_CASE("every narrow float survives a trip through double") {
  for (E elem : kFloats) {
    CAPTURE(name(elem));
    for (int c = 0; c < codes_of(elem); ++c) {
      const double v = narrow_to_double(code(c), elem);
      const uint8_t back = double_to_narrow(v, elem, false);
      CAPTURE(c, v);
      if (std::isnan(v)) {
        CHECK(std::isnan(narrow_to_double(back, elem)));
      } else {
        CHECK(back == c);
      }
    }
  }
}

TEST_CASE("rounding to narrow floats is to nearest, ties to even") {
  for (E elem : kFloats) {
    if (elem == E::F8E8M0) continue;
    for (unsigned c = 0; c < narrow_format(elem).top; ++c) {
      const double a = narrow_to_double(static_cast<uint8_t>(c), elem),
                   b = narrow_to_double(static_cast<uint8_t>(c + 1), elem);
      const double middle = (a + b) / 2;
      CAPTURE(name(elem), c);
      REQUIRE(double_to_narrow(middle, elem) == (c % 2 == 0 ? c : c + 1));
      REQUIRE(double_to_narrow(std::nextafter(middle, 0.0), elem) == c);
      REQUIRE(double_to_narrow(std::nextafter(middle, 1e9), elem) == c + 1);
    }
  }
}

TEST_CASE("what lies beyond a narrow float's range") {
  auto to = [](double v, E elem, bool saturate) {
    return static_cast<int>(double_to_narrow(v, elem, saturate));
  };
  CHECK(to(448, E::F8E4M3FN, false) == 0x7e);
  CHECK(to(464, E::F8E4M3FN, false) == 0x7e);  // rounds down to 448
  CHECK(to(465, E::F8E4M3FN, false) == 0x7f);
  CHECK(to(-465, E::F8E4M3FN, true) == 0xfe);
  CHECK(to(-INFINITY, E::F8E4M3FN, false) == 0xff);
  CHECK(to(INFINITY, E::F8E5M2, false) == 0x7c);
  CHECK(to(-1e9, E::F8E5M2, false) == 0xfc);
  CHECK(to(1e9, E::F8E5M2, true) == 0x7b);
  CHECK(to(-0.0, E::F8E4M3FNUZ, true) == 0);
  CHECK(to(-1e-9, E::F8E5M2FNUZ, true) == 0);
  CHECK(to(-1e9, E::F8E5M2FNUZ, false) == 0x80);
  CHECK(to(-1e9, E::F8E5M2FNUZ, true) == 0xff);
  CHECK(to(-0.0, E::F4E2M1, true) == 8);
  CHECK(to(NAN, E::F4E2M1, true) == 8);
  CHECK(to(1e9, E::F4E2M1, false) == 7);
}

TEST_CASE("F8E8M0 holds powers of two") {
  auto to = [](double v, ScaleRounding r) {
    return static_cast<int>(double_to_narrow(v, E::F8E8M0, true, r));
  };
  CHECK(to(1, ScaleRounding::Up) == 127);
  CHECK(to(1.1, ScaleRounding::Up) == 128);
  CHECK(to(-1.1, ScaleRounding::Down) == 127);
  CHECK(to(1.5, ScaleRounding::Nearest) == 128);
  CHECK(to(1.4999, ScaleRounding::Nearest) == 127);
  CHECK(to(0, ScaleRounding::Up) == 0);
  CHECK(to(1e300, ScaleRounding::Up) == 254);
  CHECK(double_to_narrow(1e300, E::F8E8M0, false) == 255);
  CHECK(to(INFINITY, ScaleRounding::Up) == 255);
  CHECK(narrow_to_double(0, E::F8E8M0) == std::ldexp(1.0, -127));
}

TEST_CASE("packed elements start in the lowest bits") {
  CHECK(unpack_narrow("\x87\x0f", 3, E::I4) == std::string("\x07\xf8\xff"));
  CHECK(unpack_narrow("\x87\x0f", 3, E::U4) == std::string("\x07\x08\x0f"));
  CHECK(unpack_narrow("\xe4", 4, E::U2) == std::string("\x00\x01\x02\x03", 4));
  CHECK(unpack_narrow("\xe4", 4, E::I2) == std::string("\x00\x01\xfe\xff", 4));
  CHECK_FALSE(unpack_narrow("\xe4", 5, E::I2));
  CHECK_FALSE(unpack_narrow("\xe4\xe4", 4, E::I2));
  CHECK(unpack_narrow("", 0, E::U4) == std::string());
}

TEST_CASE("tensors of narrow types convert like all others") {
  Tensor t(TensorType{E::I4, {2}});
  t.set_double(0, -3.7);
  t.set_int(1, 9);  // wraps
  CHECK(t.to_ints() == std::vector<int64_t>{-3, -7});
  Tensor f(TensorType{E::F8E5M2, {2}});
  f.set_double(0, 3.4);
  f.set_int(1, -100000);
  CHECK(f.to_doubles() == std::vector<double>{3.5, -57344});
  CHECK(f.as_int(0) == 3);
  auto back = parse_npy(to_npy(f), "f");
  REQUIRE(back.ok());
  CHECK(back->elem() == E::U8);
  CHECK(back->as_int(0) == 0x43);
  CHECK(from_npy(*back, E::F8E5M2) == f);
  CHECK(from_npy(*back, E::I4) == *back);
}
