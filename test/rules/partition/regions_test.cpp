// Properties of partitions of random graphs, checked against brute-force reachability.
#include <random>

#include "build.h"
#include "mrvlc/partition/partition.h"

using namespace mrvlc;

namespace {

// Nodes that read one or two earlier values: convolutions, sums, and operators of the CPU.
ir::Graph random_graph(uint32_t seed, int nodes) {
  std::mt19937 random(seed);
  std::string body;
  std::vector<std::string> values = {"%x"};
  auto pick = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)]; };
  for (int i = 0; i < nodes; ++i) {
    std::string name = "%v" + std::to_string(i);
    switch (random() % 6) {
      case 0:
      case 1:
        body += test::node(name + " = Conv(" + pick() + ", %w)");
        break;
      case 2:
        body += test::node(name + " = Round(" + pick() + ")");
        break;
      case 3:
        body += test::node(name + " = Relu(" + pick() + ")");
        break;
      default:
        body += test::node(name + " = Add(" + pick() + ", " + pick() + ")");
    }
    values.push_back(name);
  }
  for (size_t i = 1; i < values.size(); i += 1 + random() % 9) body += " output " + values[i] + "\n";
  return test::image_graph(body + " output " + values.back() + "\n");
}

constexpr uint32_t kCpu = ~0u;

std::vector<uint32_t> region_of(const ir::Graph& g, const partition::Partition& p) {
  std::vector<uint32_t> out(g.node_slots(), kCpu);
  for (const auto& d : p.decisions) {
    if (d.accelerator) out[d.node.index()] = d.region;
  }
  return out;
}

// For each region: can a value that leaves it come back? Walks from every node outside that reads the region.
bool convex(const ir::Graph& g, const partition::Partition& p) {
  std::vector<uint32_t> region = region_of(g, p);
  for (uint32_t r = 0; r < p.regions.size(); ++r) {
    std::vector<bool> tainted(g.node_slots());
    for (ir::NodeId n : g.topological_order()) {
      for (ir::ValueId in : g.node(n).inputs) {
        if (!in.valid() || g.value(in).kind != ir::ValueKind::Result) continue;
        uint32_t producer = g.value(in).producer.index();
        if (tainted[producer] || (region[producer] == r && region[n.index()] != r)) tainted[n.index()] = true;
      }
      if (tainted[n.index()] && region[n.index()] == r) return false;
    }
  }
  return true;
}

// Every step reads only what earlier steps or the model's inputs give; every node is done once.
void check_order(const ir::Graph& g, const partition::Partition& p) {
  std::vector<bool> have(g.value_slots());
  size_t done = 0;
  auto run = [&](ir::NodeId n) {
    ++done;
    for (ir::ValueId in : g.node(n).inputs) {
      if (in.valid() && g.value(in).kind == ir::ValueKind::Result) REQUIRE(have[in.index()]);
    }
    for (ir::ValueId out : g.node(n).outputs) have[out.index()] = true;
  };
  for (const partition::Step& s : p.steps) {
    if (s.kind == partition::Step::Kind::Cpu) {
      run(s.node);
      continue;
    }
    const partition::Region& r = p.regions[s.region];
    for (ir::ValueId in : r.inputs) {
      if (g.value(in).kind == ir::ValueKind::Result) REQUIRE(have[in.index()]);
    }
    for (const partition::Layer& l : r.layers) {
      for (ir::NodeId n : l.nodes) run(n);
    }
  }
  CHECK(done == g.topological_order().size());
}

// Outputs of a region are exactly the values read outside of it, inputs those it reads from outside.
void check_ports(const ir::Graph& g, const partition::Partition& p) {
  std::vector<uint32_t> region = region_of(g, p);
  for (const partition::Region& r : p.regions) {
    std::set<ir::ValueId> inputs, outputs;
    for (const partition::Layer& l : r.layers) {
      for (ir::NodeId n : l.nodes) {
        for (ir::ValueId in : g.node(n).inputs) {
          if (!in.valid() || g.is_constant(in)) continue;
          const ir::Value& v = g.value(in);
          if (v.kind == ir::ValueKind::Input || region[v.producer.index()] != r.id) inputs.insert(in);
        }
        for (ir::ValueId out : g.node(n).outputs) {
          bool outside = g.is_output(out);
          for (ir::NodeId u : g.value(out).users) outside |= region[u.index()] != r.id;
          if (outside) outputs.insert(out);
        }
      }
    }
    CHECK(inputs == std::set<ir::ValueId>(r.inputs.begin(), r.inputs.end()));
    CHECK(inputs.size() == r.inputs.size());
    CHECK(outputs == std::set<ir::ValueId>(r.outputs.begin(), r.outputs.end()));
    CHECK(outputs.size() == r.outputs.size());
  }
}

