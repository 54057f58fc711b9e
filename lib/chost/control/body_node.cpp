// Bodies as functions with arenas; views, copies and checks.
#include "control/body_node.h"

#include <utility>

#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/op_kind.h"
#include "text.h"

namespace mrvlc::chost {
namespace {

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "NULL" : text;
}

}  // namespace

bool same_memory(const TensorType& given, const TensorType& result) {
  return result.wrapper == Wrapper::None || result.wrapper == Wrapper::Optional ||
         (given.length == result.length && slot_bytes(given) == slot_bytes(result));
}

Status BodyNode::add_bodies() {
  for (const ir::Graph* body : ir::bodies_of(node_)) MRVLC_TRY(add_body(*body));
  return {};
}

// Texts that a body makes are read after it has run, those of one round in later ones as well: every round
// has an arena of its own, which is kept. Nothing is needed for texts that do not change.
Status BodyNode::add_body(const ir::Graph& body) {
  Module& module = f_.program().module;
  const auto rounds = most_rounds();
  const bool allowed = std::exchange(module.texts_allowed, module.texts_allowed && rounds.has_value());
  const bool made = std::exchange(module.texts_made, false);
  auto b = emit_body(module, body, f_.program().options, fmt::format("b{}", body.first_expr));
  module.texts_allowed = allowed;
  const bool keeps = module.texts_made;
  module.texts_made = made || keeps;
  if (!b.ok()) return std::move(b).error();
  const bool runs = module.uses_device(body);
  std::string further = runs ? ", device, state" : f_.program().options.trace_values ? ", device" : "";
  if (f_.program().options.weights == WeightsAs::Blob) further += ", " + f_.weights_base();
  callees_.push_back(
      {b->symbol, "(unsigned char*)" + arena_of(b->arena_bytes, keeps, rounds), std::move(further)});
  return {};
}

std::string BodyNode::arena_of(int64_t bytes, bool keeps, std::optional<int64_t> rounds) {
  if (bytes == 0) return "NULL";
  if (!keeps || *rounds <= 1) return f_.arena(bytes, keeps);
  const int64_t stride = ceil_div(bytes, kArenaAlign) * kArenaAlign;
  // What overflows is refused as too large.
  const int64_t all = checked_mul(stride, *rounds).value_or(INT64_MAX);
  return fmt::format("{} + i * MRVL_ARENA_SIZE({})", f_.arena(all, true), stride);
}

std::optional<int64_t> BodyNode::known_trips() const {
  return ops::known_rounds(node_.inputs[0].valid() ? graph_.constant(node_.inputs[0]) : nullptr);
}

// How often a body runs at most; nothing when that is not known, and --max-rounds is a limit that a macro of
// the build may raise.
std::optional<int64_t> BodyNode::most_rounds() const {
  if (node_.is(Op::If)) return 1;
  if (node_.is(Op::Loop)) {
    return known_trips();
  }
  if (node_.is(Op::SequenceMap)) return in_type(0).length;
  auto p = ops::scan_params(*node_.op, node_.attrs, formals());
  if (!p.ok()) return std::nullopt;
  const TensorType& scanned = in_type(p->states);
  const int64_t axis = p->input_axes[0] < 0 ? p->input_axes[0] + scanned.rank() : p->input_axes[0];
  return scanned.shape[static_cast<size_t>(axis)];
}

void BodyNode::fail() {
  const auto expr = f_.program().expr(node_.id).index();
  f_.put("return {0}_fail(error, {0}_ERROR_SHAPE, 0, {1}u, {0}_n{1});", prefix(), expr);
}

void BodyNode::fail_if(std::string_view condition, std::string_view code) {
  const auto expr = f_.program().expr(node_.id).index();
  f_.put("if ({0}) return {1}_fail(error, {1}_ERROR_{3}, 0, {2}u, {1}_n{2});", condition, prefix(), expr,
         code);
}

void BodyNode::copy_dims(const std::string& to, const std::string& from, const TensorType& type) {
  if (ops::holds_sequence(type)) {
    fail_if(fmt::format("{}->dim[0] > {}", from, type.length));
    return f_.put("memcpy({0}->dim, {1}->dim, sizeof {0}->dim);", to, from);
  }
  f_.need(set_dims_piece(type));
  fail_if(prefix() + "_" + set_dims_text(type, to, from + "->dim"));
}

void BodyNode::copy_value(const std::string& to, const TensorType& type, const std::string& from,
                          const TensorType& from_type) {
  copy_dims(to, from, type);
  if (type.wrapper == Wrapper::Sequence || type.wrapper == Wrapper::OptionalSequence) {
    f_.put("{}({}->data, {}, {}, 0, {}->data, {}, {}, 0, {}->dim[0]);", f_.need(Piece::seq_copy), to,
           type.length, slot_bytes(type), from, from_type.length, slot_bytes(from_type), from);
  } else {
    f_.put("memcpy({0}->data, {1}->data, {2}({0}, {3}) * {4}u);", to, from, f_.need(Piece::elements),
           type.rank(), memory_bytes(TensorType{type.elem, {}}));
  }
}

void BodyNode::declare_buffer(const std::string& var, const TensorType& type, int64_t bytes) {
  f_.put_struct(var,
                structs::View{.data = f_.scratch(std::max({bytes, memory_bytes(type), int64_t{1}})),
                              .dim = dims_text(type)},
                "");
}

void BodyNode::call(size_t b, const std::vector<std::string>& in, const std::vector<std::string>& out) {
  f_.put("const {0}_view* const in[] = {{{1}}};", prefix(), list_text(in));
  f_.put("{0}_view* const out[] = {{{1}}};", prefix(), list_text(out));
  f_.put("if ((rc = {}(in, out, {}, hook, user, error{})) != 0) return rc;", callees_[b].symbol,
         callees_[b].arena, callees_[b].further);
}

}  // namespace mrvlc::chost
