// Expressions of conditions: calls, lists of values and their elements, arithmetic.
#include "measure.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace mrvlc::rules {
namespace {

// Of a call: an operand left out, or in an alternative that was not taken.
const Binding& absent() {
  static const Binding kAbsent = [] {
    Binding b;
    b.absent = true;
    return b;
  }();
  return kAbsent;
}

// Whole numbers stay whole; beyond 64 bits there is no result, nor of a division by zero.
Datum whole_arithmetic(char sign, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (sign) {
    case '+':
      return __builtin_add_overflow(a, b, &out) ? Datum() : Datum(out);
    case '-':
      return __builtin_sub_overflow(a, b, &out) ? Datum() : Datum(out);
    case '*':
      return __builtin_mul_overflow(a, b, &out) ? Datum() : Datum(out);
    default:
      break;
  }
  if (b == 0 || b == -1) return b == 0 ? Datum() : whole_arithmetic('-', 0, sign == '/' ? a : 0);
  const int64_t rest = a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b;
  return sign == '/' ? (a / b) - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0) : rest;  // rounded down
}

// Of one number each.
Datum arithmetic_of_one(char sign, const Datum& a, const Datum& b) {
  if (auto x = whole(a), y = whole(b); x && y) return whole_arithmetic(sign, *x, *y);
  auto x = real(a), y = real(b);
  if (!x || !y) return {};
  switch (sign) {
    case '+':
      return *x + *y;
    case '-':
      return *x - *y;
    case '*':
      return *x * *y;
    case '/':
      return *y == 0 ? Datum() : Datum(*x / *y);
    default:
      return *y == 0 ? Datum() : Datum(*x - *y * std::floor(*x / *y));
  }
}

size_t length(const Datum& d) {
  if (auto* v = std::get_if<std::vector<int64_t>>(&d)) return v->size();
  if (auto* v = std::get_if<std::vector<double>>(&d)) return v->size();
  return real(d) ? 1 : 0;
}

Datum element(const Datum& d, size_t i) {
  if (auto* v = std::get_if<std::vector<int64_t>>(&d)) return (*v)[v->size() == 1 ? 0 : i];
  if (auto* v = std::get_if<std::vector<double>>(&d)) return (*v)[v->size() == 1 ? 0 : i];
  return d;
}

// Lists of one length element by element, one number with each of a list.
template <class Compute>
Datum each(const Datum& a, const Datum& b, Compute compute) {
  const size_t n = std::max(length(a), length(b));
  if (n <= 1) return compute(a, b);
  for (const Datum* d : {&a, &b})
    if (length(*d) != n && length(*d) != 1) return {};
  std::vector<int64_t> whole_numbers;
  std::vector<double> numbers;
  for (size_t i = 0; i < n; ++i) {
    const Datum one = compute(element(a, i), element(b, i));
    const std::optional<double> number = real(one);
    if (!number) return {};
    numbers.push_back(*number);
    if (const auto w = whole(one)) whole_numbers.push_back(*w);
  }
  return whole_numbers.size() == n ? Datum(std::move(whole_numbers)) : Datum(std::move(numbers));
}

// Of expressions for a list of values: side by side.
template <class Compute>
Data for_each_datum(const Expression& a, const Expression& b, const Context& context, Compute compute) {
  const Data left = measure(a, context), right = &a == &b ? left : measure(b, context);
  if (left.size() != right.size() && left.size() != 1 && right.size() != 1) return {Datum()};
  if (left.empty() || right.empty()) return {};
  Data out;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i)
    out.push_back(each(left[left.size() == 1 ? 0 : i], right[right.size() == 1 ? 0 : i], compute));
  return out;
}

Data measure_arithmetic(const Expression& e, const Context& context) {
  return for_each_datum(e.items[0], e.items[1], context,
                        [&](const Datum& a, const Datum& b) { return arithmetic_of_one(e.text[0], a, b); });
}

