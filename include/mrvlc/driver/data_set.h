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

// What the model leaves open has the shape of the data; a dimension in which sets differ is known at run time
// only. Of sequences and optionals: the narrowest type that holds those of all sets. Inputs named in
// `options.input_shapes` stay as they are. The names of what was given a shape, in the order of the model.
std::vector<std::string> take_shapes(const std::vector<onnx::DeclaredValue>& declared,
                                     const std::vector<DataSet>& sets, onnx::ImportOptions& options);

}  // namespace mrvlc::driver
