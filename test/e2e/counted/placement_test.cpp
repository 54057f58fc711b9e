// SourceOutcomes of nodes: counted once each, with a reason, the same in placement.json, idmap.json,
// report.json and `mrvlc explain`.
#include <fmt/format.h>

#include <sstream>

#include "compiled.h"

using namespace mrvlc;
using test::Json;

namespace {

std::string explained(const test::Compiled& c, const std::optional<std::string>& node = {}) {
  auto text = driver::explain(c.out, node);
  if (!text.ok()) FAIL(text.error().message);
  return *text;
}

// With one space between words.
std::string words(const std::string& line) {
  std::istringstream in(line);
  std::string out, word;
  while (in >> word) out += (out.empty() ? "" : " ") + word;
  return out;
}

// placement.json, idmap.json and report.json tell the same of every node.
void check_agreement(const test::Compiled& c) {
  const Json report = c.json("report.json")["placement"], nodes = c.json("placement.json")["nodes"],
             sources = c.json("idmap.json")["sources"];
  std::map<std::string, int> counts;
  REQUIRE(nodes.size() == sources.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    INFO(nodes[i].dump());
    CHECK(nodes[i]["id"] == sources[i]["id"]);
    const bool gone = sources[i]["fate"] == "folded" || sources[i]["fate"] == "removed";
    CHECK(nodes[i]["where"] == (gone ? Json("folded") : sources[i]["fate"]));
    CHECK(nodes[i]["reason"] == sources[i]["reason"]);
    CHECK_FALSE(nodes[i]["reason"].get<std::string>().empty());
    ++counts[nodes[i]["where"]];
  }
  CHECK(report["onnx_nodes"] == nodes.size());
  CHECK(report["accelerator"] == counts["accelerator"] + counts["both"]);
  CHECK(report["both"] == counts["both"]);
  CHECK(report["cpu"] == counts["cpu"]);
  CHECK(report["folded"] == counts["folded"]);
}

void check_counts(const test::Compiled& c, int all, int accelerator, int cpu, int folded) {
  const Json p = c.json("report.json")["placement"];
  CHECK(p["onnx_nodes"] == all);
  CHECK(p["accelerator"] == accelerator);
  CHECK(p["cpu"] == cpu);
  CHECK(p["folded"] == folded);
  check_agreement(c);
}

}  // namespace

TEST_CASE("every node is counted once") {
  check_counts(test::compile_model(test::counted_model(), "outcomes"), 6, 6, 0, 0);
  check_counts(test::compile_model(test::mixed_model(), "fates_mixed"), 3, 2, 1, 0);
  // The If, and 1 + 3 nodes of its branches.
  check_counts(
      test::compile_model(test::branches_model(), "fates_branches", [](auto& o) { o.targets = {"host"}; }), 5,
      0, 4, 1);
}

TEST_CASE("a node that became two expressions is one node") {
  auto c = test::compile_model(test::split_model(), "split");
  const Json map = c.json("idmap.json");
  int of_norm = 0;
  for (const Json& e : map["expressions"])
    of_norm += !e.contains("erased") && e["sources"] == Json({"main/0"});
  CHECK(of_norm == 2);  // a factor and a summand
  check_counts(c, 3, 3, 0, 0);
}

TEST_CASE("one half of a node on the CPU makes it both") {
  auto c = test::compile_model(test::split_model(), "both", [](auto& o) { o.cpu = {"Mul"}; });
  const Json node = test::with(c.json("placement.json")["nodes"], "name", "bn");
  CHECK(node["where"] == "both");
  CHECK(node["reason"].get<std::string>().find("--cpu 'Mul'") != std::string::npos);
  check_counts(c, 3, 3, 0, 0);
  CHECK(c.text("report.txt").find("on the CPU: main/0 'bn' (BatchNormalization): ") != std::string::npos);
}

TEST_CASE("a node on both sides says why it is on the CPU, whichever half is there") {
  auto c = test::compile_model(test::late_split_model(), "both_late", [](auto& o) { o.cpu = {"Add"}; });
  const Json node = test::with(c.json("placement.json")["nodes"], "name", "bn");
  CHECK(node["where"] == "both");
  CHECK(node["reason"].get<std::string>().find("--cpu 'Add'") != std::string::npos);
  check_agreement(c);
}

TEST_CASE("folded and removed nodes say why") {
  auto c = test::compile_model(test::folded_model(), "folded");
  check_counts(c, 4, 2, 0, 2);
  const Json sources = c.json("idmap.json")["sources"];
  CHECK(test::with(sources, "name", "k")["fate"] == "folded");
  CHECK(test::with(sources, "name", "drop")["fate"] == "removed");
  const Json nodes = c.json("placement.json")["nodes"];
  CHECK(test::with(nodes, "name", "k")["reason"].get<std::string>().starts_with("folded"));
  CHECK(explained(c, "k").find("folded") != std::string::npos);
}

