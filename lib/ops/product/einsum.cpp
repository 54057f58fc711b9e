// Einsum (ONNX Einsum-12): sums of products over labelled dimensions. Labels may repeat within an operand
// (its diagonal), dots stand for dimensions that broadcast, and without an arrow the labels that occur once
// are the result's, in alphabetical order.
#include "mrvlc/ops/einsum.h"

#include <algorithm>
#include <map>

#include "common/dims.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/characters.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Labels of one term: a letter, or '0'..'9' for the dimensions of the dots, the last being '0'.
using Labels = std::string;

struct Equation {
  std::vector<std::string> terms;
  std::string result;
  bool has_result = false;
};

Diag bad_equation(const std::string& why) {
  return bad_attr("equation", why);
}

Result<Equation> split(const std::string& text) {
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain), [](char c) { return c != ' '; });
  Equation e;
  size_t arrow = plain.find("->");
  e.has_result = arrow != std::string::npos;
  if (e.has_result) e.result = plain.substr(arrow + 2);
  std::string left = plain.substr(0, arrow);
  for (size_t from = 0, comma = 0; comma != std::string::npos; from = comma + 1) {
    comma = left.find(',', from);
    e.terms.push_back(left.substr(from, comma == std::string::npos ? comma : comma - from));
  }
  return e;
}

// Replaces the dots by labels of `dots` dimensions; -1: as many as make `rank`.
Result<Labels> expand(const std::string& term, int64_t rank, int64_t dots) {
  size_t at_dots = term.find("...");
  Labels labels = term;
  if (at_dots != std::string::npos) labels.erase(at_dots, 3);
  if (!std::all_of(labels.begin(), labels.end(), is_letter))
    return bad_equation(fmt::format("has the term '{}'", printable(term)));
  if (at_dots != std::string::npos) {
    if (dots < 0) dots = rank - static_cast<int64_t>(labels.size());
    if (dots < 0 || dots > kMaxRank) return bad_equation("does not fit the ranks of the inputs");
    std::string names;
    for (int64_t i = dots; i-- > 0;) names += static_cast<char>('0' + i);
    labels.insert(at_dots, names);
  }
  if (rank >= 0 && static_cast<int64_t>(labels.size()) != rank)
    return bad_equation("does not fit the ranks of the inputs");
  return labels;
}

// Which labels each operand's dimensions have, and the loops: the result's labels, then those summed over.
struct Einsum {
  std::vector<Labels> operands;
  Labels result, summed;
};

// Without an arrow: the dots, then the letters that occur once.
std::string implicit_result(const std::vector<Labels>& operands) {
  std::map<char, int> count;
  for (const Labels& labels : operands) {
    for (char c : labels) ++count[c];
  }
  std::string dots, letters;
  for (auto [c, n] : count) {
    if (!is_letter(c)) dots.insert(dots.begin(), c);
    if (is_letter(c) && n == 1) letters += c;
  }
  return dots + letters;
}

Result<Einsum> einsum(const InferContext& context) {
  MRVLC_ASSIGN(Equation e, split(context.string_attr("equation")));
  if (e.terms.size() != context.num_inputs()) {
    return bad_equation(fmt::format("has {} terms for {} inputs", e.terms.size(), context.num_inputs()));
  }
  Einsum sum;
  int64_t dots = 0;
  for (size_t i = 0; i < e.terms.size(); ++i) {
    MRVLC_TRY(check_same_elem(context, i));
    MRVLC_ASSIGN(Labels labels, expand(e.terms[i], context.type(i).rank(), -1));
    dots = std::max<int64_t>(
        dots, std::count_if(labels.begin(), labels.end(), [](char c) { return !is_letter(c); }));
    sum.operands.push_back(labels);
  }
  if (e.has_result) {
    MRVLC_ASSIGN(sum.result, expand(e.result, -1, dots));
  } else {
    sum.result = implicit_result(sum.operands);
  }
  Labels all;
  for (const Labels& labels : sum.operands) {
    for (char c : labels) {
      if (all.find(c) == Labels::npos) all += c;
    }
  }
  for (size_t i = 0; i < sum.result.size(); ++i) {
    if (all.find(sum.result[i]) == Labels::npos || sum.result.find(sum.result[i], i + 1) != Labels::npos)
      return bad_equation("names a dimension of the result twice, or one that no input has");
  }
  for (char c : all) {
    if (sum.result.find(c) == Labels::npos) sum.summed += c;
  }
  return sum;
}

// The loops: sizes by label, and for each operand its stride along it (0 where it is repeated).
struct EinsumLoops {
  Labels labels;  // the result's, then those summed over
  Shape sizes;
  std::vector<Shape> strides;  // [operand][label]
};

