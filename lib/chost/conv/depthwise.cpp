// Depthwise convolutions: a channel at a time, windows of 3x3 where it is, or, where channels are small,
// eight side by side.
#include <algorithm>
#include <array>
#include <set>

#include "conv/call.h"
#include "conv/variants.h"
#include "mrvlc/ops/plane.h"

namespace mrvlc::chost {
namespace {

constexpr int64_t kSideBySide = 8;

// Rows and columns of a plane with all that windows read.
std::array<int64_t, 2> lanes_plane(const Window2& w) {
  std::array<int64_t, 2> size{};
  for (size_t d = 0; d < 2; ++d)
    size[d] =
        std::max(w.pad[d] + w.in[d], (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1);
  return size;
}

// w[eight channels][tap][8]; the last eight are the last channels there are.
std::vector<float> pack_lanes(const std::vector<float>& weights, int64_t channels, int64_t taps) {
  std::vector<float> packed;
  for (int64_t c = 0; c < channels; c += kSideBySide) {
    const int64_t first = std::min(c, channels - kSideBySide);
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t k = 0; k < kSideBySide; ++k)
        packed.push_back(weights[static_cast<size_t>((first + k) * taps + t)]);
  }
  return packed;
}

void emit_lanes(Function& f, const ops::ConvParams& p, const Window2& w, const Epilogue& e,
                const std::string& batch) {
  const auto size = lanes_plane(w);
  f.need(Piece::depthwise_lanes);
  declare_epilogue(f, e);
  const int64_t taps = w.kernel[0] * w.kernel[1], in = w.in[0] * w.in[1], out = w.out[0] * w.out[1];
  std::string offsets;
  for (int64_t t = 0; t < taps; ++t)
    offsets += fmt::format("{}{}", t == 0 ? "" : ", ",
                           t / w.kernel[1] * w.dilation[0] * size[1] + t % w.kernel[1] * w.dilation[1]);
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), offsets);
  f.put_struct("p", structs::LanesShape{.batch = batch,
                                        .channels = p.in_channels,
                                        .h = w.in[0],
                                        .w = w.in[1],
                                        .out_h = w.out[0],
                                        .out_w = w.out[1],
                                        .stride_h = w.stride[0],
                                        .stride_w = w.stride[1],
                                        .pad_h = w.pad[0],
                                        .pad_w = w.pad[1],
                                        .rows = size[0],
                                        .cols = size[1],
                                        .taps = taps,
                                        .tap = f.prefixed("K_tap")});
  constexpr int64_t kAtOnce = 4;  // results
  const std::string scratch =
      f.scratch(4 * ((size[0] * size[1] + std::max(out, kAtOnce)) * kSideBySide + in + out));
  const ir::Node& last = f.program().node(f.nodes().back());
  const std::vector<float> weights = constant_floats(f.program().graph.constant(f.head().inputs[1]));
  const KernelCall call{f.prefixed("K_depthwise_lanes"),
                        f.read(f.head().inputs[0], "x0"),
                        f.weights(pack_lanes(weights, p.in_channels, taps)),
                        bias_text(f, e),
                        f.write(last.outputs[0], "y0"),
                        scratch};
  call.put(f);
}

void emit_windows3(Function& f, const ops::ConvParams& p, const Window2& w, const Epilogue& e,
                   const std::string& batch, bool cut) {
  constexpr int64_t kSlack = 8;  // what vectors read beyond either end of a channel
  f.put_struct("p", structs::Depthwise3Shape{.batch = batch,
                                             .channels = p.in_channels,
                                             .multiplier = p.out_channels / p.in_channels,
                                             .h = w.in[0],
                                             .w = w.in[1],
                                             .out_h = w.out[0],
                                             .out_w = w.out[1],
                                             .stride = w.stride[0],
                                             .top = w.pad[0],
                                             .left = w.pad[1]});
  const std::string copy = f.scratch(4 * (w.in[0] * w.in[1] + 2 * kSlack));
  const ir::Node& last = f.program().node(f.nodes().back());
  const std::string weights = f.weights(constant_floats(f.program().graph.constant(f.head().inputs[1])));
  KernelCall call{f.prefixed("K_depthwise3"),
                  f.read(f.head().inputs[0], "x0"),
                  weights,
                  bias_text(f, e),
                  f.write(last.outputs[0], "y0"),
                  copy};
  if (cut) call.take_part(f, put_depthwise_part(f, p, w, f.prefixed("K_depthwise3_shape")), e);
  call.put(f);
}

