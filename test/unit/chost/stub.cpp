#include "stub.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "mrvlc/partition/partition.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/tensor/npy.h"
#include "names.h"
#include "paths.h"

namespace mrvlc::chost::test {

ir::ValueId GraphBuilder::input(Shape shape, ElementType elem, std::string name) {
  if (name.empty()) name = fmt::format("in{}", count_++);
  return graph.add_input(name, TensorType{elem, std::move(shape)});
}

Tensor GraphBuilder::random(const TensorType& type, double scale) {
  Tensor t(type);
  for (int64_t i = 0; i < type.elements(); ++i) {
    state_ = state_ * 1664525u + 1013904223u;
    t.set_double(i, scale * (static_cast<double>(state_ >> 8) / double{1 << 23} - 1.0));
  }
  return t;
}

ir::ValueId GraphBuilder::constant(Shape shape, double scale) {
  return constant(random({ElementType::F32, std::move(shape)}, scale));
}

ir::ValueId GraphBuilder::constant(Tensor tensor) {
  return graph.add_constant(fmt::format("c{}", count_++), std::move(tensor));
}

ir::ValueId GraphBuilder::node(std::string_view op, std::vector<ir::ValueId> inputs, const Attrs& attrs,
                               std::string name) {
  const auto& def = *ops::find_op("", op);
  if (name.empty()) name = fmt::format("{}_{}", op, count_++);
  std::vector<ir::Attr> slots = ir::default_attrs(def);
  for (const auto& [attr, value] : attrs) ir::set_attr(def, slots, attr, value);
  ops::InferContext context;
  context.op = &def;
  context.attrs = &slots;
  context.num_outputs = static_cast<size_t>(std::max(1, def.min_outputs));
  for (ir::ValueId v : inputs) {
    context.types.push_back(v.valid() ? &graph.value(v).type : nullptr);
    context.constants.push_back(v.valid() ? graph.constant(v) : nullptr);
  }
  auto types = ops::infer_types(def, context);
  if (!types.ok()) FAIL(types.error().message);
  ir::Source source;
  source.id = fmt::format("main/{}", graph.sources().size());
  source.name = name;
  source.op_type = op;
  ir::Lineage lineage;
  lineage.sources = {graph.add_source(std::move(source))};
  lineage.pass = "import";
  std::vector<std::string> names;
  for (size_t i = 0; i < types->size(); ++i) names.push_back(fmt::format("v{}_{}", count_, i));
  ++count_;
  ir::NodeId id = graph.add_node(def, name, std::move(inputs), std::move(slots), *types, names, lineage);
  return graph.node(id).outputs[0];
}

void add_recurrent_layers(GraphBuilder& b, const std::function<ir::ValueId(const Shape&, double)>& weights) {
  auto add = [&](std::string_view op, int64_t gates, int64_t hidden, int64_t width, int64_t steps,
                 int64_t batch, Attrs attrs) {
    const int64_t rows = gates * hidden, directions = attrs.empty() ? 1 : 2;
    attrs.push_back({"hidden_size", hidden});
    b.output(b.node(op,
                    {b.input({steps, batch, width}), weights({directions, rows, width}, 0.1),
                     weights({directions, rows, hidden}, 0.2), b.constant({directions, 2 * rows})},
                    attrs));
  };
  add("LSTM", 4, 18, 300, 37, 1, {{"direction", std::string("bidirectional")}});
  add("LSTM", 4, 5, 130, 6, 3, {});
  add("GRU", 3, 40, 20, 33, 2, {});
  add("GRU", 3, 23, 9, 8, 1,
      {{"linear_before_reset", int64_t{1}}, {"direction", std::string("bidirectional")}});
  add("RNN", 1, 70, 3, 5, 1, {});
}

HostCode generate_host(const ir::Graph& graph, const std::string& name) {
  auto code = generate(graph, partition::host_partition(graph), {}, {name, name});
  if (!code.ok()) FAIL(code.error().message);
  return std::move(code).value();
}

const std::string& file_of(const HostCode& code, const std::string& name) {
  for (const auto& [file, text] : code.files) {
    if (file == name) return text;
  }
  throw std::runtime_error("no file " + name);
}

std::vector<Tensor> reference(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<ir::ValueId, Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  for (size_t v = 0; v < graph.value_slots(); ++v) {
    if (graph.is_constant(ir::ValueId(v))) values[ir::ValueId(v)] = graph.value(ir::ValueId(v)).constant();
  }
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    std::vector<Tensor> outputs;
    for (ir::ValueId v : node.outputs) outputs.emplace_back(graph.value(v).type);
    ops::EvalContext context;
    context.op = node.op;
    context.attrs = &node.attrs;
    for (ir::ValueId v : node.inputs) context.inputs.push_back(v.valid() ? &values.at(v) : nullptr);
    context.outputs = &outputs;
    Status status = ops::op_def(node).eval(context);
    if (!status.ok()) FAIL(status.error().message);
    for (size_t i = 0; i < outputs.size(); ++i) values[node.outputs[i]] = std::move(outputs[i]);
  }
  std::vector<Tensor> results;
  for (ir::ValueId v : graph.outputs()) results.push_back(values.at(v));
  return results;
}

void write_files(const HostCode& code, const std::filesystem::path& dir) {
  for (const auto& [name, bytes] : code.files) {
    std::filesystem::create_directories((dir / name).parent_path());
    std::ofstream(dir / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

std::vector<Tensor> build_and_run(const HostCode& code, const ir::Graph& graph,
                                  const std::vector<Tensor>& inputs, const std::string& compiler,
                                  const std::string& runner) {
  TempDir dir;
  write_files(code, dir.path());
  std::string log;
  std::string build = fmt::format("{} {} -o example main.c net.c net_weights.S -lm", compiler, kStrict);
  if (shell(dir.path(), build, &log) != 0) FAIL(build << "\n" << log);
  std::string run = runner + " ./example --output-dir .";
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string file = fmt::format("input{}.npy", i);
    dir.write(file, to_npy(inputs[i]));
    run += fmt::format(" --input {}={}", graph.value(graph.inputs()[i]).name, file);
  }
  if (shell(dir.path(), run, &log) != 0) FAIL(run << "\n" << log);
  std::vector<Tensor> outputs;
  for (ir::ValueId v : graph.outputs()) {
    auto tensor = read_npy(dir.path() / (file_name(graph.value(v).name) + ".npy"));
    if (!tensor.ok()) FAIL(tensor.error().message);
    outputs.push_back(std::move(tensor).value());
  }
  return outputs;
}

void check_graph(GraphBuilder& builder, const std::string& compiler, double tolerance,
                 const std::string& runner) {
  const ir::Graph& graph = builder.graph;
  std::vector<Tensor> inputs;
  for (ir::ValueId v : graph.inputs()) inputs.push_back(builder.random(graph.value(v).type));
  HostCode code = generate_host(graph);
  std::vector<Tensor> actual = build_and_run(code, graph, inputs, compiler, runner);
  std::vector<Tensor> expected = reference(graph, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    const ir::Value& value = graph.value(graph.outputs()[i]);
    std::string node = value.producer.valid() ? graph.node(value.producer).name : value.name;
    INFO("output " << i << " of " << node << " " << to_string(actual[i].type()) << " "
                   << to_string(value.type));
    CHECK(distance(actual[i], expected[i]) <= tolerance);
  }
}

}  // namespace mrvlc::chost::test
