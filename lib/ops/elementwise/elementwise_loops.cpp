// Broadcasting: merged loops, the reference evaluation over them in runs, and the C loops.
#include <array>

#include "common/bulk.h"
#include "common/lanes.h"
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

bool mergeable(const BroadcastLoops& loops, size_t outer, int64_t inner_size) {
  for (const Shape& s : loops.strides) {
    if (s[outer] != s[outer + 1] * inner_size) return false;
  }
  return true;
}

constexpr int64_t kRun = 1024;  // elements evaluated at a time: operand runs stay in the first-level cache

// A pointer into ScalarOp of the function for the type computed in.
template <class T>
using ScalarFn = T (*)(const T*, const ir::OpSchema&, const Attrs&);

template <class T>
struct Evaluator {
  const EvalContext& context;
  const std::vector<const Tensor*>& operands;
  ScalarFn<T> fn;
  bool fold;
  double divisor;
  std::vector<std::array<T, kRun>> runs = std::vector<std::array<T, kRun>>(operands.size());

  T at(size_t k) {
    std::array<T, 3> x{};
    if (!fold) {
      for (size_t j = 0; j < operands.size(); ++j) x[j] = runs[j][k];
      return fn(x.data(), *context.op, *context.attrs);
    }
    x[0] = runs[0][k];
    for (size_t j = 1; j < operands.size(); ++j) {
      x[1] = runs[j][k];
      x[0] = fn(x.data(), *context.op, *context.attrs);
    }
    if (divisor != 1) x[0] = static_cast<T>(static_cast<double>(x[0]) / divisor);
    return x[0];
  }

  // Elements [first, first + n) of the innermost loop, whose operands start at `base`.
  void run(const BroadcastLoops& loops, const std::vector<int64_t>& base, int64_t first, int64_t n,
           int64_t out_at) {
    for (size_t j = 0; j < operands.size(); ++j) {
      int64_t stride = loops.strides[j].back();
      load_run(*operands[j], base[j] + first * stride, stride, n, runs[j].data());
    }
    std::array<T, kRun> result;
    for (int64_t k = 0; k < n; ++k) result[static_cast<size_t>(k)] = at(static_cast<size_t>(k));
    store_run(context.out(), out_at, 1, n, result.data());
  }

  void all(const BroadcastLoops& loops) {
    Shape index(loops.size.size(), 0);
    std::vector<int64_t> base(operands.size(), 0);
    int64_t inner = loops.size.back(), total = element_count(loops.size);
    for (int64_t out_at = 0; out_at < total; out_at += inner) {
      for (int64_t first = 0; first < inner; first += kRun) {
        run(loops, base, first, std::min(kRun, inner - first), out_at + first);
      }
      next_run(loops, index, base);
    }
  }
};

}  // namespace

void next_run(const BroadcastLoops& loops, Shape& index, std::vector<int64_t>& base) {
  for (size_t d = loops.size.size() - 1; d-- > 0;) {
    bool carry = ++index[d] == loops.size[d];
    for (size_t j = 0; j < base.size(); ++j) {
      base[j] += carry ? -loops.strides[j][d] * (loops.size[d] - 1) : loops.strides[j][d];
    }
    if (!carry) return;
    index[d] = 0;
  }
}

BroadcastLoops broadcast_loops(const Shape& result, const std::vector<Shape>& operands) {
  BroadcastLoops full{result, {}};
  for (const Shape& s : operands) full.strides.push_back(broadcast_strides(s, result));
  BroadcastLoops loops{{}, std::vector<Shape>(operands.size())};
  for (size_t d = 0; d < result.size(); ++d) {
    if (result[d] == 1) continue;
    for (size_t j = 0; j < operands.size(); ++j) loops.strides[j].push_back(full.strides[j][d]);
    loops.size.push_back(result[d]);
    size_t n = loops.size.size();
    if (n < 2 || !mergeable(loops, n - 2, result[d])) continue;
    loops.size[n - 2] *= result[d];
    loops.size.pop_back();
    for (Shape& s : loops.strides) s.erase(s.end() - 2);
  }
  if (loops.size.empty()) {
    loops.size.push_back(1);
    for (Shape& s : loops.strides) s.push_back(0);
  }
  return loops;
}

LoopTexts texts_of(const BroadcastLoops& loops) {
  LoopTexts texts{texts_of(loops.size), {}};
  for (const Shape& strides : loops.strides) texts.strides.push_back(texts_of(strides));
  return texts;
}

std::string index_text(const Texts& strides) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == "0") continue;
    text += fmt::format("{}i{}", text.empty() ? "" : " + ", d);
    if (strides[d] != "1") text += fmt::format(" * {}", strides[d]);
  }
  return text.empty() ? "0" : text;
}

std::string broadcast_step(EmitContext& c, const std::string& own, const std::string& whole,
                           const std::string& stride) {
  if (own == "1") return "0";
  if (own == whole) return stride;
  c.fail_if(fmt::format("{0} != {1} && {0} != 1", own, whole));
  return fmt::format("({} == 1 ? 0 : {})", own, stride);
}

