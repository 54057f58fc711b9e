// The C shim around a stub, the compile that writes both, the run with a margin behind all that it writes.
#include "stub.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "device.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "packed.h"

namespace mrvlc::conformance {
namespace fs = std::filesystem;

namespace {

// The ports are those of kShim.
using Call = int (*)(const Port* in, Port* out, void* arena, const void* device);

// A stub's structures hold a pointer for each tensor, with its dimensions behind it where they are known at
// run time only: words of eight bytes, in the order of the model. So the shim needs no names.
// shim_layout is an array of negative size, which no compiler takes, where a structure has other words.
constexpr std::string_view kShim = R"(#include "{0}.c"

#include <string.h>

typedef struct {{
  void* data;
  int64_t dims[{1}];
}} shim_port;

typedef char shim_layout[sizeof({0}_outputs) == {4} * 8 ? 1 : -1];
const size_t {0}_shim_arena = {0}_ARENA_BYTES, {0}_shim_regions = {0}_REGION_COUNT, {0}_shim_layers = {6};
int {0}_shim(const shim_port* in, shim_port* out, void* arena, const void* device);

int {0}_shim(const shim_port* in, shim_port* out, void* arena, const void* device) {{
  {0}_inputs inputs = {{{2}}};
  {0}_outputs outputs = {{{3}}};
  const int code = {0}_run(&inputs, &outputs, arena, (const {0}_device*)device, NULL, NULL, NULL);
  (void)in;
  (void)out;
{5}  return code;
}}
)";

std::vector<TensorType> types_of(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  std::vector<TensorType> types;
  for (ir::ValueId id : values) types.push_back(graph.value(id).type);
  return types;
}

// Numbers that a structure holds beside the address.
int64_t dims_of(const TensorType& type) {
  return type.wrapper == Wrapper::None ? type.rank() : kMaxRank;
}

std::string initializers(std::string_view side, const std::vector<TensorType>& types) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i) {
    text += fmt::format("{}{}[{}].data", i == 0 ? "" : ", ", side, i);
    if (types[i].is_static()) continue;
    std::string dims;
    for (int64_t d = 0; d < dims_of(types[i]); ++d)
      dims += fmt::format("{}{}[{}].dims[{}]", d == 0 ? "" : ", ", side, i, d);
    text += ", {" + dims + "}";
  }
  return text.empty() ? "NULL" : text;
}

// Statements that tell the dimensions of the outputs; `words` of the structure.
std::string dims_back(const std::vector<TensorType>& types, int64_t& words) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i) {
    ++words;
    if (!types[i].is_static()) {
      text += fmt::format("  memcpy(out[{}].dims, (const char*)&outputs + {}, {});\n", i, words * 8,
                          dims_of(types[i]) * 8);
      words += dims_of(types[i]);
      continue;
    }
    for (size_t d = 0; d < types[i].shape.size(); ++d)
      text += fmt::format("  out[{}].dims[{}] = {};\n", i, d, types[i].shape[d]);
  }
  words = std::max<int64_t>(words, 1);
  return text;
}

std::string shim_text(const ir::Graph& graph, const std::string& name, size_t layers) {
  const auto inputs = types_of(graph, graph.inputs()), outputs = types_of(graph, graph.outputs());
  int64_t words = 0;
  const std::string back = dims_back(outputs, words);
  return fmt::format(kShim, name, kMaxRank, initializers("in", inputs), initializers("out", outputs), words,
                     back, layers);
}

Result<Outcome> write_stub(ir::Graph& graph, const std::string& target, const std::string& name,
                           const fs::path& folder) {
  const bool host = target == "host";
  MRVLC_TRY(passes::run_passes(graph, host ? passes::host_pipeline() : passes::default_pipeline()));
  MRVLC_ASSIGN(const Placement placed, place(graph, target, name, folder));
  if (!host && placed.regions.empty())
    return Outcome{Verdict::Passed, {}, "nothing of it runs on the accelerator"};
  ir::number_expressions(graph);
  const chost::Options emission{name, name};
  MRVLC_ASSIGN(auto code, chost::generate(graph, placed.partition, placed.regions, emission));
  for (const auto& [file, bytes] : code.files) {
    const bool skipped = file == "main.c" || file == "Makefile" || file.starts_with("mrvl/");
    if (!skipped) MRVLC_TRY(write_file_atomic(folder / file, bytes));
  }
  MRVLC_TRY(write_file_atomic(folder / (name + "_shim.c"), shim_text(graph, name, placed.layers)));
  return Outcome{};
}

