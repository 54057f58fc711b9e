// Packages of kind `call`: rules, headers, sources; passes that leave calls the weights they dequantize.
#include "inputs/libraries.h"

#include <algorithm>
#include <iterator>

#include "inputs/rule_files.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/passes/fences.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {
namespace {

constexpr size_t kMaxSource = size_t{64} << 20;

class PackageReader {
 public:
  PackageReader(const std::string& name, const target::TargetText& text, Libraries& out)
      : text_(text), package_(name), out_(out) {
    if (!text.files.empty()) folder_ = text.files.front().path.parent_path();
  }

  Result<std::string> bytes(const std::string& file, size_t most) {
    for (const target::BuiltinFile& f : text_.builtin_files)
      if (f.name == file) return std::string(f.text);
    MRVLC_ASSIGN(std::string text, read_file(folder_ / file, most));
    out_.read.push_back({ReadFile::Kind::Target, folder_ / file, package_ + "/" + file, sha256_hex(text)});
    return text;
  }

  Result<std::vector<rules::RuleFile>> rules(const target::LibraryPackage& package) {
    if (text_.files.empty())
      return std::vector<rules::RuleFile>{{package.rules.front(), text_.rules, /*built_in=*/true}};
    std::vector<std::filesystem::path> files;
    for (const std::string& name : package.rules) files.push_back(folder_ / name);
    return read_rule_files(files, [this](const std::filesystem::path& file, const std::string& text) {
      out_.read.push_back(
          {ReadFile::Kind::Target, file, package_ + "/" + file.filename().string(), sha256_hex(text)});
    });
  }

  // A file of the package that goes to OUT.
  Status copy(const std::string& file, std::string_view model) {
    for (const std::string& ours :
         {std::string(model) + ".c", std::string(model) + ".h", std::string("main.c")})
      if (same_file(file, ours)) return taken(file, fmt::format("the compile writes, '{}'", ours));
    MRVLC_ASSIGN(std::string text, bytes(file, kMaxSource));
    const auto there =
        std::ranges::find_if(out_.files, [&](const auto& f) { return same_file(f.first, file); });
    if (there == out_.files.end()) {
      out_.files.emplace_back(file, std::move(text));
    } else if (there->first != file || there->second != text) {
      return taken(file, fmt::format("{} has, '{}'", owner_of(there->first), printable(there->first)));
    }
    return {};
  }

 private:
  Diag taken(const std::string& file, const std::string& by) const {
    return make_diag<DiagCode::MRV0353>(printable(package_), printable(file), by);
  }

  // Of a file that was read before.
  std::string owner_of(const std::string& file) const {
    for (const ReadFile& r : out_.read) {
      const std::filesystem::path name = r.name;
      if (name.filename() == std::filesystem::path(file).filename())
        return fmt::format("target '{}'", printable(name.begin()->string()));
    }
    return "another target";
  }

  const target::TargetText& text_;
  std::filesystem::path folder_;  // empty: it is built in
  std::string package_;
  Libraries& out_;
};

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

}  // namespace

void add_integer_passes(Libraries& out) {
  add_once(out.passes, std::string_view("separate-dequantize"));
  out.integers = true;
}

Status add_library(const std::string& name, const target::TargetText& text, std::string_view model,
                   Libraries& out, Diagnostics& diagnostics) {
  const bool built_in = text.files.empty();
  MRVLC_ASSIGN(const target::LibraryPackage package,
               target::parse_library(text.json, built_in ? name : text.files.front().path.string()));
  if (package.name != name)
    return make_diag<DiagCode::MRV0351>(
        printable(name), "name", fmt::format("is '{}', not that of its folder", printable(package.name)));
  PackageReader reader(name, text, out);
  if (!built_in)
    out.read.push_back({ReadFile::Kind::Target, text.files.front().path, name + "/target.json",
                        sha256_hex(text.files.front().text)});
  MRVLC_ASSIGN(std::vector<rules::RuleFile> files, reader.rules(package));
  MRVLC_ASSIGN(partition::SoundRules rules, partition::sound(partition::load_library_rules(files)));
  for (const Diag& d : rules->diagnostics.list()) diagnostics.add(d);
  out.rules.push_back({name, std::move(rules)});
  out.rule_files.insert(out.rule_files.end(), std::make_move_iterator(files.begin()),
                        std::make_move_iterator(files.end()));
  if (package.split_bias) add_once(out.passes, std::string_view("split-bias"));
  if (package.integers) add_integer_passes(out);
  out.standard = target::both_standards(out.standard, package.standard);
  out.linked.standard = target::standard_flags(out.standard);
  for (const std::string& file : package.headers) {
    MRVLC_TRY(reader.copy(file, model));
    add_once(out.linked.includes, "\"" + file + "\"");
  }
  for (const std::string& file : package.system_headers) add_once(out.linked.includes, "<" + file + ">");
  for (const std::string& file : package.sources) {
    MRVLC_TRY(reader.copy(file, model));
    add_once(out.linked.sources, file);
  }
  for (const std::string& library : package.libraries) add_once(out.linked.libraries, library);
  return {};
}

