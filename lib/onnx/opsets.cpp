// Which IR versions and opset versions of each domain are taken; models before IR version 3 import none.
#include "opsets.h"

#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
int64_t newest_version(std::string_view domain) {
  if (domain.empty()) return kMaxOpset;
  if (domain == "ai.onnx.ml") return 5;
  return domain == "ai.onnx.preview" || domain == "ai.onnx.preview.training" ? 1 : INT64_MAX;
}

std::string shown_domain(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

void check_ir_version(const pb::ModelProto& model, Sink& sink) {
  if (!model.has_ir_version()) {
    sink.add(make_diag<DiagCode::MRV0102>("is missing"));
  } else if (model.ir_version() < 1 || model.ir_version() > kMaxIrVersion) {
    sink.add(make_diag<DiagCode::MRV0102>(
        fmt::format("{} is not supported; supported are 1 to {}", model.ir_version(), kMaxIrVersion)));
  }
}

Opsets read_opsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports, Sink& sink) {
  Opsets opsets;
  for (const auto& import : imports) {
    std::string domain(canonical_domain(import.domain()));
    int64_t version = import.version();
    auto refuse = [&](std::string_view why) {
      sink.add(make_diag<DiagCode::MRV0103>(shown_domain(domain), why));
    };
    if (!import.has_version()) {
      refuse("the version is missing");
    } else if (version < 1) {
      refuse(fmt::format("version {} is not a version", version));
    } else if (version > newest_version(domain)) {
      refuse(
          fmt::format("version {} is not supported; supported are 1 to {}", version, newest_version(domain)));
    } else if (!opsets.emplace(domain, version).second) {
      refuse("it is imported more than once");
    }
  }
  return opsets;
}

Opsets model_opsets(const pb::ModelProto& model, Sink& sink) {
  // Before IR version 3 there was one operator set only.
  if (model.ir_version() < 3 && model.opset_import().empty()) return {{"", 1}};
  if (model.opset_import().empty()) {
    sink.add(make_diag<DiagCode::MRV0103>("ai.onnx", "the model imports no operator set"));
  }
  return read_opsets(model.opset_import(), sink);
}

}  // namespace mrvlc::onnx
