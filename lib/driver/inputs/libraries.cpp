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
  if (package.integers) add_once(out.passes, std::string_view("separate-dequantize"));
  out.integers = out.integers || package.integers;
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

// By ONNX node that an accelerator takes where libraries leave it: how many of these have their turn before.
using OfAccelerators = std::map<ir::SourceId, size_t>;

Result<OfAccelerators> taken_by_accelerators(ir::Graph graph, std::span<const std::string_view> pipeline,
                                             const passes::RunOptions& run, const OtherTargets& others) {
  OfAccelerators out;
  if (others.accelerator == nullptr) return out;
  MRVLC_TRY(passes::run_passes(graph, pipeline, run));
  auto borders = passes::take_fences(graph);
  partition::Options options;
  options.turns = others.turns;
  if (others.pins != nullptr) {
    const auto pins = std::make_shared<partition::Pins>(*others.pins);
    pins->borders = std::move(borders);
    options.pins = pins;
  }
  MRVLC_ASSIGN(const partition::Partition p,
               partition::partition(graph, others.accelerator, options, others.sources));
  for (const partition::NodeDecision& d : p.decisions) {
    if (!d.accelerator) continue;
    const uint32_t part = p.regions[d.region].accelerator;
    const size_t behind = part < others.turns.size() ? others.turns[part].behind : 0;
    for (ir::SourceId s : graph.lineage(d.node).sources) out.emplace(s, behind);
  }
  return out;
}

bool comes_first(const ir::Graph& graph, const partition::Call& call, size_t library,
                 const OfAccelerators& accelerators) {
  return std::ranges::any_of(call.nodes, [&](ir::NodeId n) {
    return std::ranges::any_of(graph.lineage(n).sources, [&](ir::SourceId s) {
      const auto found = accelerators.find(s);
      return found != accelerators.end() && found->second <= library &&
             !dequantizes_constant(graph, graph.node(n));
    });
  });
}

// Sorted: the ONNX nodes that dequantize weights of calls.
Result<std::vector<ir::SourceId>> taken_weights(const ir::Graph& graph, const Libraries& libraries,
                                                const OfAccelerators& accelerators,
                                                std::shared_ptr<const partition::Pins> pins) {
  partition::Options options;
  options.pins = std::move(pins);
  options.libraries = &libraries.rules;
  MRVLC_ASSIGN(const partition::Partition p, partition::partition(graph, nullptr, options));
  std::vector<ir::SourceId> out;
  for (const partition::Call& call : p.calls) {
    const auto library = std::ranges::find(libraries.rules, call.target, &partition::Library::target);
    if (comes_first(graph, call, static_cast<size_t>(library - libraries.rules.begin()), accelerators))
      continue;
    for (ir::NodeId n : call.nodes) {
      const auto& sources = graph.lineage(n).sources;
      if (dequantizes_constant(graph, graph.node(n))) out.insert(out.end(), sources.begin(), sources.end());
    }
  }
  std::ranges::sort(out);
  return out;
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
    MRVLC_ASSIGN(std::vector<ir::SourceId> taken, taken_weights(graph, libraries, accelerators, others.pins));
    run.context.stays = [called = dequantizes_one_of(std::move(taken)), stays](const auto& g,
                                                                               const auto& node) {
      return called(g, node) || (stays && stays(g, node));
    };
  }
  MRVLC_TRY(passes::run_passes(graph, pipeline, run));
  return passes::run_passes(graph, libraries.passes, run);
}

}  // namespace mrvlc::driver
