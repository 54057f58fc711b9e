// Reads a model binary; nothing in it is trusted before it was checked (docs/isa.md, container).
#include <algorithm>
#include <cmath>

#include "container_layout.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::isa {
namespace {

using namespace layout;

template <class... Args>
Diag invalid(fmt::format_string<Args...> text, Args&&... args) {
  return make_diag<DiagCode::MRV0701>(fmt::format(text, std::forward<Args>(args)...));
}

Status check_header(std::string_view f) {
  if (f.size() < kMetadataBytes)
    return invalid("{} bytes are fewer than the metadata's {}", f.size(), kMetadataBytes);
  if (f.substr(0, 4) != kMagic) return invalid("the magic number is wrong");
  if (std::memcmp(f.data() + kVersionAt, kVersion, sizeof kVersion) != 0)
    return invalid("metadata version {}.{}.{}.{} is not 2.3.0.1", get<uint8_t>(f, 4), get<uint8_t>(f, 5),
                   get<uint8_t>(f, 6), get<uint8_t>(f, 7));
  if (auto n = get<uint32_t>(f, kMetadataSize); n != kMetadataBytes)
    return invalid("the metadata size is {}", n);
  auto bytes = std::as_bytes(std::span(f.data(), f.size()));
  if (get<uint32_t>(f, kHeaderCrc) != crc32c(bytes.first(kHeaderCrc)))
    return invalid("the header's checksum is wrong");
  if (get<uint32_t>(f, kPayloadCrc) != crc32c(bytes.subspan(layout::kHeaderBytes)))
    return invalid("the payload's checksum is wrong");
  if (stored_identity(f) != sha256(bytes.subspan(layout::kHeaderBytes)))
    return invalid("the identity is not that of the content");
  return {};
}

Status check_reserved(std::string_view f) {
  std::string_view metadata = f.substr(0, kMetadataBytes);
  std::string left(metadata);
  auto take = [&](size_t at, std::span<const Field> fields) {
    for (const Field& field : fields)
      std::fill_n(left.begin() + static_cast<ptrdiff_t>(at + field.at), field.bytes, '\0');
  };
  take(0, kFields);
  for (size_t i = 0; i < std::min<size_t>(get<uint8_t>(f, kNumInput), kMaxPorts); ++i)
    take(input_at(i), kInputFields);
  for (size_t i = 0; i < std::min<size_t>(get<uint8_t>(f, kNumOutput), kMaxPorts); ++i)
    take(output_at(i), kOutputFields);
  size_t at = left.find_first_not_of('\0');
  if (at != std::string::npos) return invalid("byte {} is reserved and not 0", at);
  return {};
}

// The four sections follow the metadata and each other and end with the file.
Status check_sections(std::string_view f) {
  uint64_t at = kMetadataBytes, code = 0;
  constexpr const char* kNames[] = {"init", "main", "finish", "weights"};
  for (size_t s = 0; s < 4; ++s) {
    size_t entry = s < 3 ? kSections + s * kSectionStride : kWeights + 8;
    uint64_t offset = get<uint32_t>(f, entry), size = get<uint32_t>(f, entry + 4);
    if (size == 0) return invalid("section {} is empty", kNames[s]);
    if (offset != at) return invalid("section {} begins at {}, expected {}", kNames[s], offset, at);
    at += size;
    if (at > f.size())
      return invalid("section {} ends at {}, past the file's {} bytes", kNames[s], at, f.size());
    if (s < 3 && get<uint32_t>(f, entry + kSectionEncoding) == 0 && size % kInstructionBytes != 0)
      return invalid("section {} holds part of an instruction", kNames[s]);
    code += s < 3 ? size : 0;
  }
  if (at != f.size()) return invalid("{} bytes follow the last section", f.size() - at);
  if (get<uint32_t>(f, kCodeSize) != code) return invalid("the code size does not match the sections");
  if (get<uint32_t>(f, kDataSize) != get<uint32_t>(f, kWeights + 12))
    return invalid("the data size does not match");
  if (get<uint8_t>(f, kWeights + 16) != 1) return invalid("the weights are not relocatable");
  if (get<uint64_t>(f, kWeights) != 0) return invalid("the weights are not at DDR offset 0");
  return {};
}

// A text field ends at its first zero byte; everything after must be zero.
Result<std::string> text(std::string_view f, size_t at, size_t bytes) {
  std::string_view field = f.substr(at, bytes);
  size_t end = field.find('\0');
  if (end == std::string_view::npos) return invalid("the name at {} does not end", at);
  if (field.find_first_not_of('\0', end) != std::string_view::npos)
    return invalid("bytes follow the name at {}", at);
  return std::string(field.substr(0, end));
}

struct ByteRange {
  uint64_t begin = 0, end = 0;  // end exclusive
};

// start == end is an empty range, unless ports say that it holds a byte.
Result<ByteRange> range(std::string_view f, size_t at, const char* what, bool used) {
  auto begin = get<uint64_t>(f, at), last = get<uint64_t>(f, at + 8);
  if (last < begin || last >= uint64_t{1} << 48) return invalid("the DDR range of the {} is wrong", what);
  return ByteRange{begin, last == begin && !used ? begin : last + 1};
}

Status check_port(const Port& p, std::string_view f, size_t at, bool input, size_t index, ByteRange ddr,
                  uint64_t last) {
  const char* what = input ? "input" : "output";
  if (get<uint8_t>(f, at + 8) != 1) return invalid("{} {} is not relocatable", what, index);
  if (port_type_bytes(p.inner_type) == 0 || port_type_bytes(p.outer_type) == 0)
    return invalid("{} {} has an unknown element type", what, index);
  if (get<uint8_t>(f, at + 9) != (p.outer_type == p.inner_type ? 2 : 1))
    return invalid("{} {}: the conversion flag does not fit the types", what, index);
  if (!std::isfinite(p.scale)) return invalid("{} {}: the scale is not finite", what, index);
  if (input && p.format != 1 && p.format != 2)
    return invalid("input {}: format {} is unknown", index, p.format);
  uint64_t elements = 1;
  for (uint32_t d : p.dims) {
    if (d == 0 || elements * d > UINT32_MAX) return invalid("{} {} has an impossible size", what, index);
    elements *= d;
  }
  uint64_t bytes = elements * port_type_bytes(p.inner_type);
  if (p.ddr_offset < ddr.begin || p.ddr_offset > ddr.end || bytes > ddr.end - p.ddr_offset)
    return invalid("{} {} lies outside the DDR range", what, index);
  if (last != p.ddr_offset + bytes - 1) return invalid("{} {}: the end of its range is wrong", what, index);
  return {};
}

Result<Port> port(std::string_view f, size_t index, bool input, ByteRange ddr) {
  size_t at = input ? input_at(index) : output_at(index);
  Port p;
  MRVLC_ASSIGN(p.name, text(f, at + (input ? 40 : 48), 16));
  p.ddr_offset = get<uint64_t>(f, at);
  p.outer_type = get<uint8_t>(f, at + 10);
  p.inner_type = get<uint8_t>(f, at + 11);
  p.scale = get<float>(f, at + 12);
  if (input) {
    p.format = get<uint8_t>(f, at + 16);
    for (size_t k = 0; k < 4; ++k) p.dims[k] = get<uint32_t>(f, at + 20 + 4 * k);
  } else {
    p.dims[3] = get<uint32_t>(f, at + 16);
  }
  MRVLC_TRY(check_port(p, f, at, input, index, ddr, get<uint64_t>(f, at + (input ? 56 : 40))));
  return p;
}

Status read_model(std::string_view f, Binary& b) {
  MRVLC_ASSIGN(b.name, text(f, kModelName, kModelNameBytes));
  unsigned first = get<uint8_t>(f, kTileStart), last = get<uint8_t>(f, kTileEnd);
  if (first != 0 || last >= kMaxTiles) return invalid("tiles {} to {} are not a tile set", first, last);
  b.tiles = static_cast<uint8_t>(last + 1);
  b.batch = get<uint8_t>(f, kBatch);
  b.layers = get<uint32_t>(f, kNumLayers);
  if (b.batch == 0) return invalid("the batch size is 0");
  uint64_t ocm = uint64_t{get<uint32_t>(f, kOcmEnd)} + 1, floor = get<uint64_t>(f, kOcmTmpFloor);
  if (get<uint32_t>(f, kOcmStart) != 0 || floor > ocm || ocm - floor > UINT32_MAX)
    return invalid("the OCM range is wrong");
  b.ocm_bytes = static_cast<uint32_t>(ocm - floor);
  return {};
}

Status read_ranges(std::string_view f, Binary& b) {
  auto weights = get<uint32_t>(f, kWeights + 12);
  if (get<uint64_t>(f, kDdrWbRange) != 0 || get<uint64_t>(f, kDdrWbRange + 8) != weights - 1)
    return invalid("the DDR range of the weights is wrong");
  MRVLC_ASSIGN(ByteRange in, range(f, kDdrInputRange, "inputs", get<uint8_t>(f, kNumInput) > 0));
  MRVLC_ASSIGN(ByteRange out, range(f, kDdrOutputRange, "outputs", get<uint8_t>(f, kNumOutput) > 0));
  MRVLC_ASSIGN(ByteRange scratch, range(f, kDdrScratchRange, "scratch memory", false));
  std::array<ByteRange, 4> all = {ByteRange{0, weights}, in, out, scratch};
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (all[i].begin < all[j].end && all[j].begin < all[i].end) return invalid("DDR ranges overlap");
  b.ddr_input_begin = in.begin, b.ddr_input_end = in.end;
  b.ddr_output_begin = out.begin, b.ddr_output_end = out.end;
  b.ddr_scratch_begin = scratch.begin, b.ddr_scratch_end = scratch.end;
  return {};
}

Status read_ports(std::string_view f, Binary& b) {
  size_t inputs = get<uint8_t>(f, kNumInput), outputs = get<uint8_t>(f, kNumOutput);
  if (inputs > kMaxPorts || outputs > kMaxPorts)
    return invalid("{} inputs and {} outputs, at most {} fit", inputs, outputs, kMaxPorts);
  for (size_t i = 0; i < inputs; ++i) {
    MRVLC_ASSIGN(Port p, port(f, i, true, {b.ddr_input_begin, b.ddr_input_end}));
    b.inputs.push_back(std::move(p));
  }
  for (size_t i = 0; i < outputs; ++i) {
    MRVLC_ASSIGN(Port p, port(f, i, false, {b.ddr_output_begin, b.ddr_output_end}));
    b.outputs.push_back(std::move(p));
  }
  auto bytes = [](const std::vector<Port>& ports) {
    uint64_t sum = 0;
    for (const Port& p : ports) sum += p.bytes();
    return sum;
  };
  if (get<uint32_t>(f, kInputSize) != bytes(b.inputs) || get<uint32_t>(f, kOutputSize) != bytes(b.outputs))
    return invalid("the sizes of all inputs or outputs do not match");
  return {};
}

// One encoding for the three sections.
Status read_programs(std::string_view f, Binary& b) {
  constexpr const char* kNames[] = {"init", "main", "finish"};
  std::vector<Instruction>* programs[] = {&b.init, &b.main, &b.finish};
  const auto encoding = get<uint32_t>(f, kSections + kSectionEncoding);
  if (encoding > static_cast<uint32_t>(Encoding::Compact))
    return invalid("the code has encoding {}, which is unknown", encoding);
  b.encoding = static_cast<Encoding>(encoding);
  uint64_t all = 0;
  for (size_t s = 0; s < 3; ++s) {
    const size_t at = kSections + s * kSectionStride;
    const auto count = get<uint32_t>(f, at + kSectionCount);
    if (get<uint32_t>(f, at + kSectionEncoding) != encoding)
      return invalid("section {} has another encoding than init", kNames[s]);
    if (b.encoding == Encoding::Plain && count != 0)
      return invalid("section {} counts instructions that are not compact", kNames[s]);
    all += count;
    if (all > kMaxCompactInstructions)
      return invalid("the sections have {} instructions, at most {} are possible", all,
                     kMaxCompactInstructions);
    MRVLC_ASSIGN(*programs[s], read_code(f.substr(get<uint32_t>(f, at), get<uint32_t>(f, at + 4)), b.encoding,
                                         count, kNames[s]));
  }
  return {};
}

}  // namespace

Identity stored_identity(std::string_view container) {
  return get<Identity>(container, kIdentity);
}

Result<Binary> read_container(std::string_view f) {
  MRVLC_TRY(check_header(f));
  MRVLC_TRY(check_reserved(f));
  MRVLC_TRY(check_sections(f));
  Binary b;
  auto architecture = get<uint32_t>(f, kArchitecture);
  if (architecture != 0 && architecture != 1 && architecture != 128 && architecture != 256)
    return invalid("target architecture {} is unknown", architecture);
  b.architecture = static_cast<Architecture>(architecture);
  MRVLC_TRY(read_model(f, b));
  MRVLC_TRY(read_ranges(f, b));
  MRVLC_TRY(read_ports(f, b));
  MRVLC_TRY(read_programs(f, b));
  b.weights = std::string(f.substr(get<uint32_t>(f, kWeights + 8), get<uint32_t>(f, kWeights + 12)));
  return b;
}

}  // namespace mrvlc::isa
