#include "commands.h"

#include <catch2/catch.hpp>

#include "lower/lowering.h"
#include "mrvlc/accel/stages.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/target/machine.h"
#include "plan/pe_plan.h"
#include "plan/residency.h"
#include "plan/search.h"
#include "plan/stripe.h"
#include "plan/window_plan.h"
#include "primitive/prune.h"
#include "text/fields.h"
#include "text/primitives_text.h"
#include "text/schedule_text.h"

namespace mrvlc::accel::test {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) FAIL(result.error().message);
  return std::move(result).value();
}

// The arguments of a command; the machine is cn10ka with as much on-chip memory as `ocm` says.
struct Arguments {
  std::string stage;
  target::Machine machine;
  Dims runs, stripes, columns, spilled;
  int64_t tiles = 2, ocm = 0, rows = 0, channels = 0, budget = 0, unaligned = 0, stream = 1, sparse = 0,
          parted = 0, streaming = 0;
  float tensors = 0, send = 60;

  explicit Arguments(const std::string& command) : machine(value_of(target::load_machine("cn10ka", {}))) {
    const Record r = value_of(parse_records(command.substr(command.find_first_not_of(' ')))).at(0);
    stage = r.words.at(0);
    FieldReader f(r);
    f.number("tiles", tiles, int64_t{2});
    f.number("ocm", ocm, int64_t{machine.ocm_bytes});
    f.number("rows", rows, int64_t{0});
    f.number("channels", channels, int64_t{1});
    f.number("budget", budget, ocm);
    f.number("unaligned", unaligned, int64_t{0});
    f.number("sparse", sparse, int64_t{0});
    f.number("parted", parted, int64_t{0});
    f.number("stream", stream, int64_t{1});
    f.number("streaming", streaming, int64_t{0});
    f.number("tensors", tensors, 0.0F);
    f.number("send", send, 60.0F);
    f.list("runs", runs, {});
    f.list("stripes", stripes, {});
    f.list("columns", columns, {});
    f.list("spilled", spilled, {});
    if (Status s = f.done(); !s.ok()) FAIL(s.error().message);
    machine.ocm_bytes = static_cast<uint32_t>(ocm);
  }

  uint32_t tile_count() const { return static_cast<uint32_t>(tiles); }
  Cut cut() const {
    return {rows == 0 ? tiles / channels : rows, channels, unaligned == 0, sparse != 0, parted != 0};
  }
  // The same for every primitive.
  std::vector<Cut> cuts(const Program& p) const { return std::vector<Cut>(p.primitives.size(), cut()); }
};

// --- Stages that take a graph.

std::string lowering(const std::string& input, const Arguments& a) {
  ir::Graph graph = value_of(ir::parse(input, ops::registry()));
  partition::Options all;
  all.accel = {"*"};
  const backends::Opened backend = value_of(backends::open(a.machine, {}));
  partition::Partition parts = value_of(partition::partition(graph, backend.get(), all));
  REQUIRE(parts.regions.size() == 1);
  Lowered lowered = value_of(Lowering(graph, parts.regions[0], a.machine).run());
  return primitives_text(lowered.program, names_of(graph, lowered.program));
}

// --- Stages that take primitives.

std::string pruned(NamedProgram read, const Arguments&) {
  prune_unread_pixels(read.program);
  return primitives_text(read.program, read.names);
}

std::string cut(NamedProgram read, const Arguments& a) {
  return tiling_text(read.program, a.cuts(read.program), a.tile_count(), read.names);
}

std::string possible(NamedProgram read, const Arguments& a) {
  std::string out;
  for (const Primitive& p : read.program.primitives) {
    out += read.names.expr(owner_of(p).expr) + ":";
    for (const Cut& c : possible_cuts(p, a.tile_count()))
      out += " " + std::to_string(c.rows) + "x" + std::to_string(c.channels) + (c.aligned ? "" : "u");
    out += "\n";
  }
  return out;
}

std::string search(NamedProgram read, const Arguments& a) {
  std::vector<Cut> cuts =
      choose_cuts(read.program, a.machine, a.tile_count(), {a.tensors, 0, a.send, a.streaming != 0});
  std::string out;
  for (size_t i = 0; i < cuts.size(); ++i)
    out += read.names.expr(owner_of(read.program.primitives[i]).expr) + ": " + describe(cuts[i]) + "\n";
  return out;
}

std::string window_plan(NamedProgram read, const Arguments& a) {
  std::vector<Record> out;
  for (const Primitive& p : read.program.primitives) {
    const auto* op = std::get_if<WindowOp>(&p);
    if (op == nullptr) continue;
    bool on = a.stream != 0;
    auto plan = plan_window(*op, a.cut(), {on, on, on, on}, a.budget, a.machine);
    Record r{0, {read.names.expr(op->owner.expr)}, {}, {}};
    if (!plan) r.words.emplace_back("does not fit");
    FieldWriter f(r);
    if (plan) {
      f.two("block", plan->rows, plan->cols, 0);
      f.number("units", plan->units, int64_t{0});
      f.number("k", plan->k, int64_t{0});
      f.flag("split", plan->split);
      f.flag("weights_outer", plan->weights_outer);
      f.flag("weights_once", plan->weights_once);
      f.flag("keep_x", plan->keep_x);
      f.list("depths", {plan->x_depth, plan->w_depth, plan->out_depth}, {});
      f.number("workspace", plan->workspace(), int64_t{0});
      CHECK(plan->workspace() <= a.budget);
      CHECK(window_fits(*op, a.machine));
    }
    out.push_back(std::move(r));
  }
  return print(out);
}

