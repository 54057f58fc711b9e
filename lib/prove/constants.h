// Constants of the reference program, computed from the model as docs/arithmetic.md says.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "program.h"

namespace mrvlc::prove {

class Constants {
 public:
  Constants(const ir::Graph& model, const RegionHints& region) : g_(model), region_(region) { index(); }
  bool is_constant(const std::string& name) const { return region_.constants.contains(name); }
  // Throws NotProved. What came from proof.json without a derivation is noted in `unproved`.
  const Tensor& of(const std::string& name);
  std::vector<float> numbers(const std::string& name);
  // Constants whose values only proof.json says: claim B has to explain them.
  const std::vector<std::string>& taken() const { return taken_; }

 private:
  void index();
  Tensor folded(const FoldedConstant& c);
  std::optional<Tensor> scaled(const FoldedConstant& c) const;

  const ir::Graph& g_;
  const RegionHints& region_;
  std::map<std::string, ir::ValueId> by_name_;
  std::map<std::string, ir::NodeId> by_source_;
  std::map<std::string, Tensor> known_;
  std::vector<std::string> taken_;
};

// "Fits" of docs/arithmetic.md.
bool fits_half(std::span<const float> numbers);
// As stored where a constant is fp16 if it fits.
std::vector<float> as_stored(std::vector<float> numbers);
// Weights: the error carried on along each output channel. `channel_of[i]` of element i in memory order.
std::vector<float> carried(std::span<const float> p, std::span<const uint32_t> channel_of, uint32_t channels);
float rounded_half(float v);

}  // namespace mrvlc::prove
