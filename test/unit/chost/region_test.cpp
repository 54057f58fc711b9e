// Regions with a device written for the test: conversions at the border, order of calls, errors. It computes
// -x on fp16 bits.
#include <catch2/catch.hpp>
#include <fstream>

#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

constexpr const char* kProgram = R"(
#include <stdio.h>
#include "net.h"
static int runs, fail_at;
static int run(void* context, void* model, const mrvl_input* in, size_t inputs, const mrvl_output* out,
               size_t outputs) {
  const uint16_t* x = (const uint16_t*)in[0].data;
  uint16_t* y = (uint16_t*)out[0].data;
  (void)context;
  if (inputs != 1 || outputs != 1 || in[0].bytes != 240 || out[0].bytes != 240) return 7;
  if (++runs == fail_at) return 42;
  for (int i = 0; i < 120; ++i) y[i] = (uint16_t)(x[i] ^ 0x8000u);
  /* The first element of the second pixel: channel 0 at column 1 when channels are innermost. */
  printf("%d %u\n", *(int*)model, (unsigned)x[5]);
  return 0;
}
int main(void) {
  static float x[120], y[120];
  static uint16_t h[120];
  static unsigned char memory[net_ARENA_BYTES + 64];
  unsigned char* arena = memory + (64 - (uintptr_t)memory % 64) % 64;
  static int id[2] = {7, 8};
  mrvl_device table = MRVL_DEVICE_INIT;
  net_device device;
  net_inputs in;
  net_outputs out;
  net_error error;
  table.run = run;
  device.device = &table;
  device.models[0] = &id[0];
  device.models[1] = &id[1];
  for (int i = 0; i < 120; ++i) x[i] = (float)i;
  in.x = x;
  out.sum = y;
  out.half = h;
  if (net_run(&in, &out, arena, &device, NULL, NULL, &error) != 0) return 1;
  for (int i = 0; i < 120; ++i) {
    if (y[i] != (float)(i - i)) return 2;
  }
  if (h[1] != 0xbc00u || h[2] != 0xc000u) return 3;
  fail_at = 4;
  if (net_run(&in, &out, arena, &device, NULL, NULL, &error) != net_ERROR_DEVICE) return 4;
  return error.device_code == 42 && error.node[0] == 'n' ? 0 : 5;
}
)";

}  // namespace

TEST_CASE("values cross the border in the device's layout, and stay in it between regions") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 5, 4, 6}, ElementType::F32, "x");
  ir::ValueId a = b.node("Neg", {x}, {}, "n1"), c = b.node("Neg", {a}, {}, "n2");
  ir::ValueId d = b.node("Add", {a, c}, {}, "sum");
  ir::ValueId h = b.node("Cast", {a}, {{"to", ElementType::F16}}, "half");
  b.output(d);
  b.output(h);
  partition::Partition p;
  std::vector<accel::CompiledRegion> regions(2);
  for (uint32_t i = 0; i < 2; ++i) {
    ir::ValueId from = i == 0 ? x : a, to = i == 0 ? a : c;
    partition::Region r;
    r.id = i;
    partition::Layer layer;
    layer.nodes = {b.graph.value(to).producer};
    r.layers = {layer};
    r.inputs = {from};
    r.outputs = {to};
    p.regions.push_back(r);
    partition::Step step;
    step.kind = partition::Step::Kind::Region;
    step.region = i;
    p.steps.push_back(step);
    accel::PortLayout in_port{from, {0, 2, 3, 1}}, out_port{to, {0, 2, 3, 1}};
    regions[i].inputs = {in_port};
    regions[i].outputs = {out_port};
  }
  for (ir::ValueId v : {d, h}) {
    partition::Step step;
    step.node = b.graph.value(v).producer;
    p.steps.push_back(step);
  }
  Options options{"net", "net"};
  options.identities = {{1}, {2}};
  auto code = generate(b.graph, p, regions, options);
  REQUIRE(code.ok());
  // One conversion in, two out (the value between the regions is also read on the host): the second region
  // needs none in.
  size_t in = 0, out = 0;
  for (const auto& f : code->functions) {
    in += f.symbol.find("_in") != std::string::npos;
    out += f.symbol.find("_out") != std::string::npos;
  }
  CHECK(in == 1);
  CHECK(out == 2);
  TempDir dir;
  write_files(*code, dir.path());
  std::ofstream(dir.path() / "test.c") << kProgram;
  std::string fields =
      "sed -i \"s/out.sum/out.$(sed -n 's/.*float\\* \\(v[a-z_0-9]*\\);.*/\\1/p' net.h)/; "
      "s/out.half/out.$(sed -n 's/.*uint16_t\\* \\(v[a-z_0-9]*\\);.*/\\1/p' net.h)/\" test.c";
  std::string log;
  std::string strict = std::string(kStrict) + " " + include_flag();
  std::string build = "gcc -O1 -g -fsanitize=address,undefined " + strict;
  int status =
      shell(dir.path(),
            fields + " && " + build + " -Wno-conversion test.c net.c net_weights.S -lm -o t && ./t && " +
                "gcc -O2 " + strict + " -c main.c",
            &log);
  INFO(log);
  CHECK(status == 0);
  // fp16 of x[1] = 1: channel 0, column 1.
  CHECK(log.starts_with("7 15360\n8 "));
}
