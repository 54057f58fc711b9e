// Templates of arguments, filled in for one match. A match whose call could not be right is refused: an
// operand that nothing mentions, a value from the middle of what is matched, a result that nobody writes.
#include "calls.h"

#include <algorithm>
#include <set>
#include <utility>

namespace mrvlc::partition {
namespace {

constexpr int64_t kMaxScratch = int64_t{1} << 40;
constexpr int64_t kMaxNumbers = 1 << 16;  // in fixed point

rules::Verdict refusal(std::string condition, std::string actual, std::string limit, std::string reason) {
  return {false, std::move(condition), std::move(actual), std::move(limit), std::move(reason)};
}

class CallMaker {
 public:
  CallMaker(const ir::Graph& graph, const rules::Match& match, std::vector<ir::NodeId> nodes)
      : graph_(graph), match_(match), call_(*match.rule->call) {
    out_.nodes = std::move(nodes);
  }

  MadeCall run() {
    out_.rule = match_.rule->name;
    out_.anchor = match_.anchor;
    out_.function = call_.function;
    out_.returns = call_.returns;
    for (const rules::CallArgument& a : call_.arguments) out_.arguments.push_back(argument(a));
    if (match_.rule->seconds) out_.seconds = seconds();
    operands_are_mentioned();
    results_are_written();
    if (!refused_.ok) return {std::nullopt, std::move(refused_)};
    return {std::move(out_), {}};
  }

 private:
  // The first counts.
  void refuse(std::string what, std::string actual, std::string limit, std::string reason) {
    if (refused_.ok)
      refused_ = refusal(fmt::format("call {}: {}", call_.function, what), std::move(actual),
                         std::move(limit), std::move(reason));
  }

  CallArgument argument(const rules::CallArgument& a) {
    if (a.kind == rules::CallArgument::Kind::Value) return value(a.value);
    CallArgument out;
    const bool structure = a.kind == rules::CallArgument::Kind::Structure;
    out.kind = structure ? CallArgument::Kind::Structure : CallArgument::Kind::Array;
    out.text = a.type;
    out.address = a.address;
    for (const rules::CallArgument& i : a.items) out.items.push_back(argument(i));
    return out;
  }

  CallArgument value(const rules::Expression& e) {
    using ExpressionKind = rules::Expression::Kind;
    if (e.kind == ExpressionKind::Capture) return tensor(e, {});
    if (e.kind == ExpressionKind::Word) return name(e.text);
    if (e.kind != ExpressionKind::Call) return number(e);
    if (e.text == rules::kScratch) return scratch(e.items[0]);
    if (rules::is_fixed_array(e)) return fixed_point(e);
    if (e.text == rules::kWritable) return writable(e.items[0]);
    if (e.text != rules::kPermuted) return number(e);
    std::vector<int64_t> perm;
    for (const rules::Expression& d : e.items[1].items) perm.push_back(d.integer);
    return tensor(e.items[0], std::move(perm));
  }

  CallArgument writable(const rules::Expression& e) {
    CallArgument out = value(e);
    // Sums of lists of one number each are a number.
    const bool number = out.kind == CallArgument::Kind::Integer || out.kind == CallArgument::Kind::Real;
    if (number) {
      CallArgument array;
      array.kind = CallArgument::Kind::Array;
      array.items.push_back(std::move(out));
      out = std::move(array);
    }
    out.writable = true;
    return out;
  }

  static CallArgument name(std::string text) {
    CallArgument out;
    out.kind = CallArgument::Kind::Name;
    out.text = std::move(text);
    return out;
  }

  CallArgument tensor(const rules::Expression& e, std::vector<int64_t> perm) {
    const rules::Binding* b = match_.find(e.text);
    if (!is_there(b)) return name("NULL");
    CallArgument out;
    out.kind = CallArgument::Kind::Tensor;
    out.perm = std::move(perm);
    const std::string shown = "%" + e.text;
    if (b->list) {
      refuse(shown, "a list", "one tensor", fmt::format("{} stands for several tensors.", shown));
      return out;
    }
    out.value = b->value;
    check_type(shown, graph_.value(b->value).type);
    if (!out.perm.empty() && out.perm.size() != graph_.value(b->value).type.shape.size())
      refuse(shown, fmt::format("rank {}", graph_.value(b->value).type.rank()),
             fmt::format("rank {}", out.perm.size()),
             fmt::format("{} does not have the dimensions that 'permuted' names.", shown));
    const ir::NodeId producer = graph_.value(b->value).producer;
    out.written = producer.valid() && producer == out_.nodes.back();
    if (!out.written && is_inside(producer))
      refuse(shown, "an intermediate value", "an operand or a result",
             fmt::format("{} is computed in the middle of what the rule matches.", shown));
    return out;
  }

