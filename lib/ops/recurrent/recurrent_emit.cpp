// C of the recurrent operators: loops d, b, i over directions, sequences, steps; the gates and the states of
// one sequence lie in scratch memory.
#include "common/dims.h"
#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "recurrent/recurrent.h"

namespace mrvlc::ops {

using P = RecurrentParams;

namespace {

constexpr int64_t kColumns = 16, kPanel = 64;  // of kernels/recurrent.c

int64_t recurrent_work(const P& p) {
  return p.steps * p.batch * p.directions * p.gates * p.hidden * (p.input + p.hidden);
}

// Gates [first, first + count) of one direction, `width` weights an element: columns `pitch` apart from gate
// to gate, in panels.
void pack_panels(std::span<const float> weights, const P& p, int64_t first, int64_t count, int64_t width,
                 int64_t pitch, std::vector<float>& packed) {
  auto weight = [&](int64_t column, int64_t i) {
    const int64_t gate = first + column / pitch, row = column % pitch;
    return row < p.hidden ? weights[static_cast<size_t>((gate * p.hidden + row) * width + i)] : 0.0f;
  };
  const int64_t n = count * pitch;
  for (int64_t n0 = 0, columns = 0; n0 < n; n0 += columns) {
    columns = n - n0 < kPanel ? kColumns : kPanel;
    for (int64_t i = 0; i < width; ++i)
      for (int64_t j = n0; j < n0 + columns; ++j) packed.push_back(weight(j, i));
  }
}

Tensor floats_tensor(const std::vector<float>& values) {
  return Tensor::of(ElementType::F32, {static_cast<int64_t>(values.size())}, values);
}

}  // namespace

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
  auto known = [&](size_t i) { return !context.has(i) || context.constant(i) != nullptr; };
  packed = !is_dynamic && !c.wants_little_text() && elem == ElementType::F32 && known(P::kW) &&
           known(P::kR) && known(P::kB) && p.steps > 0 && p.batch > 0 && p.input > 0 && p.hidden > 0;
  pitch = packed ? round_up(p.hidden, kColumns) : p.hidden;
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
  if (c.has(P::kLengths)) fail_if_any(c, P::kLengths, fmt::format("v < 0 || v > {}", steps));
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

void RecurrentCode::declare_row(std::string_view name, size_t input, const std::string& length) {
  const bool halves = c.stores_halves(input);
  std::string from;
  if (halves) {
    const auto weights = c.constant(input)->data<float>();
    from = c.halves({weights.begin(), weights.end()});
  } else {
    from = c.in(input);
  }
  c.line(fmt::format("const {}* {} = {} + (d * {} + k) * {};", halves ? "uint16_t" : t, name, from,
                     p.gates * p.hidden, length));
}

void RecurrentCode::declare_product(std::string_view name, std::string_view weights, size_t input,
                                    std::string_view vector, const std::string& length) {
  const std::string half = c.stores_halves(input) ? c.helper("half") : "";
  emit_sum(
      c, std::string(name), elem, length,
      [&](const std::string& i) {
        return half.empty() ? fmt::format("{0}[{2}] * {1}[{2}]", weights, vector, i)
                            : fmt::format("{3}({0}[{2}]) * {1}[{2}]", weights, vector, i, half);
      },
      true);
}

// NAME = the bias of gate k (both parts of it when `recurrent_bias`) + W x.
void RecurrentCode::declare_input_part(std::string_view name, bool recurrent_bias) {
  const int64_t rows = p.gates * p.hidden;
  declare_row("w", P::kW, width);
  declare_product(name, "w", P::kW, "x", width);
  if (!c.has(P::kB)) return;
  std::string bias = fmt::format("{}[d * {} + k]", c.in(P::kB), 2 * rows);
  if (recurrent_bias) bias += fmt::format(" + {}[d * {} + {} + k]", c.in(P::kB), 2 * rows, rows);
  c.line(fmt::format("{} += {};", name, bias));
}

// Of all directions, one behind the other.
std::string RecurrentCode::packed_weights(size_t input, int64_t first, int64_t count) const {
  const int64_t depth = input == P::kW ? p.input : p.hidden, all = p.gates * p.hidden * depth;
  const auto weights = c.constant(input)->data<float>();
  std::vector<float> panels;
  panels.reserve(static_cast<size_t>(p.directions * count * pitch * depth));
  for (int64_t d = 0; d < p.directions; ++d)
    pack_panels(weights.subspan(static_cast<size_t>(d * all), static_cast<size_t>(all)), p, first, count,
                depth, pitch, panels);
  return c.stores_halves(input) ? c.halves(panels) : c.table(floats_tensor(panels));
}

std::string RecurrentCode::kernel(size_t input) {
  return c.stores_halves(input) ? c.helper("recurrent_half") : c.helper("recurrent");
}

// What v begins with: both biases, of all directions.
std::string RecurrentCode::packed_bias() const {
  const int64_t rows = p.gates * p.hidden;
  std::vector<float> bias(static_cast<size_t>(p.directions * p.gates * pitch), 0.0f);
  for (int64_t k = 0; c.has(P::kB) && k < p.directions * rows; ++k) {
    const int64_t d = k / rows, gate = k % rows / p.hidden, j = k % p.hidden;
    const auto given = c.constant(P::kB)->data<float>();
    const bool both = !scales_last || gate + 1 < p.gates;
    auto& to = bias[static_cast<size_t>((d * p.gates + gate) * pitch + j)];
    to = given[static_cast<size_t>(2 * d * rows + k % rows)];
    if (both) to += given[static_cast<size_t>((2 * d + 1) * rows + k % rows)];
  }
  return c.table(floats_tensor(bias));
}

std::string RecurrentCode::recurrent_bias(int64_t gate) const {
  std::vector<float> bias(static_cast<size_t>(p.directions * pitch), 0.0f);
  for (int64_t d = 0; c.has(P::kB) && d < p.directions; ++d) {
    const auto given = c.constant(P::kB)->data<float>();
    for (int64_t j = 0; j < p.hidden; ++j)
      bias[static_cast<size_t>(d * pitch + j)] =
          given[static_cast<size_t>(((2 * d + 1) * p.gates + gate) * p.hidden + j)];
  }
  return c.table(floats_tensor(bias));
}

// v = biases + W x of this step; made for kBlock steps in the order in which they come.
void RecurrentCode::emit_input_part(std::string_view length) {
  const int64_t n = p.gates * pitch, step = (p.batch_first ? 1 : p.batch) * p.input;
  const std::string back = p.reverse          ? fmt::format("-{}", step)
                           : p.directions > 1 ? fmt::format("(d == 1 ? -{0} : {0})", step)
                                              : fmt::format("{}", step);
  c.line(fmt::format(
      "if (i % {0} == 0) {1}({2} - i < {0} ? {2} - i : {0}, {3}, {4}, x, {5}, {6} + d * {7}, {8} + d "
      "* {3}, 0, ahead);",
      kBlock, kernel(P::kW), length, n, p.input, back, packed_weights(P::kW, 0, p.gates), n * p.input,
      packed_bias()));
  c.line(fmt::format("const {}* v = ahead + i % {} * {};", t, kBlock, n));
}

void RecurrentCode::sum_gates(int64_t first, int64_t count, std::string_view with_h) {
  if (packed) {
    c.line(fmt::format("{}_step(i % 2 != 0, {}, {}, {}, {} + d * {}, v + {}, g + {});", kernel(P::kR),
                       count * pitch, p.hidden, with_h, packed_weights(P::kR, first, count),
                       count * pitch * p.hidden, first * pitch, first * pitch));
    return;
  }
  c.open(fmt::format("for (ptrdiff_t k = {}; k < {}; ++k)", first * p.hidden, (first + count) * p.hidden));
  declare_input_part("v", true);
  declare_row("u_w", P::kR, fmt::format("{}", p.hidden));
  declare_product("u", "u_w", P::kR, with_h, fmt::format("{}", p.hidden));
  c.line("g[k] = v + u;");
  c.close();
}

void RecurrentCode::sum_scaled_gate(int64_t gate, int64_t factor) {
  const int64_t n = p.hidden, rows = p.gates * n;
  if (packed) {
    c.line(fmt::format("{}_step(i % 2 != 0, {}, {}, h, {} + d * {}, {} + d * {}, q);", kernel(P::kR), pitch,
                       n, packed_weights(P::kR, gate, 1), pitch * n, recurrent_bias(gate), pitch));
    c.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) g[{1} + j] = v[{1} + j] + g[{2} + j] * q[j];", n,
                       gate * pitch, factor * pitch));
    return;
  }
  c.open(fmt::format("for (ptrdiff_t k = {}; k < {}; ++k)", gate * n, (gate + 1) * n));
  declare_input_part("v", false);
  declare_row("u_w", P::kR, fmt::format("{}", n));
  declare_product("u", "u_w", P::kR, "h", fmt::format("{}", n));
  if (c.has(P::kB)) c.line(fmt::format("u += {}[d * {} + {} + k];", c.in(P::kB), 2 * rows, rows));
  c.line(fmt::format("g[k] = v + g[k - {}] * u;", (gate - factor) * n));
  c.close();
}

