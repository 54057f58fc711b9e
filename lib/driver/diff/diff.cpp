// `mrvlc diff`: what differs between two compiles, by ONNX's names, and why.
#include <algorithm>
#include <numeric>

#include "diff/found.h"
#include "diff/side.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {
namespace {

// What the two compiles were given that is not the same.
std::vector<DiffInput> inputs_changed(const Given& a, const Given& b) {
  std::vector<DiffInput> out;
  auto compare = [&](const std::string& what, const Json& x, const Json& y) {
    if (x != y) out.push_back({what, x, y});
  };
  compare("version of mrvlc", a.version, b.version);
  compare("model", a.sha256, b.sha256);
  const Json &x = a.options, &y = b.options;
  for (const auto& [key, value] : x.items()) compare("option " + key, value, y.value(key, Json()));
  for (const auto& [key, value] : y.items())
    if (!x.contains(key)) compare("option " + key, Json(), value);
  compare("files that were read", a.read, b.read);
  return out;
}

std::vector<DiffTotal> totals_changed(const Report& a, const Report& b, double tolerance) {
  std::vector<DiffTotal> out;
  for (const TotalKind& kind : total_kinds()) {
    DiffTotal& t = out.emplace_back(DiffTotal{.kind = &kind, .a = kind.of(a), .b = kind.of(b)});
    if (!t.a || !t.b) continue;
    const int64_t *x = std::get_if<int64_t>(&*t.a), *y = std::get_if<int64_t>(&*t.b);
    if (x != nullptr && y != nullptr)
      t.change = *y - *x;
    else
      t.change = as_double(*t.b) - as_double(*t.a);
    if (as_double(*t.a) != 0) t.relative = as_double(*t.change) / as_double(*t.a);
    t.worse = is_worse(kind, t.a, t.b, tolerance);
  }
  return out;
}

std::vector<DiffMove> nodes_moved(const DiffSide& a, const DiffSide& b) {
  std::vector<DiffMove> out;
  auto entry = [&](const std::string& name, const DiffNode* x, const DiffNode* y) {
    auto where = [](const DiffNode* n) { return n == nullptr ? std::nullopt : std::optional(n->where); };
    out.push_back({name, (y == nullptr ? x : y)->op_type, where(x), where(y),
                   y == nullptr ? "the model has no such node any more" : y->reason});
  };
  for (const auto& [name, x] : a.nodes) {
    const auto y = b.nodes.find(name);
    if (y == b.nodes.end()) {
      entry(name, &x, nullptr);
    } else if (x.where != y->second.where || x.target != y->second.target) {
      entry(name, &x, &y->second);
    }
  }
  for (const auto& [name, y] : b.nodes)
    if (!a.nodes.contains(name)) entry(name, nullptr, &y);
  return out;
}

// Layers of both sides that have ONNX nodes in common, however these are grouped: the least parts of the
// model whose cycles can be compared.
struct Part {
  std::vector<const DiffLayer*> a, b;
  std::set<std::string> nodes;
};

std::vector<Part> parts_of(const DiffSide& a, const DiffSide& b) {
  std::vector<size_t> root(a.layers.size() + b.layers.size());
  std::iota(root.begin(), root.end(), size_t{0});
  auto find = [&](size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  auto layer = [&](size_t i) { return i < a.layers.size() ? &a.layers[i] : &b.layers[i - a.layers.size()]; };
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < root.size(); ++i) {
    for (const std::string& node : layer(i)->nodes) {
      const size_t other = find(first.try_emplace(node, i).first->second), mine = find(i);
      root[std::max(other, mine)] = std::min(other, mine);
    }
  }
  std::map<size_t, Part> parts;
  for (size_t i = 0; i < root.size(); ++i) {
    Part& part = parts[find(i)];
    (i < a.layers.size() ? part.a : part.b).push_back(layer(i));
    part.nodes.insert(layer(i)->nodes.begin(), layer(i)->nodes.end());
  }
  std::vector<Part> out;
  for (auto& [first_layer, part] : parts) out.push_back(std::move(part));
  return out;
}

template <class F>
std::string joined(const std::vector<const DiffLayer*>& layers, F text) {
  std::string out;
  for (const DiffLayer* l : layers) out += (out.empty() ? "" : ", ") + text(*l);
  return out.empty() ? "none" : out;
}

template <class F>
int64_t added(const std::vector<const DiffLayer*>& layers, F number) {
  return std::accumulate(layers.begin(), layers.end(), int64_t{0},
                         [&](int64_t sum, const DiffLayer* l) { return sum + number(*l); });
}

int64_t cycles(const std::vector<const DiffLayer*>& layers) {
  return added(layers, [](const DiffLayer& l) { return l.cycles; });
}

int64_t ddr_bytes(const std::vector<const DiffLayer*>& layers) {
  return added(layers, [](const DiffLayer& l) { return l.ddr_bytes; });
}

// Where a node of the part moved, and why it is there now.
std::string moved(const Part& part, const std::vector<DiffMove>& placement) {
  const auto m =
      std::ranges::find_if(placement, [&](const DiffMove& p) { return part.nodes.contains(p.node); });
  if (m == placement.end()) return {};
  return fmt::format("'{}' ({}): {} -> {}: {}", m->node, m->op_type, m->a.value_or("nowhere"),
                     m->b.value_or("nowhere"), m->reason);
}

std::string why(const Part& part, const std::vector<DiffMove>& placement) {
  if (std::string text = moved(part, placement); !text.empty()) return text;
  auto changed = [&](const char* what, auto text) -> std::string {
    const std::string x = joined(part.a, text), y = joined(part.b, text);
    return x == y ? std::string() : fmt::format("{}: {} -> {}", what, x, y);
  };
  if (auto text = changed("layers", [](const DiffLayer& l) { return l.operators; }); !text.empty())
    return text;
  if (auto text = changed("kind", [](const DiffLayer& l) { return l.kind; }); !text.empty()) return text;
  if (auto text = changed("bound by", [](const DiffLayer& l) { return l.bound; }); !text.empty()) return text;
  if (ddr_bytes(part.a) != ddr_bytes(part.b))
    return fmt::format("bytes of DDR: {} -> {}", ddr_bytes(part.a), ddr_bytes(part.b));
  return "the same layer beside others: it waits for them otherwise";
}

std::vector<DiffLayers> layers_changed(const DiffSide& a, const DiffSide& b,
                                       const std::vector<DiffMove>& placement) {
  std::vector<DiffLayers> rows;
  for (const Part& part : parts_of(a, b)) {
    const int64_t x = cycles(part.a), y = cycles(part.b);
    if (x == y && ddr_bytes(part.a) == ddr_bytes(part.b)) continue;
    const auto& named = part.a.empty() ? part.b : part.a;
    rows.push_back({joined(named, [](const DiffLayer& l) { return l.operators; }), part.nodes, x, y, y - x,
                    ddr_bytes(part.a), ddr_bytes(part.b), why(part, placement)});
  }
  std::ranges::stable_sort(rows, std::greater<>(), [](const DiffLayers& l) { return std::abs(l.change); });
  return rows;
}

// The last of a path's names: pages hold no folders of the machine.
std::string shown(const std::filesystem::path& path) {
  const std::filesystem::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return name.empty() ? path.string() : name.string();
}

}  // namespace

Result<std::string> diff(const DiffOptions& options, Diagnostics& diagnostics) {
  MRVLC_ASSIGN(const DiffSide a, read_side(options.a, options.target_dirs));
  MRVLC_ASSIGN(const DiffSide b, read_side(options.b, options.target_dirs));
  DiffFound found;
  found.inputs = inputs_changed(a.given, b.given);
  found.totals = totals_changed(a.report, b.report, options.tolerance.value_or(0));
  found.placement = nodes_moved(a, b);
  found.layers = layers_changed(a, b, found.placement);
  if (options.tolerance)
    for (Diag& d : regressions(a.report, b.report, *options.tolerance, options.a.string()))
      diagnostics.add(std::move(d));
  if (options.html) return diff_html(found, shown(options.a), shown(options.b));
  return options.json ? json::document(found) : diff_text(found);
}

}  // namespace mrvlc::driver
