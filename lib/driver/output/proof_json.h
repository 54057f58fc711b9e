// proof.json: hints for `mrvlc prove`, which trusts none of them.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/support/json_writer.h"

namespace mrvlc::driver {

inline constexpr const char* kProofFile = "proof.json";

void write_proof(JsonWriter& out, const CompiledModel& m);

}  // namespace mrvlc::driver