void RecurrentCode::activate(const std::string& target, const std::string& expression, size_t i, bool clips) {
  c.open("");
  c.line(fmt::format("{}{} a = {};", clips && p.clip > 0 ? "" : "const ", t, expression));
  if (clips && p.clip > 0) {
    std::string limit = c_literal(p.clip, elem);
    c.line(fmt::format("a = a < -{0} ? -{0} : a > {0} ? {0} : a;", limit));
  }
  std::string first = p.activation(0, i).text(c, "a", elem);
  std::string second = p.activation(p.directions - 1, i).text(c, "a", elem);
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
    c.line(lengths_fit
               ? "const ptrdiff_t length = given;"
               : fmt::format("const ptrdiff_t length = given < 0 ? 0 : given < {0} ? given : {0};", steps));
  }
  c.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", length));
  c.line(fmt::format("const ptrdiff_t t = {} ? {} - 1 - i : i;", p.reverse ? "1" : "d == 1", length));
  c.line(fmt::format("const {}* x = {} + ({}) * {};", t, c.in(P::kX),
                     p.batch_first ? fmt::format("b * {} + t", steps) : fmt::format("t * {} + b", batch),
                     width));
  c.line(fmt::format("{}* y = {} + ({}) * {};", t, c.out(P::kY), row("t"), p.hidden));
  if (packed) emit_input_part(length);
  cell();
  c.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) y[j] = h[j];", p.hidden));
  c.close();
  if (!varies) return;
  c.open(fmt::format("for (ptrdiff_t i = length; i < {}; ++i)", steps));
  c.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) {1}[({2}) * {0} + j] = 0;", p.hidden, c.out(P::kY),
                     row("i")));
  c.close();
}

// Of a direction: two may run at once.
void RecurrentCode::declare_memory() {
  const bool lstm = p.gates == 4;
  const int64_t rows = p.gates + 2 + (packed ? kBlock * p.gates : 0);
  c.line(fmt::format("{0}* const g = ({0}*){1};", t,
                     c.scratch(rows * pitch * static_cast<int64_t>(byte_size(elem)))));
  c.line(fmt::format("{0}* const h = g + {1};", t, p.gates * pitch));
  if (p.gates != 1)
    c.line(fmt::format("{0}* const {1} = g + {2};", t, lstm ? "c" : "q", (p.gates + 1) * pitch));
  if (packed) c.line(fmt::format("{0}* const ahead = g + {1};", t, (p.gates + 2) * pitch));
}

void RecurrentCode::emit(const std::function<void()>& cell) {
  const int64_t n = p.hidden;
  const bool lstm = p.gates == 4;
  if (batch == "0") return;
  if (c.has(P::kLengths))
    lengths_fit = c.constant(P::kLengths) != nullptr || c.check_elements({P::kLengths, p.batch, 0, p.steps});
  c.shared_loop("d", fmt::format("{}", p.directions), recurrent_work(p));
  declare_memory();
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
