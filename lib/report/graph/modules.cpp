// Folds a large graph by the hierarchy in its nodes' names ("/layer1/0/conv/Conv", as exporters write them).
// A module is a stretch of the order of execution: so no two modules read from each other. Stretches are
// joined until few enough are left, first those with the most of their path in common, then the smallest.
#include "graph/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace mrvlc::report {
namespace {

using Path = std::vector<std::string>;

constexpr size_t kDeepest = 16;         // components of a path; what is below is one module
constexpr size_t kMostStretches = 512;  // before they are joined, which takes the square of their number
constexpr size_t kLevels = 6;           // of modules in modules; below, parts are of equal size

// Regions come first: a module does not cross their borders unless it holds them whole.
Path path_of(const GraphItem& item) {
  Path path;
  if (item.region) path.push_back(fmt::format("region {}", *item.region));
  const std::string& name =
      item.nodes.empty() || item.nodes.front().name.empty() ? item.name : item.nodes.front().name;
  size_t at = 0;
  for (size_t slash = name.find('/'); slash != std::string::npos && path.size() < kDeepest;
       slash = name.find('/', at)) {
    if (slash > at) path.push_back(name.substr(at, slash - at));
    at = slash + 1;
  }
  return path;
}

size_t in_common(const Path& a, const Path& b) {
  const auto ends = std::ranges::mismatch(a, b);
  return static_cast<size_t>(ends.in1 - a.begin());
}

struct Stretch {
  std::vector<uint32_t> items;  // of one graph, in order
  Path path;                    // that all of them have in common
};

// The place whose stretch and the next are to be joined.
size_t best_join(const std::vector<Stretch>& all) {
  size_t best = 0, most = 0, least = SIZE_MAX;
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const size_t common = in_common(all[i].path, all[i + 1].path);
    const size_t size = all[i].items.size() + all[i + 1].items.size();
    if (least != SIZE_MAX && (common < most || (common == most && size >= least))) continue;
    best = i, most = common, least = size;
  }
  return best;
}

bool computed(const GraphItem& item) {
  return item.kind != GraphItem::Kind::Input && item.kind != GraphItem::Kind::Output;
}

// Neighbours whose paths are the same down to `depth` as one.
std::vector<Stretch> runs(const std::vector<Stretch>& singles, size_t depth) {
  std::vector<Stretch> all;
  for (const Stretch& s : singles) {
    Path path(s.path.begin(), s.path.begin() + static_cast<long>(std::min(depth, s.path.size())));
    if (all.empty() || all.back().path != path) all.push_back({{}, std::move(path)});
    all.back().items.push_back(s.items.front());
  }
  return all;
}

// As deep as their number allows. Without a hierarchy there is one; then they are parts of equal size.
std::vector<Stretch> first_runs(const std::vector<Stretch>& singles) {
  for (size_t depth = kDeepest; depth > 0; --depth) {
    std::vector<Stretch> all = runs(singles, depth);
    if (all.size() > 1 && all.size() <= kMostStretches) return all;
  }
  std::vector<Stretch> all;
  const size_t each = (singles.size() + kMostStretches - 1) / kMostStretches;
  for (size_t i = 0; i < singles.size(); ++i) {
    if (i % each == 0) all.emplace_back();
    all.back().items.push_back(singles[i].items.front());
  }
  return all;
}

std::vector<Stretch> stretches(const Graph& g, bool by_path) {
  std::vector<Stretch> singles;
  for (uint32_t i = 0; i < g.items.size(); ++i)
    if (computed(g.items[i])) singles.push_back({{i}, by_path ? path_of(g.items[i]) : Path{}});
  std::vector<Stretch> all = first_runs(singles);
  while (all.size() > kMostModules) {
    const size_t at = best_join(all);
    Stretch& into = all[at];
    into.path.resize(in_common(into.path, all[at + 1].path));
    into.items.insert(into.items.end(), all[at + 1].items.begin(), all[at + 1].items.end());
    all.erase(all.begin() + static_cast<long>(at) + 1);
  }
  return all;
}

// "layer1"; "layer.0 … layer.3" of several; "Conv … Add" where no name tells more than the reader knows.
std::string title_of(const Graph& g, const Stretch& s, size_t above) {
  const GraphItem &first = g.items[s.items.front()], &last = g.items[s.items.back()];
  if (s.items.size() == 1) return graph_title(first);
  const Path from = path_of(first), to = path_of(last);
  const size_t depth = s.path.size();
  const bool several = from.size() > depth && to.size() > depth && from[depth] != to[depth];
  if (several) return from[depth] + " … " + to[depth];
  if (depth > above) return s.path.back();
  return graph_title(first) + " … " + graph_title(last);
}

// Without the values that no edge names.
void drop_unused_values(Graph& g) {
  std::map<uint32_t, uint32_t> kept;
  std::vector<GraphValue> values;
  for (GraphEdge& e : g.edges) {
    const auto [at, fresh] = kept.try_emplace(e.value, static_cast<uint32_t>(values.size()));
    if (fresh) values.push_back(std::move(g.values[e.value]));
    e.value = at->second;
  }
  g.values = std::move(values);
}

