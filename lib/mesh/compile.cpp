// A compile for a mesh, to be read as one page.
#include "code/emit.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/json_fields.h"
#include "plan/memory.h"
#include "plan/planner.h"

namespace mrvlc::mesh {
namespace {

void lay_out(const NetworkOf& network, const std::vector<PlannedPe>& pes, std::vector<Task>& tasks) {
  std::vector<std::vector<Task*>> of_pe(pes.size());
  for (Task& t : tasks) of_pe[t.pe].push_back(&t);
  for (const auto& own : of_pe) set_offsets(memory_of(network, {own.begin(), own.end()}, false), own);
}

void route(const Plan& plan, const Routes& routes, std::vector<Edge>& edges) {
  const auto chip = [&](uint32_t task) {
    return task == kHost ? routes.host() : plan.pes[plan.tasks[task].pe].chip;
  };
  for (Edge& e : edges) e.route = routes.between(chip(e.from), chip(e.to));
}

struct Assigned {
  std::vector<Cut> cuts;
  std::vector<Task> tasks;
  std::vector<PlannedPe> pes;
};

// As many parts as there are PEs; where they do not fit together, fewer, which repeat less, or smaller ones.
Result<Assigned> assigned(const NetworkOf& network, const Machine& machine, const Working& working,
                          const Routes& routes) {
  const auto pes = static_cast<int64_t>(working.pe_count());
  std::optional<Diag> first;
  for (const int64_t parts : {pes, int64_t{0}, pes * 2, pes * 4}) {
    Assigned a;
    MRVLC_ASSIGN(a.cuts, cut_layers(network, machine, parts));
    a.tasks = tasks_of(network, a.cuts);
    const Status fits = assign(network, machine, working, routes, a.tasks, a.pes);
    if (fits.ok()) return a;
    if (!first) first = fits.error();
  }
  return *first;
}

}  // namespace

Result<Compiled> compile(const ir::Graph& graph, const Machine& machine) {
  MRVLC_ASSIGN(const NetworkOf network, network_of(graph));
  MRVLC_ASSIGN(const Working working, working_parts(machine));
  const Routes routes(machine, working);
  MRVLC_ASSIGN(Assigned a, assigned(network, machine, working, routes));
  lay_out(network, a.pes, a.tasks);
  Compiled c;
  c.plan.machine = machine;
  c.plan.tensors = network.tensors;
  c.plan.inputs = network.inputs, c.plan.outputs = network.outputs;
  for (const Layer& l : network.layers) c.plan.layers.push_back(l.planned);
  c.plan.pes = std::move(a.pes);
  c.plan.tasks = std::move(a.tasks);
  c.plan.edges = connect(network, a.cuts, c.plan.tasks);
  route(c.plan, routes, c.plan.edges);
  c.files = emit(network, c.plan);
  c.files.emplace_back(kPlanFile, to_json(c.plan));
  return c;
}

std::string to_json(const Plan& plan) {
  return json::document(plan);
}

Result<Plan> parse_plan(const std::string& text) {
  const json::Json j = json::Json::parse(text, nullptr, false);
  if (j.is_discarded()) return make_diag<DiagCode::MRV1306>("mesh.json is no JSON");
  Plan plan;
  json::Fault fault;
  if (!json::read(j, plan, fault))
    return make_diag<DiagCode::MRV1306>("mesh.json: " + fault.where + " " + std::string(fault.what));
  return plan;
}

}  // namespace mrvlc::mesh
