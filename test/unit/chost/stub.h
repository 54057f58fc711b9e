// Builds small graphs, generates their host program, compiles it with a C compiler, runs it and compares with
// the reference semantics of the operator table.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "mrvlc/chost/chost.h"
#include "mrvlc/ops/op.h"
#include "support/commands.h"
#include "support/distance.h"
#include "support/folders.h"

namespace mrvlc::chost::test {

using mrvlc::test::distance, mrvlc::test::have_tool, mrvlc::test::kStrict, mrvlc::test::shell,
    mrvlc::test::TempDir;

using Attrs = std::vector<std::pair<std::string, ir::Attr>>;

class GraphBuilder {
 public:
  ir::Graph graph;

  ir::ValueId input(Shape shape, ElementType elem = ElementType::F32, std::string name = {});
  // Values in [-1, 1], the same for the same order of calls.
  ir::ValueId constant(Shape shape, double scale = 1);
  ir::ValueId constant(Tensor tensor);
  ir::ValueId node(std::string_view op, std::vector<ir::ValueId> inputs, const Attrs& attrs = {},
                   std::string name = {});
  void output(ir::ValueId value) { graph.add_output(value); }
  Tensor random(const TensorType& type, double scale = 1);

 private:
  uint32_t state_ = 12345;
  int count_ = 0;
};

// Recurrent layers with columns of every kind of panel, and inputs that take several blocks of weights, which
// `weights(shape, scale)` makes.
void add_recurrent_layers(GraphBuilder& builder,
                          const std::function<ir::ValueId(const Shape&, double)>& weights);

// Every node on the host, in topological order.
HostCode generate_host(const ir::Graph& graph, const std::string& name = "net");
// Text of one generated file.
const std::string& file_of(const HostCode& code, const std::string& name);

std::vector<Tensor> reference(const ir::Graph& graph, const std::vector<Tensor>& inputs);

void write_files(const HostCode& code, const std::filesystem::path& dir);
// Builds the example with `compiler`, runs it (behind `runner`) on the inputs and returns the outputs; fails
// the test on errors.
std::vector<Tensor> build_and_run(const HostCode& code, const ir::Graph& graph,
                                  const std::vector<Tensor>& inputs, const std::string& compiler,
                                  const std::string& runner = {});
// Random inputs through the stub and the reference: differences at most `tolerance`.
void check_graph(GraphBuilder& builder, const std::string& compiler = "gcc -O2", double tolerance = 1e-5,
                 const std::string& runner = {});

}  // namespace mrvlc::chost::test