  void check_type(const std::string& shown, const TensorType& type) {
    const bool bytes = type.elem != ElementType::String && type.elem != ElementType::Undefined &&
                       type.elem != ElementType::C64 && type.elem != ElementType::C128;
    if (!type.is_static() || type.wrapper != Wrapper::None)
      refuse(shown, to_string(type), "a static shape",
             fmt::format("the shape of {} is known at run time only.", shown));
    if (!bytes)
      refuse(shown, std::string(mrvlc::name(type.elem)), "numbers",
             fmt::format("{} does not hold numbers that C has.", shown));
  }

  bool is_inside(ir::NodeId n) const {
    return n.valid() && std::ranges::find(out_.nodes, n) != out_.nodes.end();
  }

  // An element that is missing stands for what it would have read.
  static bool is_there(const rules::Binding* b) { return b != nullptr && (b->list || b->value.valid()); }

  // Whether all that a measure is asked of is there.
  bool can_be_asked(const rules::Expression& e) const {
    const bool call = e.kind == rules::Expression::Kind::Call;
    const rules::Function* f = call ? rules::find_function(e.text) : nullptr;
    for (size_t i = 0; i < e.items.size(); ++i) {
      if (e.items[i].kind != rules::Expression::Kind::Capture) {
        if (!can_be_asked(e.items[i])) return false;
        continue;
      }
      const rules::Binding* b = match_.find(e.items[i].text);
      if (f != nullptr && f->takes_lists) continue;
      const bool node = f != nullptr && f->parameters[i] == rules::Kind::Node;
      if (!is_there(b) || (node && !b->list && !b->node.valid())) return false;
    }
    return true;
  }

  std::optional<rules::Datum> datum(const rules::Expression& e) {
    rules::Data data;
    if (can_be_asked(e)) data = rules::measure(e, {graph_, match_, nullptr});
    if (data.size() == 1 && !std::holds_alternative<std::monostate>(data[0])) return std::move(data[0]);
    const std::string text = rules::expression_text(e);
    refuse(text, "nothing", "a value", fmt::format("'{}' has no value here.", text));
    return std::nullopt;
  }

  static CallArgument of_integer(int64_t i) {
    CallArgument out;
    out.integer = i;
    return out;
  }
  static CallArgument of_real(double d) {
    CallArgument out;
    out.kind = CallArgument::Kind::Real;
    out.real = d;
    return out;
  }
  template <class T, class F>
  static CallArgument of_list(const std::vector<T>& numbers, F one) {
    CallArgument out;
    out.kind = CallArgument::Kind::Array;
    for (T n : numbers) out.items.push_back(one(n));
    return out;
  }

  CallArgument number(const rules::Expression& e) {
    const std::optional<rules::Datum> d = datum(e);
    if (!d) return {};
    if (auto* i = std::get_if<int64_t>(&*d)) return of_integer(*i);
    if (auto* f = std::get_if<double>(&*d)) return of_real(*f);
    if (auto* v = std::get_if<std::vector<int64_t>>(&*d)) return of_list(*v, of_integer);
    if (auto* v = std::get_if<std::vector<double>>(&*d)) return of_list(*v, of_real);
    CallArgument out;
    out.kind = CallArgument::Kind::Text;
    out.text = std::get<std::string>(*d);
    return out;
  }

  static std::vector<double> numbers_of(const rules::Datum& d) {
    if (auto* i = std::get_if<int64_t>(&d)) return {static_cast<double>(*i)};
    if (auto* f = std::get_if<double>(&d)) return {*f};
    if (auto* v = std::get_if<std::vector<double>>(&d)) return *v;
    auto* v = std::get_if<std::vector<int64_t>>(&d);
    return v == nullptr ? std::vector<double>() : std::vector<double>(v->begin(), v->end());
  }

  // One for each channel, where there is one for all it is repeated.
  CallArgument fixed_point(const rules::Expression& e) {
    CallArgument out;
    out.kind = CallArgument::Kind::Array;
    const std::optional<rules::Datum> of = datum(e.items[0]), count = datum(e.items[1]);
    if (!of || !count) return out;
    const std::vector<double> numbers = numbers_of(*of);
    const auto* n = std::get_if<int64_t>(&*count);
    const bool fits = n != nullptr && *n >= 1 && *n <= kMaxNumbers &&
                      (numbers.size() == 1 || std::cmp_equal(numbers.size(), *n));
    if (!fits) {
      refuse(e.text, fmt::format("{} numbers", numbers.size()), "as many as the function reads",
             "there are not as many numbers as the function reads.");
      return out;
    }
    for (int64_t i = 0; i < *n; ++i)
      out.items.push_back(of_fixed(numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(i)], e.text));
    return out;
  }

  CallArgument of_fixed(double number, std::string_view what) {
    const std::optional<rules::FixedPoint> fixed = rules::fixed_point(number);
    if (!fixed)
      refuse(std::string(what), fmt::format("{}", number), "0 to 2^30",
             fmt::format("{} has no form in fixed point.", number));
    const rules::FixedPoint f = fixed.value_or(rules::FixedPoint());
    return of_integer(what == rules::kQ31 ? f.q31 : f.shift);
  }