std::string pe_plan(NamedProgram read, const Arguments& a) {
  std::vector<Record> out;
  for (const Primitive& p : read.program.primitives) {
    const auto* g = std::get_if<PeGroup>(&p);
    if (g == nullptr) continue;
    PeSlots slots = slots_of(*g);
    bool chip = a.stream == 0;
    PePlan plan = plan_pe(*g, a.cut(), a.budget, a.machine, std::vector<bool>(slots.inputs.size(), chip),
                          std::vector<bool>(slots.outputs.size(), chip));
    Record r{0, {read.names.expr(g->owner.expr)}, {}, {}};
    FieldWriter f(r);
    if (plan.fits) {
      f.list("block", plan.block, {});
      f.flag("one_block", plan.one_block);
      f.list("inputs", plan.input_bytes, {});
      f.list("outputs", plan.output_bytes, {});
      f.list("temps", plan.temp_bytes, {});
      f.number("workspace", plan.workspace(), int64_t{0});
      CHECK(plan.workspace() <= a.budget);
    } else {
      r.words.emplace_back("does not fit");
    }
    out.push_back(std::move(r));
  }
  return print(out);
}

// A window holds what its tile needs and makes.
void check_residences(const std::vector<Residence>& residences) {
  for (const Residence& h : residences) {
    if (!h.on_chip) continue;
    for (size_t t = 0; t < h.window.size(); ++t) {
      CHECK(hull(h.window[t], h.need[t]) == h.window[t]);
      CHECK(hull(h.window[t], h.made[t]) == h.window[t]);
    }
  }
}

std::string residences(NamedProgram read, const Arguments& a) {
  std::vector<bool> spilled(read.program.buffers.size(), false);
  for (int64_t b : a.spilled) spilled.at(static_cast<size_t>(b)) = true;
  std::vector<Residence> residences =
      choose_residency(read.program, a.cuts(read.program), a.machine, a.tile_count(), spilled);
  check_residences(residences);
  return residency_text(read.program, residences, read.names);
}

std::string stripes(NamedProgram read, const Arguments& a) {
  std::vector<Run> runs;
  for (size_t k = 0; k + 1 < a.runs.size(); k += 2)
    runs.push_back({static_cast<size_t>(a.runs[k]), static_cast<size_t>(a.runs[k + 1])});
  std::vector<Grid> grids;
  for (size_t k = 0; k < a.stripes.size(); ++k)
    grids.push_back({a.stripes[k], a.columns.empty() ? 1 : a.columns.at(k)});
  auto striped = in_stripes(read.program, runs, grids);
  return striped ? primitives_text(*striped, read.names) : "not possible\n";
}

std::string find_stripes(NamedProgram read, const Arguments& a) {
  std::vector<bool> spilled(read.program.buffers.size(), false);
  for (int64_t b : a.spilled) spilled.at(static_cast<size_t>(b)) = true;
  std::vector<Residence> residences =
      choose_residency(read.program, a.cuts(read.program), a.machine, a.tile_count(), spilled);
  std::string out;
  for (const Run& r : find_runs(read.program, residences, a.machine, a.tile_count()))
    out += "primitives " + std::to_string(r.first) + " to " + std::to_string(r.last) + "\n";
  return out.empty() ? "none\n" : out;
}

using Command = std::string (*)(NamedProgram, const Arguments&);
constexpr std::pair<const char*, Command> kCommands[] = {{"prune", pruned},
                                                         {"touches", cut},
                                                         {"cuts", possible},
                                                         {"search", search},
                                                         {"window-plan", window_plan},
                                                         {"pe-plan", pe_plan},
                                                         {"residences", residences},
                                                         {"stripes", stripes},
                                                         {"find-stripes", find_stripes}};

}  // namespace

std::string run_command(const std::string& command, const std::string& input) {
  Arguments a(command);
  if (a.stage == "lowering") return lowering(input, a);
  for (const auto& [name, function] : kCommands) {
    if (a.stage != name) continue;
    NamedProgram read = value_of(read_primitives(input));
    CHECK(primitives_text(read.program, read.names) == input);  // the examples stand as they are printed
    return function(std::move(read), a);
  }
  auto stage = stage_named(a.stage);
  if (!stage) FAIL("there is no stage " << a.stage);
  Options options;
  options.tiles = a.tile_count();
  return value_of(stage_from_primitives(input, a.machine, options, *stage));
}

std::vector<std::string> command_names() {
  std::vector<std::string> out = {"lowering"};
  for (const auto& command : kCommands) out.emplace_back(command.first);
  for (std::string_view name : stage_names())
    if (name != "primitives") out.emplace_back(name);
  return out;
}

}  // namespace mrvlc::accel::test
