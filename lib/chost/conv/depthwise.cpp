// Depthwise convolutions: a channel at a time, windows of 3x3 where it is, or, where channels are small,
// eight side by side.
#include <algorithm>

#include "conv/call.h"
#include "mrvlc/ops/plane.h"

namespace mrvlc::chost {
namespace {

constexpr int64_t kSideBySide = 8;

// Whether K_depthwise_lanes is faster: rows of few elements leave vectors half empty, and those of a stride
// have to be sorted.
bool suits_lanes(const ops::ConvParams& p, const Window2& w) {
  constexpr int64_t kMost = 128, kMostStrided = 784;
  if (p.in_channels != p.out_channels || p.in_channels < kSideBySide) return false;
  const int64_t most = w.stride[0] == 1 && w.stride[1] == 1 ? kMost : kMostStrided;
  const int64_t in = w.in[0] * w.in[1], out = w.out[0] * w.out[1];
  return in >= kSideBySide && in <= most && out >= 1 && out <= most;
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
  int64_t size[2];  // of a plane
  for (size_t d = 0; d < 2; ++d)
    size[d] =
        std::max(w.pad[d] + w.in[d], (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1);
  f.need(Piece::depthwise_lanes);
  declare_epilogue(f, e);
  const int64_t taps = w.kernel[0] * w.kernel[1], in = w.in[0] * w.in[1], out = w.out[0] * w.out[1];
  std::string offsets;
  for (int64_t t = 0; t < taps; ++t)
    offsets += fmt::format("{}{}", t == 0 ? "" : ", ",
                           t / w.kernel[1] * w.dilation[0] * size[1] + t % w.kernel[1] * w.dilation[1]);
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), offsets);
  f.put("const {} p = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};",
        f.prefixed("K_lanes_shape"), batch, p.in_channels, w.in[0], w.in[1], w.out[0], w.out[1], w.stride[0],
        w.stride[1], w.pad[0], w.pad[1], size[0], size[1], taps, f.prefixed("K_tap"));
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

// Whether K_depthwise3 takes it: the middle row and column of every window lie within the image.
bool suits_windows3(const Window2& w) {
  constexpr int64_t kVector = 8;
  for (size_t d = 0; d < 2; ++d) {
    if (w.kernel[d] != 3 || w.dilation[d] != 1 || w.stride[d] != w.stride[0] || w.stride[d] > 2) return false;
    if (w.pad[d] < 0 || w.pad[d] > 1 || w.out[d] < 1) return false;
    if ((w.out[d] - 1) * w.stride[d] - w.pad[d] + 1 >= w.in[d]) return false;
  }
  return w.out[1] >= kVector;
}

void emit_windows3(Function& f, const ops::ConvParams& p, const Window2& w, const Epilogue& e,
                   const std::string& batch, bool cut) {
  constexpr int64_t kSlack = 8;  // what vectors read beyond either end of a channel
  const std::string type = f.prefixed("K_depthwise3_shape");
  f.put("const {} p = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};", type, batch, p.in_channels,
        p.out_channels / p.in_channels, w.in[0], w.in[1], w.out[0], w.out[1], w.stride[0], w.pad[0],
        w.pad[1]);
  const std::string copy = f.scratch(4 * (w.in[0] * w.in[1] + 2 * kSlack));
  const ir::Node& last = f.program().node(f.nodes().back());
  const std::string weights = f.weights(constant_floats(f.program().graph.constant(f.head().inputs[1])));
  KernelCall call{f.prefixed("K_depthwise3"),
                  f.read(f.head().inputs[0], "x0"),
                  weights,
                  bias_text(f, e),
                  f.write(last.outputs[0], "y0"),
                  copy};
  if (cut) call.take_part(f, put_depthwise_part(f, p, w, type), e);
  call.put(f);
}

}  // namespace

void emit_depthwise(Function& f, const ops::ConvParams& p, const Window2& w) {
  const std::string batch = batch_text(f, p.batch);
  Epilogue e = begin_epilogue(f, p.out_channels);
  constexpr int64_t kLoads = 4;  // weigh more than its products
  const bool cut = f.cut(shared_work(f, p, kLoads));
  const bool windows3 = suits_windows3(w);
  if (!cut && !windows3 && suits_lanes(p, w)) return emit_lanes(f, p, w, e, batch);
  f.need(windows3 ? Piece::depthwise3 : Piece::depthwise);
  declare_epilogue(f, e);
  if (windows3) return emit_windows3(f, p, w, e, batch, cut);
  if (w.stride[1] > 1) f.need(Piece::copy_step);
  const ops::WindowPlane plane = ops::window_plane(p, batch, p.in_channels, p.out_channels / p.in_channels);
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), plane.taps);
  f.put("const {} p = {{{}, {}}};", f.prefixed("K_plane_shape"), plane.shape, f.prefixed("K_tap"));
  const std::string buffer = f.scratch(plane.bytes);
  const ir::Node& last = f.program().node(f.nodes().back());
  std::string weights = f.weights(constant_floats(f.program().graph.constant(f.head().inputs[1])));
  KernelCall call{f.prefixed("K_depthwise"), f.read(f.head().inputs[0], "x0"), weights,
                  bias_text(f, e),           f.write(last.outputs[0], "y0"),   buffer};
  if (cut) call.take_part(f, put_depthwise_part(f, p, w, f.prefixed("K_plane_shape")), e);
  call.put(f);
}

}  // namespace mrvlc::chost
