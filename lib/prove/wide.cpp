// What can be wide, what wants to be, and what that spreads to.
#include "wide.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::prove {
namespace {

constexpr double kLarge = 0x1p12, kMask = 1024;

bool is_vector(const Layer& l) {
  return l.kind == "elementwise" || l.kind == "reduce" || l.kind == "softmax" || l.kind == "norm";
}
bool is_product_layer(const Layer& l) {
  return l.kind == "conv" || l.kind == "conv_transpose" || l.kind == "fc" || l.kind == "matmul";
}
bool is_view(const Node& n) {
  return n.is(
      {"Transpose", "Slice", "Split", "Expand", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"});
}
bool is_move(const Layer& l) {
  return l.nodes.size() == 1 && l.kind != "elementwise" && is_view(l.nodes[0]);
}

struct Magnitudes {
  double least = 0, most = 0;  // least: of those that are not 0
};

class WideRules {
 public:
  WideRules(const RegionHints& r, Constants& c, const std::function<size_t(const Layer&)>& folded)
      : r_(r), c_(c), folded_(folded) {
    for (const ProgramPort& p : r.inputs) of_float_[p.value.name] = p.value.elem == ElementType::F32;
    for (const ProgramPort& p : r.inputs) inputs_.insert(p.value.name);
    for (const Layer& l : r.layers)
      for (const Node& n : l.nodes) {
        for (const std::string& in : n.inputs) readers_[in].push_back({&l, &n});
        for (const ValueInfo& o : n.outputs) {
          maker_[o.name] = {&l, &n};
          of_float_[o.name] = o.elem == ElementType::F32;
        }
      }
  }

  std::set<std::string> run() {
    for (const Layer& l : r_.layers)
      if (is_move(l))
        for (const ValueInfo& o : l.nodes[0].outputs) tie(l.nodes[0].inputs.at(0), o.name);
    for (const auto& [name, yes] : of_float_) tied_[root(name)].push_back(name);
    for (const Layer& l : r_.layers)
      for (const Node& n : l.nodes) begin(n);
    for (const Layer& l : r_.layers)
      if (is_vector(l) || is_product_layer(l)) spread(l);
    std::set<std::string> out;
    for (const auto& [name, yes] : of_float_)
      if (is_wide(name)) out.insert(name);
    for (const Layer& l : r_.layers)
      if (l.kind == "dequantize")
        for (const ProgramPort& p : r_.outputs)
          if (p.value.name == l.nodes.at(l.anchor).outputs.at(0).name) out.insert(p.value.name);
    return out;
  }

 private:
  struct At {
    const Layer* layer = nullptr;
    const Node* node = nullptr;
  };

  std::string root(const std::string& name) {
    std::string at = name;
    for (auto up = parent_.find(at); up != parent_.end(); up = parent_.find(at)) at = up->second;
    return at;
  }
  void tie(const std::string& a, const std::string& b) {
    if (c_.is_constant(a) || root(a) == root(b)) return;
    parent_[root(b)] = root(a);
  }

  bool can_be(const std::string& name) {
    const auto known = of_float_.find(name);
    if (known == of_float_.end() || !known->second) return false;
    const auto made = maker_.find(name);
    if (made == maker_.end() ? !inputs_.contains(name) : !written_wide(name, made->second)) return false;
    const auto& readers = readers_[name];
    return std::all_of(readers.begin(), readers.end(), [&](const At& at) {
      if (is_vector(*at.layer)) return at.layer->kind == "elementwise" || at.node->inputs[0] == name;
      if (is_product_layer(*at.layer)) return at.node != &at.layer->nodes[at.layer->anchor];
      return is_move(*at.layer) && at.node->inputs[0] == name;
    });
  }
  bool written_wide(const std::string& name, const At& at) {
    if (is_vector(*at.layer) || is_move(*at.layer)) return true;
    if (!is_product_layer(*at.layer) || at.layer->nodes.back().outputs.at(0).name != name) return false;
    return at.layer->nodes.size() > 1 + folded_(*at.layer);
  }

  void want(const std::string& name) {
    if (!name.empty() && !c_.is_constant(name)) wanted_.insert(root(name));
  }
  bool is_wide(const std::string& name) {
    const std::string r = root(name);
    if (!wanted_.contains(r)) return false;
    const auto known = possible_.find(r);
    if (known != possible_.end()) return known->second;
    const auto& all = tied_[r];
    return possible_[r] =
               !all.empty() && std::all_of(all.begin(), all.end(), [&](const auto& n) { return can_be(n); });
  }

  std::optional<Magnitudes> magnitudes(const std::string& name) {
    if (name.empty() || !c_.is_constant(name) || !c_.has(name)) return std::nullopt;
    const Tensor& t = c_.of(name);
    if (t.elements() == 0 || !is_float(t.elem())) return std::nullopt;
    Magnitudes m{INFINITY, 0};
    for (int64_t i = 0; i < t.elements(); ++i) {
      const double size = std::fabs(t.as_double(i));
      m.most = std::max(m.most, size);
      if (size > 0) m.least = std::min(m.least, size);
    }
    return m;
  }
  // Of an operator with a constant: which operand it is.
  std::optional<size_t> constant_at(const Node& n) {
    if (n.inputs.size() != 2) return std::nullopt;
    for (size_t i : {size_t{1}, size_t{0}})
      if (c_.is_constant(n.inputs[i])) return i;
    return std::nullopt;
  }

  bool brings_back(const Node& n) {
    const auto at = constant_at(n);
    const auto m = at ? magnitudes(n.inputs[*at]) : std::nullopt;
    if (!m) return false;
    if (n.op == "Mul") return m->most > 0 && m->most <= 1 / kLarge;
    return n.op == "Div" && *at == 1 && m->most >= kLarge;
  }
  bool grows(const Node& n) {
    if (n.is({"ReduceSum", "ReduceSumSquare", "ReduceProd"})) return true;
    if (is_square(n) && reductions_read(n.outputs.at(0).name)) return true;
    const auto at = constant_at(n);
    const auto m = at ? magnitudes(n.inputs[*at]) : std::nullopt;
    if (!m) return false;
    if (n.op == "Div") return *at == 1 && m->least <= 1 / kLarge;
    return n.is({"Mul", "Add", "Sub"}) && m->most >= kLarge;
  }
  bool is_square(const Node& n) {
    if (n.op == "Mul") return n.inputs.size() == 2 && n.inputs[0] == n.inputs[1];
    return n.op == "Pow" && n.inputs.size() == 2 && magnitudes(n.inputs[1]) &&
           c_.of(n.inputs[1]).as_double(0) >= 2;
  }
  bool reductions_read(const std::string& name) {
    const auto& readers = readers_[name];
    return !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                           [](const At& at) { return at.layer->kind == "reduce"; });
  }

  // What comes from outside the region, or was made from that alone: a mask.
  // Hints may name an operand many times over: each question is answered once.
  bool from_outside(const std::string& name, int steps) {
    const auto [known, is_new] = outside_.try_emplace({name, steps}, false);
    if (is_new) known->second = is_from_outside(name, steps);
    return known->second;
  }
  bool is_from_outside(const std::string& name, int steps) {
    if (name.empty() || c_.is_constant(name) || inputs_.contains(name)) return true;
    const auto made = maker_.find(name);
    if (steps == 0 || made == maker_.end()) return false;
    if (made->second.layer->kind != "elementwise" && !is_view(*made->second.node)) return false;
    const auto& in = made->second.node->inputs;
    return std::all_of(in.begin(), in.end(), [&](const auto& i) { return from_outside(i, steps - 1); });
  }

  // What wants to be wide of itself.
  void begin(const Node& n) {
    constexpr int kSteps = 8;
    if (const auto at = constant_at(n); at && brings_back(n)) want(n.inputs[1 - *at]);
    if (!n.is({"Softmax", "LogSoftmax", "ReduceLogSumExp"})) return;
    const std::string& scores = n.inputs.at(0);
    if (inputs_.contains(scores)) return want(scores);
    const auto made = maker_.find(scores);
    if (made == maker_.end() || !made->second.node->is({"Add", "Sub"})) return;
    for (const std::string& operand : made->second.node->inputs) {
      const auto m = magnitudes(operand);
      if (!(m ? m->most >= kMask : from_outside(operand, kSteps))) continue;
      want(scores);
      if (!m) want(operand);
    }
  }

  // What large numbers and wide values lead to.
  void spread(const Layer& l) {
    bool holds = false;
    const size_t folded = is_product_layer(l) ? folded_(l) : 0;
    for (size_t i = folded == 0 ? 0 : folded + 1; i < l.nodes.size(); ++i) {
      const Node& n = l.nodes[i];
      const bool wide =
          std::any_of(n.inputs.begin(), n.inputs.end(), [&](const auto& in) { return is_wide(in); });
      holds = grows(n) || (keeps(n, l.kind == "reduce" && i == l.anchor) && (wide || holds));
    }
    if (holds) want(l.nodes.back().outputs.at(0).name);
  }
  bool keeps(const Node& n, bool reduction) {
    if (reduction || n.is({"Add", "Sub", "Max", "Min", "Neg", "Abs", "Relu", "LeakyRelu", "Identity"}))
      return true;
    return n.is({"Mul", "Div"}) && constant_at(n) && !brings_back(n);
  }

  const RegionHints& r_;
  Constants& c_;
  const std::function<size_t(const Layer&)>& folded_;
  std::set<std::string> inputs_, wanted_;
  std::map<std::string, bool> of_float_, possible_;
  std::map<std::pair<std::string, int>, bool> outside_;
  std::map<std::string, std::string> parent_;
  std::map<std::string, std::vector<std::string>> tied_;
  std::map<std::string, At> maker_;
  std::map<std::string, std::vector<At>> readers_;
};

}  // namespace

std::set<std::string> wide_values(const RegionHints& region, Constants& constants,
                                  const std::function<size_t(const Layer&)>& folded) {
  return WideRules(region, constants, folded).run();
}

}  // namespace mrvlc::prove
