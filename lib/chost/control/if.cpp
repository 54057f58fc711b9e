// If: the views of the results go to the branch that is taken; where it lays a result out differently, to a
// buffer that is copied.
#include "control/body_node.h"

namespace mrvlc::chost {
namespace {

// `first`: the node's input that is the branch's first.
void emit_branch(BodyNode& n, size_t b, size_t first) {
  const ir::Graph& body = n.body(b);
  auto given = [&](size_t i) -> const TensorType& { return body.value(body.outputs()[i]).type; };
  std::vector<std::string> in, out;
  for (size_t i = 0; i < body.inputs().size(); ++i) in.push_back(n.in_view(first + i));
  std::vector<size_t> through;
  const size_t results = n.node().outputs.size();
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    if (i < results && same_memory(given(i), n.out_type(i))) {
      out.push_back(n.out_view(i));
      continue;
    }
    out.push_back(fmt::format("&t{}", i));
    if (i < results) through.push_back(i);
    n.declare_buffer(fmt::format("t{}", i), given(i));
  }
  n.call(b, in, out);
  for (size_t i : through) n.copy_value(n.out_view(i), n.out_type(i), fmt::format("(&t{})", i), given(i));
}

}  // namespace

Status emit_if(BodyNode& n) {
  Function& f = n.function();
  size_t first = 1, bodies = 0;
  const std::string condition = f.read(n.node().inputs[0], "x0");
  for (size_t branch = 0; branch < 2; ++branch) {
    f.open(branch == 0 ? fmt::format("if (*{})", condition) : "else");
    if (ir::is_set(n.node().attrs[branch])) {
      emit_branch(n, bodies, first);
      first += n.body(bodies++).inputs().size();
    } else {
      n.fail();
    }
    f.close();
  }
  return {};
}

}  // namespace mrvlc::chost
