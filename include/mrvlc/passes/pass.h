// Passes over the IR. passes.def lists them: name, one sentence, function. Each file of lib/passes shows
// before and after, its preconditions and why it is safe.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/support/log.h"

namespace mrvlc::passes {

// What folding may still cost, over all passes and bodies: proportional to the constants of the model, and a
// share that any model has. What is beyond it stays computed at run time.
struct FoldBudget {
  int64_t work = 0;  // ops::evaluation_work
  int64_t bytes = 0;
};

struct PassContext {
  int64_t max_folded_bytes = int64_t{256} << 20;  // of one constant; larger results stay computed at run time
  std::shared_ptr<FoldBudget> fold_budget;        // run_passes makes one where there is none
  // Weights may come to be stored as fp16: numbers are not folded into them that they then do not hold.
  bool half_weights = false;
  // Nodes that are not folded though all they read is constant; may be empty.
  std::function<bool(const ir::Graph& graph, const ir::Node& node)> stays;
  // Nodes that keep the form they have: the passes for quantised networks leave them alone; may be empty.
  std::function<bool(const ir::Graph& graph, const ir::Node& node)> reserved;
  // Operators on whole rows are not made of rows with more elements than the accelerator takes, nor such on
  // images of larger batches: it would have taken the parts.
  int64_t longest_row = INT64_MAX, largest_batch = INT64_MAX;
  // Of the accelerator: each of its tiles has so much memory. 0: nothing is cut to stay there.
  int64_t tiles = 0, tile_bytes = 0;
};

struct PassInfo {
  std::string_view name;
  std::string_view summary;
  Status (*run)(ir::Graph& graph, const PassContext& context, bool& changed);
};

const std::vector<PassInfo>& all_passes();  // order of passes.def
const PassInfo* find_pass(std::string_view name);

struct PassTime {
  std::string name;
  double seconds = 0;
};

struct RunOptions {
  PassContext context;
  bool verify = true;  // after every pass that changed something
  // Called after the named pass ran; for --dump-ir.
  std::function<void(std::string_view pass, const ir::Graph& graph)> after;
  std::vector<PassTime>* times = nullptr;
  Log log;
};

Status run_passes(ir::Graph& graph, std::span<const std::string_view> names, const RunOptions& options = {});
// The pipelines of `mrvlc compile`.
std::span<const std::string_view> default_pipeline();  // with an accelerator: fp16 values stay
std::span<const std::string_view> float_pipeline();    // the same for one without products of integers
std::span<const std::string_view> host_pipeline();  // after partitioning nothing is left in fp16 on the CPU
std::span<const std::string_view> library_pipeline();  // the same, with quantised chains as rules see them
// What default_pipeline() and host_pipeline() begin with: quantised chains become operators on integers.
std::span<const std::string_view> integer_pipeline();

}  // namespace mrvlc::passes