// Memory that a stub writes, with a margin that it must not.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), at_(static_cast<uint8_t*>(aligned_alloc(64, room()))) {
    std::memset(at_, kFill, room());
  }
  Guarded(Guarded&& other) noexcept : bytes_(other.bytes_), at_(std::exchange(other.at_, nullptr)) {}
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded() { std::free(at_); }
  void* data() { return at_; }
  int64_t bytes() const { return static_cast<int64_t>(bytes_); }
  std::string text(int64_t bytes) const {
    return {reinterpret_cast<const char*>(at_), static_cast<size_t>(bytes)};
  }
  bool intact() const {
    return std::all_of(at_ + bytes_, at_ + room(), [](uint8_t b) { return b == kFill; });
  }

 private:
  static constexpr uint8_t kFill = 0xA5;
  size_t room() const { return (bytes_ + 64 + 63) / 64 * 64; }
  size_t bytes_;
  uint8_t* at_;
};

Outcome wrong(std::string message) {
  return {Verdict::Wrong, {}, std::move(message)};
}

// A stub that was compiled.
struct Stub {
  Call call = nullptr;
  size_t arena_bytes = 0;
  const Device& device;
  const Difference& judge;
};

// Bytes that the caller of the stub provides.
size_t room_for(const ir::Graph& graph, size_t arena_bytes) {
  auto total = static_cast<double>(arena_bytes);
  for (ir::ValueId id : graph.outputs())
    total += static_cast<double>(ops::memory_bytes(graph.value(id).type));
  return static_cast<size_t>(std::min(total, 1e18));
}

Outcome run_set(const Case& c, size_t set, const Stub& stub) {
  auto inputs = read_inputs(c, set);
  if (!inputs.ok()) return failure(inputs.error());
  const ir::Graph& graph = c.model->graph;
  constexpr size_t kMost = size_t{4} << 30;
  if (const size_t room = room_for(graph, stub.arena_bytes); room > kMost)
    return failure(make_diag<DiagCode::MRV0008>(room, kMost));
  std::vector<Port> in(1), out(1);  // an array has an element
  std::vector<Guarded> memory;
  std::deque<Packed> packed;
  for (size_t i = 0; i < inputs->size(); ++i) {
    packed.push_back(pack((*inputs)[i], graph.value(graph.inputs()[i]).type));
    in.insert(in.end() - 1, packed.back().port);
  }
  for (ir::ValueId id : graph.outputs()) {
    memory.emplace_back(static_cast<size_t>(ops::memory_bytes(graph.value(id).type)));
    out.insert(out.end() - 1, Port{memory.back().data(), {}});
  }
  Guarded arena(stub.arena_bytes);
  if (int code = stub.call(in.data(), out.data(), arena.data(), stub.device.words()); code != 0)
    return wrong(fmt::format("the stub returned {}; {}", code, stub.device.error()));
  if (!arena.intact()) return wrong("the stub wrote behind the arena");
  std::vector<Tensor> actual;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i].intact()) return wrong(fmt::format("the stub wrote behind output {}", i));
    auto value = unpack(out[i], graph.value(graph.outputs()[i]).type);
    if (!value.ok()) return wrong(fmt::format("output {}: {}", i, value.error().message));
    actual.push_back(std::move(*value));
  }
  return check_outputs(c, set, *inputs, actual, stub.judge);
}

}  // namespace

Outcome generate_stub(Case& c, const Options& options, const std::string& name, const fs::path& folder) {
  auto outcome = write_stub(c.model->graph, options.target, name, folder);
  return outcome.ok() ? *outcome : failure(outcome.error());
}

void* StubLibrary::symbol(const std::string& name) {
  if (handle_ == nullptr) handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
}

Outcome run_stub(const Case& c, const Options& options, const std::string& name, StubLibrary& library) {
  auto call = reinterpret_cast<Call>(library.symbol(name + "_shim"));
  auto number = [&](const char* what) {
    return static_cast<const size_t*>(library.symbol(name + "_shim_" + what));
  };
  const size_t *arena_bytes = number("arena"), *regions = number("regions"), *layers = number("layers");
  if (call == nullptr || arena_bytes == nullptr || regions == nullptr || layers == nullptr)
    return {Verdict::Crashed, {}, "the library does not load"};
  const Device device(options.target, name, library.folder(), *regions);
  if (!device.error().empty()) return {Verdict::Crashed, {}, device.error()};
  const Stub stub{call, *arena_bytes, device, options.difference};
  Outcome outcome;
  for (size_t set = 0; set < c.sets.size(); ++set) {
    outcome = run_set(c, set, stub);
    if (outcome.verdict != Verdict::Passed) return outcome;
  }
  if (*layers > 0) outcome.message = fmt::format("{} layers in {} regions", *layers, *regions);
  return outcome;
}

}  // namespace mrvlc::conformance
