// A part of an ID map, in the map's own form: what belongs to a node, an expression, a layer, a region, a
// function.
#pragma once
#include <span>

#include "mrvlc/idmap/idmap.h"

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

// The members of idmap.json with what belongs to it alone; an error when there is no such thing.
Result<Json> select(const Json& map, const Query& query);
// The same as readable lines.
Result<std::string> text_of(const Json& map, const Query& query);

// "; did you mean 'conv1'?" for a list of nodes with `name` and `outputs`, as idmap.json and placement.json
// have them; or nothing.
std::string suggest_node(const Json& nodes, const std::string& name);

// Maps of several models as one: every entry says of which `model` it is. Names are distinct.
Json merge(std::span<const std::pair<std::string, Json>> maps);

}  // namespace mrvlc::idmap
