// The network while it is made: what each value of the graph is.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/mesh.h"
#include "network/network.h"

namespace mrvlc::mesh {

// A value that lies in memory: the dimensions of the model's shape in the order in which they are stored.
struct Stored {
  uint32_t tensor = 0;
  Shape shape;
  std::vector<size_t> order;
};

// A value of numbers that is computed where it is read.
struct Numbers {
  std::vector<Stored> operands;
  std::vector<Step> steps;
};

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const ir::Graph& graph) : g_(graph) {}
  Result<NetworkOf> run();

 private:
  // build.cpp
  Status add_inputs();
  Status add_node(const ir::Node& n);
  Status add_outputs();
  Status add_quantize(const ir::Node& n);
  Status add_dequantize(const ir::Node& n);
  Status add_cast(const ir::Node& n);
  // products.cpp
  Status add_conv(const ir::Node& n);
  Status add_pool(const ir::Node& n);
  Status add_softmax(const ir::Node& n);
  // elementwise.cpp
  Status add_elementwise(const ir::Node& n);
  Status add_table(const ir::Node& n);
  Status add_steps(const ir::Node& n, std::optional<Step::Op> step);
  Result<uint32_t> add_operand(const ir::Node& n, ir::ValueId value, Numbers& to, const Stored* like);
  Result<Numbers> numbers_of(const ir::Node& n, ir::ValueId value);
  Result<Stored> store(const ir::Node& n, const Numbers& numbers, const std::optional<Rounding>& rounding,
                       ElementType elem, ir::ValueId value);
  // moves.cpp
  Status add_view(const ir::Node& n);
  Status add_transpose(const ir::Node& n);
  Status add_concat(const ir::Node& n);
  Status add_slice(const ir::Node& n);
  Stored in_order(const ir::Node& n, const Stored& value, std::vector<size_t> order);
  bool refold(uint32_t number, const Tensor3& as);
  Stored row_major(const ir::Node& n, const Stored& value);

  // Of a value that is computed where it is read: it is stored now.
  Result<Stored> stored(const ir::Node& n, ir::ValueId value);
  Stored new_stored(const ir::Node& n, ir::ValueId value, Elem elem, const Shape& shape,
                    std::vector<size_t> order);
  Layer new_layer(const ir::Node& n, Kind kind, const std::vector<Stored>& operands,
                  const Stored& result) const;
  const Tensor3& tensor(const Stored& s) const { return out_.tensors[s.tensor]; }
  // The only node that reads the result of `n`, which is no output; null: there is none.
  const ir::Node* sole_user(const ir::Node& n) const;
  Result<Rounding> rounding_of(const ir::Node& n, ElementType elem) const;
  Result<Rounding> rounding_of(const ir::Node& quantize) const;
  // The QuantizeLinear that alone reads the result.
  const ir::Node* quantize_behind(const ir::Node& n) const;

  const ir::Graph& g_;
  NetworkOf out_;
  std::map<ir::ValueId, Stored> stored_;
  std::map<ir::ValueId, Numbers> numbers_;
  std::set<ir::NodeId> done_;  // parts of a layer before
};

Diag refused(const ir::Node& n, std::string_view why);
std::optional<Elem> elem_of(ElementType type);
// Rows, width and channels of a shape that is stored in this order.
Tensor3 folded(const Shape& shape, const std::vector<size_t>& order);
// 0, 1, 2, ...
std::vector<size_t> identity_order(size_t rank);
// 0, 2, 3, ..., 1: channels last.
std::vector<size_t> channels_last(size_t rank);
// Strides of the model's array, row-major.
std::vector<int64_t> row_major_strides(const Shape& shape);
// The same memory means the same elements: orders differ in dimensions of 1 only.
bool same_order(const Shape& shape, const std::vector<size_t>& a, const std::vector<size_t>& b);

}  // namespace mrvlc::mesh