std::string dump(const partition::Partition& p) {
  std::string out;
  for (const auto& d : p.decisions) {
    out += fmt::format("{} {} {} {} {}\n", d.node.index(), d.accelerator, d.region, d.rule, d.reason);
    for (const auto& t : d.trials)
      out += fmt::format("  {} {} {} {} {}\n", t->rule, t->condition, t->actual, t->limit, t->reason);
  }
  for (const auto& r : p.regions) {
    for (const auto& l : r.layers) out += fmt::format("{} {} {}\n", r.id, l.rule, l.anchor.index());
  }
  return out;
}

}  // namespace

TEST_CASE("regions of random graphs are convex, in order, and have the right ports") {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    ir::Graph g = random_graph(seed, 10 + static_cast<int>(seed % 60));
    partition::Partition p = test::split(g);
    CHECK(convex(g, p));
    check_order(g, p);
    check_ports(g, p);
    CHECK(dump(p) == dump(test::split(g)));
    for (const auto& d : p.decisions) {
      if (!d.accelerator) CHECK(d.reason.str().back() == '.');
    }
  }
}

TEST_CASE("borders keep regions of random graphs convex") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    ir::Graph g = random_graph(seed, 40);
    partition::Options options;
    for (int i = 0; i < 40; i += 7) options.borders.insert("v" + std::to_string(i));
    options.accel.clear();
    partition::Partition p = test::split(g, options);
    CHECK(convex(g, p));
    check_order(g, p);
    std::vector<uint32_t> region = region_of(g, p);
    for (const std::string& border : options.borders) {
      ir::NodeId n = g.value(*g.find_value(border)).producer;
      for (ir::ValueId in : g.node(n).inputs) {
        if (g.value(in).kind != ir::ValueKind::Result || region[n.index()] == kCpu) continue;
        CHECK(region[g.value(in).producer.index()] != region[n.index()]);
      }
    }
  }
}

TEST_CASE("small limits on ports and layers keep regions convex") {
  target::Machine m = test::machine();
  m.max_layers = 3;
  m.max_ports = 2;
  const backends::Opened small = std::move(backends::open(m, {}).value());
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    ir::Graph g = random_graph(seed, 50);
    partition::Partition p = test::split(g, {}, small.get());
    CHECK(convex(g, p));
    check_order(g, p);
    check_ports(g, p);
    for (const partition::Region& r : p.regions) {
      CHECK(r.layers.size() <= 3);
      CHECK((r.layers.size() == 1 || (r.inputs.size() <= 2 && r.outputs.size() <= 2)));
    }
  }
}

TEST_CASE("long chains take time in proportion") {
  ir::Graph g;
  g.name = "long";
  ir::ValueId v = g.add_input("x", {ElementType::F32, {1, 4, 8, 8}});
  std::vector<float> ones(16, 1.0f);
  ir::ValueId w = g.add_constant("w", Tensor::of(ElementType::F32, {4, 4, 1, 1}, ones));
  for (int i = 0; i < 50000; ++i) {
    const ops::OpDef& op = *ops::find_op("", i % 3 == 0 ? "Conv" : i % 7 == 0 ? "Round" : "Relu");
    std::vector<ir::ValueId> inputs = {v};
    if (op.name == "Conv") inputs.push_back(w);
    ir::SourceId s = g.add_source({"main/" + std::to_string(i), "", std::string(op.name), "", {}});
    ir::NodeId n =
        g.add_node(op, "", inputs, ir::default_attrs(op), {g.value(v).type}, {""}, {{s}, {}, "import", ""});
    v = g.node(n).outputs[0];
  }
  g.add_output(v);
  partition::Partition p = test::split(g);
  CHECK(p.decisions.size() == 50000);
  CHECK(p.regions.size() > 1000);
  check_order(g, p);
}
