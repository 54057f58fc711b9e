// Softmax and its logarithms written out in every way that fuse-softmax knows, with random shapes, and each
// with one thing wrong.
#include "mrvlc/ops/op_kind.h"
#include "written.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

enum class Form { Softmax, LogOfSoftmax, Difference, LogOfSum, LogOfSumShifted, Last };

enum class Wrong {
  Nothing,
  Axis,     // the sum runs along another one
  TwoAxes,  // along one more
  Reader,   // of a value in between
  Beside,   // something small is added to the sum
  Operand,  // the sum is of something else
  Row,      // longer than the accelerator takes
  Last,
};

struct Case {
  random::Dice dice;
  Form form;
  Wrong wrong;
  Written w;
  Shape shape;
  int64_t axis = 0, summed = 0;
  std::string x, reader;

  Case(uint64_t seed, Form f, Wrong what) : dice(seed), form(f), wrong(what) {
    bool damaged = what != Wrong::Nothing;
    int64_t rank = dice.pick(damaged ? 2 : 1, 4);
    for (int64_t d = 0; d < rank; ++d) shape.push_back(dice.pick(damaged ? 2 : 1, 5));
    axis = summed = dice.pick(0, rank - 1);
    // Where the axis shows in nothing but the sum, another one is another case, not a mistake.
    if (what == Wrong::Axis) summed = (axis + 1) % rank;
    x = w.input(shape);
  }

  std::vector<int64_t> axes() const {
    if (wrong != Wrong::TwoAxes) return {summed};
    int64_t other = (axis + 1) % static_cast<int64_t>(shape.size());
    return {std::min(axis, other), std::max(axis, other)};
  }

  std::string maximum(const std::string& of) {
    std::vector<int64_t> over{axis};
    return reduced(w, dice, "ReduceMax", of, shape, over);
  }

  std::string sum_of(const std::string& e, const std::string& other) {
    Shape small = kept(shape, axes());
    std::string s = reduced(w, dice, "ReduceSum", wrong == Wrong::Operand ? other : e, shape, axes());
    if (wrong == Wrong::Beside) s = w.op("Add", {s, w.number(1e-3)}, small);
    return s;
  }

  std::string softmax() {
    std::string c = dice.chance(50) ? w.op("Sub", {x, maximum(x)}, shape) : x;
    std::string e = w.op("Exp", {c}, shape), again = dice.chance(30) ? w.op("Exp", {c}, shape) : e;
    std::string s = sum_of(again, w.op("Abs", {x}, shape));
    reader = e;
    if (dice.chance(50)) return w.op("Div", {e, s}, shape);
    return w.op("Mul", {e, w.op("Reciprocal", {s}, kept(shape, axes()))}, shape);
  }

  std::string write() {
    Shape small = kept(shape, axes());
    if (form == Form::Softmax) return softmax();
    if (form == Form::LogOfSoftmax) return w.op("Log", {softmax()}, shape);
    bool shifted = form == Form::LogOfSumShifted || (form == Form::Difference && dice.chance(50));
    std::string m = shifted ? maximum(x) : "", c = shifted ? w.op("Sub", {x, m}, shape) : x;
    std::string e = w.op("Exp", {c}, shape), s = sum_of(e, w.op("Abs", {x}, shape));
    reader = e;
    std::string log = w.op("Log", {s}, small);
    if (form == Form::Difference) return w.op("Sub", {c, log}, shape);
    if (form == Form::LogOfSum) return log;
    return w.op("Add", {log, m}, *broadcast_shapes(small, kept(shape, {axis})));
  }

  Op wanted() const {
    return form == Form::Softmax                                    ? Op::Softmax
           : form == Form::LogOfSoftmax || form == Form::Difference ? Op::LogSoftmax
                                                                    : Op::ReduceLogSumExp;
  }

  // Whether the sum along another axis, too, is one of what the operators are.
  bool another_is_right() const { return wrong == Wrong::Axis; }
};

}  // namespace

TEST_CASE("softmax and its logarithms written out, and what only looks like them", "[passes]") {
  for (int form = 0; form < static_cast<int>(Form::Last); ++form) {
    for (int wrong = 0; wrong < static_cast<int>(Wrong::Last); ++wrong) {
      for (uint64_t seed = 0; seed < 60; ++seed) {
        Case c(seed * 64 + static_cast<uint64_t>(form * 8 + wrong), static_cast<Form>(form),
               static_cast<Wrong>(wrong));
        c.w.output(c.write());
        if (c.wrong == Wrong::Reader) c.w.output(c.reader);
        std::string text = c.w.text();
        CAPTURE(form, wrong, seed, text);
        passes::PassContext context;
        if (c.wrong == Wrong::Row) context.longest_row = 1;
        ir::Graph after = rewritten(text, {"fuse-softmax"}, 1e-4, context);
        if (c.another_is_right()) continue;  // the values were compared
        CHECK(count_of(after, {c.wanted()}) == (c.wrong == Wrong::Nothing ? 1 : 0));
        if (c.wrong == Wrong::Nothing) CHECK(count_of(after, {Op::Exp, Op::ReduceMax, Op::Sub}) == 0);
      }
    }
  }
}

TEST_CASE("softmax written out no longer leaves the type", "[passes]") {
  ir::Graph g = parse_ok(R"(graph "g" {
    input %x : f32[1, 3]
    const %axis : i64[1] = [1]
    %a = Exp(%x) : f32[1, 3]
    %b = ReduceSum(%a, %axis) : f32[1, 1]
    %c = Div(%a, %b) : f32[1, 3]
    output %c
  })");
  std::vector<std::string_view> names = {"fuse-softmax"};
  REQUIRE(passes::run_passes(g, names).ok());
  auto y = interp::run(g, {Tensor::of(ElementType::F32, {1, 3}, std::vector<double>{1000, 1000, -1000})});
  REQUIRE(y.ok());
  CHECK((*y)[0].to_doubles() == std::vector<double>{0.5, 0.5, 0});
}
