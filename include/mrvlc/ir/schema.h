// What the IR knows of an operator: its name and its attributes. The rest of an operator's facets are in
// ops/op.h.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc {
// The operators as symbols. The table completes the type (ops/op_kind.h); here they can be told apart.
enum class Op : uint16_t;
}  // namespace mrvlc

namespace mrvlc::ir {

class Graph;

enum class AttrKind : uint8_t { Int, Float, String, Ints, Floats, Strings, Type, Tensor, Graph, ValueType };

// monostate: the attribute is absent (and has no default). The alternatives stand in the order of AttrKind,
// plus one. A graph is the body of a control flow operator: it sees nothing but its own inputs (what an ONNX
// body reads from outside is an input of the node), and its sources are those of the graph around it.
using Attr =
    std::variant<std::monostate, int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, ElementType, Tensor, std::shared_ptr<Graph>, TensorType>;

inline bool is_set(const Attr& attr) {
  return attr.index() != 0;
}
inline AttrKind kind_of(const Attr& attr) {
  return static_cast<AttrKind>(attr.index() - 1);
}  // attr must be set

// One row drives ONNX decoding, text, equality and hashing of an attribute.
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  Attr default_value = {};
  bool required = false;
};

struct OpSchema {
  std::string_view name;         // ONNX's operator name
  std::string_view domain = "";  // "" is ai.onnx
  Op kind{};                     // set by the table
  std::vector<AttrSpec> attrs;

  // Index of the attribute, or -1.
  int attr_index(std::string_view attr) const;
};

// Where the parser finds operators by name; implemented by the operator table.
class OpRegistry {
 public:
  virtual ~OpRegistry() = default;
  virtual const OpSchema* find(std::string_view domain, std::string_view name) const = 0;
};

}  // namespace mrvlc::ir
