// Small models as protobuf messages, and what importing them leads to.
#pragma once
#include <onnx/onnx.pb.h>

#include <catch2/catch.hpp>

#include "mrvlc/onnx/importer.h"
#include "support/folders.h"

namespace mrvlc::test {

namespace pb = ::onnx;

struct Outcome {
  std::optional<onnx::Model> model;
  Diagnostics diagnostics;

  bool has(DiagId code) const;
  size_t count(DiagId code) const;
  // Every diagnostic as the user reads it; for messages of failed checks.
  std::string text() const;
  const Diag& first(DiagId code) const;
};

Outcome import(const pb::ModelProto& model, const onnx::ImportOptions& options = {},
               const std::filesystem::path& folder = {});
Outcome import_text(std::string_view bytes);

// Checks that the model is refused: with that code, its exit class, and no model.
void check_refused(const Outcome& outcome, DiagId code);
void check_imported(const Outcome& outcome);

// A model of IR version 8, opset 17, without nodes.
pb::ModelProto empty_model();
pb::ValueInfoProto value_info(const std::string& name, const std::vector<int64_t>& dims, int elem = 1);
pb::NodeProto make_node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs);
pb::NodeProto& add_node(pb::ModelProto& model, const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs);
void add_input(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims,
               int elem = 1);
void add_output(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims,
                int elem = 1);
pb::TensorProto int64_tensor(const std::string& name, const std::vector<int64_t>& dims,
                             const std::vector<int64_t>& data);
pb::TensorProto float_tensor(const std::string& name, const std::vector<int64_t>& dims,
                             const std::vector<float>& data);
pb::AttributeProto& add_int(pb::NodeProto& node, const std::string& name, int64_t value);
pb::AttributeProto& add_ints(pb::NodeProto& node, const std::string& name,
                             const std::vector<int64_t>& values);
// x[2,3] -> Relu -> y
pb::ModelProto relu_model();
// x[1,2,4,4] -> Conv with a 3x2x3x3 weight -> y; attributes to be added
pb::ModelProto conv_model();

const ir::Value& value_named(const ir::Graph& graph, const std::string& name);

}  // namespace mrvlc::test
