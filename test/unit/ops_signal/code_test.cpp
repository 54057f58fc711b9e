// Generated C of the signal, geometry and indexing operators, for static shapes, against the reference.
#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using E = ElementType;
using Doubles = std::vector<double>;

Tensor index(Shape shape, std::vector<int64_t> values) {
  return Tensor::of(E::I64, std::move(shape), values);
}
Tensor scalar(int64_t v) {
  return index({}, {v});
}
// Beyond the edges too.
Tensor places(E elem, Shape shape) {
  Tensor t = random_tensor(elem, std::move(shape), 11);
  for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, t.as_double(i) * 2.5);
  return t;
}

}  // namespace

TEST_CASE("C of GridSample") {
  std::vector<Case> cases;
  for (std::string mode : {"nearest", "linear", "cubic"}) {
    for (std::string padding : {"zeros", "border", "reflection"}) {
      for (int64_t align : {0, 1}) {
        auto sample = [&](E elem, Shape x, Shape grid) {
          Case c = Case("GridSample").set("mode", text(mode)).set("padding_mode", text(padding));
          c.set("align_corners", num(align)).unknown(random_tensor(elem, std::move(x), 1));
          cases.push_back(c.unknown(places(elem, std::move(grid))));
        };
        sample(E::F32, {2, 2, 3, 4}, {2, 5, 3, 2});
        sample(E::F64, {1, 2, 3, 1, 2}, {1, 2, 3, 4, 3});
        sample(E::F32, {1, 2, 5}, {1, 7, 1});
      }
    }
  }
  cases.push_back(Case("GridSample")
                      .set("mode", text("nearest"))
                      .unknown(random_tensor(E::I8, {1, 1, 4, 4}, 2))
                      .unknown(places(E::F32, {1, 3, 3, 2})));
  check_generated_code(cases, 1e-4);
}

TEST_CASE("C of AffineGrid, RoiAlign and DeformConv") {
  std::vector<Case> cases;
  for (int64_t align : {0, 1}) {
    Case c = Case("AffineGrid").set("align_corners", num(align));
    cases.push_back(Case(c).unknown(random_tensor(E::F32, {2, 2, 3}, 1)).in(index({4}, {2, 1, 3, 4})));
    cases.push_back(Case(c).unknown(random_tensor(E::F64, {1, 3, 4}, 1)).in(index({5}, {1, 1, 2, 1, 3})));
  }
  for (std::string mode : {"avg", "max"}) {
    for (std::string coordinates : {"half_pixel", "output_half_pixel"}) {
      for (int64_t samples : {0, 2}) {
        Case c =
            Case("RoiAlign").set("mode", text(mode)).set("coordinate_transformation_mode", text(coordinates));
        c.set("sampling_ratio", num(samples)).set("output_height", num(2)).set("output_width", num(3));
        c.set("spatial_scale", ir::Attr(0.5f)).unknown(random_tensor(E::F32, {2, 3, 6, 5}, 4));
        c.unknown(floats({3, 4}, {0, 0, 9, 11, 2, 3, 2.5, 3.5, -8, -9, 30, 4}));
        cases.push_back(c.unknown(index({3}, {0, 1, -1})));
      }
    }
  }
  for (int64_t group : {1, 2}) {
    Case c = Case("DeformConv").set("group", num(group)).set("offset_group", num(3 - group));
    c.set("pads", list({1, 0, 1, 2})).set("strides", list({2, 1})).set("dilations", list({1, 2}));
    c.unknown(random_tensor(E::F32, {2, 2, 4, 5}, 1)).unknown(random_tensor(E::F32, {4, 2 / group, 2, 2}, 2));
    c.unknown(places(E::F32, {2, 8 * (3 - group), 3, 5}));
    cases.push_back(c);
    c.unknown(random_tensor(E::F32, {4}, 3)).unknown(random_tensor(E::F32, {2, 4 * (3 - group), 3, 5}, 5));
    cases.push_back(c);
  }
  check_generated_code(cases, 1e-4);
}

