// The typed JSON of docs/values.md: {"type":"seq(tensor(float))","value":[...]}.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "mrvlc/driver/value_file.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::driver {
namespace {

using Json = nlohmann::ordered_json;

struct Name {
  ElementType elem;
  std::string_view text;  // as in ONNX's type strings
};
constexpr Name kNames[] = {{ElementType::F32, "float"},
                           {ElementType::F64, "double"},
                           {ElementType::F16, "float16"},
                           {ElementType::BF16, "bfloat16"},
                           {ElementType::I8, "int8"},
                           {ElementType::I16, "int16"},
                           {ElementType::I32, "int32"},
                           {ElementType::I64, "int64"},
                           {ElementType::U8, "uint8"},
                           {ElementType::U16, "uint16"},
                           {ElementType::U32, "uint32"},
                           {ElementType::U64, "uint64"},
                           {ElementType::Bool, "bool"},
                           {ElementType::String, "string"},
                           {ElementType::F8E4M3FN, "float8e4m3fn"},
                           {ElementType::F8E4M3FNUZ, "float8e4m3fnuz"},
                           {ElementType::F8E5M2, "float8e5m2"},
                           {ElementType::F8E5M2FNUZ, "float8e5m2fnuz"},
                           {ElementType::F8E8M0, "float8e8m0"},
                           {ElementType::F4E2M1, "float4e2m1"},
                           {ElementType::I4, "int4"},
                           {ElementType::U4, "uint4"},
                           {ElementType::I2, "int2"},
                           {ElementType::U2, "uint2"}};

Diag bad(std::string why) {
  return make_diag<DiagCode::MRV0003>("the value", why);
}

std::string type_text(const TensorType& type) {
  std::string_view elem = "undefined";
  for (const Name& name : kNames) elem = name.elem == type.elem ? name.text : elem;
  std::string text = fmt::format("tensor({})", elem);
  if (type.wrapper == Wrapper::Sequence || type.wrapper == Wrapper::OptionalSequence)
    text = fmt::format("seq({})", text);
  if (type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence)
    text = fmt::format("optional({})", text);
  return text;
}

Result<TensorType> parse_type(const std::string& text) {
  for (const Name& name : kNames) {
    TensorType type{name.elem, {}};
    for (Wrapper w : {Wrapper::None, Wrapper::Sequence, Wrapper::Optional, Wrapper::OptionalSequence}) {
      type.wrapper = w;
      if (type_text(type) == text) return type;
    }
  }
  return bad(
      fmt::format("there is no type '{}'; types are tensor(float), seq(tensor(int64)), "
                  "optional(tensor(string)), ...",
                  printable(text)));
}

// ---- reading

constexpr std::pair<std::string_view, double> kSpecial[] = {
    {"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};

Result<double> number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  for (const auto& [text, value] : kSpecial) {
    if (json.is_string() && json.get_ref<const std::string&>() == text) return value;
  }
  return bad(fmt::format("'{}' is no number", printable(json.dump(-1, ' ', true), 60)));
}

Result<std::string> text_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object() || json.size() != 1 || !json.contains("hex") || !json["hex"].is_string())
    return bad("a string is a text, or {\"hex\":\"ff00\"}");
  const auto& hex = json["hex"].get_ref<const std::string&>();
  std::string bytes;
  if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    return bad("\"hex\" holds two hexadecimal digits for each byte");
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

Status set_integer(Tensor& tensor, int64_t i, const Json& json) {
  if (!json.is_number_integer())
    return bad(fmt::format("'{}' is no integer", printable(json.dump(-1, ' ', true), 60)));
  const bool wide = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX};
  const int64_t value = wide ? static_cast<int64_t>(json.get<uint64_t>()) : json.get<int64_t>();
  tensor.set_int(i, value);
  if (tensor.as_int(i) == value && wide == (tensor.elem() == ElementType::U64 && value < 0)) return {};
  return bad(fmt::format("{} is not in the range of {}", json.dump(), type_text(tensor.type())));
}

