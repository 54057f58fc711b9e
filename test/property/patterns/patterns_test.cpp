// Every operator with run-time shapes, with dimensions and values at and beyond their ends: none, one, few,
// the bound, more, far more, in tensors with and without elements. The C of each, with gaps in its arena
// (MRVL_GUARD) and the sanitizers of the C compiler, must end with a result within its bounds or an error, in
// time. So must a sample of them on machines of 32 bits: i686, and ARM under qemu, where their compilers are
// installed. MRVLC_PATTERNS=all: all operators, from several seeds (else a few); MRVLC_PATTERN_CC: a compiler
// and its options, e.g. "gcc -m32 -msse2 -mfpmath=sse"; MRVLC_PATTERN_RUN: what runs the programs, e.g.
// "qemu-arm -L /usr/..."; MRVLC_PATTERN_OP=NAME: one operator.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/partition/partition.h"
#include "paths.h"
#include "program.h"
#include "support/commands.h"
#include "support/folders.h"

namespace mrvlc::patterns {
namespace {

using E = ElementType;
namespace fs = std::filesystem;

std::string variable(const char* name, std::string otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::move(otherwise) : text;
}

struct Counts {
  int64_t programs = 0, runs = 0, full = 0, empty = 0, refused = 0, too_large = 0;
  double slowest = 0;
  std::set<std::string> tried, untried;
};

// What compiles the programs, and what runs them.
struct Machine {
  std::string name, compiler, flags, run;
};

Machine this_machine() {
  return {"", variable("MRVLC_PATTERN_CC", "cc"),
          variable("MRVLC_PATTERN_FLAGS", "-fsanitize=address,undefined -fno-sanitize-recover=all"),
          variable("MRVLC_PATTERN_RUN", "")};
}

// Undefined behaviour ends their programs by a trap: that needs no library.
std::vector<Machine> machines_of_32_bits() {
  const std::string traps = "-fsanitize=undefined -fsanitize-undefined-trap-on-error";
  std::vector<Machine> machines;
  const test::TempDir dir;
  if (test::shell(
          dir.path(),
          "echo 'int main(void) { return 0; }' | gcc -m32 -x c - -o m32 2>/dev/null && ./m32 2>/dev/null") ==
      0)
    machines.push_back({"i686", "gcc -m32 -msse2 -mfpmath=sse", traps, ""});
  if (test::have_tool("arm-linux-gnueabihf-gcc") && test::have_tool("qemu-arm"))
    machines.push_back({"arm", "arm-linux-gnueabihf-gcc -static", traps, "qemu-arm"});
  return machines;
}

// Nothing: it needs more memory than a test should.
std::optional<chost::HostCode> code_of(const Program& p) {
  chost::Options options{"m", "m"};
  options.arena_limit = int64_t{64} << 20;
  options.weights = chost::WeightsAs::Source;
  auto code = chost::generate(p.graph, partition::host_partition(p.graph), {}, options);
  if (!code.ok()) return std::nullopt;
  for (ir::ValueId v : p.graph.outputs())
    if (ops::memory_bytes(p.graph.value(v).type) > int64_t{64} << 20) return std::nullopt;
  return std::move(code).value();
}

void write(const fs::path& folder, const std::string& name, const std::string& text) {
  fs::create_directories((folder / name).parent_path());
  std::ofstream(folder / name, std::ios::binary) << text;
}

void try_program(const Program& p, const chost::HostCode& code, const Machine& machine,
                 const std::string& what, uint64_t seed, int64_t runs, Counts& counts) {
  static const test::TempDir dir;
  std::string sources = "try.c";
  for (const auto& [name, text] : code.files) {
    if (name == "main.c" || name == "Makefile") continue;
    write(dir.path(), name, text);
    if (name.ends_with(".c")) sources += " " + name;
  }
  write(dir.path(), "try.c", try_text(p, seed, runs));
  std::string printed;
  int rc = test::shell(dir.path(),
                       fmt::format("{} {} -O1 -std=gnu99 -w -DMRVL_GUARD -I. -o try {} -lm", machine.compiler,
                                   machine.flags, sources),
                       &printed);
  if (rc == 0)
    rc = test::shell(dir.path(), fmt::format("{} ./try 2> log || {{ tail -n 25 log; exit 1; }}", machine.run),
                     &printed);
  INFO(what << "\n" << printed);
  CHECK(rc == 0);
  if (rc != 0) {
    const fs::path kept = fs::path(MRVLC_BINARY_DIR) / "shape_patterns" / what;
    fs::create_directories(kept.parent_path());
    fs::remove_all(kept);
    fs::copy(dir.path(), kept, fs::copy_options::recursive);
    return;
  }
  std::istringstream numbers(printed);
  int64_t all = 0, full = 0, empty = 0, refused = 0;
  double slowest = 0;
  numbers >> all >> full >> empty >> refused >> slowest;
  ++counts.programs;
  counts.runs += all;
  counts.full += full;
  counts.empty += empty;
  counts.refused += refused;
  counts.slowest = std::max(counts.slowest, slowest);
  if (variable("MRVLC_TEST_VERBOSE", "") != "") std::cout << what << ": " << printed << std::flush;
}

const graphs::Node* node_of(const graphs::Model& model, const ops::OpDef& op) {
  for (const graphs::Node& node : model.nodes)
    if (node.op == &op) return &node;
  return nullptr;
}

using graphs::Attrs;
using graphs::Grower;

// Of operators that random models have not.
void propose_any(Grower& g, const ops::OpDef& op) {
  static const auto growable = graphs::growable();
  if (std::ranges::find(growable, &op) != growable.end()) {
    graphs::propose(g, op);
    return;
  }
  auto floats = [&](const Shape& shape) { return g.make(E::F32, shape); };
  auto ints = [&](const Shape& shape, int64_t value) {
    Tensor t(TensorType{E::I64, shape});
    for (int64_t k = 0; k < t.elements(); ++k) t.set_int(k, value);
    return g.make(std::move(t), false);
  };
  if (op.name == "RoiAlign")
    g.add(op.name, {floats({2, 3, 5, 6}), floats({4, 4}), ints({4}, 1)},
          {{"output_height", int64_t{2}}, {"output_width", int64_t{2}}});
  if (op.name == "NonMaxSuppression")
    g.add(op.name, {floats({2, 5, 4}), floats({2, 3, 5}), ints({1}, 2), floats({1}), floats({1})});
  if (op.name == "Unique")
    g.add(op.name, {floats({4, 3})}, g.dice.chance(50) ? Attrs{{"axis", int64_t{1}}} : Attrs{}, 4);
  if (op.name == "DFT") g.add(op.name, {floats({2, 5, 1}), ints({}, 6), ints({}, 1)});
  if (op.name == "STFT") g.add(op.name, {floats({2, 16, 1}), ints({}, 3), floats({6}), ints({}, 6)});
  if (op.name == "Upsample")
    g.add(op.name, {floats({2, 3, 4}), g.make(Tensor::of(E::F32, {3}, std::vector<double>{1, 2, 2}), false)});
}

// Whether it came to anything: not every proposal is one, nor of a type that programs here have.
// `only`: one of the nine ways to open its shapes; -1: all.
void try_operator(const ops::OpDef& op, const Machine& machine, uint64_t seed, int64_t runs, int only,
                  Counts& counts) {
  graphs::Grower g(seed);
  g.dynamic = true;
  for (int attempt = 0; attempt < 30 && node_of(g.model, op) == nullptr; ++attempt) propose_any(g, op);
  const graphs::Node* node = node_of(g.model, op);
  if (node == nullptr) return;
  for (graphs::Value& value : g.model.values) value.dynamic = false;
  size_t number = seed;
  int way = 0;
  for (const Open open : {Open::Recipe, Open::Lists, Open::All}) {
    for (const Room room : {Room::Wide, Room::Narrow, Room::Lopsided}) {
      if (only >= 0 && way++ != only) continue;
      const auto p = make_program(g.model, *node, open, room);
      const auto code = p ? code_of(*p) : std::nullopt;
      if (p && !code) ++counts.too_large;
      if (!code) continue;
      counts.tried.insert(std::string(op.name));
      try_program(*p, *code, machine,
                  fmt::format("{}{}-{}-{}-{}", machine.name, op.name, seed, static_cast<int>(open),
                              static_cast<int>(room)),
                  ++number, runs, counts);
    }
  }
}

void tell(const Counts& counts) {
  std::cout << fmt::format(
      "{} operators, {} programs ({} too large), {} runs: {} with elements, {} empty, {} refused; the "
      "slowest took {:.3f} s\n",
      counts.tried.size(), counts.programs, counts.too_large, counts.runs, counts.full, counts.empty,
      counts.refused, counts.slowest);
  for (const std::string& name : counts.untried) std::cout << "no program of " << name << "\n";
  CHECK(counts.programs > 0);
}

}  // namespace

TEST_CASE("shapes and values at their ends") {
  if (!test::have_tool("cc")) return;
  const bool whole = variable("MRVLC_PATTERNS", "") == "all";
  const std::string one = variable("MRVLC_PATTERN_OP", "");
  const auto seeds =
      static_cast<uint64_t>(std::atoi(variable("MRVLC_PATTERN_SEEDS", whole ? "3" : "1").c_str()));
  const int64_t runs = std::atoi(variable("MRVLC_PATTERN_RUNS", whole ? "4000" : "300").c_str());
  // Those with scratch memory, or with operands that say how much there is, and a few others.
  const std::set<std::string> few = {
      "Resize", "Upsample", "MeanVarianceNormalization", "Unique",           "DFT", "Trilu",
      "OneHot", "RoiAlign", "ReverseSequence",           "NonMaxSuppression"};
  Counts counts;
  for (const ops::OpDef* op : ops::all_ops()) {
    const std::string name(op->name);
    if (op->emit_dynamic == nullptr && op->infer_dynamic == nullptr) continue;
    if (one.empty() ? !whole && !few.contains(name) : one != name) continue;
    const int64_t before = counts.programs;
    for (uint64_t seed = 1; seed <= seeds || (counts.programs == before && seed < 20); ++seed)
      try_operator(*op, this_machine(), seed, runs, -1, counts);
    if (!counts.tried.contains(name)) counts.untried.insert(name);
  }
  tell(counts);
}

TEST_CASE("shapes and values at their ends on 32 bits") {
  const bool whole = variable("MRVLC_PATTERNS", "") == "all";
  // Their sizes, or indices, are numbers of 64 bits that the machine's own do not hold.
  const std::set<std::string> sample = {"Resize",
                                        "Unique",
                                        "DFT",
                                        "Trilu",
                                        "OneHot",
                                        "RoiAlign",
                                        "ReverseSequence",
                                        "NonMaxSuppression",
                                        "Slice",
                                        "Tile",
                                        "Expand",
                                        "Pad",
                                        "Gather",
                                        "ScatterElements",
                                        "TopK",
                                        "Range",
                                        "Concat",
                                        "Conv",
                                        "MatMul",
                                        "CumSum",
                                        "Split",
                                        "ConstantOfShape",
                                        "CenterCropPad",
                                        "Reshape"};
  for (const Machine& machine : machines_of_32_bits()) {
    Counts counts;
    int way = 0;
    for (const ops::OpDef* op : ops::all_ops()) {
      if (op->emit_dynamic == nullptr && op->infer_dynamic == nullptr) continue;
      if (!whole && !sample.contains(std::string(op->name))) continue;
      const int64_t before = counts.programs;
      for (int tries = 0; tries < 27 && (whole || counts.programs == before); ++tries, ++way)
        try_operator(*op, machine, 1 + static_cast<uint64_t>(tries / 9), whole ? 2000 : 200, way % 9, counts);
    }
    std::cout << machine.name << ": ";
    tell(counts);
    CHECK(counts.tried.size() >= 20);
  }
}

}  // namespace mrvlc::patterns
