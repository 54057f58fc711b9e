#include "file/read_model.h"

#include <climits>

#include "file/skeleton.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

// `owner_of(range)` keeps that range of `bytes`.
template <class OwnerOf>
Status parse_parts(std::string_view bytes, ModelMessage& model, const OwnerOf& owner_of) {
  auto skeleton = cut_raw_data(bytes);
  if (!skeleton) return parse_message(bytes, model.message);
  MRVLC_TRY(parse_message(skeleton->bytes, model.message));
  const auto& initializers = model.message.graph().initializer();
  for (const RawRange& raw : skeleton->raw) {
    auto range = std::as_bytes(std::span(bytes)).subspan(raw.offset, raw.size);
    model.stored.emplace(&initializers[static_cast<int>(raw.initializer)], StoredBytes{range, owner_of(raw)});
  }
  return {};
}

}  // namespace

Status parse_message(std::string_view bytes, google::protobuf::MessageLite& message) {
  if (bytes.empty()) return make_diag<DiagCode::MRV0101>("the file is empty");
  if (bytes.size() > INT_MAX) return make_diag<DiagCode::MRV0005>(bytes.size(), INT_MAX);
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return make_diag<DiagCode::MRV0101>("it is cut short, or not a protobuf message of this kind");
}

Status parse_model(const std::shared_ptr<const MappedFile>& file, ModelMessage& model) {
  auto pages = file->hold(0, file->bytes().size());  // what parsing touched is given back at the end
  return parse_parts(file->text(), model, [&](const RawRange& r) { return file->hold(r.offset, r.size); });
}

Status parse_model(std::shared_ptr<const std::string> bytes, ModelMessage& model) {
  return parse_parts(*bytes, model, [&](const RawRange&) { return bytes; });
}

}  // namespace mrvlc::onnx
