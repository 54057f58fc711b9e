// Generates the C of a program: fusion groups, buffers, functions, arena, text. The stages stand in
// program.h.
#include <fmt/ranges.h>

#include <algorithm>

#include "infer.h"
#include "kernel_text.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/saturating.h"
#include "naming/common_path.h"
#include "run_text.h"

namespace mrvlc::chost {
namespace {

// Every function of the source: those of no expression in particular are of the first.
std::vector<HostFunction> list_functions(const Program& program, std::vector<HostFunction> functions) {
  ir::ExprId first;
  if (!program.steps.empty()) first = program.expr(program.steps.front().group.nodes.front());
  if (!first.valid() && !program.without_code.empty()) first = program.without_code.front();
  for (HostFunction& f : functions) {
    f.file = program.options.file_stem + ".c";
    if (!f.expr.valid()) f.expr = first;
  }
  if (!first.valid()) functions.clear();  // of a model without nodes
  return functions;
}

// All stages before the arena.
Status emit_program(Program& program) {
  std::vector<FusionGroup> groups = make_fusion_groups(program);
  find_operand_views(program, groups);
  assign_buffers(program, groups);
  MRVLC_TRY(find_crossings(program));
  MRVLC_TRY(emit_functions(program, std::move(groups)));
  MRVLC_TRY(emit_fallbacks(program));
  if (!program.is_body()) settle_states(program);
  return {};
}

}  // namespace

bool Module::uses_device(const ir::Graph& body) const {
  const partition::Partition* of_body = partition::partition_of(placed, body);
  bool any = of_body != nullptr && !of_body->regions.empty();
  ir::for_each_body(body, [&](const ir::Graph& inner) {
    const partition::Partition* p = partition::partition_of(placed, inner);
    any = any || (p != nullptr && !p->regions.empty());
  });
  return any;
}

Result<BodyFunction> emit_body(Module& module, const ir::Graph& body, const Options& options,
                               std::string_view what) {
  if (body.first_expr == 0 && body.exprs.empty())
    return make_diag<DiagCode::MRV0007>("the expressions of bodies are not numbered");
  const partition::Partition* placed = partition::partition_of(module.placed, body);
  const partition::Partition host =
      placed == nullptr ? partition::host_partition(body) : partition::Partition();
  Program program(body, placed == nullptr ? host : *placed, options, module);
  MRVLC_TRY(emit_program(program));
  MRVLC_ASSIGN(ArenaResult arena, plan_program_arena(program));
  BodyFunction f{fmt::format("{}_{}", options.name, what), arena.bytes};
  RunText run(program, nullptr, arena);
  FunctionText text;
  text.symbol = f.symbol;
  text.text = run.function(f.symbol);
  if (!program.steps.empty()) text.expr = program.expr(program.steps.front().group.nodes.front());
  run.note_regions();
  module.names += run.names();
  module.functions.push_back(std::move(text));
  return f;
}

namespace {

int64_t port_bytes(const ir::Graph& graph) {
  int64_t all = 0;
  for (const auto* ports : {&graph.inputs(), &graph.outputs()})
    for (ir::ValueId v : *ports) all = saturating_add(all, memory_bytes(graph.value(v).type));
  return all;
}

// The end of NAME.c, whose names are those of NAME.h.
void add_end(const Program& program, const Interface& interface, CSource& source) {
  if (!program.options.states.empty()) source.add("\n" + state_definitions(program, interface));
  if (infer_obstacle(interface).empty()) {
    source.add("\n");
    source.add(infer_function(program, interface));
  }
  if (program.options.single) source.add(weights_definition(program));
}

// While C is emitted, and put together, its names begin with K_.
Result<HostCode> generate_module(const ir::Graph& graph, const Options& options, Module& module) {
  Options named = options;  // of the program
  named.name = kLocalName;
  module.path = common_path(graph);
  Program program(graph, module.placed, named, module);
  MRVLC_TRY(emit_program(program));
  MRVLC_ASSIGN(ArenaResult arena, plan_program_arena(program));
  named.name = options.name;
  const Interface interface = make_interface(program);
  const RunText run(program, &interface, arena);
  std::string header = header_text(program, interface, arena.bytes, run.view_count());
  const PublicNames names(options.name, header);
  named.name = kLocalName;
  CSource source = source_text(program, interface, arena, names);
  named.name = options.name;
  add_end(program, interface, source);

  HostCode code;
  code.arena_bytes = arena.bytes;
  code.arena_lower_bound_bytes = arena.lower_bound;
  code.peak = arena.peak;
  code.submitted_region = run.submitted_region();
  code.port_bytes = port_bytes(graph);
  code.weights_bytes = static_cast<int64_t>(program.weights.blob().size());
  code.weights = options.weights;
  code.half_bytes = module.half_bytes;
  code.conversions = std::move(module.conversions);
  code.transformed = std::move(module.transformed);
  code.choices = std::move(module.choices);
  for (const std::string& symbol : program.call_symbols) code.call_symbols.push_back(names.published(symbol));
  code.states = std::move(program.states);
  code.texts_made = module.texts_made;
  const std::string& stem = options.file_stem;
  code.functions = list_functions(program, source.take_functions());
  code.files.emplace_back(stem + ".h", std::move(header));
  code.files.emplace_back(stem + ".c", source.take_text());
  const std::string examples = options.single ? "example/" : "";
  code.files.emplace_back(examples + "main.c", example_text(program, interface, arena.bytes));
  if (options.bare) code.files.emplace_back(examples + "bare.c", bare_text(program, interface));
  code.files.emplace_back(examples + "Makefile", makefile_text(program));
  if (options.single) return code;
  // All of them, whichever this model includes: sources of libraries and of the user find them, too.
  for (size_t i = 0; i < kHeaderTextCount; ++i)
    code.files.emplace_back(kHeaderTexts[i].name, kHeaderTexts[i].code);
  for (auto& file : weights_files(program)) code.files.push_back(std::move(file));
  return code;
}

}  // namespace

namespace {

// What cannot be part of one file of C.
Status check_single(const Options& options, const std::vector<backend::RegionCode>& regions) {
  if (!options.single) return {};
  if (!regions.empty())
    return make_diag<DiagCode::MRV0611>(
        fmt::format("{} region{} of the accelerator ({}) {} a binary of its own", regions.size(),
                    regions.size() == 1 ? "" : "s", fmt::join(options.targets, ", "),
                    regions.size() == 1 ? "has" : "have"));
  if (!options.linked.includes.empty() || !options.linked.sources.empty())
    return make_diag<DiagCode::MRV0611>("the program calls libraries, which have headers and sources");
  return {};
}

bool is_linkable(const HostCode& code, const Options& options) {
  return options.weights == WeightsAs::Blob || code.weights_bytes <= options.link_limit;
}

}  // namespace

Result<HostCode> generate(const ir::Graph& graph, const partition::Partition& partition,
                          const std::vector<backend::RegionCode>& regions, const Options& options) {
  if (!is_c_identifier(options.name)) return make_diag<DiagCode::MRV0603>(options.name);
  MRVLC_TRY(check_single(options, regions));
  MRVLC_TRY(check_states(graph, options.states));
  Options asked = options;
  for (;;) {
    Module module(std::string(kLocalName), partition, regions);
    Result<HostCode> code = generate_module(graph, asked, module);
    if (code.ok() && !is_linkable(*code, asked)) {
      if (asked.weights == WeightsAs::Source)
        return make_diag<DiagCode::MRV0644>(code->weights_bytes, asked.link_limit);
      asked.weights = WeightsAs::Blob;
      continue;
    }
    if (code.ok() || code.error().code != DiagCode::MRV0604) return code;
    // What was tuned may take more scratch memory; transformed tiles do, which sums as they are defined do
    // without.
    if (std::ranges::any_of(module.choices, &LayerChoice::tuned)) {
      asked.tuning.variants.clear();
    } else if (!module.transformed.empty()) {
      asked.winograd = WinogradUse::Never;
    } else {
      return code;
    }
  }
}

}  // namespace mrvlc::chost
