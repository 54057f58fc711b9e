// C of the recurrent operators: loops d, b, i over directions, sequences, steps; the gates and the states of
// one sequence lie in scratch memory.
#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "recurrent/recurrent.h"

namespace mrvlc::ops {

using P = RecurrentParams;

RecurrentCode::RecurrentCode(EmitContext& context, const RecurrentParams& params)
    : c(context),
      p(params),
      elem(context.in_type(P::kX).elem),
      t(c_type(elem)),
      f(elem == ElementType::F64 ? "" : "f"),
      steps(fmt::format("{}", p.steps)),
      batch(fmt::format("{}", p.batch)),
      width(fmt::format("{}", p.input)) {
  bool is_dynamic = !context.in_type(P::kX).is_static();
  for (size_t i = 0; i < context.node().outputs.size(); ++i)
    is_dynamic = is_dynamic || !context.out_type(i).is_static();
  for (size_t i = 1; i < context.node().inputs.size(); ++i)
    is_dynamic = is_dynamic || (context.has(i) && !context.in_type(i).is_static());
  if (is_dynamic) declare_sizes();
}

// Reads the sizes, sets those of the results, and checks that operands agree with X. The hidden size is
// known: states in scratch memory have it.
void RecurrentCode::declare_sizes() {
  const std::string directions = fmt::format("{}", p.directions), hidden = fmt::format("{}", p.hidden);
  steps = c.in_dim(P::kX, p.batch_first ? 1 : 0);
  batch = c.in_dim(P::kX, p.batch_first ? 0 : 1);
  const Texts state = p.batch_first ? Texts{batch, directions, hidden} : Texts{directions, batch, hidden};
  const Texts rows =
      p.batch_first ? Texts{batch, steps, directions, hidden} : Texts{steps, directions, batch, hidden};
  width = c.in_dim(P::kX, 2);
  if (c.has(P::kLengths)) require_equal(c, c.in_dim(P::kLengths, 0), batch);
  for (size_t i : {P::kInitialH, P::kInitialC}) require_shape(i, state);
  const std::string gates = fmt::format("{}", p.gates * p.hidden);
  require_shape(P::kW, {directions, gates, width});
  require_shape(P::kR, {directions, gates, hidden});
  require_shape(P::kB, {directions, fmt::format("{}", 2 * p.gates * p.hidden)});
  require_shape(P::kPeepholes, {directions, fmt::format("{}", 3 * p.hidden)});
  for (size_t i = 0; i < c.node().outputs.size(); ++i) c.set_dims(i, i == P::kY ? rows : state);
  c.line(fmt::format("const ptrdiff_t steps = (ptrdiff_t)({}), batch = (ptrdiff_t)({});", steps, batch));
  steps = "steps";
  batch = "batch";
  if (is_number(width)) return;
  c.line(fmt::format("const ptrdiff_t width = (ptrdiff_t)({});", width));
  width = "width";
}

void RecurrentCode::require_shape(size_t i, const Texts& dims) {
  for (size_t d = 0; c.has(i) && d < dims.size(); ++d)
    require_equal(c, c.in_dim(i, static_cast<int64_t>(d)), dims[d]);
}

void RecurrentCode::declare_product(std::string_view name, std::string_view weights, std::string_view vector,
                                    const std::string& length) {
  emit_sum(c, std::string(name), elem, length,
           [&](const std::string& i) { return fmt::format("{0}[{2}] * {1}[{2}]", weights, vector, i); });
}

// NAME = the bias of gate k (both parts of it when `recurrent_bias`) + W x.
void RecurrentCode::declare_input_part(std::string_view name, bool recurrent_bias) {
  const int64_t rows = p.gates * p.hidden;
  c.line(fmt::format("const {}* w = {} + (d * {} + k) * {};", t, c.in(P::kW), rows, width));
  declare_product(name, "w", "x", width);
  if (!c.has(P::kB)) return;
  std::string bias = fmt::format("{}[d * {} + k]", c.in(P::kB), 2 * rows);
  if (recurrent_bias) bias += fmt::format(" + {}[d * {} + {} + k]", c.in(P::kB), 2 * rows, rows);
  c.line(fmt::format("{} += {};", name, bias));
}

void RecurrentCode::sum_gates(int64_t first, int64_t count, std::string_view with_h) {
  const int64_t rows = p.gates * p.hidden;
  c.open(fmt::format("for (ptrdiff_t k = {}; k < {}; ++k)", first, first + count));
  declare_input_part("v", true);
  c.line(fmt::format("const {}* u_w = {} + (d * {} + k) * {};", t, c.in(P::kR), rows, p.hidden));
  declare_product("u", "u_w", with_h, fmt::format("{}", p.hidden));
  c.line("g[k] = v + u;");
  c.close();
}

void RecurrentCode::activate(const std::string& target, const std::string& expression, size_t i, bool clips) {
  c.open("");
  c.line(fmt::format("{}{} a = {};", clips && p.clip > 0 ? "" : "const ", t, expression));
  if (clips && p.clip > 0) {
    std::string limit = c_literal(p.clip, elem);
    c.line(fmt::format("a = a < -{0} ? -{0} : a > {0} ? {0} : a;", limit));
  }
  std::string first = p.activation(0, i).text("a", elem);
  std::string second = p.activation(p.directions - 1, i).text("a", elem);
  c.line(first == second ? fmt::format("{} = {};", target, first)
                         : fmt::format("{} = d == 0 ? ({}) : ({});", target, first, second));
  c.close();
}

void RecurrentCode::emit_state(std::string_view name, size_t initial) {
  c.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) {}[j] = {};", p.hidden, name,
                     c.has(initial) ? fmt::format("{}[state * {} + j]", c.in(initial), p.hidden) : "0"));
}

