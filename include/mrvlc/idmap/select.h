// A part of an ID map, in the map's own form: what belongs to a node, an expression, a layer, a region, a
// function.
#pragma once
#include <span>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::idmap {

// What is asked about; one of them.
struct Query {
  std::optional<std::string> node = {};  // name, output or id
  std::optional<uint32_t> expression = {};
  struct Instruction {
    uint32_t region = 0;
    std::string section;
    uint32_t index = 0;
  };
  std::optional<Instruction> instruction = {};
  struct Line {
    std::string file;
    uint32_t line = 0;
  };
  std::optional<Line> line = {};
  std::optional<std::string> symbol = {};  // of a C function
  struct Layer {
    uint32_t region = 0, layer = 0;
  };
  std::optional<Layer> layer = {};
  std::optional<uint32_t> region = {};
};

// What belongs to it alone; an error when there is no such thing.
Result<Part> select(const Map& map, const Query& query);
// The same as readable lines.
Result<std::string> text_of(const Map& map, const Query& query);

// "; did you mean 'conv1'?" for a list of nodes with `name` and `outputs`; or nothing.
template <class Node>
std::string suggest_node(const std::vector<Node>& nodes, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Node& n : nodes) {
    names.push_back(n.name);
    names.insert(names.end(), n.outputs.begin(), n.outputs.end());
  }
  return did_you_mean(name, names);
}

// Maps of several models as one: every entry says of which `model` it is. Names are distinct.
MergedMaps merge(std::span<const std::pair<std::string, Map>> maps);

}  // namespace mrvlc::idmap
