// The variants of a convolution with packed weights that is not depthwise.
#pragma once
#include "choice/choice.h"
#include "conv/plan.h"
#include "conv/winograd.h"

namespace mrvlc::chost {

// "Conv 1x16x40x40 -> 1x32x40x40, kernel 3x3, stride 1x1, dilation 1x1, pads 1x1, groups 1": in two
// dimensions, with pads at the begin.
std::string layer_text(const ops::ConvParams& p, const Window2& w);

// Product of one tap: read in place, or copied where channels would take each other's place in a cache.
Kernel product_kernel(const ConvPlan& plan);

class ConvVariants : public LayerVariants {
 public:
  // `weights`: [group][m][channels][taps]. All are referred to.
  ConvVariants(Program& program, const ops::ConvParams& p, const ConvPlan& plan, const ConvSizes& sizes,
               std::span<const float> weights)
      : program_(program), p_(p), plan_(plan), sizes_(sizes), weights_(weights) {}

  std::string layer() const override { return layer_text(p_, sizes_.w); }
  std::span<const Kernel> kernels() const override;
  bool legal(Variant variant) override;
  Variant expected() override;
  Variant common() override;
  // Of a variant that is taken: its weights, for which memory is set aside.
  Winograd take_winograd(Variant variant);

 private:
  bool fits_rows(Blocks blocks) const;
  bool suits_rows() const;
  bool fits_winograd(int64_t n, Blocks blocks);
  std::optional<int64_t> expected_winograd();
  const Winograd& winograd(int64_t n);

  Program& program_;
  const ops::ConvParams& p_;
  const ConvPlan& plan_;
  const ConvSizes& sizes_;
  std::span<const float> weights_;
  std::map<int64_t, Winograd> made_;  // by size of tiles
};

}  // namespace mrvlc::chost
