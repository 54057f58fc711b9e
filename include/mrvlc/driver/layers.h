// `mrvlc verify --layers`: the error of every layer of the compiled model, and how much of it is its own.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mrvlc::backend {
struct RegionCode;
}

namespace mrvlc::driver {

// A layer of a region, or a node on the CPU. Errors are max |a-b| / (1+|b|) over elements that are finite in
// float32, infinite where the layer's are not; the worst of all sets of inputs.
struct LayerError {
  enum class State : uint8_t {
    Ok,
    Fp16,     // it loses more than the tolerance, as fp16 does
    Wrong,    // it computes something else
    Unknown,  // it draws random numbers, or its values cannot be seen
  } state = State::Ok;
  std::string place;       // "region 0" or "cpu"
  std::string operators;   // of ONNX: "conv_7 (Conv) + relu_7 (Relu)"
  std::string value;       // its result, as ONNX calls it; of several the worst
  std::string node, type;  // the first ONNX node of these
  double error = 0;        // against the reference
  double own = 0;          // against float32 on the very operands that the layer had
  double inherited = 0;    // of float32 on these operands, against the reference
  double limit = 0;        // of what is its own, where it computes what it should
  int64_t elements = 0;    // of types other than floats, its own
  std::string set;         // of inputs, in which its own error is worst
};

struct LayerErrors {
  std::string reference;            // "float32", or "host" where that is the host's code
  std::vector<std::string> sets;    // of inputs
  std::vector<LayerError> layers;   // in the order of the program
  std::optional<size_t> first_bad;  // the first that is Wrong; if there is none, the first that is Fp16
  // Of first_bad, in words: whether its operands were right, what is most likely the cause, and where it is
  // computed.
  std::vector<std::string> causes;
};

struct LayerOptions {
  bool against_host = false;  // the host's code is the reference, not the interpreter
  // For those who want to see whether a fault is found: changes the bytes of a region.
  std::function<void(uint32_t region, backend::RegionCode& code)> damage;
};

std::string_view name(LayerError::State state);  // "ok", "fp16", "wrong", "unknown"
std::string layers_text(const LayerErrors& errors);
std::string layers_page(const LayerErrors& errors, const std::string& model);

}  // namespace mrvlc::driver
