// Normalisations written out in every way that sums-to-means and fuse-norms know, with random shapes and
// parameters, and each with one thing wrong.
#include "mrvlc/ops/op_kind.h"
#include "written.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

enum class Wrong {
  Nothing,
  Axes,         // not the last dimensions
  MeanAxes,     // of the mean, not of the variance: what is left is a root mean square
  Reader,       // of a value in between
  Count,        // the mean of squares is a sum divided by another number
  EpsilonSide,  // outside the root
  Epsilon,      // negative
  OpenEpsilon,  // an input
  Operand,      // something else is normalised
  Last,
};

struct Case {
  random::Dice dice;
  Wrong wrong;
  Written w;
  Shape shape;
  std::vector<int64_t> axes;
  bool raw = false, rms = false, affine = false;
  std::string x, reader;

  Case(uint64_t seed, Wrong what) : dice(seed), wrong(what) {
    int64_t rank = dice.pick(what == Wrong::Axes || what == Wrong::MeanAxes ? 2 : 1, 4);
    for (int64_t d = 0; d < rank; ++d) shape.push_back(dice.pick(what == Wrong::Nothing ? 1 : 2, 5));
    int64_t first = dice.pick(what == Wrong::MeanAxes ? 1 : 0, rank - 1);
    for (int64_t d = first; d < rank; ++d) axes.push_back(d);
    if (what == Wrong::Axes) axes = {dice.pick(0, rank - 2)};
    bool plain = what == Wrong::MeanAxes;
    rms = !plain && dice.chance(30);
    raw = !plain && !rms && dice.chance(35);
    affine = !plain && !rms && dice.chance(25);
    x = w.input(shape);
  }

  Shape small() const { return kept(shape, axes); }

  std::string mean(const std::string& v, bool of_x) {
    std::vector<int64_t> over = axes;
    if (of_x && wrong == Wrong::MeanAxes) over = {axes[0] - 1};
    auto n = static_cast<double>(count_along(shape, over));
    bool wrong_count = wrong == Wrong::Count && !of_x;
    if (!wrong_count && dice.chance(50)) return reduced(w, dice, "ReduceMean", v, shape, over);
    std::string sum = reduced(w, dice, "ReduceSum", v, shape, over);
    if (wrong_count) n += 1;
    Shape out = kept(shape, over);
    if (dice.chance(50)) return w.op("Div", {sum, w.number(n)}, out);
    return w.op("Mul", {w.number(static_cast<double>(1 / static_cast<float>(n))), sum}, out);
  }

  std::string square(const std::string& v, const Shape& s) {
    return dice.chance(50) ? w.op("Mul", {v, v}, s) : w.op("Pow", {v, w.number(2)}, s);
  }

  std::string variance(const std::string& m, const std::string& d) {
    if (!raw) return mean(square(d, shape), false);
    std::string v = w.op("Sub", {mean(square(x, shape), false), square(m, small())}, small());
    if (dice.chance(30)) return w.op("Relu", {v}, small());
    return dice.chance(50) ? w.op("Max", {v, w.number(0)}, small()) : v;
  }

  // Sqrt(v + epsilon), or one over that.
  std::string root(const std::string& v, bool inverse) {
    std::string epsilon = wrong == Wrong::OpenEpsilon ? w.op("Abs", {w.input({})}, {})
                                                      : w.number(wrong == Wrong::Epsilon ? -1e-6 : 0.01);
    std::string s = w.op("Add", {v, epsilon}, small());
    if (wrong == Wrong::EpsilonSide) {
      s = w.op("Add", {w.op("Sqrt", {v}, small()), epsilon}, small());
      return inverse ? w.op("Reciprocal", {s}, small()) : s;
    }
    reader = s;
    if (inverse && dice.chance(30)) return w.op("Pow", {s, w.number(-0.5)}, small());
    s = dice.chance(70) ? w.op("Sqrt", {s}, small()) : w.op("Pow", {s, w.number(0.5)}, small());
    if (!inverse) return s;
    return dice.chance(50) ? w.op("Reciprocal", {s}, small()) : w.op("Div", {w.number(1), s}, small());
  }

