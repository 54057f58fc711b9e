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
  // Throws NotProved. What the model does not explain is what proof.json says: claim B compares it.
  const Tensor& of(const std::string& name);
  bool has(const std::string& name);  // of() does not throw
  // Of what of() says, without computing it.
  const Shape& shape(const std::string& name) const;
  std::vector<float> numbers(const std::string& name);
  // The same without rounding: folded factors are those of the field.
  std::vector<Val> exact(const std::string& name, Values& v);

 private:
  void index();
  Tensor folded(const FoldedConstant& c);
  struct Chain {
    const Tensor *weights = nullptr, *bias = nullptr;
    std::vector<ir::NodeId> after;
    size_t channels = 0, inner = 1;
    bool of_weights = false;
  };
  // The product and what was folded into it; nullopt: it is not of that form.
  std::optional<Chain> chain(const FoldedConstant& c) const;
  std::optional<Tensor> scaled(const FoldedConstant& c) const;
  std::vector<Val> exact_dequantized(const ir::Node& n, Values& v) const;
  std::optional<Tensor> dequantized(const FoldedConstant& c) const;
  std::optional<Tensor> integer_weights(const FoldedConstant& c) const;
  std::optional<Tensor> reshaped(const FoldedConstant& c) const;
  std::optional<Tensor> filled(const FoldedConstant& c) const;
  std::optional<Tensor> mask(const FoldedConstant& c) const;
  std::optional<Tensor> lowered_norm(const FoldedConstant& c) const;

  const ir::Graph& g_;
  const RegionHints& region_;
  std::map<std::string, ir::ValueId> by_name_;
  std::map<std::string, ir::NodeId> by_source_;
  std::map<std::string, Tensor> known_;
};

// "Fits" of docs/arithmetic.md.
bool fits_half(std::span<const float> numbers);
// As stored where a constant is fp16 if it fits.
std::vector<float> as_stored(std::vector<float> numbers);
// Weights: the error carried on along each output channel. `channel_of[i]` of element i in memory order.
std::vector<float> carried(std::span<const float> p, std::span<const uint32_t> channel_of, uint32_t channels);
float rounded_half(float v);

}  // namespace mrvlc::prove
