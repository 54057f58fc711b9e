// Groups of element-wise nodes as one loop nest, and epilogues of kernels. Every operand is read by strides
// that are zero where it is broadcast; neighbouring dimensions all operands agree on are merged, so the usual
// case is one loop.
#include <algorithm>
#include <cmath>

#include "function.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::chost {
namespace {

// Loop variables and extents after merging, and for each operand its stride in each loop.
struct Nest {
  std::vector<int64_t> extents;
  std::vector<Shape> strides;  // [operand][loop]
};

Nest merge_loops(const Shape& shape, const std::vector<Shape>& operand_strides) {
  Nest nest;
  nest.strides.resize(operand_strides.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool mergeable = !nest.extents.empty();
    for (size_t i = 0; mergeable && i < operand_strides.size(); ++i) {
      mergeable = nest.strides[i].back() == operand_strides[i][d] * shape[d];
    }
    if (mergeable) {
      nest.extents.back() *= shape[d];
    } else {
      nest.extents.push_back(shape[d]);
    }
    for (size_t i = 0; i < operand_strides.size(); ++i) {
      if (mergeable) nest.strides[i].pop_back();
      nest.strides[i].push_back(operand_strides[i][d]);
    }
  }
  return nest;
}

std::string index_text(const Shape& strides) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    if (!text.empty()) text += " + ";
    text += strides[d] == 1 ? fmt::format("i{}", d) : fmt::format("i{} * {}", d, strides[d]);
  }
  return text.empty() ? "0" : text;
}

// The outermost loop may be shared by threads: a single one in whole vectors.
void open_loops(Function& f, const Nest& nest, int64_t operations) {
  constexpr int64_t kGrain = 64;
  for (size_t d = 0; d < nest.extents.size(); ++d) {
    const std::string var = fmt::format("i{}", d);
    if (d > 0) {
      f.loop(var, nest.extents[d]);
    } else {
      f.cut_loop(var, nest.extents[0], operations, nest.extents.size() == 1 ? kGrain : 1);
    }
  }
}

// Of one element, in multiply-adds; what memory takes counts as well.
int64_t work_of(const Program& program, const std::vector<ir::NodeId>& nodes) {
  constexpr int64_t kMemory = 4, kCheap = 1, kMath = 20;
  int64_t work = kMemory;
  for (ir::NodeId id : nodes)
    work +=
        program.node(id).is(Op::Add, Op::Sub, Op::Mul, Op::Relu, Op::Clip, Op::Max, Op::Min) ? kCheap : kMath;
  return work;
}

// A scalar known at compile time as a literal, else nothing.
std::string literal(const ir::Graph& graph, ir::ValueId v) {
  const Tensor* t = graph.constant(v);
  if (t == nullptr || t->elements() != 1) return {};
  return ops::c_literal(t->as_double(0), t->elem());
}

// `const float v3 = ...;` for node k of the group; `operands` are C primary expressions. Variadic operators
// fold pairs.
void compute(Function& f, size_t k, const std::vector<std::string>& operands) {
  const ir::Node& node = f.program().node(f.nodes()[k]);
  const ops::OpDef& def = ops::op_def(node);
  if (node.is(Op::DequantizeLinear, Op::Cast)) {
    f.put("const float v{} = {};", k, dequantized_text(f, node, operands[0]));
    return;
  }
  NodeContext context(f, node.id);
  if (def.max_inputs >= 0) {
    f.put("const float v{} = (float)({});", k, def.scalar->c_expr(context, operands, ElementType::F32));
    return;
  }
  std::string value = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    f.put("const float v{}_{} = (float)({});", k, i,
          def.scalar->c_expr(context, {value, operands[i]}, ElementType::F32));
    value = fmt::format("v{}_{}", k, i);
  }
  f.put("const float v{} = {};", k, value);
}

// Operands of the group that come from outside, each once, in order of first use.
std::vector<ir::ValueId> outside_operands(const Program& program, const std::vector<ir::NodeId>& nodes,
                                          size_t first, size_t past) {
  std::vector<ir::ValueId> found, inside;
  if (first > 0) inside.push_back(program.node(nodes[first - 1]).outputs[0]);
  for (size_t k = first; k < past; ++k) {
    for (ir::ValueId v : program.node(nodes[k]).inputs) {
      bool known = std::find(found.begin(), found.end(), v) != found.end() ||
                   std::find(inside.begin(), inside.end(), v) != inside.end();
      if (v.valid() && !known) found.push_back(v);
    }
    inside.push_back(program.node(nodes[k]).outputs[0]);
  }
  return found;
}

