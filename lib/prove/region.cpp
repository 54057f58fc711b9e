// Inputs as fresh symbols, execution, and the comparison of what is stored; where it fails, the first
// instruction that stores what no layer has.
#include "region.h"

#include <fmt/format.h>

#include <unordered_set>

namespace mrvlc::prove {
namespace {

constexpr std::string_view kSections[] = {"init", "main", "finish"};

std::optional<Type> port_type(uint8_t inner) {
  switch (inner) {
    case 1:
      return Type::I8;
    case 2:
      return Type::U8;
    case 7:
      return Type::F16;
    case 8:
      return Type::F32;
    default:
      return std::nullopt;
  }
}

Type checked_type(const PortRange& port, const ProgramPort& hint, ElementType of_rules) {
  const auto type = port_type(port.inner);
  const ElementType stored[] = {ElementType::F16, ElementType::F32, ElementType::I8, ElementType::Undefined,
                                ElementType::U8};
  if (!type || stored[static_cast<size_t>(*type)] != hint.stored)
    throw Refusal{fmt::format("the port of '{}' has another type than proof.json says", hint.value.name)};
  if (hint.stored != of_rules)
    throw Refusal{
        fmt::format("the port of '{}' has another type than arithmetic.md gives it", hint.value.name)};
  return *type;
}

Shape stored_shape(const ProgramPort& p) {
  Shape s;
  for (int64_t d : p.perm) s.push_back(p.value.shape.at(static_cast<size_t>(d)));
  return s;
}

// The layout that the container declares is the one that is compared.
void check_layout(const PortRange& port, const ProgramPort& hint) {
  const size_t rank = hint.perm.size();
  std::vector<int64_t> plain(rank), last(rank);
  for (size_t d = 0; d < rank; ++d) plain[d] = last[d] = static_cast<int64_t>(d);
  if (rank > 2) {
    last.erase(last.begin() + 1);
    last.push_back(1);
  }
  const bool agrees = port.format == 1 ? hint.perm == plain : port.format == 2 && hint.perm == last;
  std::array<uint64_t, 4> dims{1, 1, 1, 1};
  const Shape shape = stored_shape(hint);
  for (size_t d = 0; d < rank; ++d) {
    const size_t at = rank <= 4 ? d + 4 - rank : d + 4 < rank + 1 ? 0 : d + 4 - rank;
    dims[at] *= static_cast<uint64_t>(shape[d]);
  }
  bool same = agrees;
  for (size_t d = 0; d < 4; ++d) same = same && dims[d] == port.dims[d];
  if (!same)
    throw Refusal{fmt::format("the layout of '{}' is another one than its port declares", hint.value.name)};
}

// Calls f(stored index, index in the order of ONNX).
template <class F>
void each_stored(const ProgramPort& p, F f) {
  const Shape stored = stored_shape(p);
  const std::vector<int64_t> strides = strides_of(p.value.shape), own = strides_of(stored);
  const int64_t count = element_count(stored);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < stored.size(); ++d)
      from += i / own[d] % stored[d] * strides[static_cast<size_t>(p.perm[d])];
    f(static_cast<uint64_t>(i), static_cast<size_t>(from));
  }
}

void check_room(const PortRange& port, const ProgramPort& p, Type type, const Range& range) {
  const uint64_t bytes = static_cast<uint64_t>(element_count(p.value.shape)) * size_of(type);
  if (port.ddr.end - port.ddr.begin != bytes || !range.contains(port.ddr.begin, port.ddr.end))
    throw Refusal{fmt::format("the port of '{}' has not the size of its value", p.value.name)};
}

class RegionProver {
 public:
  RegionProver(const RegionHints& hints, const std::string& bytes, const ir::Graph& model, const Field& field,
               const Target& target)
      : h_(hints),
        bytes_(bytes),
        values_(field),
        constants_(model, hints),
        reference_(values_, constants_, hints),
        target_(target) {}

  RegionResult run() {
    RegionResult r;
    r.proof.id = h_.id;
    r.proof.file = h_.file;
    reasons_.assign(h_.layers.size(), "");
    if (!has_integers(h_)) values_.forget_clips();
    try {
      const Binary b = read_binary(bytes_);
      for (const auto& s : b.sections) r.proof.instructions += static_cast<uint32_t>(s.size());
      compare(b, r);
    } catch (const Refusal& e) {
      r.proof.refusal = e.text;
    } catch (const Located& e) {
      r.proof.refusal = place(e.section, e.instruction) + e.text;
    }
    settle(r);
    r.proof.taken.assign(taken_.begin(), taken_.end());
    r.taken = taken_;
    return r;
  }

