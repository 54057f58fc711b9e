// Unique (ONNX Unique-11): the different slices along an axis, or elements; sorted, or in order of
// appearance. NaNs are equal and come last.
#include <algorithm>
#include <numeric>

#include "common/dims.h"
#include "common/slices.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct UniqueForm {
  std::optional<int64_t> axis;  // nullopt: elements
  bool sorted = true;
};

Result<UniqueForm> unique_form(const InferContext& context) {
  UniqueForm f;
  f.sorted = context.int_attr("sorted") != 0;
  if (is_attr_set(context, "axis")) {
    MRVLC_ASSIGN(f.axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  }
  return f;
}

AxisSizes sizes_of(const UniqueForm& form, const Shape& x) {
  return form.axis ? axis_sizes(x, *form.axis) : AxisSizes{1, element_count(x), 1};
}

// Place of element `e` of a slice.
int64_t place(const AxisSizes& s, int64_t slice, int64_t e) {
  return (e / s.inner * s.dim + slice) * s.inner + e % s.inner;
}

int compare(const Tensor& x, int64_t i, int64_t j) {
  if (is_float(x.elem())) {
    double a = x.as_double(i), b = x.as_double(j);
    bool na = a != a, nb = b != b;
    return na || nb ? static_cast<int>(na) - static_cast<int>(nb) : (a > b) - (a < b);
  }
  if (x.elem() == E::U64) {
    auto a = static_cast<uint64_t>(x.as_int(i)), b = static_cast<uint64_t>(x.as_int(j));
    return (a > b) - (a < b);
  }
  int64_t a = x.as_int(i), b = x.as_int(j);
  return (a > b) - (a < b);
}

struct Groups {
  std::vector<int64_t> first, inverse, counts;
};

Groups groups(const Tensor& x, const UniqueForm& form) {
  AxisSizes s = sizes_of(form, x.shape());
  auto order_of = [&](int64_t a, int64_t b) {
    for (int64_t e = 0; e < s.outer * s.inner; ++e) {
      if (int c = compare(x, place(s, a, e), place(s, b, e)); c != 0) return c;
    }
    return 0;
  };
  std::vector<int64_t> order(at(s.dim));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return order_of(a, b) < 0; });
  Groups g;
  g.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order_of(order[i - 1], order[i]) != 0) {
      g.first.push_back(order[i]);
      g.counts.push_back(0);
    }
    g.inverse[at(order[i])] = static_cast<int64_t>(g.first.size()) - 1;
    ++g.counts.back();
  }
  if (form.sorted) return g;
  Groups seen;
  std::vector<int64_t> number(g.first.size());
  for (size_t i = 0; i < g.inverse.size(); ++i) {
    auto group = at(g.inverse[i]);
    if (g.first[group] == static_cast<int64_t>(i)) {
      number[group] = static_cast<int64_t>(seen.first.size());
      seen.first.push_back(g.first[group]);
      seen.counts.push_back(g.counts[group]);
    }
    seen.inverse.push_back(number[group]);
  }
  return seen;
}

Result<std::vector<Tensor>> unique(const InferContext& context) {
  MRVLC_ASSIGN(UniqueForm form, unique_form(context));
  const Tensor* x = context.constant(0);
  if (x == nullptr) return make_diag<DiagCode::MRV0207>("0 (its values decide the shape of the result)");
  if (form.axis && x->elements() == 0 && x->shape()[at(*form.axis)] != 0)
    return bad_operands("the slices are empty");
  Groups g = groups(*x, form);
  auto count = static_cast<int64_t>(g.first.size());
  Shape shape = form.axis ? x->shape() : Shape{count};
  if (form.axis) shape[at(*form.axis)] = count;
  Tensor y(TensorType{x->elem(), shape});
  take_slices(sizes_of(form, x->shape()), g.first, *x, y);
  auto vector = [](const std::vector<int64_t>& v) {
    return Tensor::of(E::I64, {static_cast<int64_t>(v.size())}, v);
  };
  std::vector<Tensor> all = {y, vector(g.first), vector(g.inverse), vector(g.counts)};
  all.resize(context.num_outputs);
  return all;
}

Result<std::vector<TensorType>> infer_unique(const InferContext& context) {
  MRVLC_ASSIGN(auto all, unique(context));
  std::vector<TensorType> types;
  for (const Tensor& t : all) types.push_back(t.type());
  return types;
}

Result<std::vector<TensorType>> infer_unique_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(UniqueForm form, unique_form(context));
  Dims x = dims_of(context.type(0));
  Dim all = form.axis ? x[at(*form.axis)] : all_elements(context.type(0)), some{all.bound, true};
  Dims y = form.axis ? x : Dims{some};
  if (form.axis) y[at(*form.axis)] = some;
  std::vector<TensorType> types = {type_of(context.type(0).elem, y, context.type(0).capacity),
                                   type_of(E::I64, {some}), type_of(E::I64, {all}), type_of(E::I64, {some})};
  types.resize(context.num_outputs);
  return types;
}

Status eval_unique(const EvalContext& context) {
  InferContext view = context.infer_view();
  view.num_outputs = context.outputs->size();
  MRVLC_ASSIGN(*context.outputs, unique(view));
  return {};
}

Status emit_unique(EmitContext& context) {
  MRVLC_ASSIGN(auto all, unique(emit_view(context)));
  for (size_t i = 0; i < all.size(); ++i) emit_constant_output(context, all[i], i);
  return {};
}

// -- C

