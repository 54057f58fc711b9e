// `mrvlc verify --layers`, from the model to what is said about it.
#include <cmath>
#include <set>

#include "mrvlc/interp/visit.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/saturating.h"
#include "verify/layer_errors.h"

namespace mrvlc::driver {
namespace {

using Values = LayeredModel::Values;

// All values of two runs are held at once.
constexpr int64_t kMaxBytes = int64_t{4} << 30;

Status check_room(const LayeredModel& model) {
  int64_t bytes = 0;
  for (const LayerUnit& unit : model.units())
    for (ir::ValueId v : unit.outputs)
      bytes = saturating_add(bytes, saturating_mul(model.graph().value(v).type.bytes(), 2));
  if (bytes > kMaxBytes) return make_diag<DiagCode::MRV0008>(bytes, kMaxBytes);
  return {};
}

// In float32, by the interpreter, of the graph as it was placed.
Result<Values> reference_values(const LayeredModel& model, const std::vector<Tensor>& inputs) {
  std::set<ir::ValueId> wanted;
  for (const LayerUnit& unit : model.units()) wanted.insert(unit.outputs.begin(), unit.outputs.end());
  Values values;
  const auto look = [&](ir::ValueId id, Tensor& tensor) {
    if (wanted.contains(id)) values[id] = tensor;
  };
  auto ran = interp::run_visited(model.graph(), inputs, look, false);
  if (!ran.ok()) return ran.error();
  return values;
}

// The same graph, all of it C: values are those of the same name.
Values by_name(const Values& values, const ir::Graph& from, const ir::Graph& to) {
  Values out;
  for (const auto& [id, value] : values)
    if (id.index() < to.value_slots() && to.value(id).name == from.value(id).name) out.emplace(id, value);
  return out;
}

CompileOptions on_host(CompileOptions options) {
  options.cpu = {"*"};
  options.accel.clear();
  return options;
}

// What can be said of the first bad layer, the surest first.
std::vector<std::string> causes_of(const LayerErrors& errors, const Limits& limits) {
  if (!errors.first_bad) return {};
  const LayerError& l = errors.layers[*errors.first_bad];
  const auto before = std::span(errors.layers).first(*errors.first_bad);
  const auto unseen = std::ranges::count(before, LayerError::State::Unknown, &LayerError::state);
  std::vector<std::string> causes;
  causes.push_back(
      l.inherited <= limits.wide
          ? "its operands were right: what they have inherited comes to " + fmt::format("{:.2g}", l.inherited)
          : fmt::format("its operands were off already: {:.2g} of its error is inherited, without a layer in "
                        "front being wrong by itself",
                        l.inherited));
  if (unseen > 0) causes.push_back(fmt::format("{} layers in front of it cannot be judged", unseen));
  const bool fp16 = l.state == LayerError::State::Fp16;
  const bool cpu = l.place == "cpu";
  if (fp16 && std::isinf(l.own))
    causes.emplace_back("fp16 ends at 65504: --precision VALUE=pair or --cpu NODE keep the value");
  else if (fp16)
    causes.emplace_back("fp16 rounds to 11 bits: --precision VALUE=pair or --cpu NODE are more exact");
  else if (cpu)
    causes.push_back(
        "the C of its kernel, or the compiler and its flags (-Ofast changes results): try "
        "--cflags -O1, --exact and --optimize size");
  else
    causes.push_back("the code of the layer in " + l.place + ", or the rule that placed it: --cpu " +
                     printable(l.node) + " computes it on the CPU, and `mrvlc explain` names the rule");
  return causes;
}

void tell(const LayerErrors& errors, Diagnostics& diagnostics) {
  if (!errors.first_bad) return;
  const LayerError& l = errors.layers[*errors.first_bad];
  const std::string what = printable(l.operators, 400);
  Diag diag =
      l.state == LayerError::State::Wrong
          ? make_diag<DiagCode::MRV0907>(
                *errors.first_bad, what, l.own,
                l.elements > 0 ? fmt::format(" ({} elements differ)", l.elements) : "", l.limit, l.set)
          : make_diag<DiagCode::MRV0908>(
                *errors.first_bad, what,
                std::isinf(l.own) ? std::string("overflows") : fmt::format("costs {:.2g}", l.own), l.set);
  diagnostics.add(at_node(std::move(diag), l.node, l.type));
}

}  // namespace

Result<std::optional<LayerErrors>> layer_errors(const CompileOptions& compile, const LayerOptions& options,
                                                const std::vector<DataSet>& sets, const LayerTerms& terms,
                                                const std::filesystem::path& folder,
                                                Diagnostics& diagnostics) {
  Diagnostics said;  // by the compile that verify made
  MRVLC_ASSIGN(const auto model, LayeredModel::create(compile, said, options, terms.run, folder / "layers"));
  if (!model) return said.list().back();
  MRVLC_TRY(check_room(*model));
  std::optional<LayeredModel> host;
  if (options.against_host) {
    MRVLC_ASSIGN(host, LayeredModel::create(on_host(compile), said, {}, terms.run, folder / "host"));
    if (!host) return said.list().back();
  }
  LayerJudge judge(*model, terms.limits, terms.given);
  for (const DataSet& set : sets) {
    MRVLC_ASSIGN(const Values actual, model->run(set.inputs));
    Values expected;
    if (host) {
      MRVLC_ASSIGN(const Values values, host->run(set.inputs));
      expected = by_name(values, host->graph(), model->graph());
    } else {
      MRVLC_ASSIGN(expected, reference_values(*model, set.inputs));
    }
    judge.add(set.name, actual, expected);
  }
  LayerErrors errors = judge.result(host ? "host" : "float32");
  errors.causes = causes_of(errors, terms.limits);
  tell(errors, diagnostics);
  return std::optional<LayerErrors>(std::move(errors));
}

}  // namespace mrvlc::driver
