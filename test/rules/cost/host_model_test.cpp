// Host models as files: what is wrong is refused, and what is right is used.
#include "mrvlc/partition/host_model.h"

#include "partition/build.h"

using namespace mrvlc;

namespace {

std::string with(const std::string& more) {
  return R"({"name": "n", "description": "d", "call_ns": 5, "constant_byte_ns": 0, "to_device_ns": 1,
             "from_device_ns": 1, "operators": {"default": {"mac_ns": 1, "step_ns": 1})" +
         more + "}}";
}

std::string refusal(const std::string& text) {
  auto m = partition::parse_host_model(text, "file");
  return m.ok() ? "" : m.error().message;
}

}  // namespace

TEST_CASE("the built-in host model is read") {
  CHECK(partition::parse_host_model(partition::default_host_model(), "built in").ok());
}

TEST_CASE("faulty host models") {
  CHECK(refusal(with("")).empty());
  CHECK(refusal("{").find("not valid JSON") != std::string::npos);
  CHECK(refusal("[]").find("not a JSON object") != std::string::npos);
  CHECK(refusal("{}").find("is missing") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": {"step_ns": -1})")).find("between") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": {"step_ns": "1"})")).find("not a number") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": {"speed": 1})")).find("unknown") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": 3)")).find("not an object") != std::string::npos);
  CHECK(refusal(with(R"(, "default": {})")).find("twice") != std::string::npos);
}

TEST_CASE("an operator's own rate, and that of its form") {
  const ir::Graph g =
      test::image_graph(" %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Relu(%a) : f32[1,4,8,8]\n output %b\n");
  auto model = partition::parse_host_model(
      with(R"(, "Relu": {"step_ns": 3}, "Conv/pointwise": {"mac_ns": 2})"), "file");
  REQUIRE(model.ok());
  auto seconds = [&](std::string_view value) {
    return partition::host_seconds(*model, g, g.node(g.value(*g.find_value(value)).producer));
  };
  CHECK(seconds("b") == Approx(1e-9 * (5 + 3 * 256)));
  CHECK(seconds("a") == Approx(1e-9 * (5 + 2 * 4 * 256)));
}