Texts broadcast_steps(EmitContext& c, const Texts& own, const Texts& whole) {
  Texts strides(whole.size(), "0");
  const size_t skipped = whole.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d)
    strides[skipped + d] =
        broadcast_step(c, own[d], whole[skipped + d], size_product(own, d + 1, own.size()));
  return strides;
}

LoopTexts broadcast_texts(EmitContext& c, const Texts& result, const std::vector<Texts>& operands) {
  std::vector<Shape> shapes;
  for (const Texts& dims : operands) {
    if (auto shape = numbers_of(dims)) shapes.push_back(*shape);
  }
  const auto whole = numbers_of(result);
  if (whole && shapes.size() == operands.size()) return texts_of(broadcast_loops(*whole, shapes));
  LoopTexts loops{result, {}};
  for (const Texts& dims : operands) loops.strides.push_back(broadcast_steps(c, dims, result));
  return loops;
}

Status eval_scalar(const ScalarOp& op, const EvalContext& context, const std::vector<const Tensor*>& operands,
                   bool fold, double divisor) {
  std::vector<Shape> shapes;
  bool floats = false, u64 = false;
  for (const Tensor* t : operands) {
    shapes.push_back(t->shape());
    floats = floats || is_float(t->elem());
    u64 = u64 || t->elem() == ElementType::U64;
  }
  BroadcastLoops loops = broadcast_loops(context.out().shape(), shapes);
  if (!floats && u64 && op.eval_uint != nullptr) {
    Evaluator<uint64_t>{context, operands, op.eval_uint, fold, divisor}.all(loops);
  } else if (!floats && op.eval_int != nullptr) {
    Evaluator<int64_t>{context, operands, op.eval_int, fold, divisor}.all(loops);
  } else {
    Evaluator<double>{context, operands, op.eval, fold, divisor}.all(loops);
  }
  return {};
}

Status eval_elementwise(const EvalContext& context) {
  const auto& op = static_cast<const OpDef&>(*context.op);
  std::vector<const Tensor*> operands;
  for (const Tensor* t : context.inputs) {
    if (t != nullptr) operands.push_back(t);
  }
  return eval_scalar(*op.scalar, context, operands, op.max_inputs < 0);
}

namespace {

// C expressions of the operands at the loops' indices; a constant of one element stands in place.
std::vector<std::string> operand_texts(const EmitContext& c, const LoopTexts& loops) {
  std::vector<std::string> x(c.node().inputs.size());
  for (size_t i = 0, j = 0; i < x.size(); ++i) {
    if (!c.has(i)) continue;
    const Tensor* constant = c.constant(i);
    if (constant != nullptr && constant->elements() == 1 && constant->elem() != ElementType::String) {
      x[i] = element_literal(*constant, 0);
    } else {
      x[i] = fmt::format("{}[{}]", c.in(i), index_text(loops.strides[j]));
    }
    ++j;
  }
  return x;
}

// Folds the operands `x` and stores to `y`.
void emit_fold(const ScalarOp& op, EmitContext& c, const std::vector<std::string>& x, const std::string& y,
               double divisor) {
  ElementType elem = c.in_type(0).elem;
  c.line(fmt::format("{} v = {};", c_type(elem), x[0]));
  for (size_t i = 1; i < x.size(); ++i) c.line(fmt::format("v = {};", op.c_expr(c, {"v", x[i]}, elem)));
  c.line(divisor == 1 ? fmt::format("{} = v;", y) : fmt::format("{} = v / {};", y, c_literal(divisor, elem)));
}

}  // namespace

ElementType computed_type(const EmitContext& c) {
  return c.in_type(0).elem == ElementType::Bool ? c.out_type(0).elem : c.in_type(0).elem;
}

std::string stored(const EmitContext& c, const std::string& expr) {
  return c.out_type(0).elem == ElementType::Bool ? fmt::format("(uint8_t)({})", expr) : expr;
}

Status emit_scalar(const ScalarOp& op, EmitContext& c, bool fold, double divisor) {
  set_broadcast_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  const LoopTexts loops = element_loops(c);
  const size_t rank = loops.size.size();
  Texts strides;
  for (size_t d = 0; d < rank; ++d) {
    open_loop(c, fmt::format("i{}", d), loops.size[d]);
    strides.push_back(size_product(loops.size, d + 1, rank));
  }
  std::string y = fmt::format("{}[{}]", c.out(0), index_text(strides));
  std::vector<std::string> x = operand_texts(c, loops);
  if (fold) {
    emit_fold(op, c, x, y, divisor);
  } else {
    c.line(fmt::format("{} = {};", y, stored(c, op.c_expr(c, x, computed_type(c)))));
  }
  for (size_t d = 0; d < rank; ++d) c.close();
  return {};
}

Status emit_elementwise(EmitContext& c) {
  const OpDef& op = op_def(c.node());
  return emit_scalar(*op.scalar, c, op.max_inputs < 0);
}

}  // namespace mrvlc::ops
