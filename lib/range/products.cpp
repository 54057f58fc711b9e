// Sums of products: convolutions and matrix products with constant weights, by the interval that each output
// channel's weights make of their operand's channels; of two activations by the number of terms.
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

// What positive and negative weights that meet one channel of the operand add up to.
struct Weights {
  double positive = 0, negative = 0;
  double terms = 0;
};

// The sum over channels so far.
struct Sum {
  Interval exact = point(0);
  double magnitude = 0, terms = 0;
  bool nonnegative = true;

  void add(const Interval& term) {
    exact = exact + term;
    magnitude += term.max_abs();
    terms += 1;
    nonnegative = nonnegative && term.low >= 0;
  }
  // Weights times an operand.
  void add(const Weights& w, const Interval& x) {
    if (w.positive == 0 && w.negative == 0 && x.bounded()) return;
    const Interval up = point(w.positive) * x, down = point(w.negative) * x;
    exact = exact + up + down;
    magnitude += (w.positive - w.negative) * x.max_abs();
    terms += w.terms;
    nonnegative = nonnegative && up.low >= 0 && down.low >= 0;
  }
  Interval interval() const {
    return exact.bounded() ? summed(exact, terms, magnitude, nonnegative) : kUnknown;
  }
};

Interval times(const Interval& i, double terms) {
  return i.bounded() ? Interval{terms * i.low, terms * i.high} : kUnknown;
}
// So many products of two intervals.
Sum products(const Interval& a, const Interval& b, double terms) {
  const Interval one = a * b;
  Sum s;
  s.exact = times(one, terms), s.magnitude = terms * one.max_abs(), s.terms = terms;
  s.nonnegative = one.low >= 0;
  return s;
}

double weight(const Tensor& t, int64_t i) {
  return t.elem() == ElementType::F32 ? static_cast<double>(t.data<float>()[static_cast<size_t>(i)])
                                      : t.as_double(i);
}
Weights weights(const Tensor& t, int64_t first, int64_t count, int64_t step) {
  Weights w;
  w.terms = static_cast<double>(count);
  for (int64_t k = 0; k < count; ++k) {
    const double v = weight(t, first + k * step);
    if (std::isnan(v)) w.positive = std::numeric_limits<double>::quiet_NaN();
    (v > 0 ? w.positive : w.negative) += v;
  }
  return w;
}

bool known(const std::vector<Interval>& all) {
  return std::ranges::any_of(all, &Interval::bounded);
}

// What lies outside the operand counts as zero; a transposed window meets some of its taps alone.
void with_zero(std::vector<Interval>& channels) {
  for (Interval& i : channels) i = hull(i, point(0));
}

bool padded(const ops::WindowParams& p) {
  return std::ranges::any_of(p.pads_begin, [](int64_t n) { return n != 0; }) ||
         std::ranges::any_of(p.pads_end, [](int64_t n) { return n != 0; });
}

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t all = 1;
  for (int64_t s : sizes) all *= s;
  return all;
}

// Weights of output channel `m` and channel `c` of its group: where they begin, and the taps.
struct Layout {
  int64_t outputs, group_outputs, group_inputs, taps;
  bool transposed;
  int64_t at(int64_t m, int64_t c) const {
    const int64_t group = m / group_outputs;
    return transposed ? ((group * group_inputs + c) * group_outputs + m % group_outputs) * taps
                      : (m * group_inputs + c) * taps;
  }
};

Outcome channels_of(const Operands& o, const Layout& l, std::vector<Interval> x, bool zero) {
  const Tensor& w = *o.constant(1);
  if (!known(x) || w.elements() == 0) return {kUnknown};
  if (zero) with_zero(x);
  const std::vector<Interval> bias = o.has(2) ? o.along(2, 0) : std::vector{point(0)};
  Range out(std::vector<Interval>(static_cast<size_t>(l.outputs)), 1);
  for (int64_t m = 0; m < l.outputs; ++m) {
    Sum sum;
    sum.add(at(bias, static_cast<size_t>(m)));
    for (int64_t c = 0; c < l.group_inputs; ++c)
      sum.add(weights(w, l.at(m, c), l.taps, 1),
              at(x, static_cast<size_t>(m / l.group_outputs * l.group_inputs + c)));
    out.channels[static_cast<size_t>(m)] = sum.interval();
  }
  return {std::move(out)};
}

