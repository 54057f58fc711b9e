// Cycles, bytes and executed MACs of regions and layers.
#include "compiled.h"
#include "mrvlc/sim/simulator.h"

using namespace mrvlc;
using test::Json;

namespace {

namespace pb = mrvlc::test::pb;

int64_t sum(const Json& list, const char* field) {
  int64_t all = 0;
  for (const Json& entry : list) all += entry.at(field).get<int64_t>();
  return all;
}

sim::Report simulated(const test::Compiled& c, const Json& region) {
  auto binary = isa::read_container(c.text(region["file"].get<std::string>()));
  REQUIRE(binary.ok());
  auto machine = target::load_machine("cn10ka", {});
  REQUIRE(machine.ok());
  auto simulator = sim::Simulator::create(*std::move(binary), *machine);
  REQUIRE(simulator.ok());
  auto run = simulator->time_only();
  REQUIRE(run.ok());
  return *run;
}

// Cycles of the critical path by layer, put together from idmap.json alone.
std::vector<int64_t> cycles_by_layer(const test::Compiled& c, const Json& region, const sim::Report& run,
                                     size_t layers) {
  std::vector<int64_t> cycles(layers);
  const Json map = c.json("idmap.json");
  for (auto [section, name] : {std::pair(sim::Section::Init, "init"),
                               {sim::Section::Main, "main"},
                               {sim::Section::Finish, "finish"}}) {
    for (const sim::PathStep& step : sim::critical_path(run.events, section)) {
      for (const Json& i : map["instructions"]) {
        const bool here = i["region"] == region && i["section"] == name && i["begin"] <= step.instruction &&
                          step.instruction < i["end"];
        if (here) cycles.at(i["layer"].get<size_t>()) += static_cast<int64_t>(step.end - step.begin);
      }
    }
  }
  return cycles;
}

void check_sums(const test::Compiled& c) {
  const Json report = c.json("report.json"), profile = c.profile();
  REQUIRE(profile["regions"].size() == report["regions"].size());
  for (size_t k = 0; k < report["regions"].size(); ++k) {
    const Json &r = report["regions"][k], &p = profile["regions"][k];
    const int64_t cycles =
        p["init_cycles"].get<int64_t>() + p["main_cycles"].get<int64_t>() + p["finish_cycles"].get<int64_t>();
    CHECK(r["cycles"] == cycles);
    CHECK(r["layers"] == p["layers"].size());
    CHECK(sum(p["layers"], "cycles") == cycles);
    for (const char* field : {"macs", "executed_macs", "ddr_read_bytes", "ddr_write_bytes"}) {
      INFO(field);
      CHECK(r[field] == p[field]);
      CHECK(sum(p["layers"], field) == p[field]);
    }
    for (const char* field : {"lower_bound_cycles", "pod_utilization", "pod_busy"})
      CHECK(r[field] == p[field]);
    for (const Json& l : p["layers"]) {
      int64_t bounds = 0;
      for (const auto& entry : l["bound_cycles"].items()) bounds += entry.value().get<int64_t>();
      CHECK(bounds == l["cycles"]);
    }
    const sim::Report run = simulated(c, r);
    const auto expected = cycles_by_layer(c, r["id"], run, p["layers"].size());
    for (size_t l = 0; l < expected.size(); ++l) CHECK(p["layers"][l]["cycles"] == expected[l]);
  }
}

}  // namespace

TEST_CASE("layers add up to their region, and profile to the report") {
  check_sums(test::compile_model(test::counted_model(), "sums"));
  check_sums(test::compile_model(test::counted_model(), "sums8", [](auto& o) { o.accelerator.tiles = 8; }));
  check_sums(test::compile_model(test::mixed_model(), "sums_mixed"));
}

TEST_CASE("bytes of a region are those of its ports and weights") {
  auto c = test::compile_model(test::pointwise_model(), "bytes");
  const Json r = c.json("report.json")["regions"][0];
  // x: 16 x 8 x 8 values of 2 B; w: a block of 16 x 16 of 2 B. Both are whole bursts of 128 B.
  CHECK(r["weights_bytes"] == 512);
  CHECK(r["ddr_read_bytes"] == 2048 + 512);
  CHECK(r["ddr_write_bytes"] == 2048);
}