// Rows of results that end within, at and behind those computed together; filters that are no multiple of
// four; points far outside, at the edges and between them.
TEST_CASE("C of DeformConv of many sizes") {
  std::vector<Case> cases;
  for (E elem : {E::F32, E::F64}) {
    for (int64_t size : {1, 4, 5, 7}) {
      for (int64_t group : {1, 3}) {
        const int64_t offsets = 4 - group;
        Tensor x = random_tensor(elem, {2, 3, size, size + 1}, 1),
               w = random_tensor(elem, {15, 3 / group, 3, 2}, 2);
        Tensor by = random_tensor(elem, {2, 12 * offsets, size, size}, 3);
        for (int64_t i = 0; i < by.elements(); ++i)
          by.set_double(i, i % 5 == 0    ? std::round(by.as_double(i) * 3)
                           : i % 97 == 1 ? 1e30
                                         : by.as_double(i) * 3);
        by.set_double(0, NAN);
        Case c = Case("DeformConv").set("group", num(group)).set("offset_group", num(offsets));
        c.set("pads", list({1, 0, 1, 0})).unknown(x).unknown(w).unknown(by);
        cases.push_back(c);
        c.unknown(random_tensor(elem, {15}, 4)).unknown(random_tensor(elem, {2, 6 * offsets, size, size}, 5));
        cases.push_back(c);
      }
    }
  }
  check_generated_code(cases);
}

TEST_CASE("C of DeformConv reads nothing where all points are outside") {
  const Tensor x = floats({1, 1, 2, 2}, Doubles(4, INFINITY)), by = floats({1, 2, 2, 2}, Doubles(8, 100));
  Case c = Case("DeformConv").unknown(x).unknown(floats({1, 1, 1, 1}, {1})).unknown(by);
  REQUIRE(c.value().to_doubles() == Doubles(4, 0));
  check_generated_code({c});
}

TEST_CASE("C of Col2Im, Det and transforms") {
  std::vector<Case> cases;
  cases.push_back(Case("Col2Im")
                      .set("pads", list({1, 0, 1, 0}))
                      .set("strides", list({1, 2}))
                      .unknown(random_tensor(E::F32, {2, 12, 9}, 1))
                      .in(index({2}, {3, 6}))
                      .in(index({2}, {3, 2})));
  for (E elem : {E::F32, E::F64}) {
    cases.push_back(Case("Det").unknown(random_tensor(elem, {3, 4, 4}, 1)));
    cases.push_back(Case("Inverse", "com.microsoft").unknown(random_tensor(elem, {2, 3, 4, 4}, 3)));
    for (int64_t n : {1, 8, 12, 7}) {
      cases.push_back(Case("DFT").unknown(random_tensor(elem, {2, n, 3, 2}, 2)).absent().in(scalar(1)));
      cases.push_back(Case("DFT").unknown(random_tensor(elem, {2, n, 3, 1}, 2)).in(scalar(9)).in(scalar(1)));
      cases.push_back(Case("DFT").set("onesided", num(1)).unknown(random_tensor(elem, {2, 5, n, 1}, 2)));
      Case back = Case("DFT").set("onesided", num(1)).set("inverse", num(1));
      cases.push_back(Case(back).unknown(random_tensor(elem, {2, 5, 2}, 2)).in(scalar(n)));
      cases.push_back(Case(back).unknown(random_tensor(elem, {2, 5, 2}, 2)));
    }
    cases.push_back(Case("STFT")
                        .unknown(random_tensor(elem, {2, 20, 1}, 1))
                        .in(scalar(3))
                        .unknown(random_tensor(elem, {6}, 4)));
    cases.push_back(
        Case("STFT").unknown(random_tensor(elem, {2, 20}, 1)).in(scalar(3)).absent().in(scalar(6)));
    cases.push_back(Case("STFT")
                        .set("onesided", num(0))
                        .unknown(random_tensor(elem, {1, 20, 2}, 1))
                        .in(scalar(5))
                        .absent()
                        .in(scalar(10)));
  }
  check_generated_code(cases, 1e-4);
}

TEST_CASE("C of transforms whose lengths have large prime factors") {
  for (E elem : {E::F32, E::F64}) {
    std::vector<Case> cases;
    for (int64_t n : {23, 46, 127, 509, 1021, 3 * 211}) {
      for (int64_t inverse : {0, 1}) {
        Case c = Case("DFT").set("inverse", num(inverse)).unknown(random_tensor(elem, {2, n, 2, 2}, 2));
        cases.push_back(c.absent().in(scalar(1)));
      }
    }
    cases.push_back(Case("DFT").unknown(random_tensor(elem, {1, 40, 1}, 2)).in(scalar(61)).in(scalar(1)));
    cases.push_back(Case("DFT").set("onesided", num(1)).unknown(random_tensor(elem, {2, 59, 1}, 2)));
    Case real = Case("DFT").set("onesided", num(1)).set("inverse", num(1));
    cases.push_back(real.unknown(random_tensor(elem, {2, 30, 2}, 2)).in(scalar(59)));
    cases.push_back(
        Case("STFT").unknown(random_tensor(elem, {2, 200}, 1)).in(scalar(30)).absent().in(scalar(67)));
    // So long that the numbers of the chirp are computed when it runs.
    if (elem == E::F32) cases.push_back(Case("DFT").unknown(random_tensor(elem, {1, 4 * 4099, 1}, 2)));
    check_generated_code(cases, elem == E::F32 ? 1e-6 : 1e-14);
  }
}

