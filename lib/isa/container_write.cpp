// Writes a model binary: header, sections, checksums (docs/isa.md, container).
#include <algorithm>

#include "container_layout.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::isa {
namespace {

using namespace layout;

void put_text(std::string& out, size_t at, std::string_view text) {
  std::memcpy(out.data() + at, text.data(), text.size());
}

template <size_t N>
void put_bytes(std::string& out, size_t at, const uint8_t (&bytes)[N]) {
  std::memcpy(out.data() + at, bytes, N);
}

// The last 15 characters: what tells layers apart stands at the end of their names. A field ends at its first
// zero byte.
std::string_view port_name(std::string_view name) {
  if (size_t zero = name.rfind('\0'); zero != std::string_view::npos) name = name.substr(zero + 1);
  return name.substr(name.size() - std::min<size_t>(name.size(), 15));
}

// Ends are inclusive in the file; an empty range is written as start == end.
void put_range(std::string& out, size_t at, uint64_t begin, uint64_t end) {
  put<uint64_t>(out, at, begin);
  put<uint64_t>(out, at + 8, end > begin ? end - 1 : begin);
}

// What input and output entries share up to byte 16.
void put_port(std::string& out, size_t at, const Port& p) {
  put<uint64_t>(out, at, p.ddr_offset);
  put<uint8_t>(out, at + 8, 1);
  put<uint8_t>(out, at + 9, p.outer_type == p.inner_type ? 2 : 1);
  put<uint8_t>(out, at + 10, p.outer_type);
  put<uint8_t>(out, at + 11, p.inner_type);
  put<float>(out, at + 12, p.scale);
}

uint64_t port_last_byte(const Port& p) {
  return p.ddr_offset + std::max<uint64_t>(p.bytes(), 1) - 1;
}

void put_input(std::string& out, size_t at, const Port& p) {
  put_port(out, at, p);
  put<uint8_t>(out, at + 16, p.format);
  for (size_t k = 0; k < 4; ++k) put<uint32_t>(out, at + 20 + 4 * k, p.dims[k]);
  put_text(out, at + 40, port_name(p.name));
  put<uint64_t>(out, at + 56, port_last_byte(p));
}

void put_output(std::string& out, size_t at, const Port& p) {
  put_port(out, at, p);
  put<uint32_t>(out, at + 16, p.elements());
  put<uint64_t>(out, at + 40, port_last_byte(p));
  put_text(out, at + 48, port_name(p.name));
}

void put_model(std::string& out, const Binary& b, size_t weights) {
  put_text(out, kModelName, std::string_view(b.name).substr(0, kModelNameBytes - 1));
  put_bytes(out, kModelVersion, {1, 0, 0, 0});
  uint64_t ocm = std::max<uint64_t>(kOcmTile, b.ocm_bytes);
  put<uint32_t>(out, kOcmEnd, static_cast<uint32_t>(ocm - 1));
  put<uint8_t>(out, kOcmRelocatable, 1);
  put<uint8_t>(out, kTileRelocatable, 1);
  put<uint8_t>(out, kTileEnd, static_cast<uint8_t>(b.tiles - 1));
  put<uint8_t>(out, kBatch, b.batch);
  put<uint32_t>(out, kNumLayers, b.layers);
  put<uint64_t>(out, kOcmTmpFloor, ocm - b.ocm_bytes);
  put<uint64_t>(out, kOcmWbRange, 1);  // [1, 0]: nothing is pinned, end - start + 1 is 0
  put_range(out, kDdrWbRange, 0, weights);
  put_range(out, kDdrInputRange, b.ddr_input_begin, b.ddr_input_end);
  put_range(out, kDdrOutputRange, b.ddr_output_begin, b.ddr_output_end);
  put_bytes(out, kModelCompilerVersion, kCompilerVersion);
  put_range(out, kDdrScratchRange, b.ddr_scratch_begin, b.ddr_scratch_end);
}

void put_ports(std::string& out, const Binary& b) {
  size_t inputs = std::min(b.inputs.size(), kMaxPorts), outputs = std::min(b.outputs.size(), kMaxPorts);
  put<uint8_t>(out, kNumInput, static_cast<uint8_t>(inputs));
  put<uint8_t>(out, kNumOutput, static_cast<uint8_t>(outputs));
  uint64_t input_bytes = 0, output_bytes = 0;
  for (size_t i = 0; i < inputs; ++i) {
    put_input(out, input_at(i), b.inputs[i]);
    input_bytes += b.inputs[i].bytes();
  }
  for (size_t i = 0; i < outputs; ++i) {
    put_output(out, output_at(i), b.outputs[i]);
    output_bytes += b.outputs[i].bytes();
  }
  put<uint32_t>(out, kInputSize, static_cast<uint32_t>(input_bytes));
  put<uint32_t>(out, kOutputSize, static_cast<uint32_t>(output_bytes));
}

// Last: they are about all other bytes.
void put_identity_and_crcs(std::string& out) {
  auto bytes = std::as_bytes(std::span(out.data(), out.size()));
  put<Identity>(out, kIdentity, sha256(bytes.subspan(layout::kHeaderBytes)));
  put<uint32_t>(out, kPayloadCrc, crc32c(bytes.subspan(layout::kHeaderBytes)));
  put<uint32_t>(out, kHeaderCrc, crc32c(bytes.first(kHeaderCrc)));
}

}  // namespace

std::string write_container(const Binary& b) {
  std::string out(kMetadataBytes, '\0');
  const std::vector<Instruction>* lists[] = {&b.init, &b.main, &b.finish};
  std::string programs[3];
  for (size_t s = 0; s < 3; ++s) programs[s] = write_code(*lists[s], b.encoding);
  size_t weights = std::max<size_t>(b.weights.size(), 1);
  out.reserve(kMetadataBytes + programs[0].size() + programs[1].size() + programs[2].size() + weights);
  put_text(out, 0, kMagic);
  put_bytes(out, kVersionAt, kVersion);
  put<uint32_t>(out, kMetadataSize, static_cast<uint32_t>(kMetadataBytes));
  put<uint32_t>(out, kArchitecture, static_cast<uint32_t>(b.architecture));
  put_model(out, b, weights);
  put_ports(out, b);
  put_bytes(out, kDataCompilerVersion, kCompilerVersion);
  for (size_t s = 0; s < 3; ++s) {
    const size_t at = kSections + s * kSectionStride;
    put<uint32_t>(out, at, static_cast<uint32_t>(out.size()));
    put<uint32_t>(out, at + 4, static_cast<uint32_t>(programs[s].size()));
    put<uint32_t>(out, at + kSectionEncoding, static_cast<uint32_t>(b.encoding));
    if (b.encoding == Encoding::Compact)
      put<uint32_t>(out, at + kSectionCount, static_cast<uint32_t>(lists[s]->size()));
    out += programs[s];
  }
  put<uint32_t>(out, kCodeSize, static_cast<uint32_t>(out.size() - kMetadataBytes));
  put<uint32_t>(out, kDataSize, static_cast<uint32_t>(weights));
  put<uint32_t>(out, kWeights + 8, static_cast<uint32_t>(out.size()));
  put<uint32_t>(out, kWeights + 12, static_cast<uint32_t>(weights));
  put<uint8_t>(out, kWeights + 16, 1);
  out += b.weights;
  if (b.weights.empty()) out += '\0';
  put_identity_and_crcs(out);
  return out;
}

}  // namespace mrvlc::isa
