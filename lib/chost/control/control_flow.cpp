// The C of nodes that run bodies.
#include <algorithm>

#include "control/body_node.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::chost {

Status emit_control_flow(Function& f) {
  f.use_views();
  f.set_reports();
  BodyNode n(f);
  MRVLC_TRY(n.add_bodies());
  f.pass("mrvl_hook hook", "hook");
  f.pass("void* user", "user");
  f.pass(fmt::format("{}_error* error", n.prefix()), "error");
  const auto bodies = ir::bodies_of(n.node());
  const Module& module = f.program().module;
  const bool run_regions =
      std::ranges::any_of(bodies, [&](const ir::Graph* body) { return module.uses_device(*body); });
  if (run_regions || f.program().options.trace_values)
    f.pass(fmt::format("const {}_device* device", n.prefix()), "device");
  if (run_regions) {
    f.pass(fmt::format("{}_run_state* state", n.prefix()), std::string(f.program().state()));
  }
  f.put("int rc = 0;");
  if (n.node().is(Op::If)) return emit_if(n);
  if (n.node().is(Op::Loop)) return emit_loop(n);
  if (n.node().is(Op::SequenceMap)) return emit_sequence_map(n);
  return emit_scan(n);
}

}  // namespace mrvlc::chost
