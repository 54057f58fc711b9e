// Damaged models, by number: mutant n of a set of seeds is the same everywhere.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/onnx/importer.h"
#include "parts.h"
#include "random.h"

namespace mrvlc::fuzz {

struct Seed {
  std::string name, bytes;
};

struct Mutant {
  std::string seed;  // its name
  std::string bytes;
  onnx::ImportOptions options;  // ranges for inputs of unknown size
};

// `seeds` must not be empty.
Mutant make_mutant(const std::vector<Seed>& seeds, uint64_t set, uint64_t n);
// With sizes changed alone, mostly such that the model stays valid.
Mutant make_sized(const std::vector<Seed>& seeds, uint64_t set, uint64_t n);

// The parts of it, each a change of one kind. False: the model has nothing of the kind.
bool change_tensor(Parts& parts, Random& random);  // tensors.cpp
bool change_type(Parts& parts, Random& random);
bool change_attribute(Parts& parts, Random& random);  // attributes.cpp
bool change_node(Parts& parts, Random& random);       // nodes.cpp
bool change_list(Parts& parts, const Parts& donor, Random& random);
bool change_graph(Parts& parts, const Parts& donor, Random& random);  // graphs.cpp
bool change_frame(pb::ModelProto& model, Parts& parts, Random& random);
bool change_operands(Parts& parts, Random& random);        // operands.cpp
bool change_sizes(pb::ModelProto& model, Random& random);  // sizes.cpp
std::string change_bytes(std::string bytes, const std::string& donor, Random& random);

pb::TensorProto random_tensor(const std::string& name, int32_t elem, const std::vector<int64_t>& dims,
                              Random& random);
void random_attribute(pb::AttributeProto& attribute, Random& random);

}  // namespace mrvlc::fuzz
