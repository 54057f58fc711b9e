// ONNX file in, owned IR out. The only component that sees protobuf.
#pragma once
#include <filesystem>
#include <map>
#include <optional>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::onnx {

// What --input-shape says of an input.
struct GivenShape {
  Shape shape;           // of a dynamic dimension: the most it can be
  uint32_t dynamic = 0;  // as in TensorType
  int64_t length = 0;    // of sequences: tensors at most; 0: not said

  GivenShape() = default;
  GivenShape(Shape dims) : shape(std::move(dims)) {}
  GivenShape(std::initializer_list<int64_t> dims) : shape(dims) {}
  bool operator==(const GivenShape&) const = default;
};
// "1x3x224x224", "1..8x3x224x224", "16*1..8x3" (up to 16 tensors), "scalar" for rank 0; nullopt: something
// else.
std::optional<GivenShape> parse_given_shape(std::string_view text);
std::string to_string(const GivenShape& given);

// What --bind says of an input: a tensor of a file, or numbers as text ("16000", "1,2,3") whose element type
// and shape the model gives.
struct BoundInput {
  std::string text;
  std::optional<Tensor> tensor;
};

struct ImportOptions {
  // --input-shape NAME=1x3x224x224. A name that is no input is an error, and so is a shape that contradicts a
  // fixed dimension. Symbolic dimensions not bound here: the leading one becomes `batch` with a warning;
  // others are an error that names the dimension and shows the option to give.
  // A range makes the dimension one that is known at run time only.
  std::map<std::string, GivenShape> input_shapes;
  // --input-dim SYMBOL=8, or 1..8: of an open dimension by its name in the model, in all inputs; one of rank
  // 1 each. MRV0150, MRV0151.
  std::map<std::string, GivenShape> input_dims;
  // Inputs that become constants, those with a default value among them. MRV0138, MRV0139.
  std::map<std::string, BoundInput> bound_inputs;
  int64_t batch = 1;
  // Types of inputs that are sequences or optionals, where the model does not say how many tensors there are
  // at most and how large they are; from data at hand, or --input-shape NAME=16*3x4.
  std::map<std::string, TensorType> input_types;
  int64_t max_dynamic = 65536;  // elements of a tensor that nothing bounds
  int64_t max_sequence = 64;    // tensors in a sequence that nothing else bounds
  int64_t max_rounds = 0;       // of a Loop that data end: more is an error; 0: no limit
  // --bound VALUE=64x4: the most that dimensions can be which are known at run time only and which neither
  // operands nor the model bound; -1: nothing is said of that dimension.
  std::map<std::string, Shape> bounds;
  std::filesystem::path
      external_data_dir;  // extra folder that external data may lie in; by default the model's own only
  uint64_t max_file_bytes = (uint64_t{2} << 30) - 1;  // protobuf's limit
  int64_t max_nodes = 4'000'000;
  bool hash = true;  // fill in Model::sha256
};

// A file that a model is read from.
struct ModelFile {
  std::filesystem::path path;  // as it was opened
  std::string location;        // of external data, as the model spells it; of the model itself empty
  std::shared_ptr<const MappedFile> bytes;
};

struct Model {
  ir::Graph graph;
  int64_t ir_version = 0, opset = 0;  // of ai.onnx
  std::string producer;
  std::string sha256;  // model_sha256() of the files
  // What constants of the graph may be views of: the model's own file, then external data in the order of
  // `location`, bytewise.
  std::vector<ModelFile> files;
  // Inputs of the model that are constants of the graph: those of --bind, and those with a default value.
  std::vector<std::string> bound_inputs;
  bool has_batch = false;  // a dimension became ImportOptions::batch (MRV0134)
};

// SHA-256 of each file, in hex, in their order. MRV0003.
Result<std::vector<std::string>> file_hashes(const std::vector<ModelFile>& files);
// What a model with these files is known by: the hash of its file when it has no external data; else that of
// the text that `(sha256sum <MODEL; sha256sum LOCATION...) | sha256sum` hashes: lines of a hash, two blanks
// and the location, "-" for the model.
std::string model_sha256(const std::vector<ModelFile>& files, const std::vector<std::string>& hashes);

// Errors go to `diagnostics` (all that can be found, at most 50), warnings and notes too; nullopt when there
// was an error.
std::optional<Model> import_file(const std::filesystem::path& path, const ImportOptions& options,
                                 Diagnostics& diagnostics);
std::optional<Model> import_bytes(std::string_view bytes, const std::filesystem::path& folder,
                                  const ImportOptions& options, Diagnostics& diagnostics);
// A TensorProto file (ONNX test data, input_K.pb).
Result<Tensor> read_tensor_pb(const std::filesystem::path& path);

}  // namespace mrvlc::onnx
