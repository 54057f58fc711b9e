// Outputs against what is expected: the limits of the target, what roundings of float32 or fp16 move, and
// ULPs.
#include "verify/output_judge.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/driver/compare.h"
#include "mrvlc/driver/drawn.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/target/find.h"
#include "mrvlc/target/library.h"
#include "mrvlc/target/plugin.h"
#include "verify/condition.h"

namespace mrvlc::driver {

using Limit = Comparison::Limit;

bool is_host(const CompileOptions& compile) {
  return std::ranges::all_of(compile.targets, [](const std::string& t) { return t == "host"; });
}

namespace {

// What packages among the targets say of int8 results.
struct Declared {
  int64_t steps = 0;      // the most of all
  bool integers = false;  // a plug-in computes with integers
  bool machine = false;   // there is one that computes in fp16, or in a way that nobody says
};

Declared declared_by(const CompileOptions& compile) {
  Declared out;
  for (const std::string& name : compile.targets) {
    if (name == "host") continue;
    const auto text = target::find_target(name, compile.target_dirs);
    if (!text.ok()) continue;  // compile has said so
    if (target::is_library(text->json)) {
      const auto package = target::parse_library(text->json, name);
      if (package.ok()) out.steps = std::max(out.steps, package->steps);
    } else if (target::is_plugin(text->json)) {
      const auto package = target::parse_plugin(text->json, name);
      if (!package.ok()) continue;
      out.steps = std::max(out.steps, package->steps);
      out.integers = out.integers || package->integers;
      out.machine = out.machine || !package->integers;
    } else {
      out.machine = true;
    }
  }
  return out;
}

}  // namespace

Limits limits_of(const VerifyOptions& options, const CompileOptions& compile) {
  const bool host = is_host(compile) && compile.host.host_weights == chost::WeightType::F32;
  Limits out;
  out.wide = options.tolerance.value_or(host ? 1e-4 : 2e-2);
  out.narrow = options.tolerance.value_or(host ? out.narrow : 2e-2);
  out.integers = options.integer_tolerance;
  return out;
}

Result<const ir::Graph*> OutputJudge::graph() {
  if (!model_) {
    Diagnostics repeated;  // compile has reported them
    model_ = onnx::import_file(compile_.model, compile_.import, repeated);
    if (!model_) return repeated.list().front();
  }
  return &model_->graph;
}

Status OutputJudge::judge(const DataSet& set, const std::vector<Tensor>& actual,
                          const std::vector<std::string>& names) {
  const Limits limits = limits_of(options_, compile_);
  const Declared declared = declared_by(compile_);
  const auto steps = static_cast<double>(declared.steps);
  std::vector<Judged> judged;
  for (const auto& [i, expected] : set.outputs) {
    Limits of_type = limits;
    const bool by_package = expected.elem() == ElementType::I8 && steps > limits.integers;
    if (by_package) of_type.integers = steps;
    judged.push_back({compare(actual[i], expected, of_type), by_package ? Limit::Package : Limit::Default});
    if (options_.tolerance && is_float(expected.elem())) judged.back().limit = Limit::Given;
  }
  const auto same = [&] {
    return std::ranges::all_of(judged, [](const Judged& j) { return j.difference.same(); });
  };
  if (!same()) MRVLC_TRY(judge_draws(set, actual, judged));
  if (!same() && is_host(compile_) && !options_.tolerance) MRVLC_TRY(judge_condition(set, actual, judged));
  // Where packages compute with integers, or say how far their results are off, fp16 excuses nothing.
  const bool exact = is_host(compile_) || ((declared.steps > 0 || declared.integers) && !declared.machine);
  const std::vector<Fp16Error> fp16 = same() || exact ? std::vector<Fp16Error>{} : ideal(set);
  size_t next = 0;
  for (const auto& [i, expected] : set.outputs) {
    const Judged& j = judged[next++];
    Fp16Error allowed = fp16.empty() ? Fp16Error{} : fp16[i];
    bool beyond = !j.difference.same() && options_.data.empty() &&
                  is_beyond(actual[i], expected, j.difference, allowed);
    if (!j.overflow.empty()) {
      allowed.overflow = j.overflow + " overflows";
      beyond = options_.data.empty() && !j.difference.same() && actual[i].type() == expected.type();
    }
    report(set, i, names[i], j, allowed, beyond);
  }
  return {};
}

// Given outputs of a model that draws random numbers are one draw of many.
Status OutputJudge::judge_draws(const DataSet& set, const std::vector<Tensor>& actual,
                                std::vector<Judged>& judged) {
  MRVLC_ASSIGN(const ir::Graph* model, graph());
  std::vector<Tensor> expected;
  for (const auto& [i, value] : set.outputs) expected.push_back(value);
  if (options_.data.empty() || expected.size() != actual.size() || !is_drawn(*model, set.inputs, expected))
    return {};
  const std::string text = drawn_difference(*model, set.inputs, actual, expected);
  if (text.empty()) judged.assign(judged.size(), Judged{});
  return {};
}

// What the interpreter gives: made inputs come with it, unless somebody else was asked.
Result<std::vector<Tensor>> OutputJudge::still(const ir::Graph& model, const DataSet& set) const {
  if (!options_.data.empty() || options_.against_ort) return interp::run(model, set.inputs);
  std::vector<Tensor> outputs;
  for (const auto& [i, value] : set.outputs) outputs.push_back(value);
  return outputs;
}

// Runs with roundings otherwise until they explain what differs, or there are no more of them.
Status OutputJudge::judge_condition(const DataSet& set, const std::vector<Tensor>& actual,
                                    std::vector<Judged>& judged) {
  MRVLC_ASSIGN(const ir::Graph* model, graph());
  auto unmoved = still(*model, set);
  if (!unmoved.ok() || unmoved->size() != actual.size()) return {};
  const Limits limits = limits_of(options_, compile_);
  Condition condition(*model, set.inputs, std::move(*unmoved), limits);
  bool all = false;
  while (!all && condition.next()) {
    all = true;
    size_t next = 0;
    for (const auto& [i, expected] : set.outputs) {
      Judged& j = judged[next++];
      if (j.difference.same()) continue;
      j.difference = compare(actual[i], expected, limits, condition.allowance(i));
      j.limit = Limit::Condition;
      all = all && j.difference.same();
    }
  }
  for (Judged& j : judged)
    if (!j.difference.same() && std::isinf(j.difference.error)) j.overflow = condition.overflow();
  return {};
}

// Empty when the interpreter does not get there.
std::vector<Fp16Error> OutputJudge::ideal(const DataSet& set) {
  auto model = graph();
  if (!model.ok() || set.outputs.size() != (*model)->outputs().size()) return {};
  std::vector<Tensor> expected;
  for (const auto& [i, value] : set.outputs) expected.push_back(value);
  auto errors = fp16_errors(**model, set.inputs, expected);
  return errors.ok() ? std::move(*errors) : std::vector<Fp16Error>{};
}

// Is it as near as could be asked of fp16: within four times the error of its roundings alone? Who names a
// tolerance gets that one; what overflows meets none.
bool OutputJudge::is_beyond(const Tensor& actual, const Tensor& expected, const Difference& d,
                            const Fp16Error& ideal) const {
  if (!is_float(expected.elem()) || expected.type().wrapper != Wrapper::None)
    return !options_.tolerance && d.elements > 0 &&
           static_cast<double>(d.elements) <= kIdealFactor * static_cast<double>(ideal.elements);
  Limits allowed = limits_of(options_, compile_);
  allowed.wide = std::max(allowed.wide, kIdealFactor * ideal.error);
  allowed.narrow = std::max(allowed.narrow, kIdealFactor * ideal.error);
  if (!(actual.type() == expected.type())) return false;
  if (std::isinf(ideal.error)) return true;
  return !options_.tolerance && compare(actual, expected, allowed).same();
}

void OutputJudge::report(const DataSet& set, size_t i, const std::string& output, const Judged& judged,
                         const Fp16Error& ideal, bool beyond) {
  const Difference& d = judged.difference;
  Comparison c;
  c.set = set.name;
  c.output = output;
  c.error = d.error;
  c.tolerance = d.limit;
  c.limit = judged.limit;
  c.same = d.same();
  c.beyond_fp16 = beyond;
  c.note = d.text;
  if (d.ulp >= 0) c.ulp = d.ulp;
  c.beyond_ulp = options_.max_ulp && d.ulp > *options_.max_ulp;
  say(set, i, c, ideal.overflow.empty() ? "" : "; " + ideal.overflow + ", fp16 ends at 65504");
  c.same = c.same && !c.beyond_ulp;
  c.beyond_fp16 = c.beyond_fp16 && !c.beyond_ulp;
  comparisons_.push_back(std::move(c));
}

void OutputJudge::say(const DataSet& set, size_t i, const Comparison& c, const std::string& overflow) {
  if (c.beyond_ulp) {
    diagnostics_.add(at_output(i, make_diag<DiagCode::MRV0009>(
                                      fmt::format("{}: output '{}' is off by {} ulp, more than {}", set.name,
                                                  printable(c.output), *c.ulp, *options_.max_ulp))));
  } else if (c.beyond_fp16) {
    diagnostics_.add(
        at_output(i, make_diag<DiagCode::MRV0714>(set.name, printable(c.output), c.note, overflow)));
  } else if (!c.same) {
    const char* moved = c.limit == Limit::Condition ? " (roundings of its operands move it by no more)" : "";
    diagnostics_.add(at_output(i, make_diag<DiagCode::MRV0009>(fmt::format(
                                      "{}: output '{}' differs by {:.3g}, more than {:.3g}{}: {}{}", set.name,
                                      printable(c.output), c.error, c.tolerance, moved, c.note, overflow))));
  }
}

// Names the node that makes the output.
Diag OutputJudge::at_output(size_t i, Diag diag) {
  auto model = graph();
  if (!model.ok()) return diag;
  const ir::NodeId made_by = (*model)->value((*model)->outputs()[i]).producer;
  if (!made_by.valid()) return diag;
  const ir::Node& node = (*model)->node(made_by);
  return at_node(std::move(diag), node.name, node.op->name);
}

}  // namespace mrvlc::driver