// C expressions of the operands of node k: by value, absent ones are empty.
std::vector<std::string> operand_texts(const ir::Node& node,
                                       const std::map<ir::ValueId, std::string>& texts) {
  std::vector<std::string> list;
  for (ir::ValueId v : node.inputs) list.push_back(v.valid() ? texts.at(v) : std::string());
  return list;
}

bool add_bias(const Program& program, const ir::Node& node, ir::ValueId result, int64_t channels,
              Epilogue& e) {
  if (!node.is(Op::Add)) return false;
  ir::ValueId other = node.inputs[0] == result ? node.inputs[1] : node.inputs[0];
  const Tensor* t = program.graph.constant(other);
  if (t == nullptr) return false;
  OperandKind kind = operand_kind(t->shape(), program.graph.value(result).type.shape);
  if (kind != OperandKind::Scalar && t->elements() != channels) return false;
  if (kind != OperandKind::Scalar && kind != OperandKind::Row && kind != OperandKind::Column) return false;
  if (e.bias.empty()) e.bias.assign(static_cast<size_t>(channels), 0.0f);
  for (size_t c = 0; c < e.bias.size(); ++c) {
    e.bias[c] += static_cast<float>(t->as_double(kind == OperandKind::Scalar ? 0 : static_cast<int64_t>(c)));
  }
  return true;
}

// [lo, hi] of a Relu or of a Clip with limits known at compile time.
bool add_clamp(const Program& program, const ir::Node& node, Epilogue& e) {
  float lo = -std::numeric_limits<float>::infinity(), hi = std::numeric_limits<float>::infinity();
  if (node.is(Op::Relu)) {
    lo = 0;
  } else if (node.is(Op::Clip)) {
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      const Tensor* t = program.graph.constant(node.inputs[i]);
      if (t == nullptr || t->elements() != 1) return false;
      (i == 1 ? lo : hi) = static_cast<float>(t->as_double(0));
    }
  } else {
    return false;
  }
  e.lo = std::min(std::max(e.lo, lo), hi);
  e.hi = std::min(std::max(e.hi, lo), hi);
  return true;
}

std::string float_text(float v) {
  return ops::c_literal(static_cast<double>(v), ElementType::F32);
}

// How the epilogue function reads operand number `arg`.
std::string operand_read(OperandKind kind, size_t arg) {
  switch (kind) {
    case OperandKind::Row:
      return fmt::format("r{}[row]", arg);
    case OperandKind::Column:
      return fmt::format("r{}[col + i]", arg);
    case OperandKind::Full:
      return fmt::format("r{}[at + i]", arg);
    default:
      return fmt::format("r{}[0]", arg);
  }
}

void put_bounds(Function& f, const Epilogue& e, const std::string& fn, const std::string& args) {
  f.put_struct("e",
               structs::Epilogue{.lo = float_text(e.lo), .hi = float_text(e.hi), .fn = fn, .args = args});
}

}  // namespace

void emit_elementwise(Function& f) {
  Program& program = f.program();
  const ir::Graph& graph = program.graph;
  const ir::ValueId result = program.node(f.nodes().back()).outputs[0];
  const TensorType& type = graph.value(result).type;
  std::vector<ir::ValueId> operands = outside_operands(program, f.nodes(), 0, f.nodes().size());
  std::vector<Shape> strides;
  for (ir::ValueId v : operands) strides.push_back(broadcast_strides(graph.value(v).type.shape, type.shape));
  strides.push_back(row_major_strides(type.shape));
  Nest nest = merge_loops(type.shape, strides);

  std::map<ir::ValueId, std::string> texts;
  open_loops(f, nest, type.elements() * work_of(program, f.nodes()));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (std::string text = literal(graph, operands[i]); !text.empty()) {
      texts[operands[i]] = fmt::format("({})", text);
      continue;
    }
    std::string pointer = f.read(operands[i], fmt::format("x{}", i));
    f.put("const {} a{} = {}[{}];", ops::c_type(graph.value(operands[i]).type.elem), i, pointer,
          index_text(nest.strides[i]));
    texts[operands[i]] = fmt::format("a{}", i);
  }
  const bool quantised = is_quantised_chain(f);
  const size_t computed = f.nodes().size() - (quantised ? 1 : 0);
  for (size_t k = 0; k < computed; ++k) {
    const ir::Node& node = program.node(f.nodes()[k]);
    compute(f, k, operand_texts(node, texts));
    texts[node.outputs[0]] = fmt::format("v{}", k);
  }
  const std::string y = fmt::format("{}[{}]", f.write(result, "y0"), index_text(nest.strides.back()));
  const ir::Node& last = program.node(f.nodes().back());
  quantised ? put_quantized(f, last, texts.at(last.inputs[0]), y) : f.put("{} = {};", y, texts.at(result));
  for (size_t d = 0; d < nest.extents.size(); ++d) f.close();
}

