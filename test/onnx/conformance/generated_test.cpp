// The conformance cases through generated C: the host pipeline, the stub of every model, all of them compiled
// into one library, run on the inputs of the data. MRVLC_CONFORMANCE_STRIDE: every how manieth case.
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "cases.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

namespace {

// The structures of a stub's inputs and outputs are pointers alone, in the order of the model.
using RunFunction = int (*)(const void* const*, void* const*, void*, const void*, void*, void*, void*);

struct Subject {
  Case c;
  std::string name;
  int64_t arena_bytes = 0;
};

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "mrvlc_conformance_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

partition::Partition all_on_host(const ir::Graph& graph) {
  partition::Partition partition;
  for (ir::NodeId id : graph.topological_order()) {
    partition::Step step;
    step.node = id;
    partition.steps.push_back(step);
  }
  return partition;
}

Status generate(Subject& subject, const fs::path& folder) {
  ir::Graph& graph = subject.c.model->graph;
  MRVLC_TRY(passes::run_passes(graph, passes::host_pipeline()));
  MRVLC_ASSIGN(auto code, chost::generate(graph, all_on_host(graph), {}, {subject.name, subject.name}));
  subject.arena_bytes = code.arena_bytes;
  for (const auto& [file, bytes] : code.files) {
    if (file == "main.c" || file == "Makefile") continue;
    std::ofstream(folder / file, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  return {};
}

std::vector<Subject> subjects(const fs::path& folder) {
  const char* given = std::getenv("MRVLC_CONFORMANCE_STRIDE");
  const size_t stride = given != nullptr ? std::max<size_t>(std::strtoul(given, nullptr, 10), 1) : 5;
  std::vector<Subject> all;
  size_t number = 0;
  for (std::string_view suite : kSuites) {
    for (const auto& path : cases_in(suite)) {
      Case c = load_case(path);
      if (!c.model || is_excluded(c) || number++ % stride != 0) continue;
      Subject subject{std::move(c), fmt::format("c{}", number), 0};
      INFO(subject.c.shown);
      Status status = generate(subject, folder);
      if (!status.ok()) {
        FAIL_CHECK(format_diag(subject.c.shown, status.error()));
        continue;
      }
      all.push_back(std::move(subject));
    }
  }
  return all;
}

// One translation unit for each: names are prefixed, but macros of the standard library may be asked for
// differently.
void* build(const fs::path& folder) {
  const std::string command = fmt::format(
      "cd '{}' && cc -std=c99 -O1 -w -fPIC -shared -I'{}/include' -o cases.so c*.c c*.S -lm > log 2>&1",
      folder.string(), MRVLC_SOURCE_DIR);
  REQUIRE(std::system(command.c_str()) == 0);
  void* library = dlopen((folder / "cases.so").c_str(), RTLD_NOW);
  REQUIRE(library != nullptr);
  return library;
}

// The types that the model has at its borders; the passes keep them.
Result<std::string> run(const Subject& subject, void* library) {
  const ir::Graph& graph = subject.c.model->graph;
  MRVLC_ASSIGN(auto inputs, read_inputs(subject.c));
  double nothing = 0;  // stands for tensors without elements, which have no address
  std::vector<const void*> in;
  for (const Tensor& tensor : inputs)
    in.push_back(tensor.elements() == 0 ? &nothing : static_cast<const void*>(tensor.bytes().data()));
  if (in.empty()) in.push_back(&nothing);
  std::vector<Tensor> outputs;
  std::vector<void*> out;
  for (ir::ValueId id : graph.outputs()) outputs.emplace_back(graph.value(id).type);
  for (Tensor& tensor : outputs)
    out.push_back(tensor.elements() == 0 ? &nothing
                                         : static_cast<void*>(tensor.mutable_data<uint8_t>().data()));
  auto function = reinterpret_cast<RunFunction>(dlsym(library, (subject.name + "_run").c_str()));
  if (function == nullptr) return std::string("there is no function");
  const size_t arena_bytes = static_cast<size_t>((subject.arena_bytes + 63) / 64 * 64);
  void* arena = aligned_alloc(64, std::max<size_t>(arena_bytes, 64));
  int code = function(in.data(), out.data(), arena, nullptr, nullptr, nullptr, nullptr);
  free(arena);
  if (code != 0) return fmt::format("error {}", code);
  return check_outputs(subject.c, outputs);
}

}  // namespace

TEST_CASE("ONNX's conformance cases through generated code", "[conformance]") {
  Folder folder;
  std::vector<Subject> all = subjects(folder.path);
  if (all.empty()) return;
  void* library = build(folder.path);
  int wrong = 0;
  for (const Subject& subject : all) {
    INFO(subject.c.shown << " " << subject.name);
    auto outcome = run(subject, library);
    std::string text = outcome.ok() ? *outcome : format_diag(subject.c.shown, outcome.error());
    wrong += text.empty() ? 0 : 1;
    INFO(text);
    CHECK(text.empty());
  }
  std::cout << fmt::format("generated code: {} passed, {} wrong\n", all.size() - static_cast<size_t>(wrong),
                           wrong);
  dlclose(library);
}

}  // namespace mrvlc::test
