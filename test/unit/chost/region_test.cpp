// Regions with a device written for the test: conversions at the border, order of calls, errors. It computes
// -x on fp16 bits.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "mrvlc/partition/partition.h"
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
  if (error.device_code != 42 || error.node[0] != 'n') return 5;
  out.half = NULL;
  return net_run(&in, &out, arena, &device, NULL, NULL, &error) == net_ERROR_ARGUMENT ? 0 : 6;
}
)";

// A device that says what it gets, and returns it.
constexpr const char* kEcho = R"(
#include <stdio.h>
#include <string.h>
#include "net.h"
static int run(void* context, void* model, const mrvl_input* in, size_t inputs, const mrvl_output* out,
               size_t outputs) {
  (void)context, (void)model, (void)inputs, (void)outputs;
  const uintptr_t from = (uintptr_t)in[0].data, to = (uintptr_t)out[0].data;
  if (from < to + out[0].bytes && to < from + in[0].bytes) return 3; /* one memory for both */
  for (size_t i = 0; i < in[0].bytes / sizeof(PORT); ++i) printf("%.17g ", (double)((const PORT*)in[0].data)[i]);
  memcpy(out[0].data, in[0].data, in[0].bytes);
  return 0;
}
int main(void) {
  static HOST x[net_INPUT0_ELEMENTS], y[net_INPUT0_ELEMENTS];
  static unsigned char memory[net_ARENA_BYTES + 64];
  static int id;
  mrvl_device table = MRVL_DEVICE_INIT;
  net_device device = {0};
  net_inputs in = {x};
  net_outputs out = {y};
  table.run = run;
  device.device = &table;
  device.models[0] = &id;
  for (int i = 0; i < net_INPUT0_ELEMENTS; ++i) x[i] = (HOST)(FIRST + i);
  if (net_run(&in, &out, memory + (64 - (uintptr_t)memory % 64) % 64, &device, NULL, NULL, NULL) != 0) return 1;
  return memcmp(x, y, sizeof x) == 0 ? 0 : 2;
}
)";

// The region that one node makes, `in` and `out` of it stored as the port says.
backend::RegionCode region_of(const ir::Graph& graph, ir::ValueId in, ir::ValueId out,
                              const std::vector<int64_t>& perm, ElementType type, partition::Partition& p) {
  partition::Region r;
  r.id = static_cast<uint32_t>(p.regions.size());
  partition::Layer layer;
  layer.nodes = {graph.value(out).producer};
  r.layers = {layer};
  r.inputs = {in};
  r.outputs = {out};
  partition::Step step;
  step.kind = partition::Step::Kind::Region;
  step.region = r.id;
  p.regions.push_back(std::move(r));
  p.steps.push_back(step);
  backend::RegionCode compiled;
  compiled.inputs = {{in, perm, type}};
  compiled.outputs = {{out, perm, type}};
  return compiled;
}

// What the device gets of the elements first, first + 1, ... of a tensor, in its order.
std::vector<double> seen(const Shape& shape, const std::vector<int64_t>& perm, ElementType elem,
                         ElementType port, int first) {
  GraphBuilder b;
  ir::ValueId x = b.input(shape, elem, "x"), y = b.node("Neg", {x});
  b.output(y);
  partition::Partition p;
  std::vector<backend::RegionCode> regions = {region_of(b.graph, x, y, perm, port, p)};
  Options options{"net", "net"};
  regions[0].identity = {1};
  auto code = generate(b.graph, p, regions, options);
  REQUIRE(code.ok());
  TempDir dir;
  write_files(*code, dir.path());
  std::ofstream(dir.path() / "test.c") << kEcho;
  std::string log;
  const std::string types = std::string(port == ElementType::F32 ? " -DPORT=float" : " -DPORT=uint16_t") +
                            (elem == ElementType::F32 ? " -DHOST=float" : " -DHOST=uint16_t") +
                            " -DFIRST=" + std::to_string(first) + " ";
  const int status =
      shell(dir.path(), "gcc -std=c99 " + types + "test.c net.c net_weights.S -lm -o t && ./t", &log);
  INFO(log);
  REQUIRE(status == 0);
  std::istringstream in(log);
  return {std::istream_iterator<double>(in), {}};
}

// The numbers 0, 1, ... of the elements of a row-major tensor in the order of the permuted one.
std::vector<double> permuted(const Shape& shape, const std::vector<int64_t>& perm) {
  std::vector<double> out;
  std::vector<int64_t> at(shape.size());
  for (;;) {
    int64_t index = 0;
    for (size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
    out.push_back(static_cast<double>(index));
    size_t k = perm.size();
    while (k-- > 0) {
      auto d = static_cast<size_t>(perm[k]);
      if (++at[d] < shape[d]) break;
      at[d] = 0;
      if (k == 0) return out;
    }
  }
}

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
  std::vector<backend::RegionCode> regions;
  const std::vector<int64_t> channels_last = {0, 2, 3, 1};
  regions.push_back(region_of(b.graph, x, a, channels_last, ElementType::F16, p));
  regions.push_back(region_of(b.graph, a, c, channels_last, ElementType::F16, p));
  for (ir::ValueId v : {d, h}) {
    partition::Step step;
    step.node = b.graph.value(v).producer;
    p.steps.push_back(step);
  }
  Options options{"net", "net"};
  regions[0].identity = {1};
  regions[1].identity = {2};
  auto code = generate(b.graph, p, regions, options);
  REQUIRE(code.ok());
  // One conversion in, two out (the value between the regions is also read on the host): the second region
  // needs none in.
  size_t in = 0, out = 0;
  for (const auto& f : code->functions) {
    in += f.symbol.find("_in") != std::string::npos && f.symbol != "net_infer";
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
  const std::string strict = kStrict;
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

TEST_CASE("any order of dimensions is kept at the border, with ones among them") {
  using Order = std::vector<int64_t>;
  auto check = [](const Shape& shape, const Order& order) {
    INFO("shape " << to_string(shape) << ", order " << order[0] << order[1] << order[2] << order[3]);
    CHECK(seen(shape, order, ElementType::F32, ElementType::F32, 0) == permuted(shape, order));
  };
  for (const Order& order : {Order{0, 1, 2, 3}, Order{0, 2, 3, 1}, Order{0, 1, 3, 2}, Order{1, 0, 3, 2},
                             Order{3, 2, 1, 0}, Order{2, 3, 0, 1}})
    check({2, 3, 4, 5}, order);
  check({1, 3, 4, 1}, {0, 2, 3, 1});
  check({2, 1, 1, 5}, {0, 2, 3, 1});
}

TEST_CASE("fp16 values pass the border as they are, or are converted where the device has fp32") {
  constexpr int kOne = 0x3c00;  // the bits of 1, and of what follows in fp16
  for (bool wide : {false, true}) {
    const auto got = seen({6}, {0}, ElementType::F16, wide ? ElementType::F32 : ElementType::F16, kOne);
    REQUIRE(got.size() == 6);
    for (int i = 0; i < 6; ++i) CHECK(got[static_cast<size_t>(i)] == (wide ? 1 + i / 1024.0 : kOne + i));
  }
}
