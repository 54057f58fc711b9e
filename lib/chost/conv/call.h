// What the emissions of convolutions share: epilogue, and the call of a kernel on the whole or on a part.
#pragma once
#include "conv/parts.h"
#include "function.h"

namespace mrvlc::chost {

// The number of images as C text; sets the dimensions of a result that is dynamic there.
std::string batch_text(Function& f, int64_t batch);

std::vector<float> constant_floats(const Tensor* tensor);
// Of the group's head, with its bias.
Epilogue begin_epilogue(Function& f, int64_t out_channels);
std::string bias_text(Function& f, const Epilogue& e);

// The call of a kernel on the whole, or on this part of it.
struct KernelCall {
  std::string kernel, x, weights, bias, y, scratch;
  std::string shape = "p", epilogue = "e";

  void put(Function& f) const;
  void take_part(Function& f, const PartOffsets& at, const Epilogue& e);
};

// A convolution of floats with constant weights that a program emits.
struct PlannedConv {
  ConvSizes sizes;
  bool depthwise = false;
};
std::vector<PlannedConv> planned_convs(const Program& program);

// About as many multiply-adds of a convolution of one image, which threads then share; 0: they don't. `each`:
// of a tap.
int64_t shared_work(const Function& f, const ops::ConvParams& p, int64_t each);

// conv/depthwise.cpp
void emit_depthwise(Function& f, const ops::ConvParams& p, const Window2& w);

// conv/planes.cpp: of three spatial dimensions.
Status emit_plane_conv(Function& f, const ops::ConvParams& p);

}  // namespace mrvlc::chost
