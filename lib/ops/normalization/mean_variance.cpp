// MeanVarianceNormalization (ONNX -13): (x - mean) / (deviation + 1e-9) along axes, by default all but the
// channels.
#include <cmath>

#include "common/dynamic_util.h"
#include "common/emit_util.h"
#include "common/lanes.h"
#include "elementwise/elementwise.h"
#include "reduction/reduce_emit.h"

namespace mrvlc::ops {
namespace {

constexpr double kEpsilon = static_cast<double>(1e-9f);

// Loops over the data; operand 1 counts the statistics.
Result<BroadcastLoops> loops_of(const InferContext& c) {
  std::vector<int64_t> axes = c.ints_attr("axes");
  MRVLC_ASSIGN(axes, normalize_axes(axes, c.type(0).rank()));
  std::sort(axes.begin(), axes.end());
  return reduce_loops(c.type(0).shape, axes);
}

int64_t statistics(const BroadcastLoops& loops) {
  int64_t n = 1;
  for (size_t d = 0; d < loops.size.size(); ++d) {
    if (loops.strides[1][d] != 0) n *= loops.size[d];
  }
  return n;
}

Result<std::vector<TensorType>> infer_mvn(const InferContext& c) {
  auto loops = loops_of(c);
  if (!loops.ok()) return std::move(loops).error();
  return std::vector<TensorType>{c.type(0)};
}

// Position of data element i among the statistics.
int64_t statistic_of(const BroadcastLoops& loops, int64_t i) {
  int64_t sum = 0;
  for (size_t d = loops.size.size(); d-- > 0; i /= loops.size[d])
    sum += i % loops.size[d] * loops.strides[1][d];
  return sum;
}

Status eval_mvn(const EvalContext& c) {
  MRVLC_ASSIGN(BroadcastLoops loops, loops_of(c.infer_view()));
  if (c.out().elements() == 0) return {};
  std::vector<double> x = c.in(0).to_doubles(), means(at(statistics(loops))), squares(means.size());
  const double count = static_cast<double>(x.size()) / static_cast<double>(means.size());
  auto each = [&](auto f) {
    for (size_t i = 0; i < x.size(); ++i) f(i, at(statistic_of(loops, static_cast<int64_t>(i))));
  };
  each([&](size_t i, size_t s) { means[s] += x[i] / count; });
  each([&](size_t i, size_t s) { squares[s] += (x[i] - means[s]) * (x[i] - means[s]) / count; });
  each([&](size_t i, size_t s) {
    c.out().set_double(static_cast<int64_t>(i), (x[i] - means[s]) / (std::sqrt(squares[s]) + kEpsilon));
  });
  return {};
}

// The loops over the data, and what there is of statistics, as C text.
struct MvnTexts {
  Texts size, data, own;          // sizes of loops; strides of the data and of the statistics
  std::string statistics, count;  // elements of one statistic
  int64_t most;                   // statistics
};

// No more than there are elements.
int64_t most_statistics(const TensorType& type, const std::vector<int64_t>& axes) {
  Shape kept = type.shape;
  for (int64_t axis : axes) kept[at(axis)] = 1;
  return std::min(checked_product(kept).value_or(kMaxElements), type.elements());
}

MvnTexts mvn_texts(EmitContext& c, const std::vector<int64_t>& axes) {
  const Texts dims = in_dims(c, 0);
  Texts kept = dims, reduced;
  for (int64_t axis : axes) {
    reduced.push_back(dims[at(axis)]);
    kept[at(axis)] = "1";
  }
  const LoopTexts loops = broadcast_texts(c, dims, {dims, kept});
  return {loops.size,         loops.strides[0],      loops.strides[1],
          product_text(kept), product_text(reduced), most_statistics(c.in_type(0), axes)};
}

class MeanVarianceEmitter {
 public:
  MeanVarianceEmitter(EmitContext& c, MvnTexts loops)
      : c_(c), loops_(std::move(loops)), elem_(c.in_type(0).elem), t_(c_type(elem_)) {}