Data measure_call(const Expression& e, const Context& context) {
  if (const NumberFunction* f = find_number_function(e.text)) {
    if (e.items.size() != f->parameters) return {Datum()};
    return for_each_datum(e.items.front(), e.items.back(), context, f->compute);
  }
  const Function* f = find_function(e.text);
  if (f == nullptr || f->measure == nullptr) return {Datum()};
  Data out;
  const bool even = for_each_value(*f, arguments(*f, e, context.match), [&](const Arguments& a) {
    out.push_back(f->measure(context, a));
    return true;
  });
  return even ? out : Data{Datum()};
}

Datum at(const Datum& list, const Datum& place) {
  const auto i = whole(place);
  const auto n = static_cast<int64_t>(length(list));
  if (!i || *i >= n || *i < -n) return {};
  return element(list, static_cast<size_t>(*i < 0 ? *i + n : *i));
}

Data measure_element(const Expression& e, const Context& context) {
  const Data lists = measure(e.items[0], context), places = measure(e.items[1], context);
  if (lists.size() != places.size() && places.size() != 1) return {Datum()};
  Data out;
  for (size_t i = 0; i < lists.size(); ++i) out.push_back(at(lists[i], places[places.size() == 1 ? 0 : i]));
  return out;
}

Data measure_list(const Expression& e) {
  std::vector<int64_t> whole_numbers;
  std::vector<double> numbers;
  bool all_whole = true;
  for (const Expression& i : e.items) {
    const bool is_whole = i.kind == Expression::Kind::Integer;
    all_whole = all_whole && is_whole;
    whole_numbers.push_back(i.integer);
    numbers.push_back(is_whole ? static_cast<double>(i.integer) : i.real);
  }
  if (all_whole) return {whole_numbers};
  return {numbers};
}

}  // namespace

bool mentions_absent(const Expression& e, const Match& match) {
  if (e.kind == Expression::Kind::Capture) {
    const Binding* b = match.find(e.text);
    return b == nullptr || b->absent;
  }
  const Function* f = e.kind == Expression::Kind::Call ? find_function(e.text) : nullptr;
  if (f != nullptr && f->takes_lists) return false;  // it is about what is there
  return std::ranges::any_of(e.items, [&](const Expression& i) { return mentions_absent(i, match); });
}

Arguments arguments(const Function& f, const Expression& call, const Match& match) {
  Arguments out;
  for (size_t i = 0; i < call.items.size(); ++i) {
    const Expression& e = call.items[i];
    Argument a;
    a.kind = f.parameters[i];
    if (e.kind == Expression::Kind::Capture) {
      a.binding = match.find(e.text);
      if (a.binding == nullptr) a.binding = &absent();
    }
    a.integer = e.integer;
    a.text = e.text;
    out.push_back(a);
  }
  return out;
}

bool for_each_value(const Function& f, const Arguments& args,
                    const std::function<bool(const Arguments&)>& ask) {
  size_t length = 0, lists = 0;
  for (const Argument& a : args) {
    if (a.binding == nullptr || !a.binding->list || f.takes_lists) continue;
    if (lists++ > 0 && a.binding->values.size() != length) return false;
    length = a.binding->values.size();
  }
  if (lists == 0) {
    ask(args);
    return true;
  }
  std::vector<Binding> one(args.size());
  for (size_t i = 0; i < length; ++i) {
    Arguments now = args;
    for (size_t k = 0; k < args.size(); ++k) {
      const Binding* b = args[k].binding;
      if (b == nullptr || !b->list) continue;
      one[k] = {b->capture, b->is_node, false, b->is_node ? b->nodes[i] : ir::NodeId(), b->values[i]};
      now[k].binding = &one[k];
    }
    if (!ask(now)) return true;
  }
  return true;
}

Data measure(const Expression& e, const Context& context) {
  switch (e.kind) {
    case Expression::Kind::Integer:
      return {e.integer};
    case Expression::Kind::Float:
      return {e.real};
    case Expression::Kind::String:
    case Expression::Kind::Word:
      return {e.text};
    case Expression::Kind::List:
      return measure_list(e);
    case Expression::Kind::Call:
      return measure_call(e, context);
    case Expression::Kind::Arithmetic:
      return measure_arithmetic(e, context);
    case Expression::Kind::At:
      return measure_element(e, context);
    case Expression::Kind::Capture:
      break;
  }
  return {Datum()};
}

}  // namespace mrvlc::rules