Status set_element(Tensor& tensor, int64_t i, const Json& json) {
  if (tensor.elem() == ElementType::String) {
    MRVLC_ASSIGN(tensor.mutable_strings()[static_cast<size_t>(i)], text_of(json));
    return {};
  }
  if (tensor.elem() == ElementType::Bool && json.is_boolean()) {
    tensor.set_int(i, json.get<bool>());
    return {};
  }
  if (is_integer(tensor.elem()) || tensor.elem() == ElementType::Bool) return set_integer(tensor, i, json);
  MRVLC_ASSIGN(const double value, number(json));
  tensor.set_double(i, value);
  return {};
}

// Nested lists, row by row; what is no list is an element.
class Lists {
 public:
  // The shape, as the first elements of each list say.
  static Shape shape(const Json& json) {
    Shape out;
    for (const Json* at = &json; at->is_array(); at = &at->front()) {
      out.push_back(static_cast<int64_t>(at->size()));
      if (at->empty()) break;
    }
    return out;
  }
  // Takes them in turn; lists of any nesting below kMaxRank.
  Status take(const Json& json, Tensor& tensor, int64_t depth = 0) {
    if (!json.is_array()) {
      if (next_ == tensor.elements()) return bad("there are more elements than the shape has");
      return set_element(tensor, next_++, json);
    }
    if (depth == kMaxRank) return bad(fmt::format("lists in more than {} lists", kMaxRank));
    for (const Json& item : json) MRVLC_TRY(take(item, tensor, depth + 1));
    return {};
  }
  int64_t taken() const { return next_; }

 private:
  int64_t next_ = 0;
};

bool is_regular(const Json& json, const Shape& shape, size_t depth = 0) {
  if (depth == shape.size()) return !json.is_array();
  if (!json.is_array() || static_cast<int64_t>(json.size()) != shape[depth]) return false;
  return std::all_of(json.begin(), json.end(),
                     [&](const Json& j) { return is_regular(j, shape, depth + 1); });
}

Result<Shape> shape_of(const Json& json) {
  Shape shape;
  if (!json.is_array() || json.size() > size_t{kMaxRank})
    return bad(fmt::format("\"shape\" is a list of up to {} sizes", kMaxRank));
  for (const Json& d : json) {
    if (!d.is_number_unsigned() || d.get<uint64_t>() > uint64_t{kMaxElements})
      return bad("a size in \"shape\" is none");
    shape.push_back(d.get<int64_t>());
  }
  return shape;
}

Result<Tensor> filled(const Json& lists, ElementType elem, const Shape& shape, size_t most) {
  const auto count = checked_product(shape);
  // Before memory is asked for: a file holds as many elements as it has bytes at most.
  if (!count || static_cast<uint64_t>(*count) > most)
    return bad("there are fewer elements than the shape has");
  Tensor tensor(TensorType{elem, shape});
  Lists reader;
  MRVLC_TRY(reader.take(lists, tensor));
  if (reader.taken() != tensor.elements()) return bad("there are fewer elements than the shape has");
  return tensor;
}

// [[1,2],[3,4]], or {"shape":[0,3],"value":[]} where lists do not tell the shape.
Result<Tensor> tensor_of(const Json& json, ElementType elem, size_t most) {
  if (json.is_object() && json.contains("shape") && json.contains("value")) {
    MRVLC_ASSIGN(const Shape shape, shape_of(json["shape"]));
    return filled(json["value"], elem, shape, most);
  }
  const Shape shape = Lists::shape(json);
  if (static_cast<int64_t>(shape.size()) > kMaxRank)
    return bad(fmt::format("lists in more than {} lists", kMaxRank));
  if (!is_regular(json, shape)) return bad("the rows of a tensor differ in length");
  return filled(json, elem, shape, most);
}