TEST_CASE("C of Einsum") {
  std::vector<Case> cases;
  auto add = [&](const std::string& equation, E elem, std::vector<Shape> shapes) {
    Case c = Case("Einsum").set("equation", text(equation));
    for (size_t i = 0; i < shapes.size(); ++i) c.unknown(random_tensor(elem, shapes[i], i + 1));
    cases.push_back(c);
  };
  for (E elem : {E::F32, E::F64, E::I8, E::I32, E::U64}) {
    add("bij,bjk->bik", elem, {{2, 3, 4}, {2, 4, 5}});
    add("...ii->...i", elem, {{2, 3, 3}});
    add("i,i", elem, {{5}, {5}});
    add("...a,b...->ab", elem, {{2, 1, 3}, {4, 2, 5}});
    add("abc,cd,de->ea", elem, {{2, 3, 4}, {4, 2}, {2, 3}});
    add("->", elem, {{}});
  }
  check_generated_code(cases, 1e-4);
}

TEST_CASE("C of operators that move") {
  std::vector<Case> cases;
  for (E elem : {E::F32, E::F16, E::U8, E::I64}) {
    for (int64_t batch : {0, 1}) {
      Case c = Case("ReverseSequence").set("batch_axis", num(batch)).set("time_axis", num(1 - batch));
      cases.push_back(c.unknown(random_tensor(elem, {3, 3, 2}, 1)).unknown(index({3}, {3, 0, 2})));
    }
    for (std::string mode : {"linear", "circular"}) {
      Case c = Case("TensorScatter").set("mode", text(mode)).unknown(random_tensor(elem, {2, 2, 4, 3}, 1));
      c.unknown(random_tensor(elem, {2, 2, 2, 3}, 2)).unknown(index({2}, {mode == "linear" ? 2 : 3, 0}));
      cases.push_back(c);
    }
    cases.push_back(
        Case("CenterCropPad").unknown(random_tensor(elem, {3, 6, 2}, 1)).in(index({3}, {4, 3, 2})));
    cases.push_back(Case("Compress")
                        .set("axis", num(1))
                        .unknown(random_tensor(elem, {2, 3, 2}, 1))
                        .in(Tensor::of<int64_t>(E::Bool, {3}, {1, 0, 1})));
  }
  for (E elem : {E::F32, E::I32, E::U64}) {
    for (int64_t flags : {0, 1, 2, 3}) {
      Case c = Case("CumProd").set("exclusive", num(flags & 1)).set("reverse", num(flags >> 1));
      cases.push_back(c.unknown(random_tensor(elem, {2, 3, 2}, 1)).unknown(scalar(-2)));
    }
  }
  auto cast = [&](E from, E to) {
    cases.push_back(Case("BitCast").set("to", ir::Attr(to)).unknown(iota(from, {8})));
  };
  cast(E::F32, E::U32), cast(E::U4, E::I4), cast(E::I4, E::U4), cast(E::U8, E::Bool), cast(E::I64, E::F64);
  check_generated_code(cases, 1e-5);
}

TEST_CASE("C of TfIdfVectorizer and of Resize with antialias") {
  std::vector<Case> cases;
  for (std::string mode : {"TF", "IDF", "TFIDF"}) {
    Case c = Case("TfIdfVectorizer")
                 .set("mode", text(mode))
                 .set("min_gram_length", num(1))
                 .set("max_gram_length", num(2));
    c.set("max_skip_count", num(2))
        .set("ngram_counts", list({0, 2}))
        .set("ngram_indexes", list({0, 1, 2, 3}));
    c.set("pool_int64s", list({1, 2, 1, 2, 2, 2})).set("weights", ir::Attr(std::vector<float>{1, 2, 3, 4}));
    cases.push_back(c.unknown(index({2, 5}, {1, 2, 2, 1, 2, 3, 2, 1, 1, 2})));
  }
  for (std::string mode : {"linear", "cubic"}) {
    for (int64_t exclude : {0, 1}) {
      Case c = Case("Resize")
                   .set("mode", text(mode))
                   .set("antialias", num(1))
                   .set("exclude_outside", num(exclude));
      c.unknown(random_tensor(E::F32, {2, 7, 9}, 1)).absent().absent();
      cases.push_back(c.in(index({3}, {2, 3, 12})));
    }
  }
  check_generated_code(cases, 1e-5);
}

}  // namespace mrvlc::ops::test