void fold_epilogue(Function& f, int64_t channels, Epilogue& e) {
  const Program& program = f.program();
  bool clamped = false;
  for (const size_t past = std::min(e.past, f.nodes().size()); e.next < past; ++e.next) {
    ir::ValueId result = program.node(f.nodes()[e.next - 1]).outputs[0];
    const ir::Node& node = program.node(f.nodes()[e.next]);
    if (!clamped && add_bias(program, node, result, channels, e)) continue;
    if (!add_clamp(program, node, e)) break;
    clamped = true;
  }
}

void declare_epilogue(Function& f, const Epilogue& e) {
  Program& program = f.program();
  const ir::Graph& graph = program.graph;
  f.need(Piece::epilogue);
  const size_t past = std::min(e.past, f.nodes().size());
  if (e.next == past) return put_bounds(f, e, "NULL", "NULL");
  // The function for the rest has the text of a Function, but its own parameters.
  const std::span nodes = std::span(f.nodes()).subspan(e.next, past - e.next);
  const std::vector<ir::NodeId> rest(nodes.begin(), nodes.end());
  Function tail(program, rest, "epilogue");
  std::string head_text, args;
  std::map<ir::ValueId, std::string> texts;
  const ir::ValueId input = program.node(f.nodes()[e.next - 1]).outputs[0];
  texts[input] = "y_i";
  size_t arg = 0;
  bool row = false, col = false, at = false;
  for (ir::ValueId v : outside_operands(program, f.nodes(), e.next, past)) {
    if (std::string text = literal(graph, v); !text.empty()) {
      texts[v] = fmt::format("({})", text);
      continue;
    }
    OperandKind kind = operand_kind(graph.value(v).type.shape, graph.value(input).type.shape);
    row |= kind == OperandKind::Row;
    col |= kind == OperandKind::Column;
    at |= kind == OperandKind::Full;
    head_text += fmt::format("  const float* const r{0} = (const float*)args[{0}];\n", arg);
    texts[v] = operand_read(kind, arg);
    // Behind a product of dynamic shape every operand is a constant; it needs no view.
    const Tensor* constant = ops::has_dynamic_shapes(graph, f.head()) ? graph.constant(v) : nullptr;
    args += fmt::format("{}{}", args.empty() ? "" : ", ",
                        constant != nullptr ? f.table(*constant) : f.read(v, fmt::format("r{}", arg)));
    ++arg;
  }
  if (arg == 0) head_text += "  (void)args;\n";
  for (const auto& [is_read, name] : {std::pair(row, "row"), std::pair(col, "col"), std::pair(at, "at")})
    if (!is_read) head_text += fmt::format("  (void){};\n", name);
  tail.open("for (ptrdiff_t i = 0; i < n; ++i)");
  tail.line("const float y_i = y[i];");
  for (size_t k = 0; k < rest.size(); ++k) {
    const ir::Node& node = program.node(rest[k]);
    compute(tail, k, operand_texts(node, texts));
    texts[node.outputs[0]] = fmt::format("v{}", k);
  }
  tail.put("y[i] = v{};", rest.size() - 1);
  tail.close();
  FunctionText text;
  text.symbol = tail.symbol();
  text.text = fmt::format(
      "/* The end of {}. */\n"
      "static void {}(const void* const* args, float* y, ptrdiff_t row, ptrdiff_t col, ptrdiff_t at,\n"
      "    ptrdiff_t n) {{\n{}{}}}\n",
      f.symbol().substr(program.options.name.size() + 1), tail.symbol(), head_text, tail.body());
  text.above = 1;
  text.expr = program.expr(rest.front());
  for (size_t i = 1; i < rest.size(); ++i) text.fused.push_back(program.expr(rest[i]));
  f.add_front(std::move(text));
  if (arg == 0) args = "NULL";
  f.put("const void* const e_args[] = {{{}}};", args);
  put_bounds(f, e, tail.symbol(), "e_args");
}

}  // namespace mrvlc::chost
