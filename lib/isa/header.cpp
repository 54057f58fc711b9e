// Prints and checks the metadata of a model binary, field by field.
#include "mrvlc/isa/header.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "container_layout.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::isa {
namespace {

using namespace layout;

constexpr uint32_t kOldestVersion = 2100;  // 2.1.0.0, the first that the driver takes
constexpr uint64_t kOcmPage = 16 * 1024;   // the driver's default

std::string_view architecture_name(uint32_t value) {
  switch (value) {
    case 0:
      return "undefined";
    case 1:
      return "M1K";
    case 128:
      return "MLIP";
    case 256:
      return "experimental";
    default:
      return "unknown";
  }
}

std::string type_name(uint8_t type) {
  constexpr std::string_view kNames[] = {"none", "i8",  "u8",  "i16", "u16", "i32",
                                         "u32",  "f16", "f32", "i64", "u64"};
  return type < std::size(kNames) ? std::string(kNames[type]) : fmt::format("unknown type {}", type);
}

std::string version(std::string_view f, size_t at) {
  return fmt::format("{}.{}.{}.{}", get<uint8_t>(f, at), get<uint8_t>(f, at + 1), get<uint8_t>(f, at + 2),
                     get<uint8_t>(f, at + 3));
}

// Up to the first zero byte, or the whole field.
std::string name_at(std::string_view f, size_t at, size_t bytes) {
  std::string_view field = f.substr(at, bytes);
  return printable(field.substr(0, std::min(field.find('\0'), bytes)));
}

std::string yes_no(uint8_t value) {
  return value == 1 ? "yes" : value == 2 || value == 0 ? "no" : fmt::format("{}?", value);
}

struct Section {
  const char* name;
  size_t at;  // of file_offset; file_size follows
};
constexpr std::array<Section, 4> kSectionTable = {{{"init", kSections},
                                                   {"main", kSections + kSectionStride},
                                                   {"finish", kSections + 2 * kSectionStride},
                                                   {"weights_bias", kWeights + 8}}};

class Printer {
 public:
  explicit Printer(std::string_view file) : f_(file) {}

