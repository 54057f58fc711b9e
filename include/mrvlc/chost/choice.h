// Layers of the host that there is more than one kernel for, or more than one size of its blocks
// (docs/tuning.md): what each layer may be computed by, and what it is.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/ir/expr_id.h"

namespace mrvlc::chost {

// What computes a layer. Convolutions: gathered columns, products in place or of a copy (1x1), padded rows,
// Winograd's F(4x4) and F(2x2). Depthwise ones: a padded plane, windows of 3x3 in place, channels side by
// side. Products of matrices with packed constants: some rows at a time, or all.
enum class Kernel : uint8_t {
  Columns,
  InPlace,
  Copied,
  Rows,
  Winograd4,
  Winograd2,
  Plane,
  Windows,
  Lanes,
  SomeRows,
  AllRows
};
// Of the sizes that the kernel's blocks usually have.
enum class Blocks : uint8_t { Usual, Half, Double };

struct Variant {
  Kernel kernel = Kernel::Columns;
  Blocks blocks = Blocks::Usual;
  friend auto operator<=>(const Variant&, const Variant&) = default;
};
// "rows", "winograd4-half"; nullopt: no text of a variant.
std::string to_text(Variant variant);
std::optional<Variant> parse_variant(std::string_view text);

// What takes the place of the model of costs.
struct Tuning {
  // By LayerChoice::layer. What a layer cannot be computed by, the model of costs replaces.
  std::map<std::string, Variant, std::less<>> variants;
  // All that are legal are told (LayerChoice::legal), and weights transformed for Winograd's algorithm take
  // what memory they need: for a program that is only measured.
  bool measuring = false;
};

struct LayerChoice {
  ir::ExprId expr;
  std::string name, op;  // of the node
  // What is computed: operator, sizes, attributes, and options that matter. Equal texts, equal work.
  std::string layer;
  Variant taken;
  bool tuned = false;              // by Tuning
  std::optional<Variant> refused;  // what Tuning asks for in vain
  Variant expected;                // what the model of costs takes
  // Of a program that is only measured: all legal ones, in order of Kernel and Blocks.
  std::vector<Variant> legal;
};

}  // namespace mrvlc::chost
