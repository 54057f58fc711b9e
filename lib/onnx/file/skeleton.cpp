// Scans protobuf's wire format and cuts raw_data of large initializers out of the bytes that will be parsed.
#include "file/skeleton.h"

namespace mrvlc::onnx {
namespace {

// Field numbers of onnx.proto.
constexpr uint64_t kModelGraph = 7, kGraphInitializer = 5, kTensorRawData = 9;
constexpr uint64_t kLengthDelimited = 2;

struct WireField {
  uint64_t number = 0, wire_type = 0;
  std::string_view whole;    // tag and all
  std::string_view payload;  // of a length-delimited field
};

class Scanner {
 public:
  explicit Scanner(std::string_view message) : left_(message) {}

  bool done() const { return left_.empty(); }

  // False when the rest is malformed, or a group (wire types 3 and 4), which ONNX has none of.
  bool next(WireField& f) {
    std::string_view start = left_;
    uint64_t tag = 0, length = 0;
    f.payload = {};
    if (!varint(tag, kShortVarint)) return false;
    f.number = tag >> 3, f.wire_type = tag & 7;
    if (f.number == 0) return false;  // as in a hole of zeros, of which there may be gigabytes
    if (f.wire_type == 0) {
      if (!varint(length, kLongVarint)) return false;
    } else if (f.wire_type == 1 || f.wire_type == 5) {
      if (!take(f.wire_type == 1 ? 8 : 4, f.payload)) return false;
    } else if (f.wire_type != kLengthDelimited || !varint(length, kShortVarint) || !take(length, f.payload)) {
      return false;
    }
    f.whole = start.substr(0, start.size() - left_.size());
    return true;
  }

 private:
  // Bytes of a tag or a length, and of any number: what is longer protobuf refuses.
  static constexpr size_t kShortVarint = 5, kLongVarint = 10;

  bool varint(uint64_t& value, size_t most) {
    value = 0;
    for (size_t i = 0; i < most && i < left_.size(); ++i) {
      auto byte = static_cast<unsigned char>(left_[i]);
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte >= 0x80) continue;
      left_.remove_prefix(i + 1);
      return true;
    }
    return false;
  }

  bool take(uint64_t bytes, std::string_view& out) {
    if (bytes > left_.size()) return false;
    out = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return true;
  }

  std::string_view left_;
};

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_field(std::string& out, uint64_t number, std::string_view payload) {
  put_varint(out, number << 3 | kLengthDelimited);
  put_varint(out, payload.size());
  out += payload;
}

bool is(const WireField& f, uint64_t number) {
  return f.number == number && f.wire_type == kLengthDelimited;
}

class Cutter {
 public:
  explicit Cutter(std::string_view model) : model_(model) {}

  std::optional<Skeleton> run() {
    Scanner scan(model_);
    bool graph_seen = false;
    for (WireField f; !scan.done();) {
      if (!scan.next(f)) return std::nullopt;
      if (!is(f, kModelGraph)) {
        out_.bytes += f.whole;
        continue;
      }
      // Protobuf merges messages that are given twice; no exporter does that.
      if (graph_seen || !graph(f.payload)) return std::nullopt;
      graph_seen = true;
    }
    if (out_.raw.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // What lies between two tensors that are cut is kept in one piece, and a graph without any is not copied.
  bool graph(std::string_view bytes) {
    std::string kept;
    const char* from = bytes.data();
    size_t initializer = 0;
    Scanner scan(bytes);
    for (WireField f; !scan.done();) {
      if (!scan.next(f)) return false;
      std::string cut;
      if (!is(f, kGraphInitializer) || !tensor(f.payload, initializer++, cut)) continue;
      kept.append(from, f.whole.data()) += cut;
      from = f.whole.data() + f.whole.size();
    }
    if (out_.raw.empty()) return true;
    kept.append(from, bytes.data() + bytes.size());
    put_field(out_.bytes, kModelGraph, kept);
    return true;
  }

  // False when the tensor stays as it is: small, malformed, or with raw data given twice.
  bool tensor(std::string_view bytes, size_t initializer, std::string& out) {
    if (bytes.size() < kCutFrom) return false;
    std::string_view raw;
    std::string kept;
    bool found = false;
    Scanner scan(bytes);
    for (WireField f; !scan.done();) {
      if (!scan.next(f)) return false;
      if (!is(f, kTensorRawData)) {
        kept += f.whole;
        continue;
      }
      if (found || f.payload.size() < kCutFrom) return false;
      found = true, raw = f.payload;
      put_field(kept, kTensorRawData, {});
    }
    if (!found) return false;
    put_field(out, kGraphInitializer, kept);
    out_.raw.push_back({initializer, static_cast<size_t>(raw.data() - model_.data()), raw.size()});
    return true;
  }

  std::string_view model_;
  Skeleton out_;
};

}  // namespace

std::optional<Skeleton> cut_raw_data(std::string_view model) {
  return Cutter(model).run();
}

}  // namespace mrvlc::onnx
