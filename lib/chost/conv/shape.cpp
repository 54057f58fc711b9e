// K_conv's shape in C: taps, panels, blocks, the strip that gathered columns come from.
#include "conv/shape.h"

#include <algorithm>

namespace mrvlc::chost {
namespace {

// Whether the last pixels of a plan are few enough for kernels of their own.
bool has_rest(Function& f, const ConvPlan& plan) {
  constexpr int64_t kWidth = 16, kMostNarrow = 10;
  const int64_t last = plan.out[0] * plan.out[1] % kWidth;
  return f.program().options.optimize == Optimize::Speed && last >= 1 && last <= kMostNarrow;
}

// Two panels of channels by two tiles of pixels at a time, where vectors are wide enough; panels of 16 bits
// are unpacked one at a time.
bool takes_pairs(const Program& program, const ConvPlan& plan) {
  return program.options.optimize == Optimize::Speed && program.options.host_weights == WeightType::F32 &&
         plan.m >= 12 && plan.out[0] * plan.out[1] >= 2 * 16;
}

// What K_conv needs for them and its stride.
void need_for(Function& f, const ConvPlan& plan) {
  if (takes_pairs(f.program(), plan)) f.need(Piece::panel12);
  if (has_rest(f, plan)) f.need(Piece::conv_rest);
  if (plan.stride[1] > 1) f.need(Piece::copy_step);
}

// Panels of 16 bits are unpacked to scratch memory; K_conv reads two at once for last pixels.
int64_t second_panel(Function& f, const ConvPlan& plan, Blocks blocks) {
  return has_rest(f, plan) ? 6 * choose_blocking(plan, blocks).block_k : 0;
}

}  // namespace

int64_t unpacked_bytes(Function& f, const ConvPlan& plan, Blocks blocks) {
  return 4 * (6 * choose_blocking(plan, blocks).block_k + second_panel(f, plan, blocks));
}

std::string unpacked_scratch(Function& f, bool halves, int64_t bytes) {
  return halves ? "(float*)" + f.scratch(bytes) : "NULL";
}

bool unpacks_panels(Function& f) {
  if (f.program().options.host_weights != WeightType::F16) return false;
  f.need(Piece::half_panels);
  return true;
}

void declare_shape(Function& f, const ConvPlan& plan, Variant variant, std::string_view unpacked) {
  need_for(f, plan);
  std::string taps;
  const Strip strip = choose_strip(plan, variant.blocks);
  int64_t bottom = strip.top;
  for (const Tap& t : plan.taps) bottom = std::max(bottom, t.dy);
  for (const Tap& t : plan.taps) {
    int64_t row = strip.shared ? t.dy - strip.top : 0, column = t.dx - strip.left, s = plan.stride[1];
    taps +=
        fmt::format("{}{}, {}, {}", taps.empty() ? "" : ", ", t.dy - row,
                    strip.shared ? bottom - strip.top : 0, (row * s + column % s) * strip.pitch + column / s);
  }
  Panels panels = choose_panels(plan.m);
  Blocking b = choose_blocking(plan, variant.blocks);
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), taps);
  const bool unpacks = unpacks_panels(f);
  using Number = structs::Optional<structs::IntegerMember>;
  using Text = structs::Optional<structs::TextMember>;
  f.put_struct("p",
               structs::ConvShape{
                   .batch = plan.batch,
                   .groups = plan.groups,
                   .channels = plan.channels,
                   .h = plan.in[0],
                   .w = plan.in[1],
                   .m = plan.m,
                   .out_h = plan.out[0],
                   .out_w = plan.out[1],
                   .stride_h = plan.stride[0],
                   .stride_w = plan.stride[1],
                   .taps = plan.taps.size(),
                   .panels6 = panels.six,
                   .panels4 = panels.four,
                   .block_k = b.block_k,
                   .ldb = b.columns,
                   .left = strip.left,
                   .pitch = strip.pitch,
                   .tap = f.prefixed("K_tap"),
                   .shared = strip.shared,
                   .direct = variant.kernel == Kernel::Copied ? 2 : variant.kernel == Kernel::InPlace,
                   .begin = 0,
                   .end = plan.out[0] * plan.out[1],
                   .unpacked = unpacks ? Text(unpacked) : structs::kAbsent,
                   .second = unpacks ? Number(second_panel(f, plan, variant.blocks)) : structs::kAbsent});
}

}  // namespace mrvlc::chost
