// C loops of reductions. Two forms: along the innermost dimension a run is reduced into a scalar; when the
// innermost dimension is kept, a row of results is accumulated in place, so that the inner loop walks memory
// in order either way.
#include "reduction/reduce_emit.h"

#include "common/bulk.h"
#include "common/convert.h"
#include "common/emit_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

class Emitter {
 public:
  Emitter(EmitContext& c, const Reduction& r, BroadcastLoops loops)
      : c_(c), r_(r), loops_(std::move(loops)), text_(r, c.in_type(0).elem), elem_(text_.elem) {}

  void emit() {
    bool last_kept = kept(last());
    std::vector<size_t> outer, reduced;
    for (size_t d = 0; d < last(); ++d) (kept(d) ? outer : reduced).push_back(d);
    open(outer);
    if (last_kept && in_place()) {
      emit_row(reduced);
    } else {
      if (last_kept) open({last()});
      emit_scalar_result(reduced, last_kept);
      if (last_kept) close(1);
    }
    close(outer.size());
  }

 private:
  bool in_place() const { return !r_.shift && elem_ == c_.out_type(0).elem; }
  size_t last() const { return loops_.size.size() - 1; }
  bool kept(size_t d) const { return loops_.strides[1][d] != 0; }
  void open(const std::vector<size_t>& dims) {
    for (size_t d : dims) c_.loop(fmt::format("i{}", d), loops_.size[d]);
  }
  void close(size_t n) {
    for (size_t k = 0; k < n; ++k) c_.close();
  }
  std::string data() const { return fmt::format("{}[{}]", c_.in(0), index_text(loops_.strides[0])); }
  // An element of the innermost run, at `index`.
  std::string data_at(const std::string& index) const {
    Shape strides = loops_.strides[0];
    strides.back() = 0;
    return fmt::format("{}[{} + {}]", c_.in(0), index_text(strides), index);
  }
  std::string result() const { return fmt::format("{}[{}]", c_.out(0), index_text(loops_.strides[1])); }

  std::string expand(std::string_view pattern, const std::string& v, const std::string& x) const {
    return text_.expand(pattern, v, x);
  }
  std::string finished(const std::string& v) const {
    return text_.finished(v, c_literal(element_count(loops_.size) / c_.out_type(0).elements(), elem_));
  }

  void emit_row(const std::vector<size_t>& reduced) {
    c_.loop(fmt::format("i{}", last()), loops_.size[last()]);
    c_.line(fmt::format("{} = {};", result(), text_.start()));
    c_.close();
    open(reduced);
    c_.loop(fmt::format("i{}", last()), loops_.size[last()]);
    c_.line(expand(text_.step(), result(), data()));
    close(reduced.size() + 1);
    std::string value = finished(result());
    if (value == result()) return;
    c_.loop(fmt::format("i{}", last()), loops_.size[last()]);
    c_.line(fmt::format("{} = {};", result(), value));
    c_.close();
  }

  void emit_scalar_result(const std::vector<size_t>& reduced, bool last_kept) {
    c_.line(fmt::format("{} v = {};", c_type(elem_), text_.start()));
    if (r_.shift) {
      c_.line(fmt::format("{} peak = -INFINITY;", c_type(elem_)));
      accumulate("peak", "-INFINITY", reduced, last_kept, "{v} = {x} > {v} ? {x} : {v};",
                 "{v} = {x} > {v} ? {x} : {v};");
      c_.line("if (isinf(peak)) peak = 0;");
    }
    accumulate("v", text_.start(), reduced, last_kept, text_.step(), text_.merge());
    text_.store(c_, result(), finished("v"));
  }

  void accumulate(const std::string& var, const std::string& from, const std::vector<size_t>& reduced,
                  bool last_kept, std::string_view step_text, std::string_view merge_text) {
    open(reduced);
    if (last_kept) {
      c_.line(expand(step_text, var, data()));
    } else {
      RunReduction run;
      run.var = "part_of_" + var;
      run.start = from;
      run.step = [&](const std::string& v, const std::string& i) { return expand(step_text, v, data_at(i)); };
      run.merge = [&](const std::string& v, const std::string& other) {
        return expand(merge_text, v, other);
      };
      emit_run(c_, run, elem_, loops_.size[last()]);
      c_.line(expand(merge_text, var, run.var));
    }
    close(reduced.size());
  }
  EmitContext& c_;
  const Reduction& r_;
  BroadcastLoops loops_;
  ReductionText text_;
  ElementType elem_;
};

}  // namespace

ReductionText::ReductionText(const Reduction& reduction, ElementType data_type)
    : r(reduction), data(data_type), elem(data_type) {
  if (is_float(data)) return;
  if (r.mean) elem = is_signed_integer(data) ? ElementType::I64 : ElementType::U64;
  if (r.c_step_int.empty()) elem = ElementType::F64;
}

std::string ReductionText::expand(std::string_view pattern, const std::string& v,
                                  const std::string& x) const {
  const std::string element = is_float(elem) && !is_float(data) ? "(double)" + x : x;
  return fmt::format(fmt::runtime(pattern), fmt::arg("v", v), fmt::arg("x", element),
                     fmt::arg("t", c_type(elem)),
                     fmt::arg("u", byte_size(elem) == 8 ? "uint64_t" : "uint32_t"),
                     fmt::arg("f", elem == ElementType::F64 ? "" : "f"));
}

// Integer accumulators merge by the step itself, but for those that transform the element first: their merge
// is a sum.
std::string_view ReductionText::merge() const {
  if (is_float(elem)) return r.c_merge;
  if (r.extreme != 0 || r.start_int == 1) return r.c_step_int;
  return "{v} = ({t})(({u}){v} + ({u}){x});";
}

std::string ReductionText::start() const {
  if (is_float(elem)) return c_literal(r.start, elem);
  int64_t value = r.extreme == 0 ? r.start_int : extreme_value(elem, r.extreme < 0).as_int(0);
  return c_literal(value, elem);
}

std::string ReductionText::finished(const std::string& v, const std::string& count) const {
  std::string value = expand(r.c_finish, v, {});
  return r.mean ? fmt::format("{} / {}", value, count) : value;
}

void ReductionText::store(EmitContext& c, const std::string& y, const std::string& value) const {
  if (is_float(elem) && !is_float(data)) {
    c.line(fmt::format("const double whole = {};", value));
    c.line(fmt::format("{} = {};", y, saturated_text("whole", elem, data)));
  } else {
    c.line(fmt::format("{} = {};", y, elem == data ? value : fmt::format("({})({})", c_type(data), value)));
  }
}

BroadcastLoops reduce_loops(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept = shape;
  for (int64_t axis : axes) kept[at(axis)] = 1;
  return broadcast_loops(shape, {shape, kept});
}

Status emit_reduction(EmitContext& c, const Reduction& reduction) {
  if (c.out_type(0).elements() == 0) return {};
  MRVLC_ASSIGN(std::vector<int64_t> axes, reduce_axes(emit_view(c)));
  Emitter(c, reduction, reduce_loops(c.in_type(0).shape, axes)).emit();
  return {};
}

}  // namespace mrvlc::ops