  // One number, one a row's element, or, of images from which the mean is taken away, one a channel.
  std::string parameter(double low) {
    Shape s;
    int kind = static_cast<int>(dice.pick(0, 2));
    if (kind == 1) s.assign(shape.begin() + axes[0], shape.end());
    if (kind == 2 && axes[0] == 2 && shape.size() == 4 && !rms && wrong != Wrong::MeanAxes) {
      s.assign(shape.size() - 1, 1);
      s[0] = shape[1];
    }
    if (!s.empty() && s.size() < shape.size() && dice.chance(30)) s.insert(s.begin(), 1);
    int64_t n = 1;
    for (int64_t d : s) n *= d;
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(dice.real(low, 2));
    return w.constant(s, values);
  }

  std::string write() {
    bool unused = raw && affine && wrong != Wrong::Operand;  // the difference, which would be another reader
    std::string m = rms ? "" : mean(x, true), d = rms || unused ? x : w.op("Sub", {x, m}, shape);
    std::string v = variance(m, d);
    if (wrong == Wrong::Operand) d = w.op("Abs", {d}, shape);
    if (affine && wrong != Wrong::Operand) {
      std::string f = w.op("Mul", {root(v, true), w.number(1.5)}, small());
      std::string offset = w.op("Sub", {w.number(0.25), w.op("Mul", {f, m}, small())}, small());
      return w.op("Add", {w.op("Mul", {x, f}, shape), offset}, shape);
    }
    bool inverse = dice.chance(50), before = dice.chance(30);
    std::string r = root(v, inverse);
    if (before) d = w.op("Mul", {d, parameter(0.5)}, shape);
    std::string y = w.op(inverse ? "Mul" : "Div", {d, r}, shape);
    if (!before && dice.chance(60)) y = w.op("Mul", {parameter(0.5), y}, shape);
    return dice.chance(60) ? w.op("Add", {y, parameter(-1)}, shape) : y;
  }
};

}  // namespace

TEST_CASE("normalisations written out, and what only looks like one", "[passes]") {
  for (int wrong = 0; wrong < static_cast<int>(Wrong::Last); ++wrong) {
    for (uint64_t seed = 0; seed < 150; ++seed) {
      Case c(seed * 16 + static_cast<uint64_t>(wrong), static_cast<Wrong>(wrong));
      c.w.output(c.write());
      if (c.wrong == Wrong::Reader) c.w.output(c.reader);
      std::string text = c.w.text();
      CAPTURE(wrong, seed, text);
      // Where rows are constant the difference of squares is a rounding error over epsilon.
      ir::Graph after = rewritten(text, {"sums-to-means", "fuse-norms"}, c.raw || c.affine ? 2e-3 : 1e-4);
      int roots = count_of(after, {Op::RMSNormalization}),
          norms = roots + count_of(after, {Op::LayerNormalization, Op::InstanceNormalization});
      bool left = c.wrong == Wrong::MeanAxes;
      CHECK(norms == (c.wrong == Wrong::Nothing || left ? 1 : 0));
      CHECK(roots == (left || (c.rms && c.wrong == Wrong::Nothing) ? 1 : 0));
    }
  }
}

TEST_CASE("normalisations of long rows and large batches stay as they are written", "[passes]") {
  auto found = [](const Shape& shape, const std::vector<int64_t>& axes, int64_t row, int64_t batch, Op op) {
    Written w;
    Shape small = kept(shape, axes);
    std::string x = w.input(shape), over = w.ints(axes), m = w.op("ReduceMean", {x, over}, small),
                d = w.op("Sub", {x, m}, shape), q = w.op("Mul", {d, d}, shape),
                v = w.op("ReduceMean", {q, over}, small), e = w.op("Add", {v, w.number(0.1)}, small),
                s = w.op("Sqrt", {e}, small);
    w.output(w.op("Div", {d, s}, shape));
    passes::PassContext context;
    context.longest_row = row;
    context.largest_batch = batch;
    return count_of(rewritten(w.text(), {"fuse-norms"}, 1e-4, context), {op}) == 1;
  };
  CHECK(found({2, 12}, {1}, 12, 1, Op::LayerNormalization));
  CHECK_FALSE(found({2, 12}, {1}, 11, 1, Op::LayerNormalization));
  // The rows of images are summed in parts, whatever their length.
  CHECK(found({1, 2, 12}, {2}, 11, 1, Op::InstanceNormalization));
  CHECK(found({2, 2, 3, 4}, {2, 3}, 11, 2, Op::InstanceNormalization));
  CHECK(found({2, 2, 3, 4}, {2, 3}, 12, 1, Op::LayerNormalization));
  CHECK_FALSE(found({2, 2, 3, 4}, {2, 3}, 11, 1, Op::InstanceNormalization));
}
