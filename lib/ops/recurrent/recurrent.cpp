// Parameters and reference loops of the recurrent operators.
#include "recurrent/recurrent.h"

#include <algorithm>
#include <cmath>

#include "common/index_util.h"
#include "mrvlc/support/diag/ops.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {

using P = RecurrentParams;

namespace {

using namespace spec;

Status read_sizes(const InferContext& context, P& p) {
  MRVLC_TRY(check_rank(context, P::kX, 3, 3));
  MRVLC_TRY(check_rank(context, P::kR, 3, 3));
  std::string direction = context.string_attr("direction");
  if (direction == "foward") direction = "forward";  // the default of GRU-1 was misspelt
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return bad_attr("direction", fmt::format("has the unknown value '{}'", printable(direction)));
  p.reverse = direction == "reverse";
  p.directions = direction == "bidirectional" ? 2 : 1;
  p.batch_first = context.int_attr("layout") != 0;
  const Shape& x = context.type(P::kX).shape;
  p.steps = x[p.batch_first ? 1 : 0];
  p.batch = x[p.batch_first ? 0 : 1];
  p.input = x[2];
  p.hidden = context.type(P::kR).shape[2];
  if (context.type(P::kR).is_dynamic(2) && !is_attr_set(context, "hidden_size"))
    return make_diag<DiagCode::MRV0207>(
        fmt::format("{} (recurrent weights: the hidden size)", size_t{P::kR}));
  if (p.hidden < 1 || p.hidden > kMaxExtent / 8) return bad_operands("the hidden size is out of range");
  if (is_attr_set(context, "hidden_size") && context.int_attr("hidden_size") != p.hidden)
    return bad_attr("hidden_size", fmt::format("differs from the {} of the recurrent weights", p.hidden));
  if (!is_attr_set(context, "clip")) return {};
  p.clip = static_cast<double>(context.float_attr("clip"));
  if (!(p.clip > 0)) return bad_attr("clip", "must be positive");
  return {};
}

Status check_operands(const InferContext& context, const P& p) {
  MRVLC_TRY(check_recurrent_input(context, P::kW, {p.directions, p.gates * p.hidden, p.input}));
  MRVLC_TRY(check_recurrent_input(context, P::kR, {p.directions, p.gates * p.hidden, p.hidden}));
  MRVLC_TRY(check_recurrent_input(context, P::kB, {p.directions, 2 * p.gates * p.hidden}));
  MRVLC_TRY(check_recurrent_input(context, P::kInitialH, p.state_shape()));
  if (!context.has(P::kLengths)) return {};
  MRVLC_TRY(check_elem(context, P::kLengths, types_of({E::I32})));
  if (context.type(P::kLengths).shape == Shape{p.batch})
    return check_known(context, {P::kLengths, context.type(P::kLengths).elements(), 0, p.steps});
  return make_diag<DiagCode::MRV0205>(to_string(context.type(P::kX).shape),
                                      to_string(context.type(P::kLengths).shape),
                                      "one length a sequence is expected");
}

// Steps of sequence b.
int64_t length_of(const EvalContext& context, const P& p, int64_t b) {
  if (!context.has(P::kLengths)) return p.steps;
  return context.in(P::kLengths).as_int(b);
}

// Elements [first, first + count) of an optional input; zeros when it is absent.
std::vector<double> part(const EvalContext& context, size_t i, int64_t first, int64_t count) {
  std::vector<double> out(at(count), 0.0);
  if (context.has(i)) load_doubles(context.in(i), first, count, out.data());
  return out;
}

void run_sequence(const EvalContext& context, const P& p, int64_t d, int64_t b, RecurrentState& state,
                  const RecurrentCell& cell) {
  const int64_t n = p.hidden, row = p.state_row(d, b) * n, length = length_of(context, p, b);
  state.h = part(context, P::kInitialH, row, n);
  state.c = part(context, P::kInitialC, row, n);
  for (int64_t i = 0; i < length; ++i) {
    int64_t t = p.backwards(d) ? length - 1 - i : i;
    state.x = part(context, P::kX, p.x_row(t, b) * p.input, p.input);
    cell(d, state);
    store_doubles(context.out(P::kY), p.y_row(t, d, b) * n, n, state.h.data());
  }
  if (context.outputs->size() > P::kLastH) store_doubles(context.out(P::kLastH), row, n, state.h.data());
  if (context.outputs->size() > P::kLastC) store_doubles(context.out(P::kLastC), row, n, state.c.data());
}

}  // namespace

Status check_recurrent_input(const InferContext& context, size_t i, const Shape& expected) {
  if (!context.has(i)) return {};
  MRVLC_TRY(check_same_elem(context, i));
  if (context.type(i).shape == expected) return {};
  return make_diag<DiagCode::MRV0205>(to_string(expected), to_string(context.type(i).shape),
                                      fmt::format("input {} must have the first", i));
}

Result<RecurrentParams> recurrent_params(const InferContext& context, const RecurrentForm& form) {
  P p;
  p.gates = form.gates;
  MRVLC_TRY(read_sizes(context, p));
  MRVLC_TRY(check_operands(context, p));
  MRVLC_ASSIGN(p.activations, recurrent_activations(context, form.activations, p.directions));
  return p;
}

std::vector<TensorType> recurrent_types(const InferContext& context, const RecurrentParams& p) {
  const ElementType elem = context.type(P::kX).elem;
  Shape y = p.batch_first ? Shape{p.batch, p.steps, p.directions, p.hidden}
                          : Shape{p.steps, p.directions, p.batch, p.hidden};
  std::vector<TensorType> types(std::max<size_t>(context.num_outputs, 1), {elem, p.state_shape()});
  types[0].shape = y;
  return types;
}

void RecurrentState::sum_gates(const RecurrentParams& p, int64_t first, int64_t count,
                               const std::vector<double>& with_h) {
  for (int64_t k = first; k < first + count; ++k) gates[at(k)] = b[at(k)] + b[at(p.gates * p.hidden + k)];
  ref_gemm(count, 1, p.input, w.data() + first * p.input, p.input, x.data(), 1, gates.data() + first, 1);
  ref_gemm(count, 1, p.hidden, r.data() + first * p.hidden, p.hidden, with_h.data(), 1, gates.data() + first,
           1);
}

Status run_recurrent(const EvalContext& context, const RecurrentParams& p, const RecurrentCell& cell) {
  const int64_t n = p.hidden, rows = p.gates * n;
  for (int64_t d = 0; d < p.directions; ++d) {
    RecurrentState state;
    state.w = part(context, P::kW, d * rows * p.input, rows * p.input);
    state.r = part(context, P::kR, d * rows * n, rows * n);
    state.b = part(context, P::kB, d * 2 * rows, 2 * rows);
    state.peepholes = part(context, P::kPeepholes, d * 3 * n, 3 * n);
    state.gates.resize(at(rows));
    for (int64_t b = 0; b < p.batch; ++b) run_sequence(context, p, d, b, state, cell);
  }
  return {};
}

std::vector<ir::AttrSpec> recurrent_attrs() {
  return {optional("activation_alpha", ir::AttrKind::Floats),
          optional("activation_beta", ir::AttrKind::Floats),
          optional("activations", ir::AttrKind::Strings),
          optional("clip", ir::AttrKind::Float),
          with_string("direction", "forward"),
          optional("hidden_size", ir::AttrKind::Int),
          with_int("layout", 0)};
}

Status upgrade_recurrent(RawNode& node) {
  node.take("output_sequence");
  return {};
}

}  // namespace mrvlc::ops
