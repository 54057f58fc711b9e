// SequenceMap: one round for each tensor of the first sequence.
#include "control/body_node.h"

namespace mrvlc::chost {
namespace {

bool is_mapped(const BodyNode& n, size_t input) {
  return input < n.formals() && n.in_type(input).wrapper == Wrapper::Sequence;
}

// sc<k> views tensor i of sequence k: its dimensions, then its slot (docs/values.md).
std::string take_item(BodyNode& n, size_t k) {
  Function& f = n.function();
  const TensorType& t = n.in_type(k);
  f.put("memcpy(sc{}.dim, (const int64_t*){}->data + i * 8, 7 * sizeof(int64_t));", k, n.in_view(k));
  f.put("sc{}.data = (unsigned char*){}->data + {} + i * {};", k, n.in_view(k), t.length * 64, slot_bytes(t));
  return fmt::format("&sc{}", k);
}

void put_item(BodyNode& n, size_t k) {
  Function& f = n.function();
  const TensorType& t = n.out_type(k);
  n.fail_if(fmt::format("i >= {}", t.length));
  f.put("{}({}->data, {}, {}, i, it{}.dim, {}, it{}.data, {}u);", f.need(Piece::seq_put), n.out_view(k),
        t.length, slot_bytes(t), k, t.rank(), k, memory_bytes(TensorType{t.elem, {}}));
}

}  // namespace

Status emit_sequence_map(BodyNode& n) {
  Function& f = n.function();
  const ir::Graph& body = n.body(0);
  const std::string count = n.in_view(0) + "->dim[0]";
  for (size_t k = 0; k < n.formals(); ++k) {
    if (!is_mapped(n, k)) continue;
    f.put_struct(fmt::format("sc{}", k), structs::View{.data = "NULL", .dim = "0"}, "");
    if (k > 0) n.fail_if(fmt::format("{}->dim[0] < {}", n.in_view(k), count));
  }
  for (size_t k = 0; k < body.outputs().size(); ++k)
    n.declare_buffer(fmt::format("it{}", k), body.value(body.outputs()[k]).type);
  f.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  std::vector<std::string> in, out;
  for (size_t k = 0; k < body.inputs().size(); ++k)
    in.push_back(is_mapped(n, k) ? take_item(n, k) : n.in_view(k));
  for (size_t k = 0; k < body.outputs().size(); ++k) out.push_back(fmt::format("&it{}", k));
  n.call(0, in, out);
  for (size_t k = 0; k < n.node().outputs.size(); ++k) put_item(n, k);
  f.close();
  for (size_t k = 0; k < n.node().outputs.size(); ++k) f.put("{}->dim[0] = {};", n.out_view(k), count);
  return {};
}

}  // namespace mrvlc::chost