 private:
  std::string place(uint32_t section, uint32_t instruction) const {
    std::string layer;
    for (const LayerSpan& s : h_.spans)
      if (s.section == section && s.begin <= instruction && instruction < s.end &&
          s.layer < h_.layers.size()) {
        const Node& n = h_.layers[s.layer].nodes[h_.layers[s.layer].anchor];
        layer = fmt::format(", layer {} ({}, {})", s.layer, n.op, fmt::join(n.sources, "+"));
      }
    return fmt::format("instruction {} of {}{}: ", instruction, kSections[section % 3], layer);
  }

  void load(Machine& m, const Binary& b) const {
    if (b.in.size() != h_.inputs.size() || b.out.size() != h_.outputs.size())
      throw Refusal{"the binary has not the ports that proof.json names"};
    for (size_t i = 0; i < b.in.size(); ++i) {
      const Type type = checked_type(b.in[i], h_.inputs[i], reference_.stored_type(h_.inputs[i].value));
      check_layout(b.in[i], h_.inputs[i]);
      check_room(b.in[i], h_.inputs[i], type, b.inputs);
      const Symbols s = reference_.fresh_input(h_.inputs[i], i);
      each_stored(h_.inputs[i], [&](uint64_t at, size_t from) {
        m.memory().write(0, b.in[i].ddr.begin + at * size_of(type), type, s.v[from]);
      });
    }
  }

  // The binary first: what it stores stands in for values that have no reference.
  void compare(const Binary& b, RegionResult& r) {
    Machine m(b, values_, {target_.ocm_bytes, target_.accumulator_pixels, {}}, true);
    load(m, b);
    Observer observer(h_);
    m.run([](uint32_t, uint32_t, Val) {}, &observer);
    stored_ = read_outputs(b, m);
    for (const auto& [name, o] : observer.all()) add_observed(name, o);
    std::string wrong;
    for (size_t i = 0; i < h_.layers.size(); ++i) {
      reasons_[i] = reference_.run(i);
      for (const Node& n : h_.layers[i].nodes)
        for (const ValueInfo& o : n.outputs) {
          if (!reasons_[i].empty())
            take(o);
          else if (wrong.empty())
            wrong = judge(o, r);
        }
    }
    for (const ProgramPort& p : h_.inputs) judge_passed_on(p, r, wrong);
    if (!wrong.empty()) throw Refusal{first_stored(b) + wrong};
    const bool all =
        std::all_of(reasons_.begin(), reasons_.end(), [](const std::string& s) { return s.empty(); });
    for (const Machine::UnknownTable& t : m.unknown_tables())
      if (all && !values_.table(t.id).of_function) throw Located(t.first);
  }

  struct Stored {
    Observed value;
    bool output = false;
  };

  // In the order of ONNX. Every element of every output must be there.
  std::map<std::string, std::vector<Stored>> read_outputs(const Binary& b, Machine& m) const {
    std::map<std::string, std::vector<Stored>> out;
    for (size_t i = 0; i < b.out.size(); ++i) {
      const ProgramPort& p = h_.outputs[i];
      const Type type = checked_type(b.out[i], p, reference_.stored_type(p.value));
      check_room(b.out[i], p, type, b.outputs);
      Stored s;
      s.output = true;
      s.value.v.assign(static_cast<size_t>(element_count(p.value.shape)), 0);
      s.value.seen.assign(s.value.v.size(), 1);
      each_stored(p, [&](uint64_t at, size_t from) {
        s.value.v[from] = m.memory().read(0, b.out[i].ddr.begin + at * size_of(type), type);
      });
      out[p.value.name].push_back(std::move(s));
    }
    return out;
  }

  void add_observed(const std::string& name, const Observed& o) { stored_[name].push_back({o, false}); }

