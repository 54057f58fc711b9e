// Conv over three spatial dimensions with constant weights: plane by plane of the result, a convolution over
// two whose channels are the planes that it reads, a channel's one after the other. Weights have that order
// as they are. Planes are copied: of each element that is moved as many products are made as there are rows
// of weights and taps.
#include "conv/call.h"
#include "conv/shape.h"

namespace mrvlc::chost {
namespace {

// Of rows and columns alone; channels are planes.
ops::ConvParams plane_params(const ops::ConvParams& p) {
  ops::ConvParams out = p;
  for (auto* sizes :
       {&out.input, &out.kernel, &out.strides, &out.dilations, &out.pads_begin, &out.pads_end, &out.output})
    sizes->erase(sizes->begin());
  out.in_channels = p.in_channels * p.kernel[0];
  return out;
}

// Behind the front and the back lie planes of zeros.
void gather_planes(Function& f, const ops::ConvParams& p, const std::string& x, int64_t plane) {
  f.loop("c", p.in_channels);
  f.loop("k", p.kernel[0]);
  f.put("const ptrdiff_t i = o * {} + k * {} - {};", p.strides[0], p.dilations[0], p.pads_begin[0]);
  f.put("float* const to = planes + (c * {} + k) * {};", p.kernel[0], plane);
  f.put("if (i < 0 || i >= {0}) memset(to, 0, {1} * sizeof(float));", p.input[0], plane);
  f.put("else memcpy(to, {} + ((n * {} + c) * {} + i) * {}, {} * sizeof(float));", x, p.in_channels,
        p.input[0], plane, plane);
  f.close();
  f.close();
}

}  // namespace

Status emit_plane_conv(Function& f, const ops::ConvParams& p) {
  const ops::ConvParams planes = plane_params(p);
  const ConvPlan plan = conv_plan("1", planes, window2(planes));
  const Variant variant{product_kernel(plan)};
  const Epilogue e = begin_epilogue(f, p.out_channels);
  f.need(Piece::conv);
  declare_epilogue(f, e);
  const auto taps = static_cast<int64_t>(plan.taps.size());
  const auto data = f.program().graph.constant(f.head().inputs[1])->data<float>();
  const auto packed = pack_panels(plan, [&](int64_t g, int64_t r, int64_t c, int64_t t) {
    return data[static_cast<size_t>(((g * plan.m + r) * plan.channels + c) * taps + t)];
  });
  const bool halves = f.program().stores_halves(f.head().inputs[1]);
  const std::string weights = f.panels(packed, halves);
  declare_shape(f, plan, variant, unpacked_scratch(f, halves, unpacked_bytes(f, plan, variant.blocks)));
  const int64_t in_plane = plan.in[0] * plan.in[1], out_plane = plan.out[0] * plan.out[1];
  const std::string columns = f.scratch(gather_bytes(plan, variant.blocks)),
                    gathered = f.scratch(planes.in_channels * in_plane * 4),
                    made = f.scratch(p.out_channels * out_plane * 4);
  const std::string bias = bias_text(f, e), x = f.read(f.head().inputs[0], "x0"),
                    y = f.write(f.head().outputs[0], "y0");
  f.put("float* const planes = (float*){};", gathered);
  f.put("float* const z = (float*){};", made);
  f.loop("n", p.batch);
  f.loop("o", p.output[0]);
  gather_planes(f, p, x, in_plane);
  f.put("{}(&p, planes, {}, {}, z, (float*){}, &e);", f.prefixed("K_conv"), weights, bias, columns);
  f.loop("c", p.out_channels);
  f.put("memcpy({} + ((n * {} + c) * {} + o) * {}, z + c * {}, {} * sizeof(float));", y, p.out_channels,
        p.output[0], out_plane, out_plane, out_plane);
  for (int i = 0; i < 3; ++i) f.close();
  return {};
}

}  // namespace mrvlc::chost
