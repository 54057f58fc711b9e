// Parses a model's skeleton, raw data left in the mapping; files that are no ONNX, by what they begin with.
#include "file/read_model.h"

#include <google/protobuf/io/coded_stream.h>

#include <climits>

#include "file/skeleton.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

struct OtherKind {
  size_t offset;
  std::string_view begin, what;
};

// Files that are often named in a model's place, by what they begin with.
constexpr OtherKind kOtherKinds[] = {
    {0, "version https://git-lfs",
     "it is a Git-LFS pointer to a file that is not here; 'git lfs pull' fetches it"},
    {4, "TFL3",
     "it is a TensorFlow Lite model; 'python3 -m tf2onnx.convert --tflite FILE --output model.onnx' converts "
     "it"},
    {0, "\x89HDF",
     "it is an HDF5 file, as Keras writes; 'python3 -m tf2onnx.convert --keras FILE --output model.onnx' "
     "converts it"},
    {0, std::string_view("PK\x03\x04", 4),
     "it is a zip archive, as PyTorch and Keras write; export the model, e.g. with torch.onnx.export"},
    {0, "\x80\x02", "it is a Python pickle, as PyTorch writes; export the model with torch.onnx.export"},
    {0, "\x93NUMPY", "it is an array of NumPy, not a model"},
    {0, "ir_version",
     "it is a model as text; in Python onnx.save(onnx.load('FILE', format='textproto'), 'model.onnx') "
     "converts it"},
    {0, "<",
     "it is a model as text; in Python onnx.save(onnx.parser.parse_model(text), 'model.onnx') converts it"},
    {0, "{",
     "it is JSON; in Python onnx.save(onnx.load('FILE', format='json'), 'model.onnx') converts a model as "
     "JSON"},
};

// Bytes that were no model: what they are instead, when that can be seen.
Status explained(Status parsed, std::string_view bytes) {
  if (parsed.ok() || parsed.error().code != DiagCode::MRV0101) return parsed;
  for (const OtherKind& kind : kOtherKinds)
    if (bytes.size() > kind.offset && bytes.substr(kind.offset).starts_with(kind.begin))
      return make_diag<DiagCode::MRV0101>(kind.what);
  return parsed;
}

// `owner_of(range)` keeps that range of `bytes`.
template <class OwnerOf>
Status parse_parts(std::string_view bytes, ModelMessage& model, const OwnerOf& owner_of) {
  auto skeleton = cut_raw_data(bytes);
  if (!skeleton) return explained(parse_message(bytes, model.message), bytes);
  MRVLC_TRY(explained(parse_message(skeleton->bytes, model.message), bytes));
  const auto& initializers = model.message.graph().initializer();
  for (const RawRange& raw : skeleton->raw) {
    auto range = std::as_bytes(std::span(bytes)).subspan(raw.offset, raw.size);
    model.stored.emplace(&initializers[static_cast<int>(raw.initializer)], StoredBytes{range, owner_of(raw)});
  }
  return {};
}

// Protobuf refuses what is nested deeper than this: a body of a node is three levels below its graph.
constexpr int kMostLevels = 100;
constexpr int kLevelsToTell = 300;  // few enough for a small stack

// Whether more levels are all that is missing.
bool parses_deeper(std::string_view bytes, google::protobuf::MessageLite& message) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kLevelsToTell);
  const bool parsed = message.ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
  message.Clear();
  return parsed;
}

}  // namespace

Status parse_message(std::string_view bytes, google::protobuf::MessageLite& message) {
  if (bytes.empty()) return make_diag<DiagCode::MRV0101>("the file is empty; export or copy it again");
  if (bytes.size() > INT_MAX) return make_diag<DiagCode::MRV0005>(bytes.size(), INT_MAX);
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  if (parses_deeper(bytes, message))
    return make_diag<DiagCode::MRV0117>(fmt::format(
        "bodies and types are nested too deep: messages within messages end at {} levels", kMostLevels));
  return make_diag<DiagCode::MRV0101>(
      "it is cut short, or not a protobuf message of this kind; copy or export it again");
}

Status parse_model(const std::shared_ptr<const MappedFile>& file, ModelMessage& model) {
  auto pages = file->hold(0, file->bytes().size());  // what parsing touched is given back at the end
  return parse_parts(file->text(), model, [&](const RawRange& r) { return file->hold(r.offset, r.size); });
}

Status parse_model(std::shared_ptr<const std::string> bytes, ModelMessage& model) {
  return parse_parts(*bytes, model, [&](const RawRange&) { return bytes; });
}

}  // namespace mrvlc::onnx
