// Static checks of what a rule calls: names that C has, arguments that can be passed.
#include <algorithm>

#include "check.h"
#include "mrvlc/support/c_words.h"
#include "mrvlc/support/characters.h"

namespace mrvlc::rules {
namespace {

// A C identifier; typedef names of structures too.
bool is_c_name(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::ranges::all_of(text, [](char c) { return is_word(c); });
}

class CallCheck {
 public:
  explicit CallCheck(const CheckContext& context) : c_(context) {}

  void run(const CallTemplate& call) {
    c_name(call.function, call.at);
    if (is_keyword(call.function)) error(call.at, call.function, "is a keyword of C or C++");
    for (const CallArgument& a : call.arguments) argument(a);
  }

 private:
  template <class... Args>
  void error(Location at, Args&&... args) {
    c_.messages.at<DiagCode::MRV0304>(c_.rule, at, std::forward<Args>(args)...);
  }

  void c_name(const std::string& name, Location at) {
    if (!is_c_name(name)) error(at, printable(name), "is no identifier of C");
  }

  void argument(const CallArgument& a) {
    if (a.kind == CallArgument::Kind::Value) return value(a.value);
    if (a.kind == CallArgument::Kind::Structure) c_name(a.type, a.at);
    if (a.items.empty()) error(a.at, a.kind == CallArgument::Kind::Array ? "[" : a.type, "is empty");
    for (const CallArgument& item : a.items) {
      if (a.kind == CallArgument::Kind::Array) {
        number_of_array(item);
      } else {
        argument(item);
      }
    }
  }

  void number_of_array(const CallArgument& item) {
    if (item.kind != CallArgument::Kind::Value) return error(item.at, "[", "holds numbers only");
    if (item.value.kind == Expression::Kind::Word) return c_name(item.value.text, item.at);
    const std::optional<Kind> k = check_expression(c_, item.value);
    if (k && *k != Kind::Integer && *k != Kind::Float) error(item.at, "[", "holds numbers only");
  }

  void value(const Expression& e) {
    if (e.kind == Expression::Kind::Word) return c_name(e.text, e.at);
    if (e.kind == Expression::Kind::Call && e.text == kPermuted) return permuted(e);
    if (e.kind == Expression::Kind::Call && e.text == kWritable) return writable(e);
    if (e.kind == Expression::Kind::Call && e.text == kScratch) return scratch(e);
    if (is_fixed_array(e)) return fixed_point(e);
    const std::optional<Kind> k = check_expression(c_, e);
    if (k == Kind::Verdict) error(e.at, e.text, "is a condition, which no function takes");
  }

  bool takes(const Expression& e, size_t count, const char* what) {
    if (e.items.size() == count) return true;
    error(e.at, e.text, fmt::format("takes {}", what));
    return false;
  }

  void tensor(const Expression& call, const Expression& e) {
    if (e.kind != Expression::Kind::Capture) return error(e.at, call.text, "takes a tensor of the pattern");
    check_expression(c_, e);
  }

  void permuted(const Expression& e) {
    if (!takes(e, 2, "a tensor and the order of its dimensions, as in permuted(%x, [0, 2, 3, 1])")) return;
    tensor(e, e.items[0]);
    std::vector<bool> there(e.items[1].items.size());
    for (const Expression& d : e.items[1].items) {
      const bool fits = d.kind == Expression::Kind::Integer && d.integer >= 0 &&
                        static_cast<size_t>(d.integer) < there.size() &&
                        !there[static_cast<size_t>(d.integer)];
      if (!fits) return error(d.at, e.text, "takes each dimension once, as in [0, 2, 3, 1]");
      there[static_cast<size_t>(d.integer)] = true;
    }
    if (e.items[1].kind != Expression::Kind::List || there.empty())
      error(e.items[1].at, e.text, "takes the order of the dimensions, as in [0, 2, 3, 1]");
  }

  void writable(const Expression& e) {
    constexpr const char* kWhat = "a tensor or numbers of an array";
    if (!takes(e, 1, kWhat)) return;
    const Expression& inner = e.items[0];
    if (inner.kind == Expression::Kind::Capture) return tensor(e, inner);
    if (is_fixed_array(inner)) return fixed_point(inner);
    const std::optional<Kind> k = check_expression(c_, inner);
    if (k && *k != Kind::Integers && *k != Kind::Numbers)
      error(inner.at, e.text, std::string("takes ") + kWhat);
  }

  void fixed_point(const Expression& e) {
    if (!takes(e, 2, "a number, or numbers and how many of them the function reads")) return;
    const std::optional<Kind> numbers = check_expression(c_, e.items[0]),
                              count = check_expression(c_, e.items[1]);
    const bool fit = !numbers || *numbers == Kind::Integer || *numbers == Kind::Float ||
                     *numbers == Kind::Integers || *numbers == Kind::Numbers;
    if (!fit || (count && *count != Kind::Integer))
      error(e.at, e.text, "takes numbers, and how many of them the function reads");
  }

  void scratch(const Expression& e) {
    if (!takes(e, 1, "a number of bytes")) return;
    const std::optional<Kind> k = check_expression(c_, e.items[0]);
    if (k && *k != Kind::Integer) error(e.items[0].at, e.text, "takes a number of bytes");
  }

  const CheckContext& c_;
};

}  // namespace

void check_call(const CheckContext& c) {
  const Rule& r = c.rule;
  const bool calls = r.layer == kCallKind;
  if (calls && !r.call) c.messages.at<DiagCode::MRV0310>(r, r.at, r.name, "call");
  if (!calls && (r.call || r.seconds)) {
    const Location at = r.call ? r.call->at : r.seconds->at;
    c.messages.at<DiagCode::MRV0304>(r, at, r.call ? "call" : "cost",
                                     fmt::format("belongs to rules of kind '{}'", kCallKind));
    return;
  }
  if (r.call && r.stage == Stage::Source) {
    c.messages.at<DiagCode::MRV0304>(r, r.call->at, "call",
                                     "passes values of the graph after the passes: take 'stage source' out");
    return;
  }
  if (r.call) CallCheck(c).run(*r.call);
  if (!r.seconds) return;
  const std::optional<Kind> k = check_expression(c, *r.seconds);
  if (k && *k != Kind::Integer && *k != Kind::Float)
    c.messages.at<DiagCode::MRV0304>(r, r.seconds->at, "cost", "is a number of seconds");
}

}  // namespace mrvlc::rules
