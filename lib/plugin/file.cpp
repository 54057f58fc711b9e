// The file of a region: magic, version, length of what stands before the plug-in's bytes; the identity at the
// place where every binary has it (MRVL_IDENTITY_OFFSET); then numbers of ports, cycles, bytes of each port,
// from version 2 on ends and cycles of ranges, and what the plug-in encoded. Numbers are little-endian.
#include <cstring>

#include "mrvlc/plugin/plugin.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::plugin {
namespace {

constexpr std::string_view kMagic = "MRVP";
constexpr uint32_t kPlainVersion = 1, kTimedVersion = 2;  // without and with cycles of ranges
constexpr size_t kIdentityEnd = MRVL_IDENTITY_OFFSET + MRVL_IDENTITY_BYTES;
constexpr size_t kFixed = kIdentityEnd + 4 + 4 + 8 + 8;  // numbers of ports, cycles, length of the bytes
constexpr size_t kMostPorts = 4096, kMostRanges = size_t{1} << 24;
constexpr uint64_t kMostCycles = uint64_t{1} << 50;

template <class T>
void put(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(static_cast<uint8_t>(number >> (8 * i)));
}

template <class T>
T take(std::string_view bytes, size_t at) {
  T number = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    number = static_cast<T>(number | static_cast<T>(static_cast<uint8_t>(bytes[at + i])) << (8 * i));
  return number;
}

std::string identity_of(std::string_view rest) {
  const auto hash = sha256(std::as_bytes(std::span(rest.data(), rest.size())));
  return std::string(hash.begin(), hash.end());
}

Diag damaged(std::string_view what) {
  return make_diag<DiagCode::MRV0701>(fmt::format("a plug-in's file {}", what));
}

constexpr size_t kRange = 16;  // bytes

// `at`: where their number is; the end of the file: there are none.
Result<std::vector<File::RangeTime>> read_ranges(std::string_view bytes, size_t at) {
  std::vector<File::RangeTime> out;
  if (at == bytes.size()) return out;
  if (bytes.size() < at + 8) return damaged("is too short");
  const auto count = take<uint64_t>(bytes, at), cycles = take<uint64_t>(bytes, kIdentityEnd + 8);
  if (count > kMostRanges || bytes.size() - at - 8 < kRange * count) return damaged("has too many ranges");
  if (cycles > kMostCycles) return damaged("has too many cycles");
  for (at += 8; out.size() < count; at += kRange) {
    const uint64_t last = out.empty() ? 0 : out.back().end;
    out.push_back({take<uint64_t>(bytes, at), take<uint64_t>(bytes, at + 8)});
    if (out.back().end <= last || out.back().cycles > cycles) return damaged("has ranges out of order");
  }
  return out;
}

}  // namespace

bool is_file(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

std::string write_file(const File& file) {
  std::string rest;
  put(rest, static_cast<uint32_t>(file.inputs.size()));
  put(rest, static_cast<uint32_t>(file.outputs.size()));
  put(rest, file.cycles);
  put(rest, static_cast<uint64_t>(file.bytes.size()));
  for (const auto* ports : {&file.inputs, &file.outputs})
    for (uint64_t bytes : *ports) put(rest, bytes);
  if (!file.ranges.empty()) put(rest, static_cast<uint64_t>(file.ranges.size()));
  for (const File::RangeTime& r : file.ranges) put(rest, r.end), put(rest, r.cycles);
  const size_t header = kIdentityEnd + rest.size();
  rest += file.bytes;
  std::string out(kMagic);
  put(out, file.ranges.empty() ? kPlainVersion : kTimedVersion);
  put(out, static_cast<uint32_t>(header));
  return out + identity_of(rest) + rest;
}

Result<File> read_file(std::string_view bytes) {
  if (!is_file(bytes)) return damaged("begins otherwise");
  if (bytes.size() < kFixed) return damaged("is too short");
  const auto version = take<uint32_t>(bytes, 4);
  if (version != kPlainVersion && version != kTimedVersion) return damaged("is of another version");
  if (bytes.substr(MRVL_IDENTITY_OFFSET, MRVL_IDENTITY_BYTES) != identity_of(bytes.substr(kIdentityEnd)))
    return damaged("is not as it was written");
  const size_t inputs = take<uint32_t>(bytes, kIdentityEnd),
               outputs = take<uint32_t>(bytes, kIdentityEnd + 4);
  const auto length = take<uint64_t>(bytes, kIdentityEnd + 16);
  if (inputs > kMostPorts || outputs > kMostPorts) return damaged("has too many ports");
  const size_t ports = kFixed + 8 * (inputs + outputs);
  MRVLC_ASSIGN(std::vector<File::RangeTime> ranges,
               read_ranges(bytes, version == kTimedVersion ? ports : bytes.size()));
  const size_t header = ports + (version == kTimedVersion ? 8 + kRange * ranges.size() : 0);
  if (take<uint32_t>(bytes, 8) != header || bytes.size() < header || bytes.size() - header != length)
    return damaged("has another length than it says");
  File out;
  out.ranges = std::move(ranges);
  out.cycles = take<uint64_t>(bytes, kIdentityEnd + 8);
  for (size_t i = 0; i < inputs; ++i) out.inputs.push_back(take<uint64_t>(bytes, kFixed + 8 * i));
  for (size_t i = 0; i < outputs; ++i)
    out.outputs.push_back(take<uint64_t>(bytes, kFixed + 8 * (inputs + i)));
  out.bytes = bytes.substr(header);
  return out;
}

}  // namespace mrvlc::plugin
