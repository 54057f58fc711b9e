#include <catch2/catch.hpp>

#include "../isa/random_instruction.h"
#include "mrvlc/support/diag/sim.h"
#include "program.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

std::string refused(isa::Binary b) {
  auto r = Simulator::create(std::move(b), machine());
  return r.ok() ? "accepted" : r.error().message;
}

std::string refused(Instruction i, uint8_t tiles = 1) {
  return refused(binary({std::move(i)}, tiles));
}

bool says(const std::string& text, const char* part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

}  // namespace

TEST_CASE("addresses outside the memories are refused") {
  CHECK(refused(load_ocm(kInputAt, (1 << 20) - 64, 64)) == "accepted");
  says(refused(load_ocm(kInputAt, (1 << 20) - 64, 65)),
       "section main, instruction 0: writes OCM up to 0x100001");
  says(refused(load_ocm(kInputAt + kRange - 64, 0, 65)), "outside every range");
  says(refused(load_ocm(4095, 0, 2)), "outside every range");
  CHECK(refused(load_ocm(0, 0, 4096)) == "accepted");
  says(refused(store_ddr(0, 0, 16)), "outside every range");  // weights are read-only
  isa::Conv c = conv(8, 8, 16, 16);
  c.out = 1 << 20;
  says(refused({0, Queue::Pod, {}, c}), "writes OCM");
  c.out = 0, c.x = 0xffffff00;
  says(refused({0, Queue::Pod, {}, c}), "reads OCM");
  auto e = ew(EwOp::Neg, 4, 64, 0);
  e.a.strides[4] = -2;
  says(refused({0, Queue::Pe, {}, e}), "reads OCM");
}

TEST_CASE("impossible sizes are refused") {
  isa::Conv c = conv(8, 8, 16, 16);
  c.stride_w = 0;
  says(refused({0, Queue::Pod, {}, c}), "is 0");
  c = conv(33, 32, 16, 16);
  says(refused({0, Queue::Pod, {}, c}), "1056 output pixels");
  c = conv(30, 30, 16, 32);
  c.last = false;
  says(refused({0, Queue::Pod, {}, c}), "kept sums");
  c.first = false, c.last = true;  // those that were kept
  says(refused({0, Queue::Pod, {}, c}), "kept sums");
  c.first = true;
  CHECK(refused({0, Queue::Pod, {}, c}) == "accepted");
  c.epilogue.activation = isa::Activation::Table;
  for (uint32_t at : {8u, 2u, 15u}) {
    c.epilogue.table = 65536 + at;
    says(refused({0, Queue::Pod, {}, c}), "not a multiple of 16");
  }
  c = conv(8, 8, 16, 16);
  c.x_row = c.x_col = 0, c.in_h = c.in_w = 1 << 24, c.kernel_h = c.kernel_w = 1 << 24;
  says(refused({0, Queue::Pod, {}, c}), "input window");
  c = conv(1, 1, 1 << 20, 1 << 20);
  c.w_k = c.w_n = c.w_block = 0;
  says(refused({0, Queue::Pod, {}, c}), "too many multiply-adds");
  auto e = ew(EwOp::Fill, 1u << 31, 0, 0);
  e.dst.strides[4] = 0, e.dims[3] = 1u << 31, e.dims[2] = 4;
  says(refused({0, Queue::Pe, {}, e}), "elements in one instruction");
  e = ew(EwOp::Fill, 0, 0, 0);
  says(refused({0, Queue::Pe, {}, e}), "a size is 0");
  e = ew(EwOp::Fill, 4, 0, 0);
  e.dst.type = isa::DataType::I32;
  says(refused({0, Queue::Pe, {}, e}), "reserved");
  e.dst.type = isa::DataType::I8;
  says(refused({0, Queue::Pe, {}, e}), "the scale of integers");
  e.dst.quantization = {128, 1.0f};
  says(refused({0, Queue::Pe, {}, e}), "zero point 128");
  e.dst.quantization = {127, 1.0f};
  CHECK(refused({0, Queue::Pe, {}, e}) == "accepted");
  e.dst.type = isa::DataType::F16;
  says(refused({0, Queue::Pe, {}, e}), "has a zero point or a scale");
  e.dst.quantization = {};
  e.epilogue.activation = isa::Activation::Bytes;
  says(refused({0, Queue::Pe, {}, e}), "a table of bytes");
  c = conv(4, 4, 16, 16);
  c.x_type = isa::DataType::U8;
  says(refused({0, Queue::Pod, {}, c}), "not integers both");
  c.w_type = isa::DataType::I8;
  CHECK(refused({0, Queue::Pod, {}, c}) == "accepted");
  c.residual = 0;
  says(refused({0, Queue::Pod, {}, c}), "no residual");
  isa::Pool p;
  p.channels = 1, p.x_type = isa::DataType::F32;
  says(refused({0, Queue::Pe, {}, p}), "pools are of fp16 or integers");
  Instruction copy = load_ocm(kInputAt, 0, 16);
  std::get<isa::Dma>(copy.body).dims = {1u << 31, 1u << 31, 4};
  says(refused(copy), "in one copy");
}

