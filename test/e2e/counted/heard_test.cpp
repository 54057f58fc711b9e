// Nothing asked for is ignored in silence; and what a compile says when it is done.
#include <fstream>

#include "compiled.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"

using namespace mrvlc;
using test::Json;
using Options = driver::CompileOptions;

namespace {

namespace pb = mrvlc::test::pb;

// The text of the only warning that an option had no effect.
std::string unheeded(const test::Compiled& c) {
  INFO(c.messages());
  REQUIRE(c.count(DiagCode::MRV0010) == 1);
  for (const Diag& d : c.diagnostics.list()) {
    if (d.code == DiagCode::MRV0010) return d.message;
  }
  return {};
}

void on_host(Options& o) {
  o.targets = {"host"};
}

pb::ModelProto dynamic_batch() {
  pb::ModelProto m = test::mixed_model();
  m.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("N");
  m.mutable_graph()->mutable_output(0)->mutable_type()->clear_tensor_type();
  m.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  return m;
}

}  // namespace

TEST_CASE("a batch that nothing takes") {
  auto fixed = test::compile_model(test::mixed_model(), "batch_fixed", [](Options& o) {
    o.import.batch = 4;
    o.given = {"--batch"};
  });
  CHECK(unheeded(fixed).starts_with("--batch 4 has no effect: the model fixes"));
  auto shaped = test::compile_model(dynamic_batch(), "batch_shaped", [](Options& o) {
    o.import.batch = 4;
    o.import.input_shapes["x"] = {2, 4};
    o.given = {"--batch", "--input-shape"};
  });
  CHECK(unheeded(shaped).starts_with("--batch 4 has no effect: --input-shape"));
  auto taken = test::compile_model(dynamic_batch(), "batch_taken", [](Options& o) {
    o.import.batch = 4;
    o.given = {"--batch"};
  });
  CHECK(taken.count(DiagCode::MRV0010) == 0);
  CHECK(taken.count(DiagCode::MRV0134) == 1);
}

TEST_CASE("a folder of external data that is not there, or not needed") {
  auto missing = test::compile_model(test::mixed_model(), "extra_missing",
                                     [](Options& o) { o.import.external_data_dir = "/no/such/folder"; });
  CHECK(
      unheeded(missing) ==
      "--external-data-dir '/no/such/folder' has no effect: it is no folder; name the folder that holds it");
  auto idle = test::compile_model(test::mixed_model(), "extra_idle",
                                  [](Options& o) { o.import.external_data_dir = o.model.parent_path(); });
  CHECK(unheeded(idle).find("keeps no tensor in another file") != std::string::npos);
}

TEST_CASE("a folder of external data that is read") {
  pb::ModelProto m = test::mixed_model();
  auto* w = m.mutable_graph()->mutable_initializer(0);  // 4 x 8
  w->clear_float_data();
  w->clear_raw_data();
  w->set_data_location(pb::TensorProto::EXTERNAL);
  auto* where = w->add_external_data();
  where->set_key("location");
  where->set_value("w.bin");
  auto with_data = [](const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "w.bin", std::ios::binary) << std::string(128, '\0');
    return folder;
  };
  auto used = test::compile_model(m, "extra_used", [&](Options& o) {
    o.import.external_data_dir = with_data(o.model.parent_path() / "data");
  });
  CHECK(used.count(DiagCode::MRV0010) == 0);
  auto beside = test::compile_model(m, "extra_beside", [&](Options& o) {
    with_data(o.model.parent_path());
    o.import.external_data_dir = with_data(o.model.parent_path() / "data");
  });
  CHECK(unheeded(beside).find("lies beside the model") != std::string::npos);
}

TEST_CASE("options of the accelerator where there is none") {
  for (const char* option :
       {"--tiles", "--effort", "--machine", "--wb-pin", "--silicon-id", "--no-default-rules"}) {
    auto c = test::compile_model(test::mixed_model(), "host_option", [&](Options& o) {
      on_host(o);
      o.given = {option};
    });
    CHECK(unheeded(c).starts_with(std::string(option) + " has no effect: with --target host"));
  }
  CHECK(unheeded(test::compile_model(test::mixed_model(), "host_precision", [](Options& o) {
          on_host(o);
          o.given = {"--precision"};
        })).starts_with("--precision fp16 has no effect"));
  CHECK(unheeded(test::compile_model(test::mixed_model(), "host_disasm", [](Options& o) {
          on_host(o);
          o.emit = {"disasm"};
        })).starts_with("--emit disasm has no effect"));
  // Everything is on the CPU as asked.
  auto cpu = test::compile_model(test::mixed_model(), "host_cpu", [](Options& o) {
    on_host(o);
    o.cpu = {"g1"};
    o.given = {"--cpu"};
  });
  CHECK(cpu.diagnostics.list().empty());
}

TEST_CASE("bounds, lengths and texts that nothing needs") {
  CHECK(unheeded(test::compile_model(test::mixed_model(), "bound_unknown", [](Options& o) {
          o.import.bounds["nope"] = {4};
        })).starts_with("--bound for 'nope' has no effect: the model has no value of that name"));
  CHECK(unheeded(test::compile_model(test::mixed_model(), "bound_static", [](Options& o) {
          o.import.bounds["g1_out"] = {4, 8};
        })).starts_with("--bound for 'g1_out' has no effect: its shape is known at compile time, f32[2,8]"));
  CHECK(unheeded(test::compile_model(test::mixed_model(), "length", [](Options& o) {
          o.import.max_sequence = 9;
          o.given = {"--max-sequence"};
        })).starts_with("--max-sequence 9 has no effect"));
  CHECK(unheeded(test::compile_model(test::mixed_model(), "texts", [](Options& o) {
          o.host.text_bytes = 99;
          o.given = {"--text-bytes"};
        })).starts_with("--text-bytes 99 has no effect"));
}

