// proof.json, read.
#include "program.h"

#include <algorithm>

#include "mrvlc/support/base64.h"

namespace mrvlc::prove {
namespace {

ElementType type_of(const Json& j, const char* key) {
  const auto type = element_type_from_name(j.at(key).get<std::string>());
  if (!type) throw NotProved{"proof.json names an unknown type"};
  return *type;
}

// Shapes that can be proved in memory, or nothing of the file is read.
Shape shape_of(const Json& j) {
  Shape shape = j.at("shape").get<Shape>();
  int64_t all = 1;
  for (int64_t d : shape) {
    if (d < 0 || d > (int64_t{1} << 27) || (d > 0 && all > (int64_t{1} << 27) / d))
      throw NotProved{"proof.json has a shape that is too large to be proved"};
    all *= d;
  }
  return shape;
}

ValueInfo info(const Json& j, const char* name) {
  ValueInfo v;
  v.name = j.at(name).get<std::string>();
  if (!j.contains("shape")) return v;
  v.elem = type_of(j, "type");
  v.shape = shape_of(j);
  if (j.contains("open")) throw NotProved{"its shapes are known at run time only"};
  return v;
}

Node node(const Json& j) {
  Node n;
  n.op = j.at("op").get<std::string>();
  n.domain = j.value("domain", "");
  n.sources = j.at("sources").get<std::vector<std::string>>();
  n.inputs = j.at("inputs").get<std::vector<std::string>>();
  for (const Json& o : j.at("outputs")) n.outputs.push_back(info(o, "value"));
  n.attributes = j.at("attributes");
  return n;
}

Layer layer(const Json& j) {
  Layer l;
  l.kind = j.at("kind").get<std::string>();
  l.anchor = j.at("anchor").get<size_t>();
  for (const Json& n : j.at("nodes")) l.nodes.push_back(node(n));
  if (l.anchor >= l.nodes.size()) throw NotProved{"proof.json has a layer without its anchor"};
  return l;
}

std::vector<ProgramPort> ports(const Json& list) {
  std::vector<ProgramPort> out;
  for (const Json& j : list) {
    ProgramPort p{info(j, "value"), type_of(j, "stored"), j.at("perm").get<std::vector<int64_t>>()};
    std::vector<int64_t> sorted = p.perm;
    std::sort(sorted.begin(), sorted.end());
    for (size_t d = 0; d < sorted.size(); ++d)
      if (sorted[d] != static_cast<int64_t>(d)) throw NotProved{"proof.json has a permutation that is none"};
    if (p.perm.size() != p.value.shape.size()) throw NotProved{"proof.json has a permutation that is none"};
    out.push_back(std::move(p));
  }
  return out;
}

FoldedConstant constant(const Json& j) {
  FoldedConstant c;
  c.value = info(j, "value");
  c.folded = j.contains("folded");
  if (c.folded) c.sources = j.at("folded").get<std::vector<std::string>>();
  if (j.contains("data")) c.bytes = from_base64(j.at("data").get_ref<const std::string&>());
  return c;
}

// Numbers that no sum of products of theirs overflows.
int64_t bounded(const Json& j, int64_t most = int64_t{1} << 31) {
  const int64_t n = j.get<int64_t>();
  if (n < -most || n > most) throw NotProved{"proof.json has a place that is none"};
  return n;
}

PlacedValue::Piece piece(const Json& j) {
  PlacedValue::Piece p;
  p.begin = j.at(0).get<uint32_t>();
  p.end = j.at(1).get<uint32_t>();
  p.space = j.at(2).get<uint32_t>();
  p.address = bounded(j.at(3), int64_t{1} << 48);
  int64_t* const rest[] = {&p.row0, &p.row1, &p.byte0, &p.byte1, &p.local};
  for (size_t k = 0; k < std::size(rest); ++k) *rest[k] = bounded(j.at(4 + k));
  const bool sound = p.row0 >= 0 && p.row1 > p.row0 && p.byte0 >= 0 && p.byte1 > p.byte0 && p.local > 0 &&
                     p.address >= 0 && p.extent() <= (int64_t{1} << 31);
  if (!sound) throw NotProved{"proof.json has a place that is none"};
  return p;
}

PlacedValue place(const Json& j) {
  PlacedValue p;
  p.value = j.at("value").get<std::string>();
  p.stored = type_of(j, "stored");
  p.offset = bounded(j.at("offset"));
  p.pitch = std::max<int64_t>(1, bounded(j.at("pitch")));
  for (const Json& s : j.at("strides")) p.strides.push_back(bounded(s));
  for (const Json& k : j.at("pieces")) p.pieces.push_back(piece(k));
  return p;
}

RegionHints region(const Json& j) {
  RegionHints r;
  r.id = j.at("id").get<uint32_t>();
  r.file = j.at("file").get<std::string>();
  r.body = j.contains("body");
  r.inputs = ports(j.at("inputs"));
  r.outputs = ports(j.at("outputs"));
  for (const Json& v : j.at("values")) r.stored[v.at("value").get<std::string>()] = type_of(v, "stored");
  for (const Json& v : j.at("precisions"))
    r.precisions[v.at("value").get<std::string>()] = {v.at("pair").get<bool>(), v.at("shift").get<int32_t>()};
  for (const Json& l : j.at("layers")) r.layers.push_back(layer(l));
  for (const Json& c : j.at("constants")) {
    FoldedConstant made = constant(c);
    r.constants.emplace(made.value.name, std::move(made));
  }
  if (j.contains("places"))
    for (const Json& p : j.at("places")) r.places.push_back(place(p));
  for (const Json& i : j.at("instructions"))
    r.spans.push_back(
        {i.at(0).get<uint32_t>(), i.at(1).get<uint32_t>(), i.at(2).get<uint32_t>(), i.at(3).get<uint32_t>()});
  return r;
}

}  // namespace

int64_t Node::integer(const char* name, int64_t otherwise) const {
  return attributes.contains(name) ? attributes.at(name).get<int64_t>() : otherwise;
}
float Node::real(const char* name, float otherwise) const {
  return attributes.contains(name) ? static_cast<float>(attributes.at(name).get<double>()) : otherwise;
}
std::string Node::text(const char* name, const char* otherwise) const {
  return attributes.contains(name) ? attributes.at(name).get<std::string>() : std::string(otherwise);
}
std::vector<int64_t> Node::integers(const char* name) const {
  return attributes.contains(name) ? attributes.at(name).get<std::vector<int64_t>>() : std::vector<int64_t>();
}
bool Node::is(std::initializer_list<const char*> names) const {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return op == n; });
}

bool has_integers(const RegionHints& region) {
  for (const Layer& l : region.layers)
    for (const Node& n : l.nodes)
      if (n.is({"QuantizeLinear", "QLinearConv", "DequantizeLinear", "Clip", "Max", "Min", "ConvInteger"}))
        return true;
  return false;
}

std::optional<Hints> read_hints(std::string_view text) {
  const Json j = Json::parse(text.begin(), text.end(), nullptr, false);
  if (j.is_discarded() || !j.is_object() || j.value("schema", "") != "mrvlc-proof-1") return std::nullopt;
  try {
    Hints h;
    h.model = j.at("model").get<std::string>();
    for (const Json& i : j.at("inputs"))
      h.inputs.push_back({i.at("name").get<std::string>(), type_of(i, "type"), shape_of(i)});
    for (const Json& r : j.at("regions")) h.regions.push_back(region(r));
    return h;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace mrvlc::prove
