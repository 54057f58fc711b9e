// Shorthand for small models.
#pragma once
#include <memory>

#include "parts.h"

namespace mrvlc::fuzz {

using Dims = std::vector<int64_t>;
using Names = std::vector<std::string>;

inline constexpr int32_t kF32 = pb::TensorProto::FLOAT, kI64 = pb::TensorProto::INT64,
                         kBool = pb::TensorProto::BOOL, kI8 = pb::TensorProto::INT8,
                         kU8 = pb::TensorProto::UINT8, kI32 = pb::TensorProto::INT32,
                         kString = pb::TensorProto::STRING, kF16 = pb::TensorProto::FLOAT16;

void set_type(pb::TypeProto& type, int32_t elem, const Dims& dims);  // -1: unknown

class GraphMaker {
 public:
  explicit GraphMaker(pb::GraphProto& graph) : graph_(graph) { graph.set_name("g"); }
  GraphMaker& in(const std::string& name, int32_t elem, const Dims& dims);
  GraphMaker& out(const std::string& name, int32_t elem, const Dims& dims);
  GraphMaker& out(const std::string& name);
  GraphMaker& ints(const std::string& name, const Dims& dims, const std::vector<int64_t>& values);
  GraphMaker& floats(const std::string& name, const Dims& dims, float value);
  GraphMaker& bytes(const std::string& name, int32_t elem, const Dims& dims, int32_t value);
  pb::NodeProto& node(const std::string& op, const Names& in, const Names& out);
  pb::GraphProto& graph() { return graph_; }

 private:
  pb::GraphProto& graph_;
};

class Maker : public GraphMaker {
 public:
  explicit Maker(int64_t opset = 19) : Maker(std::make_unique<pb::ModelProto>(), opset) {}
  pb::ModelProto& model() { return *model_; }
  std::string bytes() const { return model_->SerializeAsString(); }
  using GraphMaker::bytes;

 private:
  Maker(std::unique_ptr<pb::ModelProto> model, int64_t opset);
  std::unique_ptr<pb::ModelProto> model_;
};

void set(pb::NodeProto& node, const std::string& name, int64_t value);
void set(pb::NodeProto& node, const std::string& name, const std::vector<int64_t>& values);
void set(pb::NodeProto& node, const std::string& name, const std::string& value);
pb::GraphProto& body(pb::NodeProto& node, const std::string& name);

}  // namespace mrvlc::fuzz
