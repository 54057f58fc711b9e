// Inputs as fresh symbols, execution, and the comparison at the outputs; where it fails, the first
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

Type checked_type(const PortRange& port, const ProgramPort& hint) {
  const auto type = port_type(port.inner);
  const ElementType stored[] = {ElementType::F16, ElementType::F32, ElementType::I8, ElementType::Undefined,
                                ElementType::U8};
  if (!type || stored[static_cast<size_t>(*type)] != hint.stored)
    throw Refusal{fmt::format("the port of '{}' has another type than proof.json says", hint.value.name)};
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
    if (!has_integers(h_)) values_.forget_clips();
    reference_.run();
    const auto& reasons = reference_.reasons();
    partly_ = std::any_of(reasons.begin(), reasons.end(), [](const std::string& s) { return !s.empty(); });
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
      const Type type = checked_type(b.in[i], h_.inputs[i]);
      check_layout(b.in[i], h_.inputs[i]);
      check_room(b.in[i], h_.inputs[i], type, b.inputs);
      const Symbols s = reference_.fresh_input(h_.inputs[i], i);
      each_stored(h_.inputs[i], [&](uint64_t at, size_t from) {
        m.memory().write(0, b.in[i].ddr.begin + at * size_of(type), type, s.v[from]);
      });
    }
  }

  void compare(const Binary& b, RegionResult& r) {
    Machine m(b, values_, {target_.ocm_bytes, target_.accumulator_pixels, {}}, partly_);
    load(m, b);
    m.run([](uint32_t, uint32_t, Val) {});
    for (size_t i = 0; i < b.out.size(); ++i) {
      const ProgramPort& p = h_.outputs[i];
      const Type type = checked_type(b.out[i], p);
      check_room(b.out[i], p, type, b.outputs);
      const Symbols* expected = reference_.find(p.value.name);
      if (expected != nullptr && expected->v.size() != static_cast<size_t>(element_count(p.value.shape)))
        expected = nullptr;
      size_t wrong = SIZE_MAX;
      each_stored(p, [&](uint64_t at, size_t from) {
        const Val v = m.memory().read(0, b.out[i].ddr.begin + at * size_of(type), type);
        if (expected != nullptr && wrong == SIZE_MAX && !values_.same(v, expected->v[from])) wrong = from;
      });
      if (wrong != SIZE_MAX) throw Refusal{difference(b, p, wrong)};
      if (expected == nullptr) continue;
      r.proof.elements += expected->v.size();
      proved_.insert(p.value.name);
    }
  }

  // A diagnosis, no proof: the first fp16 or 8-bit element stored that no layer has.
  std::string difference(const Binary& b, const ProgramPort& p, size_t element) {
    std::string at;
    for (size_t d = p.value.shape.size(), rest = element; d-- > 0;) {
      const auto size = static_cast<size_t>(p.value.shape[d]);
      at = fmt::format("{}{}{}", rest % size, at.empty() ? "" : ",", at);
      rest /= size;
    }
    const std::string what =
        fmt::format("element [{}] of output '{}' is not what the model says", at, p.value.name);
    std::unordered_set<uint64_t> known;
    for (const auto& [name, s] : reference_.values())
      for (Val v : s.v) known.insert(values_.element(v));
    std::string first;
    Machine m(b, values_, {target_.ocm_bytes, target_.accumulator_pixels, {}}, partly_);
    load(m, b);
    m.run([&](uint32_t section, uint32_t instruction, Val v) {
      if (first.empty() && (v & kHalf) != 0 && !is_number(v) && !known.contains(values_.element(v)))
        first = place(section, instruction) + "stores what no layer has; ";
    });
    return first + what;
  }

  // A layer is proved with an output that needs it.
  void settle(RegionResult& r) {
    const size_t n = h_.layers.size();
    r.exact.assign(n, false);
    r.why_not.assign(n, "");
    std::set<std::string> needed = proved_;
    for (size_t i = n; i-- > 0;) {
      const Layer& l = h_.layers[i];
      bool used = false;
      for (const Node& node : l.nodes)
        for (const ValueInfo& o : node.outputs) used = used || needed.contains(o.name);
      if (!used) continue;
      r.exact[i] = true;
      for (const Node& node : l.nodes) needed.insert(node.inputs.begin(), node.inputs.end());
    }
    for (size_t i = 0; i < n; ++i) {
      if (r.exact[i]) continue;
      r.why_not[i] = reference_.reasons().size() > i ? reference_.reasons()[i] : "";
      if (r.why_not[i].empty() && !r.proof.refusal.empty()) r.why_not[i] = "its region is refused";
      if (r.why_not[i].empty()) r.why_not[i] = "no output of its region that could be compared needs it";
    }
  }

  const RegionHints& h_;
  const std::string& bytes_;
  Values values_;
  Constants constants_;
  Reference reference_;
  Target target_;
  bool partly_ = false;
  std::set<std::string> proved_;
};

}  // namespace

RegionResult prove_region(const RegionHints& hints, const std::string& bytes, const ir::Graph& model,
                          const Field& field, const Target& target) {
  return RegionProver(hints, bytes, model, field, target).run();
}

}  // namespace mrvlc::prove
