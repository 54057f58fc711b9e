// The real networks that compile with default options, and how close their outputs must come to the reference
// outputs. Two cannot come as close as the others in fp16; docs/accuracy.md has the measurements.
// blazeface_front128 has its own limit; mlsd_tiny_320 is compiled and run, but its fp16 outputs mean nothing
// on this input and are not compared (limit 0).
#pragma once

namespace mrvlc::test {

struct ZooModel {
  const char* name;
  double fp16_tolerance, host_tolerance;  // max |a-b| / (1+|b|)
  bool cnn;  // nearly all MACs in convolutions and dense layers: all of them on the accelerator
};

inline constexpr ZooModel kZoo[] = {
    {"tiny_resnet8_f32", 2e-2, 1e-4, true},
    {"tiny_resnet_large_f32", 2e-2, 1e-4, true},
    {"tiny_vww_f32", 2e-2, 1e-4, true},
    {"tiny_kws_f32", 2e-2, 1e-4, true},
    {"tiny_ad_f32", 2e-2, 1e-4, true},
    {"squeezenet_fp16", 2e-2, 1e-4, true},
    {"mnist_cntk", 2e-2, 1e-4, true},
    {"mnist_burn", 2e-2, 1e-4, true},
    {"mnist_onnxmlir", 2e-2, 1e-4, true},
    {"ultraface_rfb320", 2e-2, 1e-4, true},
    {"blazeface_front128", 3e-2, 1e-4, true},
    {"fastestdet", 2e-2, 1e-4, true},
    {"mlsd_tiny_320", 0, 5e-3, true},
    {"selfie_seg_landscape", 2e-2, 1e-4, true},
    {"super_resolution_conn", 2e-2, 1e-4, true},
    {"oww_embedding", 2e-2, 1e-4, true},
    {"deeploy_autoencoder1d", 2e-2, 1e-4, true},
    {"deeploy_cct2_op20", 2e-2, 1e-4, false},
    {"velardo_lesson14", 2e-2, 1e-4, true},
    {"tfl_helloworld", 2e-2, 1e-4, false},
};

}  // namespace mrvlc::test