  void emit() {
    const std::string n = loops_.statistics, twice = times(n, "2"),
                      count = fmt::format("({})({})", t_, loops_.count);
    const std::string_view f = elem_ == ElementType::F64 ? "" : "f";
    c_.line(fmt::format("{0}* const mean = ({0}*){1};", t_, c_.scratch(2 * loops_.most * byte_size(elem_))));
    c_.line(fmt::format("{}* const scale = mean + {};", t_, n));
    c_.line(fmt::format("for (ptrdiff_t s = 0; s < {}; ++s) mean[s] = 0;", twice));
    accumulate("mean", "x[{0}]");
    c_.line(fmt::format("for (ptrdiff_t s = 0; s < {}; ++s) mean[s] /= {};", n, count));
    accumulate("scale", "(x[{0}] - mean[{1}]) * (x[{0}] - mean[{1}])");
    c_.line(fmt::format("for (ptrdiff_t s = 0; s < {}; ++s) scale[s] = 1 / (sqrt{}(scale[s] / {}) + {});", n,
                        f, count, c_literal(kEpsilon, elem_)));
    open_runs();
    c_.line(fmt::format("{}* y = {} + first;", t_, c_.out(0)));
    std::string s = statistic();
    c_.line(run(fmt::format("y[r] = (x[r] - mean[{0}]) * scale[{0}];", s)));
    close_runs();
  }

 private:
  size_t last() const { return loops_.size.size() - 1; }
  bool kept() const { return loops_.own.back() != "0"; }
  // Position of element r of the dynamic run among the statistics, kept ones counting along the run.
  std::string statistic() const {
    return kept() ? fmt::format("base + r * {}", loops_.own.back()) : std::string("base");
  }
  std::string run(const std::string& statement) const {
    return fmt::format("for (ptrdiff_t r = 0; r < {}; ++r) {}", loops_.size.back(), statement);
  }

  void open_runs() {
    for (size_t d = 0; d < last(); ++d) open_loop(c_, fmt::format("i{}", d), loops_.size[d]);
    c_.line(fmt::format("const ptrdiff_t first = {}, base = {};", place(loops_.data), place(loops_.own)));
    c_.line(fmt::format("const {}* x = {} + first;", t_, c_.in(0)));
  }
  // Where the dynamic run begins.
  std::string place(const Texts& strides) const {
    std::string text = "0";
    for (size_t d = 0; d < last(); ++d) {
      if (strides[d] != "0") text += fmt::format(" + i{} * ({})", d, strides[d]);
    }
    return text;
  }
  void close_runs() {
    for (size_t d = 0; d < last(); ++d) c_.close();
  }

  // INTO[s] += the term, of element {0} and its statistic {1}.
  void accumulate(const std::string& into, std::string_view term) {
    c_.open("");
    open_runs();
    if (kept()) {
      c_.line(run(fmt::format("{}[{}] += {};", into, statistic(),
                              fmt::format(fmt::runtime(term), "r", statistic()))));
    } else {
      emit_sum(c_, "sum", elem_, loops_.size.back(),
               [&](const std::string& r) { return fmt::format(fmt::runtime(term), r, "base"); });
      c_.line(fmt::format("{}[base] += sum;", into));
    }
    close_runs();
    c_.close();
  }

  EmitContext& c_;
  MvnTexts loops_;
  ElementType elem_;
  std::string_view t_;
};

Status emit_mvn(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  InferContext view = emit_view(c);
  MRVLC_ASSIGN(std::vector<int64_t> axes, normalize_axes(view.ints_attr("axes"), c.in_type(0).rank()));
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  // A dimension of 0 that is reduced: there may be more statistics than elements, and nothing to do.
  const std::string all = product_text(in_dims(c, 0));
  if (!is_number(all)) c.open(fmt::format("if ({} > 0)", all));
  MeanVarianceEmitter(c, mvn_texts(c, axes)).emit();
  if (!is_number(all)) c.close();
  return {};
}

}  // namespace

const OpDef& def_MeanVarianceNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "MeanVarianceNormalization";
    d.traits = {.work = Work::Linear};
    d.since_min = 9;
    d.attrs = {{"axes", ir::AttrKind::Ints, ir::Attr(std::vector<int64_t>{0, 2, 3}), false}};
    d.types = spec::kFloats;
    d.infer = infer_mvn;
    d.eval = eval_mvn;
    d.emit = d.emit_dynamic = emit_mvn;
    d.declined = "accelerator: statistics over the batch stay on the host";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
