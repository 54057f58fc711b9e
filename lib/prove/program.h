// proof.json: what the compile says of its layers. Nothing of it is trusted.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/tensor/tensor.h"
#include "values.h"

namespace mrvlc::prove {

using Json = nlohmann::json;

// A node that has no proof, and why.
struct NotProved {
  std::string reason;
};

struct ValueInfo {
  std::string name;
  ElementType elem = ElementType::Undefined;
  Shape shape;
};

struct Node {
  std::string op, domain;
  std::vector<std::string> sources;  // ids of ONNX nodes
  std::vector<std::string> inputs;
  std::vector<ValueInfo> outputs;
  Json attributes;

  int64_t integer(const char* name, int64_t otherwise) const;
  float real(const char* name, float otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::vector<int64_t> integers(const char* name) const;
  bool is(std::initializer_list<const char*> names) const;
};

struct Layer {
  std::string kind;
  size_t anchor = 0;
  std::vector<Node> nodes;
};

struct ProgramPort {
  ValueInfo value;
  ElementType stored = ElementType::F16;
  std::vector<int64_t> perm;
};

struct FoldedConstant {
  ValueInfo value;
  bool folded = false;
  std::vector<std::string> sources;
  std::optional<std::string> bytes;
};

struct LayerSpan {
  uint32_t section = 0, begin = 0, end = 0, layer = 0;
};

// Where a value lies once it is made (decision 0074). Element (i0, ..) is byte `offset` + the sum of
// i_k * strides[k] of a buffer with rows of `pitch` bytes; a piece holds a part of these rows.
struct PlacedValue {
  struct Piece {
    uint32_t begin = 0, end = 0;  // instructions of main that write it; read when `end` is reached
    uint32_t space = 0;           // 0 DDR, 1 + tile
    int64_t address = 0, row0 = 0, row1 = 0, byte0 = 0, byte1 = 0, local = 1;
    int64_t extent() const { return (row1 - row0 - 1) * local + byte1 - byte0; }
  };
  std::string value;
  ElementType stored = ElementType::F16;
  int64_t offset = 0, pitch = 1;
  std::vector<int64_t> strides;
  std::vector<Piece> pieces;
};

struct Precision {
  bool pair = false;
  int32_t shift = 0;
};

struct RegionHints {
  uint32_t id = 0;
  std::string file;
  bool body = false;
  std::vector<ProgramPort> inputs, outputs;
  std::map<std::string, ElementType> stored;
  std::map<std::string, Precision> precisions;
  std::vector<Layer> layers;
  std::map<std::string, FoldedConstant> constants;
  std::vector<LayerSpan> spans;
  std::vector<PlacedValue> places;
};

struct Hints {
  std::string model;  // SHA-256
  std::vector<ValueInfo> inputs;
  std::vector<RegionHints> regions;
};

// Operators whose clipped results may be rounded to integers, or clipped again.
bool has_integers(const RegionHints& region);

// nullopt: this is no proof.json of this version.
std::optional<Hints> read_hints(std::string_view text);

}  // namespace mrvlc::prove
