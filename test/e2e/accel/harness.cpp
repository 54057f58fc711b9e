#include "harness.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "mrvlc/interp/interp.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel_test {

ir::ValueId Net::input(Shape shape) {
  ir::ValueId v =
      graph.add_input("in" + std::to_string(graph.inputs().size()), {ElementType::F32, std::move(shape)});
  region.inputs.push_back(v);
  return v;
}

ir::ValueId Net::constant(Shape shape, double low, double high) {
  Tensor t({ElementType::F32, std::move(shape)});
  std::uniform_real_distribution<double> d(low, high);
  for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, d(random_));
  return graph.add_constant("c" + std::to_string(graph.value_slots()), std::move(t));
}

ir::ValueId Net::values(Shape shape, const std::vector<double>& data, ElementType elem) {
  Tensor t({elem, std::move(shape)});
  for (size_t i = 0; i < data.size(); ++i) {
    if (elem == ElementType::I64) {
      t.set_int(static_cast<int64_t>(i), static_cast<int64_t>(data[i]));
    } else {
      t.set_double(static_cast<int64_t>(i), data[i]);
    }
  }
  return graph.add_constant("c" + std::to_string(graph.value_slots()), std::move(t));
}

ir::NodeId Net::node(const std::string& op, std::vector<ir::ValueId> inputs, AttrList attrs, size_t outputs) {
  const ops::OpDef* def = ops::find_op("", op);
  if (def == nullptr) throw std::runtime_error("no operator " + op);
  std::vector<ir::Attr> slots = ir::default_attrs(*def);
  for (auto& [name, value] : attrs) ir::set_attr(*def, slots, name, value);
  ops::InferContext context;
  context.op = def;
  context.attrs = &slots;
  context.num_outputs = outputs;
  for (ir::ValueId v : inputs) {
    context.types.push_back(v.valid() ? &graph.value(v).type : nullptr);
    context.constants.push_back(v.valid() ? graph.constant(v) : nullptr);
  }
  auto types = ops::infer_types(*def, context);
  if (!types.ok()) throw std::runtime_error(op + ": " + types.error().message);
  ir::SourceId source = graph.add_source({std::to_string(graph.node_slots()), op, op, "", {}});
  std::vector<std::string> names(outputs);
  return graph.add_node(*def, op + std::to_string(graph.node_slots()), std::move(inputs), std::move(slots),
                        *types, names, {{source}, {}, "import", ""});
}

ir::ValueId Net::layer(const std::string& kind, const std::string& op, std::vector<ir::ValueId> inputs,
                       AttrList attrs, size_t outputs) {
  ir::NodeId id = node(op, std::move(inputs), std::move(attrs), outputs);
  // Without a kind: a graph for the partition to make layers of.
  region.layers.push_back({"test", kind.empty() ? LayerKind{} : find_layer_kind(kind).value(), {id}, id});
  return graph.node(id).outputs[0];
}

ir::ValueId Net::epilogue(const std::string& op, std::vector<ir::ValueId> inputs, AttrList attrs) {
  ir::NodeId id = node(op, std::move(inputs), std::move(attrs), 1);
  region.layers.back().nodes.push_back(id);
  return graph.node(id).outputs[0];
}

void Net::output(ir::ValueId value) {
  graph.add_output(value);
  region.outputs.push_back(value);
}

target::Machine machine(uint32_t ocm_bytes) {
  auto m = target::load_machine("cn10ka", {});
  REQUIRE(m.ok());
  m->ocm_bytes = ocm_bytes;
  return *m;
}

