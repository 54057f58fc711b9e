// The C of nodes that run bodies.
#include "control/body_node.h"

namespace mrvlc::chost {

Status emit_control_flow(Function& f) {
  f.use_views();
  f.set_reports();
  BodyNode n(f);
  MRVLC_TRY(n.add_bodies());
  f.pass("mrvl_hook hook", "hook");
  f.pass("void* user", "user");
  f.pass(fmt::format("{}_error* error", n.prefix()), "error");
  f.put("int rc = 0;");
  if (n.node().is(Op::If)) return emit_if(n);
  if (n.node().is(Op::Loop)) return emit_loop(n);
  if (n.node().is(Op::SequenceMap)) return emit_sequence_map(n);
  return emit_scan(n);
}

}  // namespace mrvlc::chost
