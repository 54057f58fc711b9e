// Host code: the C99 stub for the CPU steps, with calls to the device for the regions.
#pragma once
#include <functional>
#include <map>

#include "mrvlc/backend/region_code.h"
#include "mrvlc/chost/choice.h"
#include "mrvlc/chost/half_weights.h"
#include "mrvlc/ir/expr_id.h"
#include "mrvlc/partition/crossings.h"

namespace mrvlc::chost {

// What NAME_run does when a region raised flags (mrvl/device.h): it tells in its error structure, fails, or
// (Cpu) computes the region itself.
enum class OnOverflow : uint8_t { Report, Error, Cpu };
// What it does when the device fails in a region: `retries` more runs, then the host, or an error.
struct OnDeviceError {
  uint32_t retries = 0;
  bool cpu = false;
};

// How the constants of the CPU's part come to the program: linked in from the blob by an assembler file, as
// an array in C, or as the blob that the caller loads or maps and hands to NAME_load_weights.
enum class WeightsAs : uint8_t { Linked, Source, Blob };
inline constexpr std::string_view kWeightsAs[] = {"linked", "c", "blob"};  // as users write it

// What the weights of products are stored as: see half_weights.h.
enum class WeightType : uint8_t { F32, F16 };
inline constexpr std::string_view kWeightTypes[] = {"fp32", "fp16"};  // as users write it

// Convolutions by Winograd's algorithm: where they are expected to be faster and exact enough, none, or,
// which tests want, all that can be, in tiles of 2 x 2 or 4 x 4 results.
enum class WinogradUse : uint8_t { Chosen, Never, Tile2, Tile4 };

// What kernels are chosen for: the time of each layer; or the text, of a kernel that serves all layers of a
// kind (convolutions, depthwise ones: what all are expected to be fastest by, or else what can compute all);
// or less of it still, by plain loops for recurrent layers and pools and the functions of <math.h>.
enum class Optimize : uint8_t { Speed, Balanced, Size };
inline constexpr std::string_view kOptimize[] = {"speed", "balanced", "size"};  // as users write it

// What the program takes of libraries beside their functions.
struct Linked {
  std::vector<std::string> includes;   // as they stand in an #include: "\"nn.h\"", "<nn.h>"
  std::vector<std::string> sources;    // files of OUT that are compiled with the stub
  std::vector<std::string> libraries;  // "m": -lm
  std::vector<std::string> standard = {
      "-std=c99"};  // flags that say which C all of this is, the stub with it
};

// Under these a call whose arguments do not suit the function is an error; gcc and clang only warn otherwise.
inline constexpr const char* kStrictCalls[] = {"-Werror=int-conversion", "-Werror=incompatible-pointer-types",
                                               "-Werror=implicit-function-declaration"};

// Bytes of the whole arena, whatever its values are: what it may take unless --arena-limit says otherwise.
inline constexpr int64_t kArenaLimit = int64_t{1} << 38;
// Code reaches 2 GiB of data (x86-64 psABI, small code model), among them the program's own.
inline constexpr int64_t kLinkLimit = (int64_t{1} << 31) - (int64_t{64} << 20);

// Values of an input that the outputs are known to be accurate for, as far as anybody tried or said.
struct InputLimit {
  size_t input = 0;  // position in graph.inputs(): floats of 16 or 32 bits
  double least = 0, most = 0;
  // The largest magnitude that an input's elements must have among them; 0: any.
  double smallest = 0;
  bool zero = false;  // an input that is zero all over is well nevertheless
};

// --state: an input that is an output of the run before, of the same type and fixed shape.
struct StatePair {
  size_t input = 0, output = 0;  // positions in graph.inputs(), graph.outputs()
};

// A value that the host casts and permutes on its way into or out of a region.
struct Conversion : partition::Crossing {
  std::string name = {};                                   // of the value, which is one of the region's graph
  int64_t elements = 0, host_bytes = 0, device_bytes = 0;  // one is read, the other written
};

struct Options {
  std::string name;                       // prefix of every symbol, a C identifier
  std::string file_stem;                  // NAME in NAME.c; usually equal to name
  std::vector<std::string> targets = {};  // of the devices; what the example program simulates unless told
                                          // otherwise
  int64_t arena_limit = kArenaLimit;      // bytes; a plan that needs more is an error (MRV0604)
  // Bytes of weights; more become a file (WeightsAs::Blob), or MRV0644 for Source.
  int64_t link_limit = kLinkLimit;
  int64_t text_bytes = 256;  // of each text made at run time, on average over a tensor
  OnOverflow on_overflow = OnOverflow::Report;
  OnDeviceError on_device_error = {};
  WinogradUse winograd = WinogradUse::Chosen;
  Optimize optimize = Optimize::Speed;
  Tuning tuning = {};
  int threads = 1;  // parts of a loop at most that the caller's threads may run (mrvl/parallel.h); 1: none
  Linked linked = {};
  // NAME_run tells when an input lies beyond (MRVL_FLAG_INPUT), and does then what on_overflow says.
  std::vector<InputLimit> input_limits = {};
  WeightsAs weights = WeightsAs::Linked;
  // F16: those that are numbers of 16 bits (round_weights) are stored as such and unpacked when they are
  // read. Winograd's algorithm, whose weights are none, has no layer then.
  WeightType host_weights = WeightType::F32;
  // Values that say where, of operands known at run time only, are looked at: NAME_ERROR_VALUE for one that
  // is out of range. Else it is brought into its range, or skipped.
  bool check_indices = true;
  // NAME_device has a hook that NAME_run calls with every value in memory (mrvl_value of mrvl/device.h).
  bool trace_values = false;
  // By name, of the tensors of the model's own graph: the stems of their files. Of trace_values.
  std::map<std::string, std::string> value_files = {};
  // Each input and each output is in one pair at most (MRV0612 where types do not agree). NAME.h has the type
  // NAME_state for them; NAME_run takes the two of a pair in one memory, or apart.
  std::vector<StatePair> states = {};
  // Which region (Region::id) NAME_submit hands to the device, asked once it is known what the host converts;
  // NAME_wait ends it and what follows. Empty, or one that is none of the model's own graph: the last of
  // these.
  std::function<std::optional<uint32_t>(const std::vector<Conversion>&)> submitted_region = {};
  bool bare = false;  // bare.c as well: an example for a board without operating system
  // NAME.c and NAME.h alone, without the headers of include/mrvl and with the weights in NAME.c; the examples
  // lie in a folder of their own. MRV0611 with regions or libraries.
  bool single = false;
  // Of each region its nodes (ir::part_of), ready for the host, when one of the two above wants the CPU;
  // else empty.
  std::vector<ir::Graph> parts = {};
};

struct HostFunction {
  std::string symbol, file;
  uint32_t first_line = 0, last_line = 0;  // 1-based, inclusive
  ir::ExprId expr;                         // of a support function: the expression it was first emitted for
  std::vector<ir::ExprId> fused;           // further expressions the function computes (bias, activation...)
};

// A convolution computed by Winograd's algorithm, in tiles of `tile` x `tile` results (docs/accuracy.md).
struct Transformed {
  ir::ExprId expr;
  std::string name;  // of the node
  int64_t tile = 0;
  double error = 0;           // estimated, of a result: its standard deviation over the result's
  int64_t weights_bytes = 0;  // beside those of the weights themselves
};

// A pair of Options::states, as the program treats it where the two are one memory.
struct StateUse {
  std::string input, output;  // names
  int64_t bytes = 0;
  // Empty: the run works in this memory. Else the output is made in the arena and copied at the end, and why.
  std::string obstacle = {};
};

// Where most of the arena is alive.
struct ArenaPeak {
  std::string node, op;  // that is computed then; empty: none is
  std::string alive;     // the largest values with their bytes: "'y' 4096, scratch of 'conv' 1024, 3 more"
};

struct HostCode {
  // File name and bytes: NAME.h, NAME.c, main.c, Makefile, of the weights NAME_weights.S and .bin, or .c, or
  // .bin (Options::weights), and the headers mrvl/*.h. Options::single: NAME.h, NAME.c, and example/.
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<HostFunction> functions;    // every function of NAME.c
  std::vector<Conversion> conversions;    // in order of work
  std::vector<Transformed> transformed;   // in order of work
  std::vector<LayerChoice> choices;       // of layers that have several variants, in order of work
  std::vector<StateUse> states;           // as Options::states
  std::vector<std::string> call_symbols;  // of Partition::calls: the function that holds the call
  bool texts_made = false;                // at run time, so that Options::text_bytes counts
  WeightsAs weights = WeightsAs::Linked;
  int64_t arena_bytes = 0, arena_lower_bound_bytes = 0, weights_bytes = 0;
  int64_t half_bytes = 0;  // of these, weights of 16 bits
  int64_t port_bytes = 0;  // inputs and outputs, at their bounds
  std::optional<uint32_t> submitted_region =
      {};  // the one that NAME_submit hands over; nullopt: there is none
  ArenaPeak peak;
};

// `regions[i]` is the compiled form of partition.regions[i]. Float16 values of CPU steps are computed in fp32
// (they must have been widened by the pass `widen-f16`; graph inputs and outputs keep their type).
Result<HostCode> generate(const ir::Graph& graph, const partition::Partition& partition,
                          const std::vector<backend::RegionCode>& regions, const Options& options);

}  // namespace mrvlc::chost