namespace {

double distance(const backend::Port& port, const std::string& bytes, const Tensor& expected) {
  double worst = 0;
  each_element(port, expected.shape(), [&](int64_t i, int64_t at) {
    double a = static_cast<double>(stored(port, bytes, at)), b = expected.as_double(i);
    if (std::isnan(a) && std::isnan(b)) return;
    double d = std::fabs(a - b) / (1 + std::fabs(b));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  });
  return worst;
}

std::vector<Tensor> random_inputs(const Net& net, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Tensor> inputs;
  for (ir::ValueId v : net.graph.inputs()) {
    Tensor t(net.graph.value(v).type);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.set_double(i, static_cast<double>(half_to_float(float_to_half(uniform(random)))));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

Result<sim::Report> run_on(sim::Simulator& simulator, const Net& net, const std::vector<backend::Port>& ports,
                           const std::vector<Tensor>& inputs, std::vector<std::string>& outputs) {
  std::vector<std::string> bytes;
  for (const backend::Port& port : ports) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (net.graph.inputs()[i] == port.value) bytes.push_back(to_device(port, inputs[i]));
  }
  std::vector<std::span<const std::byte>> spans;
  for (const std::string& b : bytes) spans.push_back(std::as_bytes(std::span(b.data(), b.size())));
  return simulator.run(spans, outputs);
}

}  // namespace

Result<std::vector<Tensor>> outputs_of(const Net& net, const std::vector<Tensor>& inputs,
                                       const Setup& setup) {
  target::Machine m = machine(setup.ocm_bytes);
  accel::Options options;
  options.tiles = setup.tiles;
  MRVLC_ASSIGN(accel::CompiledRegion compiled, accel::compile_region(net.graph, net.region, m, options));
  MRVLC_ASSIGN(sim::Simulator simulator, sim::Simulator::create(compiled.binary, m));
  std::vector<std::string> bytes;
  MRVLC_ASSIGN(sim::Report report, run_on(simulator, net, compiled.inputs, inputs, bytes));
  CHECK(report.hazards.empty());
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < bytes.size(); ++i)
    outputs.push_back(
        from_device(compiled.outputs[i], bytes[i], net.graph.value(compiled.outputs[i].value).type.shape));
  return outputs;
}

Simulated simulate(const Net& net, const accel::Options& options, uint32_t ocm_bytes) {
  Simulated r;
  target::Machine m = machine(ocm_bytes);
  auto compiled = accel::compile_region(net.graph, net.region, m, options);
  if (!compiled.ok()) return r.code = compiled.error().code, r.error = compiled.error().message, r;
  auto simulator = sim::Simulator::create(compiled->binary, m);
  if (!simulator.ok()) return r.error = "simulator: " + simulator.error().message, r;
  auto report = run_on(*simulator, net, compiled->inputs, random_inputs(net, 1), r.outputs);
  if (!report.ok()) return r.error = "run: " + report.error().message, r;
  if (!report->hazards.empty()) r.error = report->hazards[0].what;
  r.report = *std::move(report);
  r.compiled = *std::move(compiled);
  return r;
}

Run run(const Net& net, const Setup& setup, uint32_t seed) {
  Run r;
  target::Machine m = machine(setup.ocm_bytes);
  auto compiled =
      accel::compile_region(net.graph, net.region, m, {setup.tiles, "net", isa::Architecture::Experimental});
  if (!compiled.ok()) return r.error = "compile: " + compiled.error().message, r;
  r.covered = covers(*compiled);
  r.bound = compiled->lower_bound_cycles;
  std::vector<Tensor> inputs = random_inputs(net, seed);
  auto expected = interp::run(net.graph, inputs);
  if (!expected.ok()) return r.error = "reference: " + expected.error().message, r;
  auto binary = isa::read_container(isa::write_container(compiled->binary));
  if (!binary.ok()) return r.error = "container: " + binary.error().message, r;
  auto simulator = sim::Simulator::create(*binary, m);
  if (!simulator.ok()) return r.error = "simulator: " + simulator.error().message, r;
  std::vector<std::string> outputs;
  auto report = run_on(*simulator, net, compiled->inputs, inputs, outputs);
  if (!report.ok()) return r.error = "run: " + report.error().message, r;
  r.hazards = report->hazards.size();
  if (r.hazards > 0) r.first_hazard = report->hazards[0].what;
  r.cycles = report->total_cycles();
  for (size_t i = 0; i < outputs.size(); ++i)
    r.worst = std::max(r.worst, distance(compiled->outputs[i], outputs[i], (*expected)[i]));
  return r;
}

void check_on(const Net& net, const std::string& what, const Setup& setup, double tolerance) {
  INFO(what << ", " << setup.tiles << " tiles, OCM " << setup.ocm_bytes);
  Run r = run(net, setup);
  CHECK(r.error == "");
  CHECK(r.first_hazard == "");
  CHECK(r.covered);
  CHECK(r.worst <= tolerance);
  CHECK((r.error != "" || r.cycles >= r.bound));
}

void check(const Net& net, const std::string& what, double tolerance) {
  for (Setup s : {Setup{8, 1 << 20}, Setup{4, 128 << 10}, Setup{2, 64 << 10}, Setup{1, 64 << 10}})
    check_on(net, what, s, tolerance);
}

}  // namespace mrvlc::accel_test