TEST_CASE("tiles and waits must exist") {
  says(refused(load_ocm(kInputAt, 0, 16, {}, 1)), "tile 1 is not in use");
  says(refused(load_ocm(kInputAt, 0, 16, {}, 0, 2)), "destination tile");
  says(refused(load_ocm(kInputAt, 0, 16, {{0, Queue::Pod, 1}})), "waits for 1 completions of a queue of 0");
  says(refused(load_ocm(kInputAt, 0, 16, {{3, Queue::Pod, 0}})), "not in use");
  auto b = binary({}, 3);
  says(refused(b), "3 tiles");
  b = binary({});
  b.ocm_bytes = (1 << 20) + 1;
  says(refused(b), "bytes of OCM");
  b = binary({});
  b.ddr_scratch_end = uint64_t{1} << 40;
  says(refused(b), "memory");
  b = binary({});
  b.ddr_scratch_begin = b.ddr_input_begin;
  says(refused(b), "overlap");
  b = binary({});
  b.inputs[0].ddr_offset = kInputAt + kRange;
  says(refused(b), "outside its DDR range");
  b = binary({});
  b.inputs[0].dims = {0xffffffffu, 0xffffffffu, 0xffffffffu, 1};
  says(refused(b), "outside its DDR range");
}

TEST_CASE("a deadlock is a diagnostic") {
  Instruction self = load_ocm(kInputAt, 0, 16, {{0, Queue::DmaIn, 1}});
  auto text = run(binary({self}), "");
  CHECK(text ==
        "run: section main: deadlock, instruction 0 waits for 1 completions of t0.dmain, which stops at 0");
  Instruction a = load_ocm(kInputAt, 0, 16, {{0, Queue::DmaOut, 1}}),
              b = store_ddr(0, kOutputAt, 16, {{0, Queue::DmaIn, 1}});
  says(run(binary({a, b}), ""), "deadlock");
  says(Simulator::create(binary({a, b}), machine())->time_only().error().message, "deadlock");
}

TEST_CASE("inputs of the wrong size or number are refused") {
  auto sim = Simulator::create(binary({}), machine());
  std::vector<std::string> out;
  CHECK(sim->run({}, out).error().code == DiagCode::MRV0707);
  std::vector<std::byte> few(10);
  std::vector<std::span<const std::byte>> inputs = {few};
  CHECK(sim->run(inputs, out).error().code == DiagCode::MRV0706);
}

TEST_CASE("arbitrary instructions are refused or executed, never a crash") {
  isa::RandomInstruction random(9);
  for (int n = 0; n < 3000; ++n) (void)refused(random(), 8);
  // Small fields pass validation often; whatever passes must run.
  size_t accepted = 0;
  for (int n = 0; n < 3000; ++n) {
    Instruction i = random();
    std::array<std::byte, isa::kInstructionBytes> bytes;
    isa::encode(i, bytes);
    for (size_t k = 68; k < bytes.size(); k += 4) {
      bytes[k + 1] = bytes[k + 1] & std::byte{static_cast<uint8_t>(random.below(8) == 0)};
      bytes[k] = bytes[k] & std::byte{0x0f};
      bytes[k + 2] = bytes[k + 3] = std::byte{0};
    }
    bytes[3] = std::byte{0};
    for (size_t k = 16; k < 64; ++k) bytes[k] = std::byte{0};
    auto small = isa::decode(bytes);
    if (!small) continue;
    small->tile = 0;
    if (auto* d = std::get_if<isa::Dma>(&small->body)) d->dst_tiles &= 1;
    auto sim = Simulator::create(binary({*small}), machine());
    if (!sim) continue;
    ++accepted;
    std::vector<std::byte> in(2048);
    std::vector<std::span<const std::byte>> inputs = {in};
    std::vector<std::string> out;
    CHECK(sim->run(inputs, out).ok());
  }
  CHECK(accepted > 300);
}