  std::string run() {
    header();
    model();
    sections();
    const size_t inputs = std::min<size_t>(get<uint8_t>(f_, kNumInput), kMaxPorts),
                 outputs = std::min<size_t>(get<uint8_t>(f_, kNumOutput), kMaxPorts);
    for (size_t i = 0; i < inputs; ++i) input(i, input_at(i));
    for (size_t i = 0; i < outputs; ++i) output(i, output_at(i));
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(std::string_view field, fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format("  {:<24} {}\n", field, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class T>
  void number(std::string_view field, size_t at) {
    line(field, "{}", uint64_t{get<T>(f_, at)});
  }
  void range(std::string_view field, size_t at) {
    line(field, "{:#x} to {:#x}", get<uint64_t>(f_, at), get<uint64_t>(f_, at + 8));
  }

  void header() {
    out_ += "header\n";
    line("version", "{}", version(f_, kVersionAt));
    number<uint32_t>("metadata_size", kMetadataSize);
    std::string identity;
    for (size_t i = 0; i < sizeof(Identity); ++i)
      identity += fmt::format("{:02x}", get<uint8_t>(f_, kIdentity + i));
    line("uuid", "{}...", identity);
    const auto architecture = get<uint32_t>(f_, kArchitecture);
    line("target_architecture", "{} ({})", architecture, architecture_name(architecture));
    line("payload_crc32c", "{:#010x}", get<uint32_t>(f_, kPayloadCrc));
    line("header_crc32c", "{:#010x}", get<uint32_t>(f_, kHeaderCrc));
  }

  void model() {
    out_ += "model\n";
    line("name", "'{}'", name_at(f_, kModelName, kModelNameBytes));
    line("version", "{}", version(f_, kModelVersion));
    number<uint32_t>("code_size", kCodeSize);
    number<uint32_t>("data_size", kDataSize);
    line("ocm", "{:#x} to {:#x}", get<uint32_t>(f_, kOcmStart), get<uint32_t>(f_, kOcmEnd));
    line("ocm_relocatable", "{}", yes_no(get<uint8_t>(f_, kOcmRelocatable)));
    line("tile_relocatable", "{}", yes_no(get<uint8_t>(f_, kTileRelocatable)));
    line("tiles", "{} to {}", get<uint8_t>(f_, kTileStart), get<uint8_t>(f_, kTileEnd));
    number<uint8_t>("batch_size", kBatch);
    line("ports", "{} inputs, {} outputs", get<uint8_t>(f_, kNumInput), get<uint8_t>(f_, kNumOutput));
    number<uint32_t>("input_size", kInputSize);
    number<uint32_t>("output_size", kOutputSize);
    number<uint32_t>("num_layers", kNumLayers);
    line("ocm_tmp_range_floor", "{:#x}", get<uint64_t>(f_, kOcmTmpFloor));
    range("ocm_wb_range", kOcmWbRange);
    range("ddr_wb_range", kDdrWbRange);
    range("ddr_input_range", kDdrInputRange);
    range("ddr_output_range", kDdrOutputRange);
    range("ddr_scratch_range", kDdrScratchRange);
    line("compiler_version", "{}.{}", version(f_, kModelCompilerVersion),
         version(f_, kModelCompilerVersion + 4));
  }

  void sections() {
    out_ += "sections\n";
    for (const Section& s : kSectionTable) {
      const auto bytes = get<uint32_t>(f_, s.at + 4), begin = get<uint32_t>(f_, s.at);
      const bool compact = &s != &kSectionTable.back() && get<uint32_t>(f_, s.at + kSectionEncoding) ==
                                                              static_cast<uint32_t>(Encoding::Compact);
      if (compact)
        line(s.name, "{} bytes at {}, {} instructions", bytes, begin,
             get<uint32_t>(f_, s.at + kSectionCount));
      else
        line(s.name, "{} bytes at {}", bytes, begin);
    }
    line("weights_bias", "at {:#x} of DDR, relocatable: {}", get<uint64_t>(f_, kWeights),
         yes_no(get<uint8_t>(f_, kWeights + 16)));
  }

  // What inputs and outputs have in common, at the same bytes; `inside` is the device's type.
  void port(size_t at, const char* factor) {
    line("mem_offset", "{:#x}, relocatable: {}", get<uint64_t>(f_, at), yes_no(get<uint8_t>(f_, at + 8)));
    line("type", "{} inside, {} outside, {}", type_name(get<uint8_t>(f_, at + 11)),
         type_name(get<uint8_t>(f_, at + 10)),
         get<uint8_t>(f_, at + 9) == 2 ? "not converted" : "converted by the host");
    line(factor, "{}", get<float>(f_, at + 12));
  }

  void input(size_t i, size_t at) {
    out_ += fmt::format("input {} '{}'\n", i, name_at(f_, at + 40, 16));
    port(at, "qscale");
    const auto format = get<uint8_t>(f_, at + 16);
    line("format", "{}", format == 1 ? "NCHW" : format == 2 ? "NHWC" : fmt::format("unknown {}", format));
    line("shape", "{} x {} x {} x {}", get<uint32_t>(f_, at + 20), get<uint32_t>(f_, at + 24),
         get<uint32_t>(f_, at + 28), get<uint32_t>(f_, at + 32));
    line("ddr_range_end", "{:#x}", get<uint64_t>(f_, at + 56));
  }

  void output(size_t i, size_t at) {
    out_ += fmt::format("output {} '{}'\n", i, name_at(f_, at + 48, 16));
    port(at, "dscale");
    number<uint32_t>("elements", at + 16);
    line("ddr_range_end", "{:#x}", get<uint64_t>(f_, at + 40));
  }

  std::string_view f_;
  std::string out_;
};

class Checker {
 public:
  explicit Checker(std::string_view file)
      : f_(file), bytes_(std::as_bytes(std::span(file.data(), file.size()))) {}

  void run(Header& out) {
    header();
    sections();
    model();
    fits_on_chip();
    ports(true, get<uint8_t>(f_, kNumInput));
    ports(false, get<uint8_t>(f_, kNumOutput));
    out.refused = std::move(refused_);
    out.faults = std::move(faults_);
  }

 private:
  template <class... Args>
  void refused(fmt::format_string<Args...> text, Args&&... args) {
    refused_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void fault(fmt::format_string<Args...> text, Args&&... args) {
    faults_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // The driver takes 0 for "not computed".
  void checksum(const char* what, size_t at, uint32_t actual) {
    const auto stored = get<uint32_t>(f_, at);
    if (stored == 0) fault("{} is 0: the content is not protected", what);
    if (stored != 0 && stored != actual)
      refused("{} is {:#010x}, the content's is {:#010x}", what, stored, actual);
  }

  void header() {
    checksum("header_crc32c", kHeaderCrc, crc32c(bytes_.first(kHeaderCrc)));
    checksum("payload_crc32c", kPayloadCrc, crc32c(bytes_.subspan(kHeaderBytes)));
    const auto digit = [&](size_t i) { return uint32_t{get<uint8_t>(f_, kVersionAt + i)}; };
    if (digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3) < kOldestVersion)
      refused("version {} is before 2.1.0.0", version(f_, kVersionAt));
    const auto architecture = get<uint32_t>(f_, kArchitecture);
    if (architecture != static_cast<uint32_t>(Architecture::Mlip))
      refused("target_architecture is {} ({}), not 128 (MLIP)", architecture,
              architecture_name(architecture));
    if (auto n = get<uint32_t>(f_, kMetadataSize); n != kMetadataBytes)
      fault("metadata_size is {}, not {}", n, kMetadataBytes);
  }

  void sections() {
    uint64_t at = kMetadataBytes, code = 0;
    for (const Section& s : kSectionTable) {
      const uint64_t begin = get<uint32_t>(f_, s.at), size = get<uint32_t>(f_, s.at + 4);
      if (size == 0) refused("section {} is empty", s.name);
      if (begin != at) fault("section {} begins at {}, what is before it ends at {}", s.name, begin, at);
      at = begin + size;
      if (at > f_.size()) fault("section {} ends at {}, the file at {}", s.name, at, f_.size());
      if (&s != &kSectionTable.back()) code += size;
    }
    if (at < f_.size()) fault("{} bytes follow the last section", f_.size() - at);
    if (get<uint32_t>(f_, kCodeSize) != code)
      fault("code_size is {}, the sections have {}", get<uint32_t>(f_, kCodeSize), code);
    if (get<uint32_t>(f_, kDataSize) != get<uint32_t>(f_, kWeights + 12))
      fault("data_size is {}, weights_bias has {}", get<uint32_t>(f_, kDataSize),
            get<uint32_t>(f_, kWeights + 12));
    if (get<uint8_t>(f_, kWeights + 16) != 1) refused("weights_bias is not relocatable");
  }

  void model() {
    tiles();
    if (get<uint8_t>(f_, kBatch) == 0) fault("batch_size is 0");
    if (f_.substr(kModelName, kModelNameBytes).find('\0') == std::string_view::npos)
      fault("the model's name does not end");
    ddr_range("ddr_wb_range", kDdrWbRange);
    ddr_range("ddr_input_range", kDdrInputRange);
    ddr_range("ddr_output_range", kDdrOutputRange);
    ddr_range("ddr_scratch_range", kDdrScratchRange);
  }

  void tiles() {
    const unsigned first = get<uint8_t>(f_, kTileStart), last = get<uint8_t>(f_, kTileEnd);
    if (first > last || last >= kMaxTiles) return fault("tiles {} to {} are not a tile set", first, last);
    const unsigned count = last - first + 1;
    if (!std::has_single_bit(count) || first % count != 0)
      fault("tiles {} to {}: a set has 1, 2, 4 or 8 and begins at a multiple of that", first, last);
  }

  void ddr_range(const char* what, size_t at) {
    const auto begin = get<uint64_t>(f_, at), end = get<uint64_t>(f_, at + 8);
    if (end < begin) fault("{} ends before it begins: {:#x} to {:#x}", what, begin, end);
  }

  // The driver's own test, with pages of its default size; nothing is pinned where the range ends one byte
  // before it begins.
  void fits_on_chip() {
    const auto floor = get<uint64_t>(f_, kOcmTmpFloor);
    if (floor > kOcmTile) return fault("ocm_tmp_range_floor {:#x} is above {:#x}", floor, kOcmTile);
    const bool counts = get<uint8_t>(f_, kOcmRelocatable) == 1;
    const uint64_t pinned =
        counts ? get<uint64_t>(f_, kOcmWbRange + 8) - get<uint64_t>(f_, kOcmWbRange) + 1 : 0;
    const auto pages = [](uint64_t bytes) { return bytes / kOcmPage + (bytes % kOcmPage != 0); };
    const uint64_t all = pages(pinned) + pages(kOcmTile - floor);
    if (all > kOcmTile / kOcmPage)
      refused("on-chip memory: {} pages of 16 KiB for weights and {} for the rest, a tile has {}",
              pages(pinned), pages(kOcmTile - floor), kOcmTile / kOcmPage);
  }

  void ports(bool input, size_t count) {
    const char* what = input ? "input" : "output";
    if (count > kMaxPorts) refused("{} {}s, at most {} are possible", count, what, kMaxPorts);
    if (count == 0) fault("there is no {}", what);
    for (size_t i = 0; i < std::min(count, kMaxPorts); ++i)
      port(input, what, i, input ? input_at(i) : output_at(i));
  }

  void port(bool input, const char* what, size_t i, size_t at) {
    const auto outside = get<uint8_t>(f_, at + 10), inside = get<uint8_t>(f_, at + 11);
    if (port_type_bytes(outside) == 0) refused("{} {}: {}", what, i, type_name(outside));
    if (port_type_bytes(inside) == 0) refused("{} {}: {}", what, i, type_name(inside));
    if (get<uint8_t>(f_, at + 8) != 1) refused("{} {} is not relocatable", what, i);
    if (!std::isfinite(get<float>(f_, at + 12))) fault("{} {}: the scale is not finite", what, i);
    const auto begin = get<uint64_t>(f_, at), end = get<uint64_t>(f_, at + (input ? 56 : 40));
    if (end < begin) fault("{} {} ends before it begins: {:#x} to {:#x}", what, i, begin, end);
    if (input && get<uint8_t>(f_, at + 16) != 1 && get<uint8_t>(f_, at + 16) != 2)
      fault("input {}: format {} is unknown", i, get<uint8_t>(f_, at + 16));
    if (f_.substr(at + (input ? 40 : 48), 16).find('\0') == std::string_view::npos)
      fault("{} {}: the name does not end", what, i);
  }

  std::string_view f_;
  std::span<const std::byte> bytes_;
  std::vector<std::string> refused_, faults_;
};

}  // namespace

Result<Header> read_header(std::string_view file) {
  if (file.size() < kMetadataBytes)
    return make_diag<DiagCode::MRV0701>(
        fmt::format("{} bytes are fewer than the metadata's {}", file.size(), kMetadataBytes));
  if (file.substr(0, kMagic.size()) != kMagic)
    return make_diag<DiagCode::MRV0701>("the magic number is wrong");
  Header out;
  out.text = Printer(file).run();
  Checker(file).run(out);
  return out;
}

}  // namespace mrvlc::isa