TEST_CASE("explain says where, what, how much and why") {
  auto c = test::compile_model(test::mixed_model(), "explain", [](auto& o) { o.cpu = {"g2"}; });
  const std::string text = explained(c);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  REQUIRE(lines.size() > 4);
  CHECK(words(lines[0]) == "where operator MACs rule node reason");
  CHECK(words(lines[1]).starts_with("accelerator 0 Gemm 64 fc_gemm g1 matrix product"));
  CHECK(words(lines[2]) == "cpu Sin s No rule takes operator Sin.");
  CHECK(words(lines[3]) == "cpu Gemm 32 g2 It is kept on the CPU because --cpu 'g2' names it.");
  CHECK(lines[4].starts_with("partition: greedy: about "));
  CHECK(explained(c, "g1").find("rule fc_gemm: accepted\n") != std::string::npos);
}

TEST_CASE("what is expected is told in report.txt, report.html and by explain alike") {
  auto c = test::compile_model(test::mixed_model(), "expected", [](auto& o) { o.cpu = {"g2"}; });
  const Json r = c.json("report.json");
  const Json& in = r["regions"][0]["in"][0];
  const std::string value = fmt::format("    in '{}': {}, {} B, {:.4f} ms", in["value"].get<std::string>(),
                                        in["conversion"].get<std::string>(), in["bytes"].get<int64_t>(),
                                        1e3 * in["seconds"].get<double>());
  double sine = 0;
  for (const Json& n : r["host"]["nodes"])
    if (n["op_type"] == "Sin") sine = 1e3 * n["seconds"].get<double>();
  CHECK(sine > 0);
  for (const std::string& text : {c.text("report.txt"), c.text("report.html"), explained(c)}) {
    CHECK(text.find(value) != std::string::npos);
    CHECK(text.find(fmt::format("  host: 1 x Sin, about {:.4f} ms", sine)) != std::string::npos);
    CHECK(text.find(fmt::format("  region 0: about {:.4f} ms",
                                1e3 * r["regions"][0]["seconds"].get<double>())) != std::string::npos);
  }
}

TEST_CASE("convolutions by Winograd's algorithm are told of, and --exact has none") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 64, 40, 40});
  test::add_weights(model, "w", {64, 64, 3, 3});
  test::add_named(model, "wide", "Conv", {"x", "w"}, {"y"});
  test::add_output(model, "y", {1, 64, 38, 38});
  auto on_host = [](auto& o) { o.targets = {"host"}; };
  auto c = test::compile_model(model, "winograd", on_host);
  const Json list = c.json("report.json")["host"]["winograd"];
  REQUIRE(list.size() == 1);
  CHECK(list[0]["name"] == "wide");
  CHECK(list[0]["tile"] == 4);
  CHECK(list[0]["weights_bytes"] == 4 * 36 * 64 * 64);
  const std::string line = "  host: 1 x Conv by Winograd's algorithm, ";
  for (const std::string& text : {c.text("report.txt"), c.text("report.html"), explained(c)})
    CHECK(text.find(line) != std::string::npos);
  auto exact = test::compile_model(
      model, "exact", [&](auto& o) { on_host(o), o.host.winograd = mrvlc::chost::WinogradUse::Never; });
  CHECK(exact.json("report.json")["host"]["winograd"].empty());
  CHECK(exact.text("report.txt").find("Winograd") == std::string::npos);
  CHECK(exact.text("exact.c").find("winograd") == std::string::npos);
}

TEST_CASE("a reason that many nodes share is written once") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "v0", {2, 4});
  for (int i = 0; i < 6; ++i)
    test::add_named(model, fmt::format("s{}", i), "Sin", {fmt::format("v{}", i)},
                    {fmt::format("v{}", i + 1)});
  test::add_output(model, "v6", {2, 4});
  auto c = test::compile_model(model, "shared_reasons");
  auto times = [](const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  const std::string reason = "No rule takes operator Sin.";
  CHECK(times(explained(c), reason) == 1);
  CHECK(explained(c).find("[1] 6 nodes: " + reason) != std::string::npos);
  CHECK(times(explained(c), " [1]\n") == 6);
  CHECK(times(c.text("report.txt"), reason) == 1);
  CHECK(c.text("report.txt")
            .find("on the CPU: 6 nodes, main/0 's0' (Sin), main/1 's1' (Sin), main/2 's2' (Sin), "
                  "main/3 's3' (Sin) and 2 more: " +
                  reason) != std::string::npos);
}
