// A program of one operator whose shapes are known at run time only, and the C that tries it.
#pragma once
#include <optional>
#include <string>

#include "../graphs/grow.h"
#include "mrvlc/chost/chost.h"

namespace mrvlc::patterns {

// Which operands are known at run time only, and how far their dimensions may go.
enum class Open : uint8_t { Recipe, Lists, All };  // constants stay; operands of one dimension keep it; all
enum class Room : uint8_t {
  Narrow,
  Wide,
  Lopsided
};  // bounds that all fit; large ones with little room; one large one

struct Program {
  ir::Graph graph;
  std::vector<Tensor> samples;  // of the graph's inputs: values that the operator is known to take
};

// Nothing when inference or the type of an operand does not allow it.
std::optional<Program> make_program(const graphs::Model& model, const graphs::Node& node, Open open,
                                    Room room);

// main(): `runs` calls of m_run with all patterns of dimensions and values, or with as many at random. It
// prints "RUNS OK EMPTY REFUSED".
std::string try_text(const Program& program, uint64_t seed, int64_t runs);

}  // namespace mrvlc::patterns