TEST_CASE("shapes known at run time keep everything on the CPU") {
  auto c = test::compile_model(dynamic_batch(), "open", [](Options& o) {
    o.import.input_shapes["x"] = *mrvlc::onnx::parse_given_shape("1..8x4");
  });
  INFO(c.messages());
  REQUIRE(c.count(DiagCode::MRV0011) == 1);
  CHECK(c.count(DiagCode::MRV0012) == 0);
  CHECK(c.messages().find("--input-shape x=8x4") != std::string::npos);
}

TEST_CASE("an accelerator that gets less than half of the MACs") {
  // g: 2 x 8 results of 4, on the accelerator; mi: 2 x 12 (or 2 x 6) of 4, which is not.
  auto less = test::compile_model(test::half_quantised_model(12), "less");
  REQUIRE(less.count(DiagCode::MRV0012) == 1);
  CHECK(less.messages().find(
            "only 40.0 % of the multiply-accumulates run on cn10ka: 'mi' (MatMulInteger) runs on") !=
        std::string::npos);
  CHECK(test::compile_model(test::half_quantised_model(6), "more").count(DiagCode::MRV0012) == 0);  // 57.1 %
  auto q = test::compile_model(test::half_quantised_model(6), "quantised", [](Options& o) { o.cpu = {"g"}; });
  INFO(q.messages());
  REQUIRE(q.count(DiagCode::MRV0012) == 1);
  CHECK(q.messages().find("nothing of the model runs on cn10ka: 'mi' (MatMulInteger) runs on the CPU: ") !=
        std::string::npos);
  CHECK(q.messages().find("the network is quantised") != std::string::npos);
  // 64 of 96 MACs are on the accelerator; those that --cpu keeps from it are no surprise.
  CHECK(test::compile_model(test::mixed_model(), "most").count(DiagCode::MRV0012) == 0);
  auto kept = test::compile_model(test::mixed_model(), "kept", [](Options& o) { o.cpu = {"Gemm"}; });
  CHECK(kept.count(DiagCode::MRV0012) == 1);  // the Sin is left, and runs on the CPU
  auto all = test::compile_model(test::mixed_model(), "kept_all", [](Options& o) { o.cpu = {"*"}; });
  CHECK(all.count(DiagCode::MRV0012) == 0);
}

TEST_CASE("eight lines say what came out") {
  auto c = test::compile_model(test::mixed_model(), "six", [](Options& o) {
    o.cpu = {"g2"};
    o.import.batch = 2;
    o.given = {"--batch"};
  });
  REQUIRE(c.summary.size() == 9);
  CHECK(c.summary[8].starts_with("partition  greedy, about "));
  CHECK(c.summary[8].find("--partition cost") != std::string::npos);
  const Json r = c.json("report.json");
  CHECK(c.summary[0] == fmt::format("wrote {}: six for cn10ka, 1 tile, fp16", c.out.string()));
  CHECK(c.summary[1].starts_with("expected   about "));
  CHECK(c.summary[2] ==
        "placement  66.7 % of 96 MACs on the accelerator; of 3 ONNX nodes 1 there, 2 on the CPU, 0 folded");
  // x: 8 values, 4 + 2 B each; the result: 16 values.
  CHECK(c.summary[3].starts_with(
      "regions    1 with 1 layer; the host converts 144 B at their borders, about "));
  CHECK(c.summary[4].starts_with(fmt::format("cycles     {}, at least {} (x",
                                             r["regions"][0]["cycles"].get<int64_t>(),
                                             r["regions"][0]["lower_bound_cycles"].get<int64_t>())));
  CHECK(c.summary[5].starts_with(fmt::format("memory     arena {} B, weights {} B on the host",
                                             r["host"]["arena_bytes"].get<int64_t>(),
                                             r["host"]["weights_bytes"].get<int64_t>())));
  CHECK(c.summary[6] == "warnings   2");  // and that the host alone is faster
  CHECK(c.summary[7].starts_with("accuracy   expected error "));
  auto host = test::compile_model(test::mixed_model(), "six_host", on_host);
  REQUIRE(host.summary.size() == 8);
  CHECK(host.summary[0].ends_with("six_host for host, fp32"));
  CHECK(host.summary[3] == "regions    none");
  CHECK(host.summary[6] == "warnings   0");
  CHECK(host.summary[7] == "accuracy   not known (nothing runs on an accelerator)");
  auto cost = test::compile_model(test::mixed_model(), "six_cost",
                                  [](Options& o) { o.partition_by = Options::PartitionBy::Cost; });
  REQUIRE(cost.summary.size() == 9);
  CHECK(cost.summary[3] == "regions    none");
  CHECK(cost.summary[8].starts_with("partition  by cost, about "));
  CHECK(cost.summary[8].ends_with(
      " operators are cheaper on the host (cheaper-on-host); --accel NODE or --partition greedy sends them "
      "to the accelerator"));
}
