// The check against files that were changed.
#include "mrvlc/mesh/check.h"

#include <catch2/catch.hpp>

#include "mrvlc/mesh/mesh.h"
#include "networks.h"

using namespace mrvlc;
using namespace mrvlc::mesh;

namespace {

constexpr uint64_t kBlob = 1 << 20;

Plan sound_plan() {
  auto c = compile(mesh_test::small_network(), *find_machine("mesh-2x2x2"));
  REQUIRE(c.ok());
  return c->plan;
}

bool caught(const Plan& plan) {
  return !check(plan, kBlob).faults.empty();
}

}  // namespace

TEST_CASE("a compile's plan is proved, and read back as it was") {
  const Plan plan = sound_plan();
  const Findings found = check(plan, kBlob);
  if (!found.faults.empty()) FAIL(found.faults[0]);
  CHECK(found.moved_bytes > 0);
  const auto again = parse_plan(to_json(plan));
  REQUIRE(again.ok());
  CHECK(to_json(*again) == to_json(plan));
}

TEST_CASE("what is changed in tasks and PEs is caught") {
  const Plan plan = sound_plan();
  for (size_t i = 0; i < plan.tasks.size(); ++i) {
    Plan p = plan;
    Task& t = p.tasks[i];
    t.inboxes[0].bytes -= 1;
    CHECK(caught(p));
    t = plan.tasks[i], t.bytes += 1;
    CHECK(caught(p));
    t = plan.tasks[i], t.box.rows -= 1;
    CHECK(caught(p));
    t = plan.tasks[i], t.inboxes[0].offset = t.offset;
    CHECK(caught(p));
    t = plan.tasks[i], t.pe = 4096;
    CHECK(caught(p));
    t = plan.tasks[i], t.inboxes[0].box.row += 1;
    CHECK(caught(p));
  }
  for (size_t i = 0; i < plan.pes.size(); ++i) {
    Plan p = plan;
    p.pes[i].memory_bytes -= 1;
    CHECK(caught(p));
    p = plan, p.pes[i].memory_bytes = 1 << 30;
    CHECK(caught(p));
    p = plan, p.pes[i].blob_offset = kBlob;
    CHECK((caught(p) || p.pes[i].blob_bytes == 0));
    p = plan, p.pes[i].core = 9;
    CHECK(caught(p));
  }
}

TEST_CASE("what is changed in edges is caught") {
  const Plan plan = sound_plan();
  for (size_t i = 0; i < plan.edges.size(); ++i) {
    const auto changed = [&](auto change) {
      Plan p = plan;
      change(p.edges[i]);
      return caught(p);
    };
    if (plan.edges[i].to != kHost) {
      CHECK(changed([](Edge& e) { e.credits += 1; }));
      CHECK(changed([](Edge& e) { e.port += 1; }));
    }
    CHECK(changed([](Edge& e) { e.credits = 0; }));
    CHECK(changed([](Edge& e) { e.run += 1; }));
    CHECK(changed([](Edge& e) { e.to_offset += 1; }));
    CHECK(changed([](Edge& e) { e.from_offset += 1; }));
    CHECK(changed([](Edge& e) { e.count = uint64_t{1} << 60; }));
    CHECK(changed([](Edge& e) { e.route.clear(); }));
    CHECK(changed([](Edge& e) { e.route.push_back(e.route.back() == 0 ? 3 : 0); }));
    Plan p = plan;
    p.edges.erase(p.edges.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(caught(p));
    p = plan, p.edges.push_back(plan.edges[i]);
    CHECK(caught(p));
  }
  Plan p = plan;
  p.machine.chips.router_entries.value = 1;
  CHECK(caught(p));
}

TEST_CASE("tasks in another order than their layers are caught") {
  Plan p = sound_plan();
  std::swap(p.tasks.front(), p.tasks.back());
  CHECK(caught(p));
}

TEST_CASE("numbers that are changed at random end in an answer") {
  const Plan plan = sound_plan();
  mesh_test::Random random(3);
  for (int i = 0; i < 300; ++i) {
    Plan p = plan;
    Edge& e = p.edges[random() % p.edges.size()];
    Task& t = p.tasks[random() % p.tasks.size()];
    const auto v = static_cast<uint32_t>(random() % 3 == 0 ? random() : random() % 64);
    const auto what = random() % 9;
    switch (what) {
      case 0:
        e.from = v;
        break;
      case 1:
        e.to = v;
        break;
      case 2:
        e.from_step = v;
        break;
      case 3:
        e.to_step = v;
        break;
      case 4:
        t.layer = v;
        break;
      case 5:
        t.box.channels = v;
        break;
      case 6:
        p.tensors[random() % p.tensors.size()].width = v;
        break;
      case 7:
        p.layers[random() % p.layers.size()].window.group = v;
        break;
      default:
        p.layers[random() % p.layers.size()].inputs[0] = v;
        break;
    }
    const bool same = to_json(p) == to_json(plan);
    const bool unused = e.count == 1 || what == 7;  // a step that is not taken, groups of what has none
    CHECK((caught(p) || same || unused));
  }
}
