// What the C of all elements computes, against the reference interpreter, bit for bit.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "mrvlc/interp/interp.h"
#include "mrvlc/mesh/check.h"
#include "mrvlc/mesh/mesh.h"
#include "mrvlc/tensor/npy.h"
#include "networks.h"
#include "support/commands.h"
#include "support/folders.h"

using namespace mrvlc;
using namespace mrvlc::mesh;

namespace {

constexpr uint32_t kImages = 3;

// Images one after the other, as --repeat-axis0 takes them.
Tensor random_images(const TensorType& type, mesh_test::Random& random) {
  TensorType all = type;
  all.shape[0] *= kImages;
  Tensor t(all);
  for (int64_t i = 0; i < t.elements(); ++i) t.set_int(i, static_cast<int64_t>(random() % 256) - 128);
  return t;
}

std::string bytes_of(const Tensor& t) {
  const auto raw = t.bytes();
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

// What the interpreter computes of each, one after the other.
std::string expected(const ir::Graph& g, const Tensor& images) {
  const TensorType type = g.value(g.inputs()[0]).type;
  const std::string all = bytes_of(images);
  const size_t size = all.size() / kImages;
  std::string out;
  for (uint32_t i = 0; i < kImages; ++i) {
    auto y = interp::run(g, {Tensor(type, all.substr(i * size, size))});
    REQUIRE(y.ok());
    out += bytes_of((*y)[0]);
  }
  return out;
}

void write_files(const Compiled& c, const test::TempDir& dir) {
  std::filesystem::create_directories(dir.path() / "pe");
  std::filesystem::create_directories(dir.path() / "mrvl");
  std::filesystem::create_directories(dir.path() / "out");
  for (const auto& [name, bytes] : c.files) dir.write(name, bytes);
}

void check_run(const ir::Graph& g, const std::string& machine, mesh_test::Random& random) {
  const auto c = compile(g, *find_machine(machine));
  if (!c.ok()) FAIL(c.error().message);
  uint64_t blob = 0;
  for (const auto& [name, bytes] : c->files)
    if (name == kBlobFile) blob = bytes.size();
  const Findings found = check(c->plan, blob);
  if (!found.faults.empty()) FAIL(found.faults[0]);
  test::TempDir dir;
  write_files(*c, dir);
  const Tensor images = random_images(g.value(g.inputs()[0]).type, random);
  dir.write("in.npy", to_npy(images));
  test::must_run(dir.path(),
                 "cc -std=c99 -O1 -Wall -Wextra -Wconversion -Werror -ffp-contract=off -o mesh coordinator.c "
                 "messages.c values.c tables.c pe/*.c -lm");
  const std::string want = expected(g, images);
  for (const char* how : {"--ranks 1", "--ranks 3 --order 5", "--ranks 8 --order 6"}) {
    test::must_run(dir.path(), fmt::format("./mesh {} --repeat-axis0 --output-dir out in.npy", how));
    const auto got = parse_npy(test::slurp(dir.path() / "out" / (c->plan.outputs[0].file + ".npy")), "out");
    REQUIRE(got.ok());
    CHECK(bytes_of(*got) == want);
  }
}

}  // namespace

TEST_CASE("random networks on several meshes") {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    mesh_test::Random random(seed);
    const ir::Graph g = mesh_test::random_network(random);
    INFO("seed " << seed);
    check_run(g, seed % 2 == 0 ? "mesh-5" : "mesh-2x2x16", random);
  }
}

TEST_CASE("the same files twice") {
  const auto a = compile(mesh_test::small_network(), *find_machine("mesh-2x2x4"));
  const auto b = compile(mesh_test::small_network(), *find_machine("mesh-2x2x4"));
  REQUIRE((a.ok() && b.ok()));
  CHECK(a->files == b->files);
}

TEST_CASE("what no element computes is refused at its node") {
  const ir::Graph g = mesh_test::graph_of(" input %x : f32[1,4]\n %y = Sin(%x) : f32[1,4]\n output %y\n");
  const auto c = compile(g, *find_machine("mesh-8"));
  REQUIRE(!c.ok());
  CHECK(c.error().code->name == "MRV1303");
  CHECK(c.error().op_type == "Sin");
}
