// Which kernels may compute a convolution, and which is expected to be fastest.
#include "conv/variants.h"

#include <algorithm>
#include <numeric>

#include "conv/blocks.h"
#include "conv/call.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::chost {
namespace {

int64_t tile_of(Kernel kernel) {
  return kernel == Kernel::Winograd4 ? 4 : 2;
}

bool same_blocks(const partition::RowsPlan& a, const partition::RowsPlan& b) {
  return a.pieces == b.pieces && a.block_channels == b.block_channels;
}

// Whether so many channels at the same pixel fall into the same sets of a first-level cache (8 ways of 4 KiB)
// that a panel drives out what the next one reads again; a copy pays from some panels on.
bool channels_collide(const ConvPlan& plan) {
  constexpr int64_t kWay = 4096, kWays = 8, kRows = 48;
  const int64_t step = std::gcd(4 * plan.out[0] * plan.out[1], kWay);
  return 2 * step >= kWay &&
         std::min(plan.channels, choose_blocking(plan, Blocks::Usual).block_k) * step >= kWays * kWay &&
         plan.m >= kRows;
}

bool gathers_short_sums(Program& program) {
  if (program.gathers_short_sums) return *program.gathers_short_sums;
  partition::ShortSums sums;
  for (const auto& step : program.partition.steps)
    if (step.kind == partition::Step::Kind::Cpu && program.node(step.node).is(Op::ConvTranspose))
      sums.add_transposed();
  for (const PlannedConv& conv : planned_convs(program))
    if (!conv.depthwise && !expects_winograd(program, conv.sizes)) sums.add(conv.sizes);
  program.gathers_short_sums = sums.gathered();
  return *program.gathers_short_sums;
}

}  // namespace

std::string layer_text(const ops::ConvParams& p, const Window2& w) {
  return fmt::format(
      "Conv {}x{}x{}x{} -> {}x{}x{}x{}, kernel {}x{}, stride {}x{}, dilation {}x{}, pads {}x{}, groups {}",
      p.batch, p.in_channels, w.in[0], w.in[1], p.batch, p.out_channels, w.out[0], w.out[1], w.kernel[0],
      w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1], w.pad[0], w.pad[1], p.group);
}

Kernel product_kernel(const ConvPlan& plan) {
  if (!plan.direct) return Kernel::Columns;
  return channels_collide(plan) ? Kernel::Copied : Kernel::InPlace;
}

std::span<const Kernel> ConvVariants::kernels() const {
  static constexpr Kernel kProducts[] = {Kernel::InPlace, Kernel::Copied};
  static constexpr Kernel kWindows[] = {Kernel::Columns, Kernel::Rows, Kernel::Winograd4, Kernel::Winograd2};
  if (plan_.direct) return kProducts;
  return kWindows;
}

bool ConvVariants::legal(Variant variant) {
  if (std::ranges::find(kernels(), variant.kernel) == kernels().end()) return false;
  switch (variant.kernel) {
    case Kernel::Columns:
    case Kernel::InPlace:
    case Kernel::Copied:
      return variant.blocks == Blocks::Usual ||
             choose_blocking(plan_, variant.blocks) != choose_blocking(plan_, Blocks::Usual);
    case Kernel::Rows:
      return fits_rows(variant.blocks);
    default:
      return fits_winograd(tile_of(variant.kernel), variant.blocks);
  }
}

// A row is cut into pieces of 8, of which the last overlaps; the strip is memory of the program.
bool ConvVariants::fits_rows(Blocks blocks) const {
  constexpr int64_t kDepth = 640, kFloats = 256 << 10;
  if (plan_.direct || plan_.out[1] < 8 || plan_.out[0] < 1) return false;
  if (static_cast<int64_t>(plan_.taps.size()) > kDepth) return false;
  const partition::RowsPlan r = rows_plan(sizes_, blocks);
  return r.floats() <= kFloats &&
         (blocks == Blocks::Usual || !same_blocks(r, rows_plan(sizes_, Blocks::Usual)));
}

bool ConvVariants::suits_rows() const {
  return fits_rows(Blocks::Usual) && partition::suits_rows(sizes_, gathers_short_sums(program_));
}

const Winograd& ConvVariants::winograd(int64_t n) {
  auto at = made_.find(n);
  if (at == made_.end()) at = made_.emplace(n, make_winograd(sizes_, n, weights_)).first;
  return at->second;
}

bool ConvVariants::fits_winograd(int64_t n, Blocks blocks) {
  if (!allows_winograd(program_.options) || !suits_winograd(sizes_, weights_)) return false;
  if (blocks != Blocks::Usual &&
      winograd_tiles_at_once(sizes_, n, blocks) == winograd_tiles_at_once(sizes_, n, Blocks::Usual))
    return false;
  if (!program_.options.tuning.measuring &&
      partition::winograd_more_bytes(sizes_, n) > winograd_room(program_))
    return false;
  return winograd(n).error <= kMostWinogradError;
}

// Nothing where another kernel is expected to be faster, the error would be too large, the algorithm does not
// pay in this program, or the options ask for sums as they are defined.
std::optional<int64_t> ConvVariants::expected_winograd() {
  const WinogradUse use = program_.options.winograd;
  if (!allows_winograd(program_.options) || !suits_winograd(sizes_, weights_)) return std::nullopt;
  if (use != WinogradUse::Chosen) return use == WinogradUse::Tile4 ? 4 : 2;
  if (!winograd_pays(program_)) return std::nullopt;
  for (const int64_t n : partition::winograd_sizes(sizes_)) {
    if (partition::winograd_more_bytes(sizes_, n) <= winograd_room(program_) &&
        winograd(n).error <= kMostWinogradError)
      return n;
  }
  return std::nullopt;
}

Variant ConvVariants::expected() {
  if (const auto n = expected_winograd()) return {*n == 4 ? Kernel::Winograd4 : Kernel::Winograd2};
  return {suits_rows() ? Kernel::Rows : product_kernel(plan_)};
}

// Rows where they serve all convolutions of the program: that is the shorter text, and less scratch memory.
Variant ConvVariants::common() {
  return {!gathers_short_sums(program_) && suits_rows() ? Kernel::Rows : product_kernel(plan_)};
}

Winograd ConvVariants::take_winograd(Variant variant) {
  const int64_t n = tile_of(variant.kernel);
  if (program_.options.winograd == WinogradUse::Chosen)
    winograd_room(program_) -= partition::winograd_more_bytes(sizes_, n);
  winograd(n);
  return std::move(made_.at(n));
}

}  // namespace mrvlc::chost
