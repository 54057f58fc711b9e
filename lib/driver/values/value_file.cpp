// Values read by a file's ending; MRVLVAL1, the bytes in which programs take and give what is no .npy.
#include "mrvlc/driver/value_file.h"

#include <algorithm>

#include "mrvlc/onnx/importer.h"
#include "mrvlc/onnx/test_data.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/tensor/npy.h"

namespace mrvlc::driver {
namespace {

constexpr std::string_view kMagic = "MRVLVAL1";

// "... is not a valid .npy file: why", or "cannot read 'the value': why".
Diag of_file(const std::filesystem::path& file, std::string_view what, const Diag& diag) {
  const size_t why = diag.message.find(": ");
  return make_diag<DiagCode::MRV0003>(
      file.string(),
      fmt::format("{}: {}", what, why == std::string::npos ? diag.message : diag.message.substr(why + 2)));
}

Result<Tensor> read_json(const std::filesystem::path& file) {
  MRVLC_ASSIGN(const std::string text, read_file(file));
  auto value = parse_value_json(text);
  if (!value.ok()) return of_file(file, "not a value as docs/values.md describes it", value.error());
  return value;
}

Result<Tensor> read_numbers(const std::filesystem::path& file) {
  auto tensor = read_npy(file);
  if (tensor.ok() || tensor.error().code != DiagCode::MRV0006) return tensor;
  const std::string& text = tensor.error().message;
  return make_diag<DiagCode::MRV0003>(file.string(),
                                      "not a valid .npy file: " + text.substr(text.rfind(": ") + 2));
}

}  // namespace

Result<Tensor> read_value(const std::filesystem::path& file, Wrapper wrapper) {
  if (file.extension() == ".json") return read_json(file);
  if (file.extension() == ".pb") return onnx::read_value_pb(file, wrapper);
  return read_numbers(file);
}

Tensor as_declared(Tensor value, const TensorType& declared) {
  if (value.type().wrapper != Wrapper::None) {
    if (!value.items().empty() || value.type().wrapper != declared.wrapper) return value;
    TensorType type{declared.elem, {}};
    type.wrapper = declared.wrapper;
    return Tensor::wrapped(type, {});
  }
  return value.elem() == ElementType::String ? value : from_npy(value, declared.elem);
}

bool needs_json(const TensorType& type) {
  return type.wrapper != Wrapper::None || type.elem == ElementType::String;
}

namespace {

void append_int(std::string& out, int64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_tensor(std::string& out, const Tensor& tensor) {
  append_int(out, tensor.type().rank());
  for (int64_t d : tensor.shape()) append_int(out, d);
  if (tensor.elem() != ElementType::String) {
    out.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    return;
  }
  for (const std::string& text : tensor.string_data()) {
    append_int(out, static_cast<int64_t>(text.size()));
    out += text;
  }
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  Result<std::string_view> take(int64_t bytes) {
    if (bytes < 0 || static_cast<uint64_t>(bytes) > left_.size()) return bad();
    const std::string_view out = left_.substr(0, static_cast<size_t>(bytes));
    left_.remove_prefix(out.size());
    return out;
  }
  Result<int64_t> integer() {
    MRVLC_ASSIGN(const std::string_view bytes, take(sizeof(int64_t)));
    int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  Result<Tensor> tensor(ElementType elem) {
    MRVLC_ASSIGN(const int64_t rank, integer());
    if (rank < 0 || rank > kMaxRank) return bad();
    Shape shape(static_cast<size_t>(rank));
    for (int64_t& d : shape) {
      MRVLC_ASSIGN(d, integer());
    }
    const auto count = checked_product(shape);
    if (!count || *count < 0 || static_cast<uint64_t>(*count) > left_.size()) return bad();
    return elements(TensorType{elem, shape});
  }
  bool done() const { return left_.empty(); }
  static Diag bad() { return make_diag<DiagCode::MRV0003>("the value", "malformed"); }

 private:
  Result<Tensor> elements(const TensorType& type) {
    if (type.elem != ElementType::String) {
      MRVLC_ASSIGN(const std::string_view bytes, take(type.bytes()));
      return Tensor(type, std::string(bytes));
    }
    std::vector<std::string> texts;
    for (int64_t i = 0; i < type.elements(); ++i) {
      MRVLC_ASSIGN(const int64_t size, integer());
      MRVLC_ASSIGN(const std::string_view text, take(size));
      texts.emplace_back(text);
    }
    return Tensor::strings(type.shape, std::move(texts));
  }

  std::string_view left_;
};

}  // namespace

std::string to_value_bytes(const Tensor& value) {
  std::string out(kMagic);
  const bool optional = ops::is_optional(value.type());
  if (optional && value.items().empty()) {
    append_int(out, -1);
    return out;
  }
  const Tensor& inner = optional ? value.items().front() : value;
  const bool sequence = inner.type().wrapper == Wrapper::Sequence;
  append_int(out, sequence ? static_cast<int64_t>(inner.items().size()) : 1);
  if (!sequence) append_tensor(out, inner);
  for (const Tensor& item : inner.items()) append_tensor(out, item);
  return out;
}

Result<Tensor> parse_value_bytes(std::string_view bytes, const TensorType& type) {
  if (!bytes.starts_with(kMagic)) return Reader::bad();
  Reader reader(bytes.substr(kMagic.size()));
  MRVLC_ASSIGN(const int64_t count, reader.integer());
  std::vector<Tensor> items;
  for (int64_t i = 0; i < count; ++i) {
    MRVLC_ASSIGN(items.emplace_back(), reader.tensor(type.elem));
  }
  const bool nothing = count < 0, sequence = ops::holds_sequence(type);
  if (!reader.done() || count < (ops::is_optional(type) ? -1 : 0) || (!sequence && !nothing && count != 1))
    return Reader::bad();
  if (type.wrapper == Wrapper::None) return items.front();
  if (type.wrapper == Wrapper::OptionalSequence && !nothing)
    items = {as_declared(ops::wrap(Wrapper::Sequence, std::move(items)),
                         ops::sequence_type(TensorType{type.elem, {}}, 0))};
  return as_declared(ops::wrap(type.wrapper, std::move(items)), type);
}

}  // namespace mrvlc::driver
