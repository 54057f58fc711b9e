// Loop (ONNX Loop-16).
#include <algorithm>

#include "control/body.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

struct LoopShape {
  Body body;
  size_t states = 0, captured = 0;
  std::vector<TensorType> results;  // of the body: condition, states, scanned
};

Result<LoopShape> loop_shape(const InferContext& context) {
  LoopShape s;
  MRVLC_ASSIGN(s.body, body_of(context, "body"));
  const auto formals = static_cast<size_t>(context.int_attr("formals"));
  if (formals < 2 || formals > s.body->inputs().size() || context.num_inputs() != s.body->inputs().size())
    return bad_attr("body", "does not take the inputs of the node");
  s.states = formals - 2;
  s.captured = s.body->inputs().size() - formals;
  s.results = result_types(*s.body);
  if (s.results.size() < 1 + s.states) return bad_attr("body", "has too few outputs");
  for (size_t i = 0; i < 2; ++i) {
    if (context.has(i) && context.type(i).elements() != 1)
      return bad_operands("the trip count and the condition must be single values");
  }
  if (context.has(0)) MRVLC_TRY(check_elem(context, 0, types_of({E::I64})));
  if (context.has(1)) MRVLC_TRY(check_elem(context, 1, types_of({E::Bool})));
  if (s.results[0].elem != E::Bool || s.results[0].elements() != 1)
    return bad_attr("body", "must give back a truth value first");
  return s;
}

// Does the body never ask for the end?
bool goes_on(const InferContext& context, const ir::Graph& body) {
  const ir::ValueId result = body.outputs()[0];
  const Tensor* constant = body.constant(result);
  if (constant != nullptr) return constant->as_int(0) != 0;
  const Tensor* first = context.constant(1);
  return result == body.inputs()[1] && (!context.has(1) || (first != nullptr && first->as_int(0) != 0));
}

}  // namespace

std::optional<int64_t> known_rounds(const Tensor* trips) {
  if (trips == nullptr || trips->as_int(0) >= kNoTrips) return std::nullopt;
  return std::max<int64_t>(trips->as_int(0), 0);
}

namespace {

// Scanned outputs are stacked; how many there are is known when the trip count is and nothing ends the loop.
TensorType stacked(const InferContext& context, const LoopShape& s, const TensorType& item) {
  const auto known = known_rounds(context.constant(0));
  const int64_t most = context.int_attr("max_rounds"), limit = most > 0 ? most : kNoBound;
  const int64_t bound = !known || (most > 0 && *known > most) ? limit : *known;
  const Tensor* first = context.constant(1);
  const bool starts = !context.has(1) || (first != nullptr && first->as_int(0) != 0);
  const bool dynamic = bound != known || !starts || !goes_on(context, *s.body);
  return scanned_type(item, 0, bound, dynamic);
}

Result<std::vector<TensorType>> infer_loop(const InferContext& context) {
  MRVLC_ASSIGN(LoopShape s, loop_shape(context));
  std::vector<TensorType> types;
  for (size_t i = 0; i < s.states; ++i) types.push_back(s.body->value(s.body->inputs()[2 + i]).type);
  for (size_t i = 1 + s.states; i < s.results.size(); ++i) {
    if (s.results[i].wrapper != Wrapper::None) return bad_attr("body", "scans something other than tensors");
    if (s.results[i].rank() >= kMaxRank) return bad_attr("body", "scans tensors of too high a rank");
    types.push_back(stacked(context, s, s.results[i]));
  }
  return types;
}

Status eval_loop(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(LoopShape s, loop_shape(view));
  const int64_t trips = context.has(0) ? context.in(0).as_int(0) : INT64_MAX;
  const int64_t most = view.int_attr("max_rounds");
  bool go = !context.has(1) || context.in(1).as_int(0) != 0;
  const auto captured = inputs_from(context, 2 + s.states, s.captured);
  Rounds rounds{inputs_from(context, 2, s.states), {}};
  rounds.scanned.resize(s.results.size() - 1 - s.states);
  for (int64_t i = 0; i < trips && go; ++i) {
    if (most > 0 && i >= most) return make_diag<DiagCode::MRV0211>(most);
    std::vector<Tensor> inputs = {Tensor::of<int64_t>(E::I64, {}, {i}),
                                  Tensor::of<int64_t>(E::Bool, {}, {1})};
    inputs.insert(inputs.end(), rounds.states.begin(), rounds.states.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    MRVLC_ASSIGN(auto results, context.run(*s.body, inputs));
    go = results[0].as_int(0) != 0;
    rounds.take(std::move(results), 1);
  }
  const std::vector<int64_t> axes(rounds.scanned.size(), 0);
  return rounds.give(context, std::span(s.results).subspan(1 + s.states), axes);
}

}  // namespace

const OpDef& def_Loop() {
  static const OpDef def = [] {
    OpDef d = control_flow_def("Loop");
    d.attrs = {optional("body", ir::AttrKind::Graph), formals_attr(), with_int("max_rounds", 0)};
    d.min_inputs = 0;
    d.infer = d.infer_dynamic = infer_loop;
    d.eval = eval_loop;
    d.traits = {.data_dependent_shape = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
