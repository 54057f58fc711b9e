// What ONNX's library knows of its operators, in types of ours.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/ir/schema.h"

namespace mrvlc::test {

struct OnnxAttribute {
  std::string name;
  bool required = false;
  bool is_graph = false;
  ir::Attr value;  // the default; of the kind ONNX has, strings for strings; not set: none
};

struct OnnxSchema {
  std::string domain, name;
  int since = 1;
  int until = 0;  // the last opset of the domain that has this form
  bool deprecated = false, newest = false;
  int min_inputs = 0, max_inputs = 0, min_outputs = 0, max_outputs = 0;  // INT_MAX: any number
  std::vector<OnnxAttribute> attributes;
};

// All versions of the operators of "" and ai.onnx.ml, by name and version.
std::vector<OnnxSchema> onnx_schemas();

}  // namespace mrvlc::test
