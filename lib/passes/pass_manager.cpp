// Runs passes in order, checks the graph after each that changed something, and keeps the budget of folding.
#include <array>
#include <chrono>

#include "mrvlc/ir/verifier.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/passes.h"
#include "passes.h"
#include "structure.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

#ifdef NDEBUG
constexpr bool kDebug = false;
#else
constexpr bool kDebug = true;
#endif

Diag after_pass(std::string_view pass, const Diag& d) {
  return at_node(make_diag<DiagCode::MRV0291>(pass, d.message), d.node, d.op_type);
}

Status check(const ir::Graph& graph, std::string_view pass) {
  Status s = ir::verify(graph);
  if (s.ok() && kDebug) s = ops::verify_types(graph);
  if (!s.ok()) return after_pass(pass, s.error());
  return {};
}

// A pass that says "nothing changed" is believed: nothing is verified or run again. In debug builds it is
// checked.
Status check_claim(const ir::Graph& graph, std::string_view pass, uint64_t before, bool changed) {
  if (!kDebug || changed == (fingerprint(graph) != before)) return {};
  return make_diag<DiagCode::MRV0292>(pass, changed ? "a change but made none" : "no change but made one");
}

size_t live_nodes(const ir::Graph& graph) {
  size_t live = 0;
  for (size_t i = 0; i < graph.node_slots(); ++i) live += graph.node(ir::NodeId(i)).erased ? 0 : 1;
  return live;
}

struct NodeCounts {
  size_t live = 0, ever = 0;
};

NodeCounts count_nodes(const ir::Graph& graph, const Log& log) {
  return log.shows(LogLevel::Debug) ? NodeCounts{live_nodes(graph), graph.node_slots()} : NodeCounts{};
}

void tell(const PassInfo& pass, const ir::Graph& graph, NodeCounts before, bool changed, double seconds,
          const Log& log) {
  if (!changed) return log.trace("pass {}: nothing to do, {:.6f} s", pass.name, seconds);
  const NodeCounts after = count_nodes(graph, log);
  const size_t made = after.ever - before.ever;
  log.debug("pass {}: {} nodes made, {} erased, {} left, {:.6f} s", pass.name, made,
            before.live + made - after.live, after.live, seconds);
}

Status run_pass(ir::Graph& graph, const PassInfo& pass, const RunOptions& options) {
  uint64_t before = kDebug ? fingerprint(graph) : 0;
  const NodeCounts nodes = count_nodes(graph, options.log);
  bool changed = false;
  auto start = std::chrono::steady_clock::now();
  MRVLC_TRY(pass.run(graph, options.context, changed));
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (options.times != nullptr) options.times->push_back({std::string(pass.name), elapsed.count()});
  tell(pass, graph, nodes, changed, elapsed.count(), options.log);
  MRVLC_TRY(check_claim(graph, pass.name, before, changed));
  if (changed && options.verify) MRVLC_TRY(check(graph, pass.name));
  if (options.after) options.after(pass.name, graph);
  return {};
}

// Bodies of control flow are graphs like any other; each belongs to its node alone, which may change it.
Status run_on_bodies(ir::Graph& graph, std::span<const std::string_view> names, const RunOptions& options) {
  RunOptions quiet = options;
  quiet.after = nullptr;
  quiet.times = nullptr;
  if (!has_anchor(graph, [](const ir::Node& n) { return !ir::bodies_of(n).empty(); })) return {};
  for (ir::NodeId id : graph.topological_order()) {
    for (ir::Graph* body : ir::mutable_bodies_of(graph, id)) MRVLC_TRY(run_passes(*body, names, quiet));
  }
  return {};
}

void add_constants(const ir::Graph& graph, int64_t& elements, int64_t& bytes) {
  for (size_t i = 0; i < graph.value_slots(); ++i) {
    const Tensor* constant = graph.constant(ir::ValueId(static_cast<uint32_t>(i)));
    if (constant == nullptr) continue;
    elements += constant->elements();
    bytes += constant->type().bytes();
  }
}

std::shared_ptr<FoldBudget> fold_budget(const ir::Graph& graph) {
  constexpr int64_t kWork = int64_t{1} << 28, kWorkPerElement = 64;
  constexpr int64_t kBytes = int64_t{1} << 28, kBytesPerByte = 16;
  int64_t elements = 0, bytes = 0;
  add_constants(graph, elements, bytes);
  ir::for_each_body(graph, [&](const ir::Graph& body) { add_constants(body, elements, bytes); });
  return std::make_shared<FoldBudget>(
      FoldBudget{kWork + kWorkPerElement * elements, kBytes + kBytesPerByte * bytes});
}

}  // namespace

const std::vector<PassInfo>& all_passes() {
  static const std::vector<PassInfo> kPasses = {
#define MRVLC_PASS(function, name, summary) {name, summary, static_cast<decltype(PassInfo::run)>(&function)},
#include "mrvlc/passes/passes.def"
#undef MRVLC_PASS
  };
  return kPasses;
}

const PassInfo* find_pass(std::string_view name) {
  for (const PassInfo& p : all_passes()) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

Status run_passes(ir::Graph& graph, std::span<const std::string_view> names, const RunOptions& options) {
  if (options.context.fold_budget == nullptr) {
    RunOptions own = options;
    own.context.fold_budget = fold_budget(graph);
    return run_passes(graph, names, own);
  }
  MRVLC_TRY(run_on_bodies(graph, names, options));
  for (std::string_view name : names) {
    const PassInfo* pass = find_pass(name);
    if (pass == nullptr) return make_diag<DiagCode::MRV0290>(name);
    MRVLC_TRY(run_pass(graph, *pass, options));
  }
  return {};
}

}  // namespace mrvlc::passes