  // A value without a reference is what the binary stores, if that is one value.
  void take(const ValueInfo& o) {
    const auto found = stored_.find(o.name);
    if (found == stored_.end()) return;
    for (const Stored& s : found->second) {
      if (!s.value.whole() || s.value.v.size() != static_cast<size_t>(element_count(o.shape))) continue;
      reference_.set(o.name, Symbols{o.shape, s.value.v});
      taken_.insert(o.name);
      return;
    }
  }

  // What contradicts the reference, or empty.
  std::string judge(const ValueInfo& o, RegionResult& r) {
    const auto found = stored_.find(o.name);
    const Symbols* expected = reference_.find(o.name);
    if (found == stored_.end() || expected == nullptr) return "";
    for (const Stored& s : found->second) {
      if (expected->v.size() != s.value.v.size()) continue;
      for (size_t k = 0; k < s.value.v.size(); ++k)
        if (s.value.seen[k] != 0 && !values_.same(s.value.v[k], expected->v[k])) return difference(o, s, k);
      if (s.value.torn) return fmt::format("two copies of '{}' differ", o.name);
      if (!s.value.whole()) continue;
      (s.output ? r.proof.elements : r.proof.inner) += s.value.v.size();
      proved_.insert(o.name);
    }
    // What is compared is not needed again.
    if (std::none_of(found->second.begin(), found->second.end(), [](const Stored& s) { return s.output; }))
      stored_.erase(found);
    return "";
  }

  // An output that is an input.
  void judge_passed_on(const ProgramPort& p, RegionResult& r, std::string& wrong) {
    if (wrong.empty()) wrong = judge(p.value, r);
  }

  std::string difference(const ValueInfo& o, const Stored& s, size_t element) const {
    std::string at;
    for (size_t d = o.shape.size(), rest = element; d-- > 0;) {
      const auto size = static_cast<size_t>(o.shape[d]);
      at = fmt::format("{}{}{}", rest % size, at.empty() ? "" : ",", at);
      rest /= size;
    }
    return fmt::format("element [{}] of {} '{}' is not what the model says", at,
                       s.output ? "output" : "value", o.name);
  }

  // A diagnosis, no proof: the first fp16 or 8-bit element stored that no layer has.
  std::string first_stored(const Binary& b) {
    std::unordered_set<uint64_t> known;
    for (const auto& [name, s] : reference_.values())
      for (Val v : s.v) known.insert(values_.element(v));
    std::string first;
    Machine m(b, values_, {target_.ocm_bytes, target_.accumulator_pixels, {}}, true);
    load(m, b);
    m.run([&](uint32_t section, uint32_t instruction, Val v) {
      if (first.empty() && (v & kHalf) != 0 && !is_number(v) && !known.contains(values_.element(v)))
        first = place(section, instruction) + "stores what no layer has; ";
    });
    return first;
  }

  // A layer is proved with a value that was compared, or that one that was compared needs.
  void settle(RegionResult& r) {
    const size_t n = h_.layers.size();
    r.exact.assign(n, false);
    r.why_not = reasons_;
    r.proved = proved_;
    for (size_t i = n; i-- > 0;) {
      const Layer& l = h_.layers[i];
      if (!reasons_[i].empty()) continue;
      if (!r.proof.refusal.empty()) {
        r.why_not[i] = "its region is refused";
        continue;
      }
      for (const Node& node : l.nodes)
        for (const ValueInfo& o : node.outputs) r.exact[i] = r.exact[i] || r.proved.contains(o.name);
      if (!r.exact[i]) {
        r.why_not[i] = "no value of its region that could be compared needs it";
        continue;
      }
      for (const Node& node : l.nodes)
        for (const std::string& in : node.inputs)
          if (!taken_.contains(in)) r.proved.insert(in);
    }
    if (!r.proof.refusal.empty()) r.proved.clear();
  }

  const RegionHints& h_;
  const std::string& bytes_;
  Values values_;
  Constants constants_;
  Reference reference_;
  Target target_;
  std::vector<std::string> reasons_;  // by layer: why it has no reference
  std::map<std::string, std::vector<Stored>> stored_;
  std::set<std::string> proved_, taken_;
};

}  // namespace

RegionResult prove_region(const RegionHints& hints, const std::string& bytes, const ir::Graph& model,
                          const Field& field, const Target& target) {
  return RegionProver(hints, bytes, model, field, target).run();
}

}  // namespace mrvlc::prove
