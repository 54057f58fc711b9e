// Byte offsets of the CN10K model metadata, version 2.3.0.1 (DPDK drivers/ml/cnxk), and access to its fields.
#pragma once
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "mrvlc/isa/container.h"
#include "mrvlc/isa/identity.h"

namespace mrvlc::isa::layout {

static_assert(std::endian::native == std::endian::little,
              "metadata fields are little-endian and copied as they are");

inline constexpr uint8_t kVersion[4] = {2, 3, 0, 1};
inline constexpr uint8_t kCompilerVersion[8] = {0, 1, 0, 0, 0, 0, 0, 0};
inline constexpr std::string_view kMagic = "MRVL";

// Header.
inline constexpr size_t kVersionAt = 4, kMetadataSize = 8, kIdentity = 12, kArchitecture = 140,
                        kPayloadCrc = 248, kHeaderCrc = 252;
inline constexpr size_t kHeaderBytes = 256;
// Model, absolute.
inline constexpr size_t kModel = 256, kModelName = kModel, kModelNameBytes = 64, kModelVersion = kModel + 64;
inline constexpr size_t kCodeSize = kModel + 68, kDataSize = kModel + 72, kOcmStart = kModel + 76,
                        kOcmEnd = kModel + 80;
inline constexpr size_t kOcmRelocatable = kModel + 84, kTileRelocatable = kModel + 85,
                        kTileStart = kModel + 86, kTileEnd = kModel + 87, kBatch = kModel + 88,
                        kNumInput = kModel + 89, kNumOutput = kModel + 90;
inline constexpr size_t kInputSize = kModel + 92, kOutputSize = kModel + 96, kNumLayers = kModel + 104;
inline constexpr size_t kOcmTmpFloor = kModel + 112, kOcmWbRange = kModel + 120, kDdrWbRange = kModel + 136,
                        kDdrInputRange = kModel + 152, kDdrOutputRange = kModel + 168,
                        kModelCompilerVersion = kModel + 184, kDdrScratchRange = kModel + 200;
// Sections init, main, finish: file_offset u32, file_size u32, 64 bytes apart; behind them, in what the
// driver leaves reserved, the encoding u32 and, of compact code, the number of instructions u32.
inline constexpr size_t kSections = 512, kSectionStride = 64, kSectionEncoding = 8, kSectionCount = 12;
inline constexpr size_t kWeights = 1216;
inline constexpr size_t kDataCompilerVersion = 7168 + 996;
inline constexpr size_t kPortBytes = 64;
inline constexpr uint64_t kOcmTile = 0x100000;  // the OCM size the driver's fit test is written for

// Port i of up to 32: the first eight and the others lie in two tables.
constexpr size_t input_at(size_t i) {
  return i < 8 ? 1280 + i * kPortBytes : 4096 + (i - 8) * kPortBytes;
}
constexpr size_t output_at(size_t i) {
  return i < 8 ? 1792 + i * kPortBytes : 5632 + (i - 8) * kPortBytes;
}

// Every field that is not a port's; all other bytes are reserved and 0.
struct Field {
  size_t at, bytes;
};
inline constexpr Field kFields[] = {
    {0, 12},
    {kIdentity, sizeof(Identity)},
    {kArchitecture, 4},
    {kPayloadCrc, 8},
    {kModelName, kModelNameBytes},
    {kModelVersion, 4},
    {kCodeSize, 20},
    {kTileStart, 5},
    {kInputSize, 8},
    {kNumLayers, 4},
    {kOcmTmpFloor, 80},
    {kDdrScratchRange, 16},
    {kSections, 16},
    {kSections + kSectionStride, 16},
    {kSections + 2 * kSectionStride, 16},
    {kWeights, 17},
    {kDataCompilerVersion, 8},
};
// Of a port, relative to its entry.
inline constexpr Field kInputFields[] = {{0, 17}, {20, 16}, {40, 24}};
inline constexpr Field kOutputFields[] = {{0, 20}, {40, 24}};

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T get(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace mrvlc::isa::layout
