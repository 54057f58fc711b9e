// The files of a program, from the finished functions.
#pragma once
#include "program.h"

namespace mrvlc::chost {

// Names of the model's inputs and outputs as C sees them.
struct Interface {
  struct Port {
    std::string field;  // member of the struct
    std::string model_name;
    TensorType type;
    std::string dims;        // member with the dimensions; empty when none is dynamic
    std::string state = {};  // member of NAME_state; empty: it is no state
  };
  std::vector<Port> inputs, outputs;
};
Interface make_interface(const Program& program);

struct ArenaResult {
  int64_t bytes = 0, lower_bound = 0;
  ArenaPeak peak = {};
  std::map<BufferId, int64_t> offsets;  // of arena stores without parent
  // Of the same, the first and the last step (index) that need it; the last may be one beyond: the end.
  std::map<BufferId, std::pair<size_t, size_t>> steps;
};
// MRV0604, at the node where most is alive, when it needs more than the limit of the options.
Result<ArenaResult> plan_program_arena(const Program& program);

inline constexpr int64_t kArenaAlign = 64;

// A type's dimensions as the initializer of an array: "2, 3", "0" where there are none.
std::string dims_text(const TensorType& type);

// `views`: of RunText.
std::string header_text(const Program& program, const Interface& interface, int64_t arena_bytes,
                        size_t views);
// flight_text.cpp. Why there is no NAME_submit in a program with regions; empty: there is. What NAME.h says
// of it.
std::string flight_obstacle(const Program& program);
std::string flight_declarations(const Program& program, size_t views);
// Without NAME_infer, and without weights that are part of it.
CSource source_text(const Program& program, const Interface& interface, const ArenaResult& arena,
                    const PublicNames& names);
// weights.cpp. What NAME.c and NAME.h say of the weights, and their files (WeightsAs); the blob is
// taken.
std::string declare_weights(const Program& program);
std::string weights_macros(const Program& program);
// Options::single: the weights for the end of NAME.c, empty without any.
std::string weights_definition(const Program& program);
std::vector<std::pair<std::string, std::string>> weights_files(Program& program);
// memory/state_text.cpp. NAME_state and its functions: for NAME.h, and for NAME.c; empty without states.
std::string state_declarations(const Program& program, const Interface& interface);
std::string state_definitions(const Program& program, const Interface& interface);
std::string example_text(const Program& program, const Interface& interface, int64_t arena_bytes);
// Options::bare: example/bare.cpp.
std::string bare_text(const Program& program, const Interface& interface);
std::string makefile_text(const Program& program);

}  // namespace mrvlc::chost