TEST_CASE("conversions at the borders of a region") {
  auto c = test::compile_model(test::pointwise_model(), "borders");
  const Json host = c.json("report.json")["host"];
  REQUIRE(host["conversions"].size() == 2);
  for (size_t i : {0u, 1u}) {
    const Json& conversion = host["conversions"][i];
    CHECK(conversion["region"] == 0);
    CHECK(conversion["value"] == (i == 0 ? "x" : "y"));
    CHECK(conversion["to"] == (i == 0 ? "accelerator" : "host"));
    CHECK(conversion["permuted"] == true);  // channels last there
    CHECK(conversion["elements"] == 1024);
    CHECK(conversion["host_bytes"] == 4096);    // fp32
    CHECK(conversion["device_bytes"] == 2048);  // fp16
  }
  CHECK(host["conversion_bytes"] == 2 * (4096 + 2048));
  CHECK(host["conversion_seconds_estimate"].get<double>() > 0);
  auto text = c.text("report.txt");
  CHECK(text.find("borders: 2 values converted by the host, 12288 B read and written") != std::string::npos);
}

TEST_CASE("nothing is converted where the host has what the device takes") {
  pb::ModelProto half = test::pointwise_model();
  auto set = [](auto* info) { info->mutable_type()->mutable_tensor_type()->set_elem_type(10); };
  set(half.mutable_graph()->mutable_input(0));
  set(half.mutable_graph()->mutable_output(0));
  auto* w = half.mutable_graph()->mutable_initializer(0);
  w->set_data_type(10);
  w->clear_float_data();
  w->set_raw_data(std::string(512, '\x34'));
  auto c = test::compile_model(half, "half_borders");
  const Json host = c.json("report.json")["host"];
  for (const Json& conversion : host["conversions"]) {
    CHECK(conversion["host_bytes"] == 2048);  // fp16 on both sides: it is only permuted
    CHECK(conversion["permuted"] == true);
  }
}

TEST_CASE("what nobody reads is not executed, and utilisation is of what is") {
  auto c = test::compile_model(test::unread_model(), "unread");
  const Json r = c.json("report.json")["regions"][0];
  // c1: 8 x 8 x 16 results of 16, of which c2 reads every other row and column; c2: 4 x 4 x 32 of 16.
  CHECK(r["macs"] == 1024 * 16 + 512 * 16);
  CHECK(r["executed_macs"] == 256 * 16 + 512 * 16);
  const double peak = r["cycles"].get<double>() * 256;  // a tile makes 256 a cycle
  CHECK(r["pod_utilization"].get<double>() == Approx((256 * 16 + 512 * 16) / peak));
  CHECK(r["pod_busy"].get<double>() > r["pod_utilization"].get<double>());
}

TEST_CASE("on-chip memory that is held is not the highest address") {
  auto c = test::compile_model(test::pointwise_model(), "ocm");
  const Json r = c.json("report.json")["regions"][0];
  // x and y of 2048 B each and 512 B of weights; fetches lie at the top of 1 MiB.
  CHECK(r["ocm_peak_bytes"].get<int64_t>() >= 2048 + 512);
  CHECK(r["ocm_peak_bytes"].get<int64_t>() <= 2 * 2048 + 512 + 512);
  CHECK(r["ocm_highest_address_bytes"].get<int64_t>() > 1'000'000);
}

TEST_CASE("a partition by cost is chosen by the figures that are reported") {
  for (const auto& model : {test::counted_model(), test::pointwise_model(), test::late_split_model()}) {
    const Json greedy = test::compile_model(model, "greedily").json("report.json")["partition"];
    const Json cost = test::compile_model(model, "by_cost", [](auto& o) {
                        o.partition_by = driver::CompileOptions::PartitionBy::Cost;
                      }).json("report.json")["partition"];
    CHECK(cost["seconds_greedy"].get<double>() == Approx(greedy["seconds"].get<double>()).epsilon(1e-9));
    CHECK(cost["seconds"].get<double>() <= cost["seconds_greedy"].get<double>());
    CHECK(cost["seconds"].get<double>() <= cost["seconds_host_only"].get<double>() * (1 + 1e-9));
    CHECK(cost["seconds"] != cost["seconds_greedy"]);  // these are too small for a launch
  }
}