// A part of a graph as a graph of its own: what it reads from elsewhere are its inputs.
class Slice {
 public:
  Slice(const Graph& whole, const Stretch& part, std::string name) : whole_(whole) {
    out_.name = std::move(name);
    out_.values = whole.values;
    std::map<uint32_t, uint32_t> inputs;  // by value
    for (uint32_t i : part.items) here_[i] = 0;
    for (const GraphEdge& e : whole.edges)
      if (here_.contains(e.to) && !here_.contains(e.from) && inputs.try_emplace(e.value, 0).second)
        inputs[e.value] = port(e.value, GraphItem::Kind::Input);
    for (uint32_t i : part.items) add(i);
    std::map<uint32_t, uint32_t> outputs;
    for (const GraphEdge& e : whole.edges) {
      if (here_.contains(e.to))
        out_.edges.push_back(
            {here_.contains(e.from) ? here_[e.from] : inputs[e.value], here_[e.to], e.value});
      else if (here_.contains(e.from) && outputs.try_emplace(e.value, 0).second) {
        outputs[e.value] = port(e.value, GraphItem::Kind::Output);
        out_.edges.push_back({here_[e.from], outputs[e.value], e.value});
      }
    }
  }
  Graph take() {
    drop_unused_values(out_);
    return std::move(out_);
  }

 private:
  uint32_t port(uint32_t value, GraphItem::Kind kind) {
    GraphItem item;
    item.kind = kind;
    item.name = whole_.values[value].name;
    item.type = whole_.values[value].type;
    out_.items.push_back(std::move(item));
    return static_cast<uint32_t>(out_.items.size() - 1);
  }
  void add(uint32_t i) {
    GraphItem item = whole_.items[i];
    if (item.region) {
      const auto [at, fresh] = regions_.try_emplace(*item.region, static_cast<uint32_t>(out_.regions.size()));
      if (fresh) out_.regions.push_back(whole_.regions[*item.region]);
      item.region = at->second;
    }
    here_[i] = static_cast<uint32_t>(out_.items.size());
    out_.items.push_back(std::move(item));
  }

  const Graph& whole_;
  Graph out_;
  std::map<uint32_t, uint32_t> here_, regions_;  // index in the whole: index here
};

GraphItem module_item(const Graph& g, const Stretch& s, size_t above, uint32_t body) {
  if (s.items.size() == 1) {
    GraphItem alone = g.items[s.items.front()];
    alone.region.reset();  // a picture of modules has no regions
    if (alone.kind == GraphItem::Kind::Layer) alone.kind = GraphItem::Kind::Node;
    return alone;
  }
  GraphItem item;
  item.name = title_of(g, s, above);
  item.type = fmt::format("{} items", s.items.size());
  for (uint32_t i : s.items) {
    const GraphItem& part = g.items[i];
    item.macs += part.macs;
    item.weights_bytes += part.weights_bytes;
    if (part.seconds) item.seconds = item.seconds.value_or(0) + *part.seconds;
  }
  item.bodies = {body};
  return item;
}

class Folder {
 public:
  explicit Folder(GraphDocument& document) : document_(document) {}

  // The index of a graph that shows `g` by module; `above`: how much of the paths is known to the reader.
  uint32_t fold(const Graph& g, const std::string& name, size_t above, size_t level) {
    const std::vector<Stretch> parts = stretches(g, level < kLevels);
    const uint32_t index = reserve();
    Graph overview;
    overview.name = name;
    overview.values = g.values;
    std::vector<uint32_t> module(g.items.size());
    const auto append = [&](GraphItem item) {
      overview.items.push_back(std::move(item));
      return static_cast<uint32_t>(overview.items.size() - 1);
    };
    for (uint32_t i = 0; i < g.items.size(); ++i)
      if (g.items[i].kind == GraphItem::Kind::Input) module[i] = append(g.items[i]);
    for (const Stretch& s : parts) {
      const uint32_t body = s.items.size() == 1 ? 0 : open(g, s, name, above, level);
      const uint32_t item = append(module_item(g, s, above, body));
      for (uint32_t i : s.items) module[i] = item;
    }
    for (uint32_t i = 0; i < g.items.size(); ++i)
      if (g.items[i].kind == GraphItem::Kind::Output) module[i] = append(g.items[i]);
    connect(g, module, overview);
    drop_unused_values(overview);
    document_.graphs[index] = std::move(overview);
    return index;
  }

 private:
  uint32_t reserve() {
    document_.graphs.emplace_back();
    return static_cast<uint32_t>(document_.graphs.size() - 1);
  }
  uint32_t open(const Graph& g, const Stretch& s, const std::string& name, size_t above, size_t level) {
    const std::string title = name + " / " + title_of(g, s, above);
    Graph slice = Slice(g, s, title).take();
    if (slice.items.size() > kReadableModule) return fold(slice, title, s.path.size(), level + 1);
    const uint32_t index = reserve();
    document_.graphs[index] = std::move(slice);
    return index;
  }
  static void connect(const Graph& g, const std::vector<uint32_t>& module, Graph& overview) {
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> there;
    for (const GraphEdge& e : g.edges) {
      const uint32_t from = module[e.from], to = module[e.to];
      if (from != to && there.insert({from, to, e.value}).second)
        overview.edges.push_back({from, to, e.value});
    }
  }

  GraphDocument& document_;
};

}  // namespace

FoldedDocument fold_by_module(const GraphDocument& document) {
  FoldedDocument out{document};
  if (document.graphs.empty() || document.graphs.front().items.size() <= kReadableGraph) return out;
  out.start = Folder(out.document).fold(document.graphs.front(), "by module", 0, 0);
  return out;
}

}  // namespace mrvlc::report