// int c: the order of slices p and q.
void emit_order(EmitContext& context, const std::string& p, const std::string& q) {
  ElementType elem = context.in_type(0).elem;
  context.line("int c = 0;");
  context.open("for (ptrdiff_t e = 0; e < size && c == 0; ++e)");
  context.line("const ptrdiff_t row = e / inner * n, col = e % inner;");
  for (char name : {'u', 'v'}) {
    context.line(fmt::format("const {} {} = {}[(row + {}) * inner + col];", c_type(elem), name, context.in(0),
                             name == 'u' ? p : q));
  }
  context.line("c = (u > v) - (u < v);");
  if (is_float(elem)) context.line("if (u != u || v != v) c = (u != u) - (v != v);");
  context.close();
}

// Sorts the slices' numbers in `a`, keeping the order of equal ones: merges runs of growing width.
void emit_sort(EmitContext& context) {
  context.line("for (ptrdiff_t i = 0; i < n; ++i) a[i] = i;");
  context.open("for (ptrdiff_t width = 1; width < n; width *= 2)");
  context.open("for (ptrdiff_t low = 0; low < n; low += 2 * width)");
  context.line("const ptrdiff_t mid = n - low < width ? n : low + width;");
  context.line("const ptrdiff_t high = n - mid < width ? n : mid + width;");
  context.line("ptrdiff_t i = low, j = mid;");
  context.open("for (ptrdiff_t k = low; k < high; ++k)");
  context.line("int right = i >= mid;");
  context.open("if (i < mid && j < high)");
  emit_order(context, "a[i]", "a[j]");
  context.line("right = c > 0;");
  context.close();
  context.line("b[k] = right ? a[j++] : a[i++];");
  context.close();
  context.close();
  context.line("ptrdiff_t* last = a;");
  context.line("a = b;");
  context.line("b = last;");
  context.close();
}

// From the sorted slices in `a`: group[slice], and count. `b` becomes the first slice of each group.
void emit_groups(EmitContext& context, bool sorted) {
  context.line("ptrdiff_t count = 0;");
  context.open("for (ptrdiff_t i = 0; i < n; ++i)");
  context.line("int fresh = i == 0;");
  context.open("if (i > 0)");
  emit_order(context, "a[i - 1]", "a[i]");
  context.line("fresh = c != 0;");
  context.close();
  context.line("if (fresh) b[count++] = a[i];");
  context.line("group[a[i]] = count - 1;");
  context.close();
  if (sorted) return;
  // Numbered anew in order of appearance; `a` maps the numbers.
  context.line("ptrdiff_t seen = 0;");
  context.open("for (ptrdiff_t i = 0; i < n; ++i)");
  context.line("if (b[group[i]] == i) a[group[i]] = seen++;");
  context.line("group[i] = a[group[i]];");
  context.close();
}

void emit_results(EmitContext& context, size_t outputs) {
  std::string y = context.out(0);
  if (outputs > 3)
    context.line(fmt::format("for (ptrdiff_t g = 0; g < count; ++g) {}[g] = 0;", context.out(3)));
  // The groups' numbers appear for the first time at their first slices; `a` counts them.
  context.line("for (ptrdiff_t g = 0; g < count; ++g) a[g] = 0;");
  context.open("for (ptrdiff_t i = 0; i < n; ++i)");
  context.line("const ptrdiff_t g = group[i];");
  if (outputs > 2) context.line(fmt::format("{}[i] = g;", context.out(2)));
  if (outputs > 3) context.line(fmt::format("++{}[g];", context.out(3)));
  context.line("if (a[g]++ > 0) continue;");
  if (outputs > 1) context.line(fmt::format("{}[g] = i;", context.out(1)));
  context.open("for (ptrdiff_t e = 0; e < size; ++e)");
  context.line(fmt::format(
      "{}[(e / inner * count + g) * inner + e % inner] = {}[(e / inner * n + i) * inner + e % inner];", y,
      context.in(0)));
  context.close();
  context.close();
}

Status emit_unique_dynamic(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(UniqueForm form, unique_form(emit_view(context)));
  Texts x = in_sizes(context, 0);
  size_t axis = form.axis ? at(*form.axis) : 0, past = form.axis ? axis + 1 : x.size();
  std::string outer = size_product(x, 0, axis), inner = size_product(x, past, x.size());
  context.line(fmt::format("const ptrdiff_t n = {}, inner = {}, size = {} * inner;",
                           size_product(x, axis, past), inner, outer));
  if (form.axis) context.fail_if("size == 0 && n > 0");
  int64_t most = form.axis ? context.in_type(0).shape[axis] : context.in_type(0).elements();
  for (std::string_view name : {"a", "b", "group"}) {
    context.line(fmt::format("ptrdiff_t* {} = (ptrdiff_t*){};", name,
                             context.scratch(std::max<int64_t>(1, most) * 8)));
  }
  emit_sort(context);
  emit_groups(context, form.sorted);
  size_t outputs = context.node().outputs.size();
  Texts y = {"count"};
  if (form.axis) {
    y = in_dims(context, 0);
    y[axis] = "count";
  }
  for (size_t i = 0; i < outputs; ++i) context.set_dims(i, i == 0 ? y : Texts{i == 2 ? "n" : "count"});
  emit_results(context, outputs);
  return {};
}

}  // namespace

const OpDef& def_Unique() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Unique";
    d.traits = {.work = Work::Sorted, .jumps = true, .data_dependent_shape = true};
    d.since_min = 11;
    d.attrs = {optional("axis", ir::AttrKind::Int), with_int("sorted", 1)};
    d.max_outputs = 4;
    d.types = kOrdinary;
    d.infer = infer_unique;
    d.infer_dynamic = infer_unique_dynamic;
    d.eval = eval_unique;
    d.emit = emit_unique;
    d.emit_dynamic = emit_unique_dynamic;
    d.declined = "the accelerator has no shapes that depend on values";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