Result<EinsumLoops> loops(const InferContext& context, const Einsum& sum) {
  EinsumLoops l{sum.result + sum.summed, Shape(sum.result.size() + sum.summed.size(), 1), {}};
  for (size_t i = 0; i < sum.operands.size(); ++i) {
    for (size_t d = 0; d < sum.operands[i].size(); ++d) {
      int64_t dim = context.type(i).shape[d], &size = l.sizes[l.labels.find(sum.operands[i][d])];
      if (dim != size && dim != 1 && size != 1)
        return bad_operands(fmt::format("dimension {} of input {} is {}, expected {}", d, i, dim, size));
      if (size == 1) size = dim;
    }
  }
  for (size_t i = 0; i < sum.operands.size(); ++i) {
    Shape own = row_major_strides(context.type(i).shape), strides(l.labels.size(), 0);
    for (size_t d = 0; d < own.size(); ++d) {
      if (context.type(i).shape[d] != 1) strides[l.labels.find(sum.operands[i][d])] += own[d];
    }
    l.strides.push_back(std::move(strides));
  }
  // The work is not bounded by what the operands hold.
  auto work = checked_product(l.sizes);
  if (!work || *work > kMaxElements) return too_large();
  return l;
}

// A multiplication for each combination of labels and each operand after the first; 0 where nothing is summed
// (products of elements are no multiply-accumulates) or the equation does not fit.
int64_t einsum_macs(const InferContext& context, int64_t) {
  auto sum = einsum(context);
  if (!sum.ok() || sum->summed.empty() || sum->operands.size() < 2) return 0;
  auto l = loops(context, *sum);
  if (!l.ok()) return 0;
  return element_count(l->sizes) * static_cast<int64_t>(sum->operands.size() - 1);
}

Result<std::vector<TensorType>> infer_einsum(const InferContext& context) {
  MRVLC_ASSIGN(Einsum sum, einsum(context));
  MRVLC_ASSIGN(EinsumLoops l, loops(context, sum));
  return one_type(context.type(0).elem,
                  Shape(l.sizes.begin(), l.sizes.begin() + static_cast<ptrdiff_t>(sum.result.size())));
}

// Sum of products at one element of the result; T is double, or uint64_t which wraps.
template <class T, class Read>
T sum_at(const EinsumLoops& l, size_t first, std::vector<int64_t> offsets, Read read) {
  T sum{};
  Shape index(l.sizes.size(), 0);
  for (;;) {
    T term{1};
    for (size_t i = 0; i < offsets.size(); ++i) term *= read(i, offsets[i]);
    sum += term;
    size_t d = l.sizes.size();
    for (; d-- > first;) {
      bool more = ++index[d] < l.sizes[d];
      for (size_t i = 0; i < offsets.size(); ++i)
        offsets[i] += more ? l.strides[i][d] : -l.strides[i][d] * (l.sizes[d] - 1);
      if (more) break;
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1) || d < first) return sum;
  }
}

Status eval_einsum(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(Einsum sum, einsum(view));
  MRVLC_ASSIGN(EinsumLoops l, loops(view, sum));
  Tensor& y = context.out();
  if (element_count(l.sizes) == 0) return {};
  size_t rank = sum.result.size();
  for (int64_t n = 0; n < y.elements(); ++n) {
    std::vector<int64_t> offsets(sum.operands.size(), 0);
    int64_t rest = n;
    for (size_t d = rank; d-- > 0; rest /= l.sizes[d]) {
      for (size_t i = 0; i < offsets.size(); ++i) offsets[i] += rest % l.sizes[d] * l.strides[i][d];
    }
    if (is_float(y.elem())) {
      y.set_double(n, sum_at<double>(l, rank, offsets,
                                     [&](size_t i, int64_t k) { return context.in(i).as_double(k); }));
    } else {
      auto read = [&](size_t i, int64_t k) { return static_cast<uint64_t>(context.in(i).as_int(k)); };
      y.set_int(n, static_cast<int64_t>(sum_at<uint64_t>(l, rank, offsets, read)));
    }
  }
  return {};
}

// -- C

// Sizes and strides as C variables where they are not known: n_LABEL and sI_LABEL.
struct EinsumTexts {
  Texts sizes;
  std::vector<Texts> strides;
};

std::string offset_text(const EinsumLoops& l, const Texts& strides) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == "0") continue;
    text += fmt::format("{}i{}{}", text.empty() ? "" : " + ", d, strides[d] == "1" ? "" : " * " + strides[d]);
  }
  return l.labels.empty() || text.empty() ? "0" : text;
}

