// The tuning file, read and written: docs/tuning.md, docs/schemas/tuning.schema.json.
#include "inputs/tuning_file.h"

#include <algorithm>
#include <cmath>

#include "inputs/json.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/strict_json.h"

namespace mrvlc::driver {
namespace {

constexpr const char* kTuningSchema = "mrvlc-tuning-1";
constexpr double kMostNs = 1e15;

class TuningReader {
 public:
  Result<TuningFile> run(std::string_view text, std::string_view shown) {
    std::string twice;
    const Json root = text.size() <= kMaxTuningBytes ? parse_strict<Json>(text, twice) : Json();
    require(root.is_object() && twice.empty(), "it is no JSON object, or has a key twice");
    if (wrong_.empty()) read_root(root);
    if (!wrong_.empty()) return make_diag<DiagCode::MRV0606>(printable(shown, 4096), wrong_);
    return std::move(file_);
  }

 private:
  void require(bool holds, std::string_view what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }

  // A member, of an object that has these and no others; null when that is not so.
  const Json& member(const Json& json, const char* key, std::initializer_list<const char*> all) {
    static const Json none;
    require(json.is_object(), fmt::format("'{}' is not where it should be", key));
    if (!wrong_.empty()) return none;
    for (const auto& [name, value] : json.items())
      require(std::ranges::any_of(all, [&, n = std::string_view(name)](const char* k) { return n == k; }),
              fmt::format("'{}' is unknown", printable(name)));
    require(json.contains(key), fmt::format("'{}' is missing", key));
    return wrong_.empty() ? json.at(key) : none;
  }

  std::string text(const Json& json, const char* what) {
    require(json.is_string(), fmt::format("'{}' is not a text", what));
    return wrong_.empty() ? json.get<std::string>() : std::string();
  }

  int64_t count(const Json& json, const char* what) {
    const bool good = json.is_number_integer() && json >= 0 && json <= (1 << 30);
    require(good, fmt::format("'{}' is not a number from 0 to 2^30", what));
    return wrong_.empty() ? json.get<int64_t>() : 0;
  }

  double nanoseconds(const Json& json) {
    const bool good = json.is_number() && json.get<double>() >= 0 && json.get<double>() <= kMostNs;
    require(good, "a time is not a number from 0 to 1e15");
    return wrong_.empty() ? json.get<double>() : 0;
  }

  void read_root(const Json& root) {
    const auto of = [&](const char* key) -> const Json& {
      return member(root, key, {"schema", "model", "mrvlc", "compiler", "rounds", "network", "layers"});
    };
    require(of("schema") == kTuningSchema, fmt::format("its schema is not {}", kTuningSchema));
    file_.model = text(member(of("model"), "sha256", {"sha256"}), "sha256");
    file_.machine.mrvlc = text(of("mrvlc"), "mrvlc");
    read_compiler(of("compiler"));
    const Json& rounds = of("rounds");
    require(rounds.is_array() && rounds.size() == file_.rounds.size(), "'rounds' are not two numbers");
    for (size_t i = 0; wrong_.empty() && i < rounds.size(); ++i) file_.rounds[i] = count(rounds[i], "rounds");
    if (const Json& network = of("network"); wrong_.empty() && !network.is_null()) read_network(network);
    const Json& layers = of("layers");
    require(layers.is_array(), "'layers' are no list");
    for (size_t i = 0; wrong_.empty() && i < layers.size(); ++i) read_layer(layers[i]);
  }

  void read_compiler(const Json& json) {
    const auto of = [&](const char* key) -> const Json& {
      return member(json, key, {"version", "flags", "features"});
    };
    file_.machine.compiler = text(of("version"), "version");
    file_.machine.flags = text(of("flags"), "flags");
    const Json& features = of("features");
    require(features.is_array(), "'features' are no list");
    for (size_t i = 0; wrong_.empty() && i < features.size(); ++i)
      file_.machine.features.push_back(text(features[i], "features"));
  }

  void read_network(const Json& json) {
    const auto of = [&](const char* key) -> const Json& {
      return member(json, key, {"untuned_ns", "tuned_ns"});
    };
    const double untuned = nanoseconds(of("untuned_ns"));
    file_.network = TuningFile::Network{untuned, nanoseconds(of("tuned_ns"))};
  }

  void read_layer(const Json& json) {
    const auto of = [&](const char* key) -> const Json& {
      return member(json, key, {"layer", "count", "expected", "choice", "ns"});
    };
    TunedLayer layer;
    layer.layer = text(of("layer"), "layer");
    layer.count = count(of("count"), "count");
    layer.expected = text(of("expected"), "expected");
    layer.choice = text(of("choice"), "choice");
    const Json& ns = of("ns");
    require(ns.is_object(), "'ns' is no object");
    if (!wrong_.empty()) return;
    for (const auto& [variant, value] : ns.items()) layer.ns[variant] = nanoseconds(value);
    const auto& layers = file_.layers;
    require(layers.empty() || layers.back().layer < layer.layer,
            fmt::format("layer '{}' is there twice, or out of order", printable(layer.layer)));
    file_.layers.push_back(std::move(layer));
  }

  TuningFile file_;
  std::string wrong_;  // the first fault
};

}  // namespace

const TunedLayer* TuningFile::find(std::string_view layer) const {
  const auto at = std::ranges::lower_bound(layers, layer, {},
                                           [](const TunedLayer& l) -> std::string_view { return l.layer; });
  return at == layers.end() || at->layer != layer ? nullptr : &*at;
}

Result<TuningFile> parse_tuning(std::string_view json, std::string_view shown) {
  return TuningReader().run(json, shown);
}

std::string tuning_text(const TuningFile& file) {
  const auto whole = [](double ns) { return std::llround(ns); };
  Json layers = Json::array();
  for (const TunedLayer& l : file.layers) {
    Json ns = Json::object();
    for (const auto& [variant, time] : l.ns) ns[variant] = whole(time);
    layers.push_back({{"layer", l.layer},
                      {"count", l.count},
                      {"expected", l.expected},
                      {"choice", l.choice},
                      {"ns", std::move(ns)}});
  }
  Json network;
  if (file.network)
    network = {{"untuned_ns", whole(file.network->untuned_ns)}, {"tuned_ns", whole(file.network->tuned_ns)}};
  const Json root = {{"schema", kTuningSchema},
                     {"model", {{"sha256", file.model}}},
                     {"mrvlc", file.machine.mrvlc},
                     {"compiler",
                      {{"version", file.machine.compiler},
                       {"flags", file.machine.flags},
                       {"features", file.machine.features}}},
                     {"rounds", file.rounds},
                     {"network", std::move(network)},
                     {"layers", std::move(layers)}};
  return json_document(root);
}

chost::Tuning tuning_of(const TuningFile& file) {
  chost::Tuning tuning;
  for (const TunedLayer& l : file.layers)
    if (const auto variant = chost::parse_variant(l.choice)) tuning.variants.emplace(l.layer, *variant);
  return tuning;
}

}  // namespace mrvlc::driver
