// Loop: rounds until the trip count or the condition ends them. Results that stack what rounds give grow
// along axis 0.
#include "control/rounds.h"
#include "mrvlc/ops/attributes.h"

namespace mrvlc::chost {

namespace {

// What ends the loop is data: whoever compiles the model, or the program, may bound the rounds.
void put_limit(BodyNode& n) {
  Function& f = n.function();
  const int64_t limit = ops::attr::max_rounds(n.node());
  if (n.known_trips()) return;
  f.line("#ifdef MRVL_MAX_ROUNDS");
  n.fail_if("i >= MRVL_MAX_ROUNDS", "VALUE");
  if (limit > 0) {
    f.line("#else");
    n.fail_if(fmt::format("i >= {}", limit), "VALUE");
  }
  f.line("#endif");
}

}  // namespace

Status emit_loop(BodyNode& n) {
  Function& f = n.function();
  const ir::Node& node = n.node();
  const ir::Graph& body = n.body(0);
  const size_t states = n.formals() - 2;
  const bool limited = node.inputs[0].valid(), conditional = node.inputs[1].valid();
  f.put("const int64_t trips = {};", limited ? "*" + f.read(node.inputs[0], "x0") : "INT64_MAX");
  f.put("int64_t i = 0;");
  f.put("uint8_t go = {}, more = 1;", conditional ? "*" + f.read(node.inputs[1], "x1") : "1");
  f.put_struct("iv", structs::View{.data = "&i", .dim = "0"}, "");
  f.put_struct("gv", structs::View{.data = "&go", .dim = "0"}, "");
  f.put_struct("mv", structs::View{.data = "&more", .dim = "0"}, "");
  States carried(n, body, {2, 2, 1}, states);
  carried.declare();
  std::vector<ScannedResult> scanned;
  for (size_t k = 0; 1 + states + k < body.outputs().size(); ++k) {
    scanned.emplace_back(n, k, states + k, body.value(body.outputs()[1 + states + k]).type, 0);
    scanned.back().declare();
  }
  f.open("for (; i < trips && go; ++i)");
  put_limit(n);
  std::vector<std::string> in = {"&iv", "&gv"}, out = {"&mv"};
  carried.add_views(in, out);
  for (size_t k = n.formals(); k < body.inputs().size(); ++k) in.push_back(n.in_view(k));
  for (size_t k = 0; k < scanned.size(); ++k) out.push_back(fmt::format("&it{}", k));
  n.call(0, in, out);
  f.put("go = more;");
  carried.turn();
  for (auto& result : scanned)
    if (result.is_read()) result.place("i", {"i + 1", true});
  f.close();
  carried.give();
  for (auto& result : scanned)
    if (result.is_read()) result.set_dims({"i"});
  return {};
}

}  // namespace mrvlc::chost
