// Files with more mistakes than anybody reads, and with more rules than could be compared pair by pair.
#include <catch2/catch.hpp>
#include <chrono>

#include "mrvlc/partition/rules.h"
#include "mrvlc/support/diag/rules.h"

using namespace mrvlc;

namespace {

struct Checked {
  rules::LoadResult result;
  double seconds = 0;
};

Checked check(const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  Checked c{partition::load_rules({}, {{"my.rules", text}}), 0};
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return c;
}

std::string rule(int number, int priority, const std::string& where = "", const std::string& op = "Relu") {
  return fmt::format("rule r{} {{ layer elementwise priority {} why \"w\" match {{ %a = {}(_) }} {} }}\n",
                     number, priority, op, where.empty() ? "" : "where " + where);
}

size_t errors_of(const rules::LoadResult& r) {
  size_t n = 0;
  for (const Diag& d : r.diagnostics.list()) n += d.severity() == Severity::Error ? 1 : 0;
  return n;
}

constexpr double kSlack = 10;  // machines of tests are slow and busy; the bar is a second

}  // namespace

TEST_CASE("a thousand shadowed rules are 64 messages") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += rule(i, i);
  const Checked c = check(text);
  CHECK(c.result.diagnostics.list().size() <= 64);
  CHECK(c.result.diagnostics.has_errors());
  CHECK(c.result.set.rules().empty());
  CHECK(c.seconds < kSlack);
}

TEST_CASE("errors are not crowded out by warnings") {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("group Relu{} = Relu\ngroup Clip = Clip\n", i);
    text += rule(i, i, "accelerator_can(layer)", "Relu");
  }
  text += "rule last { layer nothing }\n";
  const Checked c = check(text);
  CHECK(c.result.diagnostics.list().size() <= 64);
  CHECK(errors_of(c.result) >= 60);
}

TEST_CASE("the number of messages left out is said, and does not hide an error") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += rule(i, i, fmt::format("accelerator_can(layer), rank(%a) == {}", i));
  const Checked warned = check(text);
  CHECK(warned.result.diagnostics.list().size() == 64);
  CHECK(warned.result.diagnostics.list().back().message == "37 more messages are not shown");
  CHECK_FALSE(warned.result.diagnostics.has_errors());
  CHECK(warned.result.set.rules().size() == 100);
  const Checked refused = check(text + rule(200, 3, "rank(%a) == -4"));
  CHECK(refused.result.diagnostics.has_errors());
  CHECK(refused.result.diagnostics.list().size() == 64);
}

TEST_CASE("a thousand rules that are all alike and apart are compared in time") {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    std::string where = fmt::format("elements(%a) == {}", i);
    for (int k = 0; k < 40; ++k) where += fmt::format(", rank(%a) != {}", k + 5);
    text += rule(i, 1, where);
  }
  const Checked c = check(text);
  CHECK_FALSE(c.result.diagnostics.has_errors());
  CHECK(c.seconds < kSlack);
}
