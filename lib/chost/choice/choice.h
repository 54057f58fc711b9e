// The one place that decides how a layer is computed: as a tuning asks, where that is legal, or else by the
// model of costs.
#pragma once
#include <span>

#include "mrvlc/chost/choice.h"
#include "program.h"

namespace mrvlc::chost {

// What is known of a layer that has several variants.
class LayerVariants {
 public:
  virtual ~LayerVariants() = default;
  virtual std::string layer() const = 0;  // LayerChoice::layer, without options
  virtual std::span<const Kernel> kernels()
      const = 0;  // in order; whether they are legal is another question
  // Whether the layer can be computed so, exactly enough, and by other code than with the usual blocks.
  virtual bool legal(Variant variant) = 0;
  virtual Variant expected() = 0;  // by the model of costs; legal
  // The kernel that serves most layers of the kind, for programs that have one of each (Optimize).
  virtual Variant common() { return expected(); }
};

// The variant that is taken, noted in the module.
Variant choose_variant(Program& program, const ir::Node& head, LayerVariants& variants);

// A size of the usual blocks for others.
constexpr int64_t scaled(int64_t usual, Blocks blocks) {
  return blocks == Blocks::Half ? usual / 2 : blocks == Blocks::Double ? usual * 2 : usual;
}

}  // namespace mrvlc::chost
