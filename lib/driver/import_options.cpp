// How the driver's options become the importer's.
#include "mrvlc/driver/options.h"

namespace mrvlc::driver {

onnx::ImportOptions import_options(const CompileOptions& options) {
  onnx::ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.bound_inputs = options.bound_inputs;
  import.input_types = options.input_types;
  import.bounds = options.bounds;
  import.max_sequence = options.max_sequence;
  import.batch = options.batch;
  import.external_data_dir = options.external_data_dir;
  return import;
}

}  // namespace mrvlc::driver