Result<Tensor> value_of(const Json& json, TensorType type, size_t most) {
  if (type.wrapper == Wrapper::None) return tensor_of(json, type.elem, most);
  std::vector<Tensor> items;
  const Wrapper wrapper = type.wrapper;
  if (wrapper == Wrapper::Sequence) {
    if (!json.is_array()) return bad("a sequence is a list of tensors");
    for (const Json& item : json) {
      MRVLC_ASSIGN(items.emplace_back(), tensor_of(item, type.elem, most));
    }
  } else if (!json.is_null()) {
    type.wrapper = wrapper == Wrapper::Optional ? Wrapper::None : Wrapper::Sequence;
    MRVLC_ASSIGN(items.emplace_back(), value_of(json, type, most));
  }
  if (!items.empty()) return ops::wrap(wrapper, std::move(items));
  TensorType empty{type.elem, {}};
  empty.wrapper = wrapper;
  return Tensor::wrapped(empty, {});
}

// ---- writing

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string text_json(const std::string& text) {
  if (is_utf8(text)) return json_line(Json(text));
  std::string hex;
  for (char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return fmt::format("{{\"hex\":\"{}\"}}", hex);
}

std::string float_json(double value, ElementType elem) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return elem == ElementType::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string element_json(const Tensor& tensor, int64_t i) {
  const ElementType elem = tensor.elem();
  if (elem == ElementType::String) return text_json(tensor.string_data()[static_cast<size_t>(i)]);
  const bool integer = is_integer(elem) || elem == ElementType::Bool;
  const int64_t value = integer ? tensor.as_int(i) : 0;
  // Any other byte than 0 and 1 is no truth value: it shows.
  if (elem == ElementType::Bool && (value == 0 || value == 1)) return value == 0 ? "false" : "true";
  if (elem == ElementType::U64) return std::to_string(static_cast<uint64_t>(value));
  return integer ? std::to_string(value) : float_json(tensor.as_double(i), elem);
}

void append_lists(const Tensor& tensor, size_t depth, int64_t& next, std::string& out) {
  if (depth == tensor.shape().size()) {
    out += element_json(tensor, next++);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < tensor.shape()[depth]; ++i) {
    if (i > 0) out += ',';
    append_lists(tensor, depth + 1, next, out);
  }
  out += ']';
}

std::string lists_json(const Tensor& tensor) {
  std::string out;
  int64_t next = 0;
  if (tensor.elements() > 0 || tensor.shape() == Shape{0}) {
    append_lists(tensor, 0, next, out);
    return out;
  }
  return fmt::format("{{\"shape\":{},\"value\":[]}}", Json(tensor.shape()).dump());
}

std::string inner_json(const Tensor& value) {
  if (value.type().wrapper == Wrapper::None) return lists_json(value);
  if (value.type().wrapper != Wrapper::Sequence)
    return value.items().empty() ? "null" : inner_json(value.items().front());
  std::string out;
  for (const Tensor& item : value.items()) out += (out.empty() ? "\n  " : ",\n  ") + lists_json(item);
  return "[" + out + "]";
}

}  // namespace

Result<Tensor> parse_value_json(std::string_view text) {
  // Deeper than any value: a list in a list in a list... must not end the process.
  const auto deep = [](int depth, Json::parse_event_t, Json&) { return depth <= 16; };
  const Json json = Json::parse(text, deep, false);
  if (json.is_discarded()) return bad("not valid JSON");
  if (!json.is_object() || !json.contains("type") || !json.contains("value") || !json["type"].is_string())
    return bad("it is not of the form {\"type\":\"seq(tensor(float))\",\"value\":[...]}");
  MRVLC_ASSIGN(const TensorType type, parse_type(json["type"].get<std::string>()));
  const bool has_shape = json.contains("shape") && type.wrapper == Wrapper::None;
  return value_of(has_shape ? json : json["value"], type, text.size());
}

std::string to_value_json(const Tensor& value, const TensorType& type) {
  return fmt::format("{{\"type\":\"{}\",\"value\":{}}}\n", type_text(type), inner_json(value));
}

}  // namespace mrvlc::driver
