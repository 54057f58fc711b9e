// How the driver's options become the importer's; what else is asked of them.
#include <algorithm>

#include "mrvlc/driver/options.h"

namespace mrvlc::driver {

bool emits(const CompileOptions& options, std::string_view kind) {
  return std::ranges::find(options.emit, kind) != options.emit.end();
}

onnx::ImportOptions import_options(const CompileOptions& options) {
  onnx::ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.input_dims = options.input_dims;
  import.bound_inputs = options.bound_inputs;
  import.input_types = options.input_types;
  import.bounds = options.bounds;
  import.max_sequence = options.max_sequence;
  import.max_rounds = options.max_rounds.value_or(0);
  import.batch = options.batch;
  import.external_data_dir = options.external_data_dir;
  return import;
}

}  // namespace mrvlc::driver
