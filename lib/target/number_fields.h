// The whole numbers of a machine, by name.
#pragma once
#include <optional>

#include "mrvlc/target/machine.h"

namespace mrvlc::target {

struct NumberField {
  std::string_view name;
  uint32_t Machine::*member;
  uint32_t min, max;
  bool optional = false;
};

// Bounds keep every product the simulator forms from them inside 64 bits; they say nothing about real
// hardware.
inline constexpr NumberField kNumbers[] = {
    {"max_tiles", &Machine::max_tiles, 1, 8},
    {"ocm_bytes", &Machine::ocm_bytes, 4096, 1u << 26},
    {"ocm_alignment", &Machine::ocm_alignment, 16, 4096},
    {"fp16_macs", &Machine::fp16_macs, 1, 1u << 16},
    {"depthwise_macs", &Machine::depthwise_macs, 1, 1u << 16},
    {"int8_macs", &Machine::int8_macs, 1, 1u << 16},
    {"int8_depthwise_macs", &Machine::int8_depthwise_macs, 1, 1u << 16, true},
    {"accumulator_pixels", &Machine::accumulator_pixels, 16, 1u << 16},
    {"weight_block_cycles", &Machine::weight_block_cycles, 1, 1u << 16},
    {"strided_weight_block_cycles", &Machine::strided_weight_block_cycles, 1, 1u << 16},
    {"pe_lanes", &Machine::pe_lanes, 1, 1u << 16},
    {"pe_slow_factor", &Machine::pe_slow_factor, 1, 1u << 16},
    {"ocm_read_bytes", &Machine::ocm_read_bytes, 1, 1u << 16},
    {"ocm_write_bytes", &Machine::ocm_write_bytes, 1, 1u << 16},
    {"ddr_bytes", &Machine::ddr_bytes, 1, 1u << 16},
    {"ddr_latency", &Machine::ddr_latency, 0, 1u << 20},
    {"ddr_burst", &Machine::ddr_burst, 1, 1u << 16},
    {"tile_link_bytes", &Machine::tile_link_bytes, 1, 1u << 16},
    {"instruction_overhead", &Machine::instruction_overhead, 0, 1u << 20},
    {"ddr_efficiency", &Machine::ddr_efficiency, 1, 100, true},
    {"sync_latency", &Machine::sync_latency, 0, 1u << 20, true},
    {"accumulation_fill", &Machine::accumulation_fill, 0, 1u << 16, true},
    {"reduction_gap", &Machine::reduction_gap, 0, 1u << 16, true},
    {"pixel_block", &Machine::pixel_block, 1, 1u << 10, true},
    {"queue_depth", &Machine::queue_depth, 0, 1u << 16, true},
    {"fetch_buffer", &Machine::fetch_buffer, 0, 1u << 24, true},
    {"max_layers", &Machine::max_layers, 1, 1u << 20},
    {"max_ports", &Machine::max_ports, 1, 32},
    {"max_batch", &Machine::max_batch, 1, 255},
};

// Null: there is none of that name.
const NumberField* number_field(std::string_view name);
// "is 7; it must be between ...", or nothing.
std::string out_of_bounds(const NumberField& field, uint64_t value);

struct FieldFault {
  std::string_view field;
  std::string what;
};
// Fields that contradict each other, of the machine and of the conservative one.
std::optional<FieldFault> inconsistency(const Machine& machine);

}  // namespace mrvlc::target