// What all depthwise layers are expected to be computed by, or else what can compute all.
partition::DepthwiseKernel common_depthwise(Program& program) {
  if (program.common_depthwise) return *program.common_depthwise;
  std::set<partition::DepthwiseKernel> expected;
  for (const PlannedConv& conv : planned_convs(program))
    if (conv.depthwise) expected.insert(partition::depthwise_kernel(conv.sizes, program.options.threads > 1));
  program.common_depthwise = expected.size() == 1 ? *expected.begin() : partition::DepthwiseKernel::Plane;
  return *program.common_depthwise;
}

// `cut`: threads share the layer, which channels side by side do not know.
class DepthwiseVariants : public LayerVariants {
 public:
  DepthwiseVariants(Program& program, const ops::ConvParams& p, const Window2& w, bool cut)
      : program_(program), p_(p), w_(w), cut_(cut) {}

  std::string layer() const override { return layer_text(p_, w_); }
  std::span<const Kernel> kernels() const override {
    static constexpr Kernel kKernels[] = {Kernel::Plane, Kernel::Windows, Kernel::Lanes};
    return kKernels;
  }
  bool legal(Variant variant) override {
    if (variant.blocks != Blocks::Usual) return false;
    return variant.kernel == Kernel::Plane ||
           (variant.kernel == Kernel::Windows && partition::suits_windows3(w_)) ||
           (variant.kernel == Kernel::Lanes && fits_lanes());
  }
  Variant common() override {
    const auto own = partition::depthwise_kernel(partition::conv_sizes(p_), cut_);
    return own == common_depthwise(program_) ? expected() : Variant{Kernel::Plane};
  }
  Variant expected() override {
    switch (partition::depthwise_kernel(partition::conv_sizes(p_), cut_)) {
      case partition::DepthwiseKernel::Windows3:
        return {Kernel::Windows};
      case partition::DepthwiseKernel::Lanes:
        return {fits_lanes() ? Kernel::Lanes : Kernel::Plane};
      case partition::DepthwiseKernel::Plane:
        break;
    }
    return {Kernel::Plane};
  }

 private:
  // Elements of a channel are turned eight at a time; planes and results are memory of the program.
  bool fits_lanes() const {
    constexpr int64_t kFloats = 256 << 10;
    if (cut_ || p_.in_channels != p_.out_channels || p_.in_channels < kSideBySide) return false;
    const auto size = lanes_plane(w_);
    const int64_t in = w_.in[0] * w_.in[1], out = w_.out[0] * w_.out[1];
    return in >= kSideBySide && out >= 1 && (size[0] * size[1] + out) * kSideBySide <= kFloats;
  }

  Program& program_;
  const ops::ConvParams& p_;
  const Window2& w_;
  bool cut_;
};

}  // namespace

void emit_depthwise(Function& f, const ops::ConvParams& p, const Window2& w) {
  const std::string batch = batch_text(f, p.batch);
  Epilogue e = begin_epilogue(f, p.out_channels);
  constexpr int64_t kLoads = 4;  // weigh more than its products
  const bool cut = f.cut(shared_work(f, p, kLoads));
  DepthwiseVariants variants(f.program(), p, w, cut);
  const Kernel kernel = choose_variant(f.program(), f.head(), variants).kernel;
  if (kernel == Kernel::Lanes) return emit_lanes(f, p, w, e, batch);
  const bool windows3 = kernel == Kernel::Windows;
  f.need(windows3 ? Piece::depthwise3 : Piece::depthwise);
  declare_epilogue(f, e);
  if (windows3) return emit_windows3(f, p, w, e, batch, cut);
  const bool own_kernel = w.kernel[0] == 5 || (w.kernel[0] == 3 && w.kernel[1] == 3);
  if (own_kernel && f.program().options.optimize != Optimize::Size) f.need(Piece::depthwise_windows);
  if (w.stride[1] > 1) f.need(Piece::copy_step);
  const ops::WindowPlane plane =
      ops::window_plane(p, batch, p.in_channels, p.out_channels / p.in_channels, f.prefixed("K_tap"));
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), plane.taps);
  f.put("const {} p = {};", f.prefixed("K_plane_shape"), plane.shape);
  const std::string buffer = f.scratch(plane.bytes);
  const ir::Node& last = f.program().node(f.nodes().back());
  std::string weights = f.weights(constant_floats(f.program().graph.constant(f.head().inputs[1])));
  KernelCall call{f.prefixed("K_depthwise"), f.read(f.head().inputs[0], "x0"), weights,
                  bias_text(f, e),           f.write(last.outputs[0], "y0"),   buffer};
  if (cut) call.take_part(f, put_depthwise_part(f, p, w, f.prefixed("K_plane_shape")), e);
  call.put(f);
}

}  // namespace mrvlc::chost
