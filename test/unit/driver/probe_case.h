// A model that is compiled, with what the probe says of it, and small convolutions to try.
#pragma once
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "mrvlc/calibration/file.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/file.h"
#include "mrvlc/tensor/npy.h"
#include "onnx/model_util.h"

namespace mrvlc::test {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Case {
 public:
  explicit Case(const test::pb::ModelProto& model) {
    dir_.write("model.onnx", model.SerializeAsString());
    options.model = dir_.path() / "model.onnx";
    options.out = dir_.path() / "out";
    options.accel = {"*"};  // however small
  }
  // report.json's accuracy.
  Json compile() {
    diagnostics = {};
    ok = driver::compile(options, diagnostics, [](const std::string&) {});
    INFO((diagnostics.list().empty() ? std::string() : diagnostics.list().back().message));
    if (!ok) return {};
    auto text = read_file(options.out / "report.json");
    REQUIRE(text.ok());
    return Json::parse(*text).at("accuracy");
  }
  const Diag* find(DiagId code) const {
    for (const Diag& d : diagnostics.list())
      if (d.code == code) return &d;
    return nullptr;
  }
  // Small networks are faster on the host (MRV0416): not of interest here.
  size_t warnings() const {
    return static_cast<size_t>(std::ranges::count_if(diagnostics.list(), [](const Diag& d) {
      return d.severity() == Severity::Warning && d.code != DiagCode::MRV0416;
    }));
  }
  fs::path path() const { return dir_.path(); }
  // Values that do not fit it, too.
  void leave_fp16() { options.precisions = {{"*", {}}}; }

  driver::CompileOptions options;
  Diagnostics diagnostics;
  bool ok = false;

 private:
  test::TempDir dir_;
};

// Weights that rise and fall, so that whatever is read from another place gives another result.
inline std::vector<float> weights(size_t n, float scale) {
  std::vector<float> out;
  for (size_t i = 0; i < n; ++i) out.push_back(scale * (1 + 0.125f * static_cast<float>(i % 7)));
  return out;
}

inline void add_conv(test::pb::ModelProto& model, const std::string& name, const std::string& in,
                     const std::string& out, int64_t from, int64_t to, float scale) {
  *model.mutable_graph()->add_initializer() =
      test::float_tensor(name + "_w", {to, from, 3, 3}, weights(static_cast<size_t>(9 * from * to), scale));
  test::pb::NodeProto& node = test::add_node(model, "Conv", {in, name + "_w"}, {out});
  node.set_name(name);
  test::add_ints(node, "pads", {1, 1, 1, 1});
}

inline test::pb::ModelProto conv(float scale, const std::string& after = "Relu") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  add_conv(model, "first", "x", "c", 3, 4, scale);
  test::add_node(model, after, {"c"}, {"y"}).set_name("last");
  test::add_output(model, "y", {1, 4, 8, 5});
  return model;
}

}  // namespace mrvlc::test