void RecurrentCode::emit_steps(const std::function<void()>& cell) {
  auto row = [&](std::string_view step) {
    return p.batch_first ? fmt::format("(b * {} + {}) * {} + d", steps, step, p.directions)
                         : fmt::format("({} * {} + d) * {} + b", step, p.directions, batch);
  };
  const bool varies = c.has(P::kLengths);
  std::string length = varies ? "length" : steps;
  if (varies) {
    c.line(fmt::format("const int32_t given = {}[b];", c.in(P::kLengths)));
    c.line(fmt::format("const ptrdiff_t length = given < 0 ? 0 : given < {0} ? given : {0};", steps));
  }
  c.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", length));
  c.line(fmt::format("const ptrdiff_t t = {} ? {} - 1 - i : i;", p.reverse ? "1" : "d == 1", length));
  c.line(fmt::format("const {}* x = {} + ({}) * {};", t, c.in(P::kX),
                     p.batch_first ? fmt::format("b * {} + t", steps) : fmt::format("t * {} + b", batch),
                     width));
  c.line(fmt::format("{}* y = {} + ({}) * {};", t, c.out(P::kY), row("t"), p.hidden));
  cell();
  c.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) y[j] = h[j];", p.hidden));
  c.close();
  if (!varies) return;
  c.open(fmt::format("for (ptrdiff_t i = length; i < {}; ++i)", steps));
  c.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) {1}[({2}) * {0} + j] = 0;", p.hidden, c.out(P::kY),
                     row("i")));
  c.close();
}

void RecurrentCode::emit(const std::function<void()>& cell) {
  const int64_t n = p.hidden;
  const bool lstm = p.gates == 4;
  if (batch == "0") return;
  c.line(fmt::format("{0}* const g = ({0}*){1};", t,
                     c.scratch((p.gates + 2) * n * static_cast<int64_t>(byte_size(elem)))));
  c.line(fmt::format("{0}* const h = g + {1};", t, p.gates * n));
  if (p.gates != 1) c.line(fmt::format("{0}* const {1} = g + {2};", t, lstm ? "c" : "q", (p.gates + 1) * n));
  c.loop("d", p.directions);
  open_loop(c, "b", batch);
  if (c.has(P::kInitialH) || c.has(P::kInitialC) || c.node().outputs.size() > P::kLastH) {
    c.line(fmt::format("const ptrdiff_t state = {};", p.batch_first ? fmt::format("b * {} + d", p.directions)
                                                                    : fmt::format("d * {} + b", batch)));
  }
  emit_state("h", P::kInitialH);
  if (lstm) emit_state("c", P::kInitialC);
  emit_steps(cell);
  for (auto [output, name] : {std::pair{P::kLastH, "h"}, std::pair{P::kLastC, "c"}}) {
    if (c.node().outputs.size() > output)
      c.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) {1}[state * {0} + j] = {2}[j];", n,
                         c.out(output), name));
  }
  c.close();
  c.close();
}

}  // namespace mrvlc::ops
