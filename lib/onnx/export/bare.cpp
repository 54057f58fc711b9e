// Zeros in place of large tensors, also external ones; documentation, metadata and texts removed.
#include "mrvlc/onnx/bare.h"

#include "file/proto.h"
#include "file/read_model.h"
#include "file/wire.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/file.h"
#include "mrvlc/tensor/narrow.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::onnx {
namespace {

// Bytes of the elements as protobuf packs them; 0: not known, or more than a message may be.
size_t bytes_of(const pb::TensorProto& t, int64_t elements) {
  const auto elem = static_cast<ElementType>(t.data_type());
  const int bits = t.data_type() > 0 && t.data_type() != pb::TensorProto::STRING ? bit_size(elem) : 0;
  return bits <= 0 || elements > INT32_MAX
             ? 0
             : (static_cast<size_t>(elements) * static_cast<size_t>(bits) + 7) / 8;
}

int64_t elements_of(const pb::TensorProto& t) {
  int64_t elements = 1;
  for (int64_t d : t.dims())
    if (d < 0 || __builtin_mul_overflow(elements, d, &elements)) return INT64_MAX;
  return elements;
}

bool is_integer(int type) {
  return type == pb::TensorProto::INT64 || type == pb::TensorProto::INT32 || type == pb::TensorProto::BOOL;
}

class Barer {
 public:
  void model(pb::ModelProto& m) {
    m.clear_doc_string();
    m.clear_metadata_props();
    graph(*m.mutable_graph());
    for (auto& f : *m.mutable_functions()) {
      f.clear_doc_string();
      *f.mutable_unknown_fields() = without_field(f.unknown_fields(), kFunctionMetadata);
      for (auto& n : *f.mutable_node()) node(n);
    }
  }

  bool too_large() const { return bytes_ > INT32_MAX; }
  size_t bytes() const { return bytes_; }

 private:
  void graph(pb::GraphProto& g) {
    g.clear_doc_string();
    g.clear_quantization_annotation();
    *g.mutable_unknown_fields() = without_field(g.unknown_fields(), kGraphMetadata);
    for (auto& t : *g.mutable_initializer()) tensor(t);
    for (auto& t : *g.mutable_sparse_initializer()) tensor(*t.mutable_values());
    for (auto* values : {g.mutable_input(), g.mutable_output(), g.mutable_value_info()})
      for (auto& v : *values) {
        v.clear_doc_string();
        *v.mutable_unknown_fields() = without_field(v.unknown_fields(), kValueMetadata);
      }
    for (auto& n : *g.mutable_node()) node(n);
  }

  void node(pb::NodeProto& n) {
    n.clear_doc_string();
    *n.mutable_unknown_fields() = without_field(n.unknown_fields(), kNodeMetadata);
    for (auto& a : *n.mutable_attribute()) attribute(a);
  }

  void attribute(pb::AttributeProto& a) {
    a.clear_doc_string();
    if (a.has_t()) tensor(*a.mutable_t());
    for (auto& t : *a.mutable_tensors()) tensor(t);
    if (a.has_g()) graph(*a.mutable_g());
    for (auto& g : *a.mutable_graphs()) graph(g);
    if (a.has_sparse_tensor()) tensor(*a.mutable_sparse_tensor()->mutable_values());
    if (a.floats_size() > kBareFloats)
      for (float& f : *a.mutable_floats()) f = 0;
  }

  void tensor(pb::TensorProto& t) {
    t.clear_doc_string();
    *t.mutable_unknown_fields() = without_field(t.unknown_fields(), kTensorMetadata);
    const int64_t elements = elements_of(t);
    const bool outside = t.data_location() == pb::TensorProto::EXTERNAL;
    if (!outside && elements <= (is_integer(t.data_type()) ? kBareIntegers : kBareFloats)) return;
    t.clear_external_data();
    t.clear_data_location();
    for (std::string& s : *t.mutable_string_data()) s.clear();
    if (t.data_type() == pb::TensorProto::STRING) return;
    t.clear_float_data();
    t.clear_int32_data();
    t.clear_int64_data();
    t.clear_double_data();
    t.clear_uint64_data();
    const size_t bytes = bytes_of(t, elements);
    bytes_ += bytes;
    t.set_raw_data(too_large() ? std::string() : std::string(bytes, '\0'));
  }

  size_t bytes_ = 0;
};

}  // namespace

Result<std::string> bare_model(const std::filesystem::path& model) {
  MRVLC_ASSIGN(const std::string bytes, read_file(model));
  pb::ModelProto message;
  MRVLC_TRY(parse_message(bytes, message));
  Barer barer;
  barer.model(message);
  std::string out;
  if (barer.too_large() || message.ByteSizeLong() > INT32_MAX || !message.SerializeToString(&out))
    return make_diag<DiagCode::MRV0147>(barer.bytes());
  return out;
}

}  // namespace mrvlc::onnx
