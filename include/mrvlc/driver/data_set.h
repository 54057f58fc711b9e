// Inputs and expected outputs of a model in a folder: ONNX's test data (input_K.pb, output_K.pb), or .npy and
// .json files of the same numbers; docs/values.md.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "mrvlc/onnx/importer.h"
#include "mrvlc/onnx/test_data.h"

namespace mrvlc::driver {

struct DataSet {
  std::string name;
  std::vector<Tensor> inputs;        // K: input K of the model
  std::map<size_t, Tensor> outputs;  // by number; what is not there is not expected
};

// The sets of the folder's test_data_set_K, or of the folder itself. MRV0003: no output, an input is missing
// between others, or two files are of one number.
Result<std::vector<DataSet>> read_data(const std::filesystem::path& folder,
                                       const std::vector<onnx::DeclaredValue>& inputs,
                                       const std::vector<onnx::DeclaredValue>& outputs);

// Inputs alone, as `mrvlc calibrate` takes them (docs/calibration.md): test_data_set_K and other folders,
// each one sample of files named by number or by input; or one file an input, of which those with one
// dimension more than the model declares hold samples along it. Sorted by name, so that the order of samples
// is always the same. MRV0003: no samples, an input is missing, or files hold different numbers of samples.
Result<std::vector<DataSet>> read_samples(const std::filesystem::path& folder,
                                          const std::vector<onnx::DeclaredValue>& inputs);

// What the model leaves open has the shape of the data; a dimension in which sets differ is known at run time
// only. Of sequences and optionals: the narrowest type that holds those of all sets. Inputs named in
// `options.input_shapes` stay as they are. The names of what was given a shape, in the order of the model.
std::vector<std::string> take_shapes(const std::vector<onnx::DeclaredValue>& declared,
                                     const std::vector<DataSet>& sets, onnx::ImportOptions& options);

}  // namespace mrvlc::driver
