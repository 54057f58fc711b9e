// A model's message without the bulk of its weights. Protobuf copies every byte it parses, and a model is
// mostly raw data of initializers; so a scan of the wire format (protobuf.dev/programming-guides/encoding)
// cuts these out first, remembers where they are in the file, and the parser sees the rest.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc::onnx {

// Raw data of this many bytes or more is cut out; less is not worth an entry.
inline constexpr size_t kCutFrom = 512;

struct RawRange {
  size_t initializer = 0;  // of the main graph, by position
  size_t offset = 0, size = 0;
};

struct Skeleton {
  std::string bytes;  // a ModelProto; the raw_data of each initializer below is present and empty
  std::vector<RawRange> raw;
};

// Nothing when there is nothing to cut, or the bytes are not plainly a model: then all of them are parsed,
// and whatever is wrong is found there.
std::optional<Skeleton> cut_raw_data(std::string_view model);

}  // namespace mrvlc::onnx