// The last label of the result is the innermost loop, so that neighbours are computed side by side; the
// result is cleared first and then added to.
Status emit_sums(EmitContext& context, const Einsum& sum, const EinsumLoops& l, const EinsumTexts& t) {
  MRVLC_TRY(require_widened(context));
  ElementType elem = context.out_type(0).elem;
  size_t rank = sum.result.size();
  // Signed overflow is undefined in C; products and sums are made in an unsigned type.
  std::string wide = is_float(elem) ? "" : byte_size(elem) == 8 ? "(uint64_t)" : "(uint32_t)", factors;
  for (size_t i = 0; i < sum.operands.size(); ++i) {
    factors +=
        fmt::format("{}{}{}[{}]", i == 0 ? "" : " * ", wide, context.in(i), offset_text(l, t.strides[i]));
  }
  std::string total = size_product(t.sizes, 0, rank), y = context.out(0), place = rank == 0 ? "0" : "";
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = 0;", total, y));
  std::vector<size_t> order;
  for (size_t d = 0; d + 1 < rank; ++d) order.push_back(d);
  for (size_t d = rank; d < l.labels.size(); ++d) order.push_back(d);
  if (rank > 0) order.push_back(rank - 1);
  for (size_t d = 0; d < rank; ++d) {
    std::string stride = size_product(t.sizes, d + 1, rank);
    place += fmt::format("{}i{}{}", d == 0 ? "" : " + ", d, stride == "1" ? "" : " * " + stride);
  }
  for (size_t d : order)
    context.open(fmt::format("for (ptrdiff_t i{0} = 0; i{0} < {1}; ++i{0})", d, t.sizes[d]));
  std::string to = fmt::format("{}[{}]", y, place);
  context.line(is_float(elem) ? fmt::format("{} += {};", to, factors)
                              : fmt::format("{0} = ({1})({2}{0} + {3});", to, c_type(elem), wide, factors));
  for (size_t i = 0; i < order.size(); ++i) context.close();
  return {};
}

EinsumTexts known_texts(const EinsumLoops& l) {
  EinsumTexts t{texts_of(l.sizes), {}};
  for (const Shape& strides : l.strides) t.strides.push_back(texts_of(strides));
  return t;
}

// Declares the sizes n0, n1... of the loops from the operands' dimensions.
void declare_sizes(EmitContext& context, const Einsum& sum, const EinsumLoops& l, EinsumTexts& t) {
  for (size_t d = 0; d < l.labels.size(); ++d) {
    context.line(fmt::format("ptrdiff_t n{} = 1;", d));
    t.sizes.push_back(fmt::format("n{}", d));
  }
  for (size_t i = 0; i < sum.operands.size(); ++i) {
    Texts dims = in_sizes(context, i);
    for (size_t d = 0; d < dims.size(); ++d) {
      size_t label = l.labels.find(sum.operands[i][d]);
      context.fail_if(fmt::format("{0} != n{1} && {0} != 1 && n{1} != 1", dims[d], label));
      context.line(fmt::format("if (n{0} == 1) n{0} = {1};", label, dims[d]));
    }
  }
}

EinsumTexts declared_texts(EmitContext& context, const Einsum& sum, const EinsumLoops& l) {
  EinsumTexts t;
  declare_sizes(context, sum, l, t);
  context.set_dims(0, Texts(t.sizes.begin(), t.sizes.begin() + static_cast<ptrdiff_t>(sum.result.size())));
  for (size_t i = 0; i < sum.operands.size(); ++i) {
    Texts dims = in_sizes(context, i), strides(l.labels.size(), "0");
    for (size_t k = 0; k < l.labels.size(); ++k) {
      std::string text;
      for (size_t d = 0; d < dims.size(); ++d) {
        if (sum.operands[i][d] != l.labels[k]) continue;
        text += fmt::format("{}({} == 1 ? 0 : {})", text.empty() ? "" : " + ", dims[d],
                            size_product(dims, d + 1, dims.size()));
      }
      if (text.empty()) continue;
      strides[k] = fmt::format("s{}_{}", i, k);
      context.line(fmt::format("const ptrdiff_t {} = {};", strides[k], text));
    }
    t.strides.push_back(strides);
  }
  return t;
}

Status emit_einsum(EmitContext& context) {
  const InferContext view = emit_view(context);
  MRVLC_ASSIGN(Einsum sum, einsum(view));
  if (is_dynamic(context)) {
    const EinsumLoops l{sum.result + sum.summed, {}, {}};
    return emit_sums(context, sum, l, declared_texts(context, sum, l));
  }
  MRVLC_ASSIGN(EinsumLoops l, loops(view, sum));
  return emit_sums(context, sum, l, known_texts(l));
}

}  // namespace

Result<EinsumLabels> einsum_labels(const InferContext& context) {
  MRVLC_ASSIGN(Einsum sum, einsum(context));
  MRVLC_ASSIGN(const EinsumLoops l, loops(context, sum));
  EinsumLabels labels{std::move(sum.operands), std::move(sum.result), {}};
  for (size_t i = 0; i < l.labels.size(); ++i) labels.sizes[l.labels[i]] = l.sizes[i];
  return labels;
}

const OpDef& def_Einsum() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Einsum";
    d.macs = einsum_macs;
    d.traits = {.work = Work::Labels};
    d.since_min = 12;
    d.attrs = {required("equation", ir::AttrKind::String)};
    d.max_inputs = -1;
    d.types = kNumeric;
    d.infer = infer_einsum;
    d.eval = eval_einsum;
    d.emit = d.emit_dynamic = emit_einsum;
    d.declined = "the accelerator has no sums over labelled dimensions";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