template <bool Transposed>
Outcome conv(const Operands& o) {
  if (!o.sized() || o.constant(1) == nullptr) return {kUnknown};
  const ops::InferContext c = ops::infer_context(o.graph(), o.node());
  const auto p = Transposed ? ops::conv_transpose_params(c) : ops::conv_params(c);
  if (!p.ok() || p->group <= 0) return {kUnknown};
  const Layout l{p->out_channels, p->out_channels / p->group, p->in_channels / p->group, product(p->kernel),
                 Transposed};
  return channels_of(o, l, o.along(0, 1), Transposed || padded(*p));
}

// Columns of a constant matrix [k, n] (its transpose: [n, k]) against the operand's elements along its k.
std::vector<Interval> columns(const Tensor& b, bool transposed, int64_t k, int64_t n,
                              const std::vector<Interval>& a) {
  std::vector<Interval> out(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    const int64_t first = transposed ? j * k : j, step = transposed ? 1 : n;
    Sum sum;
    if (a.size() == 1) {
      sum.add(weights(b, first, k, step), a[0]);
    } else {
      for (int64_t i = 0; i < k; ++i) sum.add(weights(b, first + i * step, 1, 1), a[static_cast<size_t>(i)]);
    }
    out[static_cast<size_t>(j)] = sum.interval();
  }
  return out;
}

Outcome gemm(const Operands& o) {
  if (!o.sized()) return {kUnknown};
  const auto p = ops::gemm_params(ops::infer_context(o.graph(), o.node()));
  if (!p.ok()) return {kUnknown};
  std::vector<Interval> out;
  const std::vector<Interval> a = o.along(0, p->trans_a ? 0 : 1);
  if (const Tensor* b = o.constant(1); b != nullptr && known(a) && b->elements() > 0)
    out = columns(*b, p->trans_b, p->k, p->n, a);
  else
    out = {products(o.hull(0), o.hull(1), static_cast<double>(p->k)).interval()};
  const int64_t c_rank = o.has(2) ? o.type(2).rank() : 0;
  const std::vector<Interval> c = o.has(2) ? o.along(2, c_rank - 1) : std::vector{point(0)};
  Range sums(std::vector<Interval>(std::max(out.size(), c.size())), 1);
  for (size_t j = 0; j < sums.channels.size(); ++j) {
    Sum sum;
    sum.add(point(p->alpha) * at(out, j));
    sum.add(point(p->beta) * at(c, j));
    sums.channels[j] = sum.interval();
  }
  return {std::move(sums)};
}

Outcome matmul(const Operands& o) {
  if (!o.sized() || o.type(0).rank() == 0) return {kUnknown};
  const int64_t k = o.type(0).shape.back();
  const Tensor* b = o.constant(1);
  const std::vector<Interval> a = o.along(0, o.type(0).rank() - 1);
  if (b == nullptr || b->type().rank() != 2 || o.type(0).rank() < 2 || !known(a) || b->elements() == 0)
    return {products(o.hull(0), o.hull(1), static_cast<double>(k)).interval()};
  return {Range(columns(*b, false, k, b->shape()[1], a), o.result().rank() - 1)};
}

}  // namespace

void add_products(Table& t) {
  t[Op::Conv] = conv<false>;
  t[Op::ConvTranspose] = conv<true>;
  t[Op::Gemm] = gemm;
  t[Op::MatMul] = matmul;
}

}  // namespace mrvlc::range
