// Declared inputs and outputs of a model; tensors, sequences and optionals of input_K.pb and output_K.pb.
#include "mrvlc/onnx/test_data.h"

#include <set>

#include "file/tensor_decode.h"
#include "file/wire.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::onnx {
namespace {

// onnx-data.proto, whose schema is not installed with onnx.proto: fields of SequenceProto and OptionalProto.
constexpr int kTensors = 3, kSequences = 5;

Wrapper wrapper_of(const pb::TypeProto& type) {
  if (type.has_sequence_type()) return Wrapper::Sequence;
  if (!type.has_optional_type()) return Wrapper::None;
  return type.optional_type().elem_type().has_sequence_type() ? Wrapper::OptionalSequence : Wrapper::Optional;
}

DeclaredValue declared_value(const pb::ValueInfoProto& input) {
  DeclaredValue out{input.name(), wrapper_of(input.type()), input.type().tensor_type().has_shape(), {}, {}};
  for (const auto& dim : input.type().tensor_type().shape().dim()) {
    out.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    out.symbols.push_back(dim.dim_param());
  }
  return out;
}

Result<Tensor> decode_bytes(const std::filesystem::path& path, const std::string& bytes) {
  pb::TensorProto message;
  MRVLC_TRY(parse_message(bytes, message));
  return TensorDecoder({path.parent_path()}).decode(message);
}

Result<Tensor> decode_wrapped(const std::filesystem::path& path, const std::string& bytes, Wrapper wrapper) {
  std::vector<Tensor> items;
  const bool nested = wrapper == Wrapper::OptionalSequence;
  for (const std::string& item : unknown_field(bytes, nested ? kSequences : kTensors)) {
    MRVLC_ASSIGN(Tensor decoded,
                 nested ? decode_wrapped(path, item, Wrapper::Sequence) : decode_bytes(path, item));
    items.push_back(std::move(decoded));
  }
  return ops::wrap(wrapper, std::move(items));
}

}  // namespace

Result<std::vector<DeclaredValue>> declared_inputs(const std::filesystem::path& model) {
  MRVLC_ASSIGN(auto file, MappedFile::open(model, uint64_t{INT32_MAX}));
  pb::ModelProto message;
  MRVLC_TRY(parse_message(file->text(), message));
  std::set<std::string_view> given;
  for (const auto& tensor : message.graph().initializer()) given.insert(tensor.name());
  for (const auto& tensor : message.graph().sparse_initializer()) given.insert(tensor.values().name());
  std::vector<DeclaredValue> inputs;
  for (const auto& input : message.graph().input()) {
    if (!given.contains(input.name())) inputs.push_back(declared_value(input));
  }
  return inputs;
}

Result<std::vector<DeclaredValue>> declared_outputs(const std::filesystem::path& model) {
  MRVLC_ASSIGN(auto file, MappedFile::open(model, uint64_t{INT32_MAX}));
  pb::ModelProto message;
  MRVLC_TRY(parse_message(file->text(), message));
  std::vector<DeclaredValue> outputs;
  for (const auto& output : message.graph().output()) outputs.push_back(declared_value(output));
  return outputs;
}

Result<Tensor> read_value_pb(const std::filesystem::path& path, Wrapper wrapper) {
  MRVLC_ASSIGN(auto file, MappedFile::open(path, uint64_t{INT32_MAX}));
  const std::string bytes(file->text());
  if (wrapper == Wrapper::None) return decode_bytes(path, bytes);
  return decode_wrapped(path, bytes, wrapper);
}

}  // namespace mrvlc::onnx