  CallArgument scratch(const rules::Expression& e) {
    CallArgument out;
    out.kind = CallArgument::Kind::Scratch;
    const std::optional<rules::Datum> d = datum(e);
    const auto* bytes = d ? std::get_if<int64_t>(&*d) : nullptr;
    out.integer = bytes == nullptr ? 0 : *bytes;
    if (out.integer < 0 || out.integer > kMaxScratch)
      refuse("scratch", fmt::format("{} bytes", out.integer), fmt::format("{} bytes", kMaxScratch),
             "the scratch memory it asks for is no size that can be given.");
    return out;
  }

  std::optional<double> seconds() {
    const std::optional<rules::Datum> d = datum(*match_.rule->seconds);
    if (!d) return std::nullopt;
    double out = -1;
    if (auto* i = std::get_if<int64_t>(&*d)) out = static_cast<double>(*i);
    if (auto* f = std::get_if<double>(&*d)) out = *f;
    if (!(out >= 0 && out < 1e9))
      refuse("cost", fmt::format("{}", out), "seconds from 0", "its cost is no number of seconds.");
    return out;
  }

  void mention(const rules::Expression& e) {
    if (e.kind == rules::Expression::Kind::Capture) mention(e.text);
    for (const rules::Expression& i : e.items) mention(i);
  }
  void mention(const std::string& capture) {
    const rules::Binding* b = match_.find(capture);
    if (!is_there(b)) return;
    mentioned_.insert(b->value);
    mentioned_.insert(b->values.begin(), b->values.end());
  }
  void mention(const rules::CallArgument& a) {
    mention(a.value);
    for (const rules::CallArgument& i : a.items) mention(i);
  }
  void mention(const std::vector<rules::Condition>& conditions) {
    for (const rules::Condition& c : conditions) {
      for (const rules::Term& t : c.any_of) {
        mention(t.left);
        for (const rules::Expression& r : t.right) mention(r);
        mention(t.named);
      }
    }
  }

  // Who writes `Conv(%x, %w, %b?)` and forgets %b would get a convolution without its bias.
  void operands_are_mentioned() {
    for (const rules::CallArgument& a : call_.arguments) mention(a);
    mention(match_.rule->where);
    for (ir::NodeId n : out_.nodes) {
      const ir::Node& node = graph_.node(n);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const ir::ValueId v = node.inputs[i];
        if (!v.valid() || is_inside(graph_.value(v).producer) || mentioned_.contains(v)) continue;
        refuse("operands", fmt::format("input {} of {}", i, node.op->name), "all operands mentioned",
               fmt::format("neither its arguments nor a condition mentions input {} of {} ('{}').", i,
                           node.op->name, printable(graph_.value(v).name, 80)));
      }
    }
  }

  bool writes(const std::vector<CallArgument>& arguments, ir::ValueId v) const {
    return std::ranges::any_of(arguments, [&](const CallArgument& a) {
      return (a.kind == CallArgument::Kind::Tensor && a.written && a.value == v) || writes(a.items, v);
    });
  }

  void results_are_written() {
    const ir::Node& last = graph_.node(out_.nodes.back());
    for (ir::ValueId v : last.outputs) {
      if (!v.valid() || graph_.use_count(v) == 0 || writes(out_.arguments, v)) continue;
      refuse("results", "not passed", "all results passed",
             fmt::format("its arguments do not say where the result '{}' goes.",
                         printable(graph_.value(v).name, 80)));
    }
  }

  const ir::Graph& graph_;
  const rules::Match& match_;
  const rules::CallTemplate& call_;
  std::set<ir::ValueId> mentioned_;
  Call out_;
  rules::Verdict refused_;
};

}  // namespace

rules::Verdict callable(const ir::Graph& graph, const rules::Match& match, std::vector<ir::NodeId> nodes) {
  return make_call(graph, match, std::move(nodes)).refused;
}

MadeCall make_call(const ir::Graph& graph, const rules::Match& match, std::vector<ir::NodeId> nodes) {
  return CallMaker(graph, match, std::move(nodes)).run();
}

void gather_calls(const ir::Graph& graph, Partition& partition) {
  if (partition.calls.empty()) return;
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> call_of(graph.node_slots(), kNone);
  for (size_t i = 0; i < partition.calls.size(); ++i) {
    for (ir::NodeId n : partition.calls[i].nodes) call_of[n.index()] = static_cast<uint32_t>(i);
  }
  std::vector<Step> steps;
  for (const Step& s : partition.steps) {
    const uint32_t call = s.kind == Step::Kind::Cpu ? call_of[s.node.index()] : kNone;
    if (call == kNone) {
      steps.push_back(s);
    } else if (s.node == partition.calls[call].nodes.back()) {
      steps.push_back({Step::Kind::Call, s.node, 0, call});
    }
  }
  partition.steps = std::move(steps);
}

void time_calls(const std::vector<Call>& calls, std::vector<double>& nodes) {
  for (const Call& c : calls) {
    if (!c.seconds) continue;
    for (ir::NodeId n : c.nodes) nodes[n.index()] = 0;
    nodes[c.anchor.index()] = *c.seconds;
  }
}

}  // namespace mrvlc::partition
