// `mrvlc diff`: what differs between two compiles, by ONNX's names, and why.
#include <algorithm>
#include <numeric>

#include "diff/page.h"
#include "diff/side.h"
#include "diff/text.h"
#include "diff/totals.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::driver {
namespace {

// What the two compiles were given that is not the same.
Json inputs_changed(const Json& a, const Json& b) {
  Json out = Json::array();
  auto compare = [&](const std::string& what, const Json& x, const Json& y) {
    if (x != y) out.push_back({{"what", what}, {"a", x}, {"b", y}});
  };
  compare("version of mrvlc", a.at("tool").at("version"), b.at("tool").at("version"));
  compare("model", a.at("model").at("sha256"), b.at("model").at("sha256"));
  const Json &x = a.at("options"), &y = b.at("options");
  for (const auto& [key, value] : x.items()) compare("option " + key, value, y.value(key, Json()));
  for (const auto& [key, value] : y.items())
    if (!x.contains(key)) compare("option " + key, Json(), value);
  auto files = [](const Json& manifest) {
    Json list = Json::array();
    for (const Json& file : manifest.at("read"))
      if (file.at("kind") != "model") list.push_back(file);
    return list;
  };
  compare("files that were read", files(a), files(b));
  return out;
}

Json totals_json(const Json& a, const Json& b, double tolerance) {
  Json out = Json::array();
  const std::vector<Total> before = totals(a), after = totals(b);
  for (size_t i = 0; i < before.size(); ++i) {
    const Json &x = before[i].value, &y = after[i].value;
    Json change, relative;
    if (x.is_number_integer() && y.is_number_integer()) {
      change = y.get<int64_t>() - x.get<int64_t>();
    } else if (x.is_number() && y.is_number()) {
      change = y.get<double>() - x.get<double>();
    }
    if (change.is_number() && x.get<double>() != 0) relative = change.get<double>() / x.get<double>();
    out.push_back({{"name", before[i].name},
                   {"a", x},
                   {"b", y},
                   {"change", change},
                   {"relative", relative},
                   {"worse", is_worse(before[i], after[i], tolerance)}});
  }
  return out;
}

Json placement_json(const DiffSide& a, const DiffSide& b) {
  Json out = Json::array();
  auto entry = [&](const std::string& name, const DiffNode* x, const DiffNode* y) {
    auto where = [](const DiffNode* n) { return n == nullptr ? Json() : Json(n->where); };
    const DiffNode& any = y == nullptr ? *x : *y;
    out.push_back({{"node", name},
                   {"op_type", any.op_type},
                   {"a", where(x)},
                   {"b", where(y)},
                   {"reason", y == nullptr ? "the model has no such node any more" : y->reason}});
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
std::string moved(const Part& part, const Json& placement) {
  for (const Json& p : placement) {
    if (!part.nodes.contains(p.at("node").get<std::string>())) continue;
    auto where = [](const Json& w) { return w.is_null() ? "nowhere" : w.get<std::string>(); };
    return fmt::format("'{}' ({}): {} -> {}: {}", p.at("node").get<std::string>(),
                       p.at("op_type").get<std::string>(), where(p.at("a")), where(p.at("b")),
                       p.at("reason").get<std::string>());
  }
  return {};
}

std::string why(const Part& part, const Json& placement) {
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

Json layers_json(const DiffSide& a, const DiffSide& b, const Json& placement) {
  std::vector<Json> rows;
  for (const Part& part : parts_of(a, b)) {
    const int64_t x = cycles(part.a), y = cycles(part.b);
    if (x == y && ddr_bytes(part.a) == ddr_bytes(part.b)) continue;
    const auto& named = part.a.empty() ? part.b : part.a;
    rows.push_back({{"operators", joined(named, [](const DiffLayer& l) { return l.operators; })},
                    {"nodes", part.nodes},
                    {"cycles_a", x},
                    {"cycles_b", y},
                    {"change", y - x},
                    {"ddr_bytes_a", ddr_bytes(part.a)},
                    {"ddr_bytes_b", ddr_bytes(part.b)},
                    {"why", why(part, placement)}});
  }
  auto size = [](const Json& row) { return std::abs(row.at("change").get<int64_t>()); };
  std::ranges::stable_sort(rows, std::greater<>(), size);
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
  MRVLC_ASSIGN(const OutputFolder folder, open_output(options.b));
  return folder.reading([&]() -> Result<std::string> {
    const Json placement = placement_json(a, b);
    const Json out = {{"schema", "mrvlc-diff-1"},
                      {"inputs", inputs_changed(a.manifest, b.manifest)},
                      {"totals", totals_json(a.report, b.report, options.tolerance.value_or(0))},
                      {"layers", layers_json(a, b, placement)},
                      {"placement", placement}};
    if (options.tolerance)
      for (Diag& d : regressions(a.report, b.report, *options.tolerance, options.a.string()))
        diagnostics.add(std::move(d));
    if (options.html) return diff_html(out, shown(options.a), shown(options.b));
    return options.json ? json_document(out) : diff_text(out);
  });
}

}  // namespace mrvlc::driver
