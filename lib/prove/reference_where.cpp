// Where of a condition that is known: one operand or the other, element by element; and a mask before
// Softmax.
#include <algorithm>

#include "reference.h"

namespace mrvlc::prove {
namespace {

constexpr float kNoScore = -1e9f;

// Whether each row of `axis` has an element that is not masked.
bool every_row_has_one(const std::vector<bool>& masked, const Shape& shape, size_t axis) {
  const auto inner = static_cast<size_t>(strides_of(shape)[axis]), length = static_cast<size_t>(shape[axis]);
  std::vector<bool> has(masked.size() / std::max<size_t>(1, length), false);
  for (size_t i = 0; i < masked.size(); ++i)
    if (!masked[i]) has[i / (inner * length) * inner + i % inner] = true;
  return std::all_of(has.begin(), has.end(), [](bool h) { return h; });
}

}  // namespace

// The Softmax that alone reads a value.
const Node* Reference::softmax_alone(const std::string& name) const {
  const Node* found = nullptr;
  for (const ProgramPort& p : region_.outputs)
    if (p.value.name == name) return nullptr;
  for (const Layer& l : region_.layers)
    for (const Node& n : l.nodes)
      for (const std::string& in : n.inputs) {
        if (in != name) continue;
        if (found != nullptr || n.op != "Softmax") return nullptr;
        found = &n;
      }
  return found;
}

// Lemma: what a mask makes -1e9 or less counts as -infinity. It is 0 after the Softmax either way, unless all
// other scores of its row lie below -1e9 + 104.
void Reference::mask_scores(const ValueInfo& info, std::vector<bool> chosen, Symbols& s) {
  const Node* softmax = v_.is_real() ? softmax_alone(info.name) : nullptr;
  if (softmax == nullptr || s.shape.empty()) return;
  const int64_t axis = softmax->integer("axis", -1), rank = static_cast<int64_t>(s.shape.size());
  if (axis < -rank || axis >= rank) return;
  for (size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = chosen[i] && is_number(s.v[i]) && number_of(s.v[i]) <= kNoScore;
  if (!every_row_has_one(chosen, s.shape, static_cast<size_t>(axis < 0 ? axis + rank : axis))) return;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) s.v[i] = number(-kInfinity);
}

void Reference::where(const Node& n) {
  const ValueInfo& info = n.outputs.at(0);
  const auto side = [&](size_t i) {
    const std::string& name = n.inputs.at(i);
    return c_.is_constant(name) ? constant(name) : get(name);
  };
  const Symbols condition = side(0), yes = side(1), no = side(2);
  const auto from = broadcast_offsets(condition.shape, info.shape),
             from_yes = broadcast_offsets(yes.shape, info.shape),
             from_no = broadcast_offsets(no.shape, info.shape);
  Symbols s{info.shape, {}};
  std::vector<bool> of_constant;
  for (size_t i = 0; i < from.size(); ++i) {
    const Val c = condition.v[from[i]];
    if (!is_number(c)) throw NotProved{"Where of a condition that is not known"};
    const bool first = number_of(c) != 0;
    s.v.push_back(first ? yes.v[from_yes[i]] : no.v[from_no[i]]);
    of_constant.push_back(c_.is_constant(n.inputs[first ? 1 : 2]));
  }
  mask_scores(info, std::move(of_constant), s);
  put(info, std::move(s));
}

}  // namespace mrvlc::prove
