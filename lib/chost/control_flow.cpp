// If, Loop and Scan. A body is a function that takes views of its inputs and outputs and an arena of its own,
// which is scratch memory of the node. What goes round a loop has two buffers, which change places.
#include "mrvlc/ops/control_flow.h"

#include <utility>

#include "function.h"
#include "text.h"

namespace mrvlc::chost {
namespace {

using ir::ValueId;

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "NULL" : text;
}

std::string dims_text(const TensorType& type) {
  std::string text;
  if (type.wrapper != Wrapper::None) return "0";
  for (int64_t d : type.shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", d);
  return text.empty() ? "0" : text;
}

class ControlFlow {
 public:
  explicit ControlFlow(Function& f) : f_(f), node_(f.head()), graph_(f.program().graph) {}

  Status run() {
    f_.use_views();
    f_.set_reports();
    for (const ir::Graph* body : ir::bodies_of(node_)) MRVLC_TRY(add_body(*body));
    f_.pass("mrvl_hook hook", "hook");
    f_.pass("void* user", "user");
    f_.pass(fmt::format("{}_error* error", prefix()), "error");
    f_.put("int rc = 0;");
    if (node_.is(Op::If)) {
      emit_if();
    } else if (node_.is(Op::Loop)) {
      emit_loop();
    } else if (node_.is(Op::SequenceMap)) {
      emit_map();
    } else {
      MRVLC_TRY(emit_scan());
    }
    return {};
  }

 private:
  struct Callee {
    std::string symbol, arena;
  };

  // Texts that a body makes are read after it has run, those of one round in later ones as well: every round
  // has an arena of its own, which is kept. Nothing is needed for texts that do not change.
  Status add_body(const ir::Graph& body) {
    Module& module = f_.program().module;
    const auto rounds = most_rounds();
    const bool allowed = std::exchange(module.texts_allowed, module.texts_allowed && rounds.has_value());
    const bool made = std::exchange(module.texts_made, false);
    auto b = emit_body(module, body, f_.program().options);
    module.texts_allowed = allowed;
    const bool keeps = module.texts_made;
    module.texts_made = made || keeps;
    if (!b.ok()) return std::move(b).error();
    if (b->arena_bytes == 0) {
      bodies_.push_back({b->symbol, "(unsigned char*)NULL"});
    } else if (!keeps || *rounds <= 1) {
      bodies_.push_back({b->symbol, "(unsigned char*)" + f_.scratch(b->arena_bytes, keeps)});
    } else {
      const int64_t stride = ceil_div(b->arena_bytes, kArenaAlign) * kArenaAlign;
      // What overflows is refused as too large.
      const int64_t all = checked_mul(stride, *rounds).value_or(INT64_MAX);
      bodies_.push_back(
          {b->symbol, fmt::format("(unsigned char*){} + i * {}", f_.scratch(all, true), stride)});
    }
    return {};
  }

  // How often a body runs at most; nothing when that is not known.
  std::optional<int64_t> most_rounds() const {
    if (node_.is(Op::If)) return 1;
    if (node_.is(Op::Loop)) {
      const Tensor* trips = node_.inputs[0].valid() ? graph_.constant(node_.inputs[0]) : nullptr;
      return trips == nullptr ? std::nullopt : std::optional(std::max<int64_t>(trips->as_int(0), 0));
    }
    if (node_.is(Op::SequenceMap)) return type(node_.inputs[0]).length;
    const auto formals = static_cast<size_t>(node_.int_attr("formals"));
    auto p = ops::scan_params(*node_.op, node_.attrs, formals);
    if (!p.ok()) return std::nullopt;
    const TensorType& scanned = type(node_.inputs[p->states]);
    const int64_t axis = p->input_axes[0] < 0 ? p->input_axes[0] + scanned.rank() : p->input_axes[0];
    return scanned.shape[static_cast<size_t>(axis)];
  }
  const std::string& prefix() const { return f_.program().options.name; }
  const TensorType& type(ValueId v) const { return graph_.value(v).type; }
  const TensorType& out_type(size_t i) const { return type(node_.outputs[i]); }
  std::string in_view(size_t i) { return f_.view(node_.inputs[i], fmt::format("v{}", i), false); }
  std::string out_view(size_t i) { return f_.view(node_.outputs[i], fmt::format("w{}", i), true); }

  void fail(std::string_view condition, std::string_view code) {
    const auto expr = f_.program().expr(node_.id).index();
    f_.put("if ({0}) return {1}_fail(error, {1}_ERROR_{2}, 0, {3}u, {1}_n{3});", condition, prefix(), code,
           expr);
  }

  // Dimensions of `to` from those of `from`, which must suit the type.
  void copy_dims(const std::string& to, const std::string& from, const TensorType& t) {
    if (t.wrapper != Wrapper::None) {
      fail(fmt::format("{}->dim[0] > {}", from, t.length), "SHAPE");
      return f_.put("memcpy({0}->dim, {1}->dim, sizeof {0}->dim);", to, from);
    }
    fail(fmt::format("{}({}, {}, {}->dim, (const int64_t[]){{{}}}, {}u, INT64_C({}))", f_.need("set_dims"),
                     to, t.rank(), from, dims_text(t), t.open, t.elements()),
         "SHAPE");
  }

  // The dimensions and elements of a value of type `from_type` at `from` become those of `to`.
  void copy_value(const std::string& to, const TensorType& t, const std::string& from,
                  const TensorType& from_type) {
    copy_dims(to, from, t);
    if (t.wrapper == Wrapper::Sequence || t.wrapper == Wrapper::OptionalSequence) {
      f_.put("{}({}->data, {}, {}, 0, {}->data, {}, {}, 0, {}->dim[0]);", f_.need("seq_copy"), to, t.length,
             slot_bytes(t), from, from_type.length, slot_bytes(from_type), from);
    } else {
      f_.put("memcpy({0}->data, {1}->data, {2}({0}, {3}) * {4}u);", to, from, f_.need("elements"), t.rank(),
             memory_bytes(TensorType{t.elem, {}}));
    }
  }

  void call(const Callee& body, const std::vector<std::string>& in, const std::vector<std::string>& out) {
    f_.put("const {0}_view* const in[] = {{{1}}};", prefix(), list_text(in));
    f_.put("{0}_view* const out[] = {{{1}}};", prefix(), list_text(out));
    f_.put("if ((rc = {}(in, out, {}, hook, user, error)) != 0) return rc;", body.symbol, body.arena);
  }

  void emit_if() {
    size_t first = 1, bodies = 0;
    const std::string condition = f_.read(node_.inputs[0], "x0");
    for (size_t b = 0; b < 2; ++b) {
      f_.open(b == 0 ? fmt::format("if (*{})", condition) : "else");
      if (ir::is_set(node_.attrs[b])) {
        const ir::Graph& body = *ir::bodies_of(node_)[bodies];
        emit_branch(body, bodies_[bodies++], first);
        first += body.inputs().size();
      } else {
        const auto expr = f_.program().expr(node_.id).index();
        f_.put("return {0}_fail(error, {0}_ERROR_SHAPE, 0, {1}u, {0}_n{1});", prefix(), expr);
      }
      f_.close();
    }
  }

  void emit_branch(const ir::Graph& body, const Callee& callee, size_t first) {
    std::vector<std::string> in, out;
    for (size_t i = 0; i < body.inputs().size(); ++i) in.push_back(in_view(first + i));
    std::vector<size_t> through;  // results that are laid out differently
    for (size_t i = 0; i < body.outputs().size(); ++i) {
      const TensorType& given = body.value(body.outputs()[i]).type;
      if (i < node_.outputs.size() && same_memory(given, out_type(i))) {
        out.push_back(out_view(i));
        continue;
      }
      out.push_back(fmt::format("&t{}", i));
      if (i < node_.outputs.size()) through.push_back(i);
      declare_buffer(fmt::format("t{}", i), given, memory_bytes(given));
    }
    call(callee, in, out);
    for (size_t i : through)
      copy_value(out_view(i), out_type(i), fmt::format("(&t{})", i), body.value(body.outputs()[i]).type);
  }

  static bool same_memory(const TensorType& given, const TensorType& result) {
    return result.wrapper == Wrapper::None || result.wrapper == Wrapper::Optional ||
           (given.length == result.length && slot_bytes(given) == slot_bytes(result));
  }

  // NAME_view VAR = {scratch memory, the type's dimensions};
  void declare_buffer(const std::string& var, const TensorType& t, int64_t bytes) {
    f_.put("{}_view {} = {{{}, {{{}}}}};", prefix(), var, f_.scratch(std::max<int64_t>(bytes, 1)),
           dims_text(t));
  }

  // Declares buffers st<k> and nx<k> of the states, the first with the values that come in.
  void declare_states(const ir::Graph& body, size_t first_input, size_t first_formal, size_t first_result,
                      size_t states) {
    for (size_t k = 0; k < states; ++k) {
      const TensorType& formal = body.value(body.inputs()[first_formal + k]).type;
      const TensorType& result = body.value(body.outputs()[first_result + k]).type;
      const int64_t bytes = std::max(memory_bytes(formal), memory_bytes(result));
      declare_buffer(fmt::format("st{}", k), formal, bytes);
      declare_buffer(fmt::format("nx{}", k), result, bytes);
      const ValueId initial = node_.inputs[first_input + k];
      copy_value(fmt::format("(&st{})", k), formal, in_view(first_input + k), type(initial));
    }
  }

  // What came out goes in next.
  void turn_states(const ir::Graph& body, size_t first_formal, size_t first_result, size_t states) {
    for (size_t k = 0; k < states; ++k) {
      const TensorType& formal = body.value(body.inputs()[first_formal + k]).type;
      const TensorType& result = body.value(body.outputs()[first_result + k]).type;
      if (!same_memory(result, formal)) {
        copy_value(fmt::format("(&st{})", k), formal, fmt::format("(&nx{})", k), result);
        continue;
      }
      copy_dims(fmt::format("(&st{})", k), fmt::format("(&nx{})", k), formal);
      f_.open("");
      f_.put("void* const t = st{0}.data;", k);
      f_.put("st{0}.data = nx{0}.data;", k);
      f_.put("nx{}.data = t;", k);
      f_.close();
    }
  }

  void give_states(const ir::Graph& body, size_t first_formal, size_t states) {
    for (size_t k = 0; k < states && k < node_.outputs.size(); ++k) {
      const TensorType& formal = body.value(body.inputs()[first_formal + k]).type;
      copy_value(out_view(k), out_type(k), fmt::format("(&st{})", k), formal);
    }
  }

  // A scanned result: each round's tensor goes to it<k>, and from there to its place.
  void declare_item(size_t k, const TensorType& t) {
    declare_buffer(fmt::format("it{}", k), t, memory_bytes(t));
    f_.put("int64_t dim{}[8] = {{{}}};", k, first_dims(t));
  }

  // Of the tensors of no round at all: what is open is 0.
  static std::string first_dims(const TensorType& t) {
    std::string text;
    for (int64_t d = 0; d < t.rank(); ++d)
      text += fmt::format("{}{}", d == 0 ? "" : ", ", t.is_open(d) ? 0 : t.shape[static_cast<size_t>(d)]);
    return text.empty() ? "0" : text;
  }

  void emit_loop() {
    const ir::Graph& body = *ir::bodies_of(node_)[0];
    const auto formals = static_cast<size_t>(node_.int_attr("formals"));
    const size_t states = formals - 2, scans = body.outputs().size() - 1 - states;
    const bool limited = node_.inputs[0].valid(), conditional = node_.inputs[1].valid();
    f_.put("const int64_t trips = {};", limited ? "*" + f_.read(node_.inputs[0], "x0") : "INT64_MAX");
    f_.put("int64_t i = 0;");
    f_.put("uint8_t go = {}, more = 1;", conditional ? "*" + f_.read(node_.inputs[1], "x1") : "1");
    f_.put("{0}_view iv = {{&i, {{0}}}}, gv = {{&go, {{0}}}}, mv = {{&more, {{0}}}};", prefix());
    declare_states(body, 2, 2, 1, states);
    for (size_t k = 0; k < scans; ++k) declare_item(k, body.value(body.outputs()[1 + states + k]).type);
    f_.open("for (; i < trips && go; ++i)");
    std::vector<std::string> in = {"&iv", "&gv"}, out = {"&mv"};
    for (size_t k = 0; k < states; ++k) in.push_back(fmt::format("&st{}", k));
    for (size_t k = formals; k < body.inputs().size(); ++k) in.push_back(in_view(k));
    for (size_t k = 0; k < states; ++k) out.push_back(fmt::format("&nx{}", k));
    for (size_t k = 0; k < scans; ++k) out.push_back(fmt::format("&it{}", k));
    call(bodies_[0], in, out);
    f_.put("go = more;");
    turn_states(body, 2, 1, states);
    for (size_t k = 0; k < scans && states + k < node_.outputs.size(); ++k)
      place_item(k, states + k, body.value(body.outputs()[1 + states + k]).type, 0, "i", "i");
    f_.close();
    give_states(body, 2, states);
    for (size_t k = 0; k < scans && states + k < node_.outputs.size(); ++k)
      finish_scan(k, states + k, body.value(body.outputs()[1 + states + k]).type, 0, "i");
  }

  // Tensor `it<k>` of round `round` becomes element `index` along `axis` of result `output`. The result has
  // the dimensions it will have with `count` rounds; along axis 0 that is as many as there have been.
  void place_item(size_t k, size_t output, const TensorType& item, int64_t axis, std::string_view round,
                  std::string_view index, std::string_view count = "i + 1") {
    const std::string view = fmt::format("it{}", k);
    f_.put("if ({} == 0) memcpy(dim{}, {}.dim, sizeof dim{});", round, k, view, k);
    fail(fmt::format("memcmp(dim{}, {}.dim, {} * sizeof(int64_t)) != 0", k, view, item.rank()), "SHAPE");
    finish_scan(k, output, item, axis, count);
    f_.open("");
    std::string outer = "1", inner = fmt::format("{}u", memory_bytes(TensorType{item.elem, {}}));
    for (int64_t d = 0; d < item.rank(); ++d)
      (d < axis ? outer : inner) += fmt::format(" * (size_t)dim{}[{}]", k, d);
    f_.put("const size_t outer = {}, bytes = {};", outer, inner);
    f_.open("for (size_t o = 0; o < outer; ++o)");
    f_.put(
        "memcpy((unsigned char*){0}->data + (o * (size_t){0}->dim[{1}] + (size_t)({2})) * bytes, (const "
        "unsigned char*){3}.data + o * bytes, bytes);",
        out_view(output), axis, index, view);
    f_.close();
    f_.close();
  }

  void finish_scan(size_t k, size_t output, const TensorType& item, int64_t axis, std::string_view count) {
    const TensorType& t = out_type(output);
    std::string dims;
    for (int64_t d = 0; d <= item.rank(); ++d) {
      dims += d == 0 ? "" : ", ";
      dims += d == axis ? std::string(count) : fmt::format("dim{}[{}]", k, d < axis ? d : d - 1);
    }
    // While rounds go on, a fixed number of them is not reached yet.
    const bool exact = count == "i" || !t.is_open(axis);
    TensorType bound = t;
    if (!exact || count == "i + 1") bound.open |= 1u << axis;
    fail(fmt::format("{}({}, {}, (const int64_t[]){{{}}}, (const int64_t[]){{{}}}, {}u, INT64_C({}))",
                     f_.need("set_dims"), out_view(output), t.rank(), dims, dims_text(t),
                     count == "i + 1" ? bound.open : t.open, t.elements()),
         "SHAPE");
  }

  // One round for each tensor of the first sequence.
  void emit_map() {
    const ir::Graph& body = *ir::bodies_of(node_)[0];
    const auto formals = static_cast<size_t>(node_.int_attr("formals"));
    const std::string count = in_view(0) + "->dim[0]";
    for (size_t k = 0; k < formals; ++k) {
      if (type(node_.inputs[k]).wrapper != Wrapper::Sequence) continue;
      f_.put("{}_view sc{} = {{NULL, {{0}}}};", prefix(), k);
      if (k > 0) fail(fmt::format("{}->dim[0] < {}", in_view(k), count), "SHAPE");
    }
    for (size_t k = 0; k < body.outputs().size(); ++k) {
      const TensorType& item = body.value(body.outputs()[k]).type;
      declare_buffer(fmt::format("it{}", k), item, memory_bytes(item));
    }
    f_.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
    std::vector<std::string> in, out;
    for (size_t k = 0; k < body.inputs().size(); ++k) {
      const TensorType& t = type(node_.inputs[k]);
      if (k >= formals || t.wrapper != Wrapper::Sequence) {
        in.push_back(in_view(k));
        continue;
      }
      f_.put("memcpy(sc{}.dim, (const int64_t*){}->data + i * 8, 7 * sizeof(int64_t));", k, in_view(k));
      f_.put("sc{}.data = (unsigned char*){}->data + {} + i * {};", k, in_view(k), t.length * 64,
             slot_bytes(t));
      in.push_back(fmt::format("&sc{}", k));
    }
    for (size_t k = 0; k < body.outputs().size(); ++k) out.push_back(fmt::format("&it{}", k));
    call(bodies_[0], in, out);
    for (size_t k = 0; k < node_.outputs.size(); ++k) {
      const TensorType& t = out_type(k);
      fail(fmt::format("i >= {}", t.length), "SHAPE");
      f_.put("{}({}->data, {}, {}, i, it{}.dim, {}, it{}.data, {}u);", f_.need("seq_put"), out_view(k),
             t.length, slot_bytes(t), k, t.rank(), k, memory_bytes(TensorType{t.elem, {}}));
    }
    f_.close();
    for (size_t k = 0; k < node_.outputs.size(); ++k) f_.put("{}->dim[0] = {};", out_view(k), count);
  }

  Status emit_scan() {
    const ir::Graph& body = *ir::bodies_of(node_)[0];
    const auto formals = static_cast<size_t>(node_.int_attr("formals"));
    MRVLC_ASSIGN(ops::ScanParams p, ops::scan_params(*node_.op, node_.attrs, formals));
    const size_t states = p.states, scans = formals - states, results = body.outputs().size() - states;
    std::vector<int64_t> axes = node_.ints_attr("scan_output_axes");
    std::vector<int64_t> reversed = node_.ints_attr("scan_output_directions");
    axes.resize(results, 0);
    reversed.resize(results, 0);
    auto input_axis = [&](size_t k) {
      return p.input_axes[k] < 0 ? p.input_axes[k] + type(node_.inputs[states + k]).rank() : p.input_axes[k];
    };
    f_.put("const int64_t trips = {}->dim[{}];", in_view(states), input_axis(0));
    f_.put("int64_t i = 0;");
    declare_states(body, 0, 0, 0, states);
    for (size_t k = 0; k < scans; ++k) {
      const TensorType& item = body.value(body.inputs()[states + k]).type;
      declare_buffer(fmt::format("sc{}", k), item, memory_bytes(item));
      if (k > 0) fail(fmt::format("{}->dim[{}] != trips", in_view(states + k), input_axis(k)), "SHAPE");
    }
    for (size_t k = 0; k < results; ++k) declare_item(k, body.value(body.outputs()[states + k]).type);
    f_.open("for (; i < trips; ++i)");
    std::vector<std::string> in, out;
    for (size_t k = 0; k < states; ++k) in.push_back(fmt::format("&st{}", k));
    for (size_t k = 0; k < scans; ++k) {
      take_slice(k, states + k, input_axis(k), p.input_reversed[k] ? "trips - 1 - i" : "i");
      in.push_back(fmt::format("&sc{}", k));
    }
    for (size_t k = formals; k < body.inputs().size(); ++k) in.push_back(in_view(k));
    for (size_t k = 0; k < states; ++k) out.push_back(fmt::format("&nx{}", k));
    for (size_t k = 0; k < results; ++k) out.push_back(fmt::format("&it{}", k));
    call(bodies_[0], in, out);
    turn_states(body, 0, 0, states);
    for (size_t k = 0; k < results && states + k < node_.outputs.size(); ++k) {
      const TensorType& item = body.value(body.outputs()[states + k]).type;
      const int64_t axis = axes[k] < 0 ? axes[k] + item.rank() + 1 : axes[k];
      place_item(k, states + k, item, axis, "i", reversed[k] != 0 ? "trips - 1 - i" : "i", "trips");
    }
    f_.close();
    give_states(body, 0, states);
    for (size_t k = 0; k < results && states + k < node_.outputs.size(); ++k) {
      const TensorType& item = body.value(body.outputs()[states + k]).type;
      finish_scan(k, states + k, item, axes[k] < 0 ? axes[k] + item.rank() + 1 : axes[k], "trips");
    }
    return {};
  }

  // sc<k> = element `index` along the axis of input `input`.
  void take_slice(size_t k, size_t input, int64_t axis, std::string_view index) {
    const TensorType& t = type(node_.inputs[input]);
    std::string outer = "1", inner = fmt::format("{}u", memory_bytes(TensorType{t.elem, {}}));
    const std::string view = in_view(input);
    f_.open("");
    for (int64_t d = 0, to = 0; d < t.rank(); ++d) {
      if (d == axis) continue;
      (d < axis ? outer : inner) += fmt::format(" * (size_t){}->dim[{}]", view, d);
      f_.put("sc{}.dim[{}] = {}->dim[{}];", k, to++, view, d);
    }
    f_.put("const size_t outer = {}, bytes = {};", outer, inner);
    f_.open("for (size_t o = 0; o < outer; ++o)");
    f_.put(
        "memcpy((unsigned char*)sc{0}.data + o * bytes, (const unsigned char*){1}->data + (o * (size_t)trips "
        "+ "
        "(size_t)({2})) * bytes, bytes);",
        k, view, index);
    f_.close();
    f_.close();
  }

  Function& f_;
  const ir::Node& node_;
  const ir::Graph& graph_;
  std::vector<Callee> bodies_;
};

}  // namespace

Status emit_control_flow(Function& f) {
  return ControlFlow(f).run();
}

}  // namespace mrvlc::chost