namespace {

// When an accelerator has its turn: how many libraries before it, and which of its parts it is.
struct Taker {
  size_t behind = 0;
  uint32_t part = 0;
};
// By ONNX node: the accelerator that takes it where its weights are folded.
using OfAccelerators = std::map<ir::SourceId, Taker>;

size_t behind_of(const OtherTargets& others, uint32_t part) {
  return part < others.turns.size() ? others.turns[part].behind : 0;
}

// Constraints, with the borders that the passes have kept; the graph has no fences then.
std::shared_ptr<const partition::Pins> bordered(ir::Graph& graph, const OtherTargets& others) {
  auto borders = passes::take_fences(graph);
  if (others.pins == nullptr) return nullptr;
  const auto pins = std::make_shared<partition::Pins>(*others.pins);
  pins->borders = std::move(borders);
  return pins;
}

Result<OfAccelerators> taken_by_accelerators(ir::Graph graph, std::span<const std::string_view> pipeline,
                                             const passes::RunOptions& run, const OtherTargets& others) {
  OfAccelerators out;
  if (others.accelerator == nullptr) return out;
  const auto parts = others.accelerator->parts();
  if (std::ranges::all_of(parts, [](const auto* part) { return part->sees_integers(); })) return out;
  MRVLC_TRY(passes::run_passes(graph, pipeline, run));
  partition::Options options;
  options.turns = others.turns;
  options.pins = bordered(graph, others);
  MRVLC_ASSIGN(const partition::Partition p,
               partition::partition(graph, others.accelerator, options, others.sources));
  for (const partition::NodeDecision& d : p.decisions) {
    if (!d.accelerator) continue;
    const uint32_t part = p.regions[d.region].accelerator;
    if (parts[part]->sees_integers()) continue;
    for (ir::SourceId s : graph.lineage(d.node).sources) out.emplace(s, Taker{behind_of(others, part), part});
  }
  return out;
}

// The ONNX nodes that dequantize weights of layers that are computed with integers.
class TakenWeights {
 public:
  TakenWeights(const ir::Graph& graph, const OfAccelerators& accelerators)
      : graph_(graph), accelerators_(accelerators) {}

  // `before`: an accelerator has its turn before who takes these nodes.
  template <class Before>
  void add(const std::vector<ir::NodeId>& nodes, Before before) {
    const bool comes_first = std::ranges::any_of(nodes, [&](ir::NodeId n) {
      if (dequantizes_constant(graph_, graph_.node(n))) return false;
      return std::ranges::any_of(graph_.lineage(n).sources, [&](ir::SourceId s) {
        const auto found = accelerators_.find(s);
        return found != accelerators_.end() && before(found->second);
      });
    });
    if (comes_first) return;
    for (ir::NodeId n : nodes) {
      const auto& sources = graph_.lineage(n).sources;
      if (dequantizes_constant(graph_, graph_.node(n)))
        out_.insert(out_.end(), sources.begin(), sources.end());
    }
  }
  std::vector<ir::SourceId> sorted() && {
    std::ranges::sort(out_);
    return std::move(out_);
  }

 private:
  const ir::Graph& graph_;
  const OfAccelerators& accelerators_;
  std::vector<ir::SourceId> out_;
};

Result<std::vector<ir::SourceId>> taken_weights(ir::Graph graph, const Libraries& libraries,
                                                const OfAccelerators& accelerators,
                                                const OtherTargets& others) {
  const bool asked = others.accelerator != nullptr && others.accelerator->sees_integers();
  const partition::Accelerator* accelerator = asked ? others.accelerator : nullptr;
  partition::Options options;
  options.pins = others.pins;
  if (asked) {
    options.pins = bordered(graph, others);
    options.turns = others.turns;
  }
  options.libraries = &libraries.rules;
  MRVLC_ASSIGN(const partition::Partition p, partition::partition(graph, accelerator, options));
  TakenWeights out(graph, accelerators);
  for (const partition::Call& call : p.calls) {
    const auto library = std::ranges::find(libraries.rules, call.target, &partition::Library::target);
    const auto turn = static_cast<size_t>(library - libraries.rules.begin());
    out.add(call.nodes, [&](const Taker& t) { return t.behind <= turn; });
  }
  for (const partition::Region& region : p.regions) {
    if (!accelerator->parts()[region.accelerator]->sees_integers()) continue;
    for (const partition::Layer& layer : region.layers)
      out.add(layer.nodes, [&](const Taker& t) { return t.part < region.accelerator; });
  }
  return std::move(out).sorted();
}

}  // namespace

std::span<const std::string_view> host_pipeline_for(const Libraries& libraries) {
  return libraries.rules.empty() ? passes::host_pipeline() : passes::library_pipeline();
}

Status run_passes(ir::Graph& graph, std::span<const std::string_view> pipeline,
                  const passes::RunOptions& options, const Libraries& libraries, const OtherTargets& others) {
  passes::RunOptions run = options;
  const auto stays = options.context.stays;  // what other rules ask for
  if (libraries.integers) {
    // A first round in which all dequantized constants stay; those that calls take stay in the second one.
    MRVLC_ASSIGN(const OfAccelerators accelerators, taken_by_accelerators(graph, pipeline, run, others));
    run.context.stays = dequantizes_constant;
    MRVLC_TRY(passes::run_passes(graph, pipeline, run));
    MRVLC_TRY(passes::run_passes(graph, libraries.passes, run));
    MRVLC_ASSIGN(std::vector<ir::SourceId> taken, taken_weights(graph, libraries, accelerators, others));
    run.context.stays = [called = dequantizes_one_of(std::move(taken)), stays](const auto& g,
                                                                               const auto& node) {
      return called(g, node) || (stays && stays(g, node));
    };
  }
  MRVLC_TRY(passes::run_passes(graph, pipeline, run));
  return passes::run_passes(graph, libraries.passes, run);
}

}  // namespace mrvlc::driver
