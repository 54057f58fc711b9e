// The simulator against a machine built from the documents alone (documented.h): random instructions, on
// values at the edges, bit for bit; random programs, cycle for cycle.
#include "documented.h"

#include <catch2/catch.hpp>
#include <random>

#include "functional.h"
#include "program.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::DataType;

namespace {

constexpr uint32_t kOcm = 1 << 16;

class Random {
 public:
  explicit Random(uint32_t seed) : rng_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }
  bool once_in(uint32_t n) { return below(n) == 0; }
  int32_t between(int32_t low, int32_t high) {
    return low + static_cast<int32_t>(below(static_cast<uint32_t>(high - low + 1)));
  }
  // A float with few bits, so that sums often are exact and values often equal; now and then any bits.
  float number() {
    if (once_in(12)) return std::bit_cast<float>(static_cast<uint32_t>(rng_()));
    return static_cast<float>(between(-16, 16)) / 4;
  }
  uint16_t half() {
    return once_in(8) ? static_cast<uint16_t>(rng_())
                      : float_to_half(static_cast<float>(between(-64, 64)) / 8);
  }

 private:
  std::mt19937_64 rng_;
};

// Tables, and bias, lie below 32 KiB; operands of the vector unit from there to 48 KiB; outputs of
// convolutions behind.
class Instructions {
 public:
  explicit Instructions(uint32_t seed) : r_(seed) {}
  Random& random() { return r_; }

  // Of a result of this type.
  isa::Epilogue epilogue(DataType type) {
    const uint32_t activations = isa::is_integer(type) ? 8 : 7;
    isa::Epilogue e{static_cast<isa::Activation>(r_.below(activations)), r_.number(), r_.number(),
                    isa::kNoAddress};
    if (isa::table_bytes(e.activation) > 0) e.table = 16 * r_.below(64);
    return e;
  }

  // Zero points at the ends now and then; scales that give few or many steps.
  isa::Quantization quantization(DataType type) {
    if (!isa::is_integer(type)) return {};
    const int low = type == DataType::I8 ? -128 : 0;
    const int zero = r_.once_in(3) ? low + 255 * r_.between(0, 1) : r_.between(low, low + 255);
    return {static_cast<int16_t>(zero),
            r_.once_in(3) ? 0.25f : 0.0078125f * static_cast<float>(r_.between(1, 100))};
  }
  DataType byte() { return r_.once_in(2) ? DataType::I8 : DataType::U8; }
  DataType any_type() { return r_.once_in(3) ? byte() : r_.once_in(3) ? DataType::F32 : DataType::F16; }

  Instruction elementwise() {
    isa::Elementwise e;
    e.op = static_cast<isa::EwOp>(r_.below(20));
    e.alpha = r_.number(), e.beta = r_.number();
    dims(e.dims);
    e.dst = operand(false), e.a = operand(true), e.b = operand(true);
    if (r_.once_in(3)) e.a = e.dst;  // the same view, or one of another type, or shifted by an element
    if (r_.once_in(5)) e.a.type = any_type(), e.a.quantization = quantization(e.a.type);
    if (r_.once_in(6)) e.b = e.dst, e.b.address += 2;
    e.epilogue = epilogue(e.dst.type);
    return {tile(), Queue::Pe, {}, e};
  }

  Instruction reduce() {
    isa::Reduce v;
    v.op = static_cast<isa::ReduceOp>(r_.below(5));
    v.alpha = r_.number(), v.beta = r_.number();
    dims(v.dims);
    v.dst = operand(true), v.a = operand(true);
    v.epilogue = epilogue(v.dst.type);
    return {tile(), Queue::Pe, {}, v};
  }

  Instruction pool() {
    isa::Pool p;
    p.op = static_cast<isa::PoolOp>(r_.below(3));
    p.alpha = r_.number();
    p.channels = 1 + r_.below(20);
    p.x_type = r_.once_in(2) ? byte() : DataType::F16, p.out_type = r_.once_in(2) ? byte() : DataType::F16;
    p.x_quantization = quantization(p.x_type), p.out_quantization = quantization(p.out_type);
    window(p, p.channels);
    p.x = 36000, p.out = 36000 + 2 * r_.below(400), p.out_col = 2 * p.channels + 2 * r_.below(3),
    p.out_row = p.out_col * p.out_w + 2 * r_.below(8);
    p.epilogue = epilogue(p.out_type);
    return {tile(), Queue::Pe, {}, p};
  }

  isa::Conv conv() {
    isa::Conv c;
    c.depthwise = r_.once_in(3);
    c.channels = 1 + r_.below(20), c.out_channels = 1 + r_.below(40);
    uint32_t depth = c.depthwise ? c.out_channels : c.channels;
    window(c, depth);
    c.x = 33000, c.out_type = any_type();
    c.out_quantization = quantization(c.out_type);
    bool planes = r_.once_in(3);  // channels apart, or adjacent
    uint32_t size = isa::data_bytes(c.out_type);
    c.out_channel = planes ? size * c.out_w * c.out_h : size;
    c.out_col = planes ? size : size * c.out_channels;
    c.out_row = c.out_col * c.out_w;
    c.out = 50000 + 2 * r_.below(100);
    c.w = 20000;
    bool packed = r_.once_in(2);
    c.w_n = packed ? 2 : 2 + 2 * r_.below(3), c.w_k = packed ? 32 : 2 + 2 * r_.below(4),
    c.w_block = 2 * r_.below(200);
    if (r_.once_in(2)) c.bias = 4 * r_.below(100) + r_.below(2);
    if (r_.once_in(2)) {
      c.residual = 34000 + 2 * r_.below(50);
      c.residual_row = 2 * r_.below(90), c.residual_col = 2 * r_.below(50);
    }
    c.epilogue = epilogue(c.out_type);
    if (r_.once_in(2)) integers(c);
    return c;
  }

  void integers(isa::Conv& c) {
    c.x_type = byte(), c.w_type = byte();
    c.x_zero = quantization(c.x_type).zero, c.w_zero = quantization(c.w_type).zero;
    c.residual = isa::kNoAddress, c.residual_row = c.residual_col = 0;
    c.scales = 4 * r_.below(100) + r_.below(2);
    if (r_.once_in(2)) c.w_n = 1, c.w_k = 16;
  }

  Instruction copy(bool ddr) {
    isa::Dma d;
    for (auto& n : d.dims) n = 1 + r_.below(3);
    d.run_bytes = 1 + r_.below(60);
    for (auto& s : d.src_strides) s = r_.between(-300, 300);
    for (auto& s : d.dst_strides)
      s = r_.once_in(3) ? static_cast<int64_t>(d.run_bytes) : r_.between(-300, 300);
    d.src = 38000, d.dst = 38000 + r_.below(300);
    d.dst_tiles = static_cast<uint8_t>(1 + r_.below(3));
    auto queue = Queue::DmaOut;
    d.src_space = isa::Space::Ocm;
    if (ddr) {
      queue = r_.once_in(2) ? Queue::DmaIn : Queue::DmaOut;
      bool in = queue == Queue::DmaIn;
      d.src_space = in ? isa::Space::Ddr : isa::Space::Ocm,
      d.dst_space = in ? isa::Space::Ocm : isa::Space::Ddr;
      (in ? d.src : d.dst) = kScratchAt + 4096;
      if (!in) d.dst_tiles = 0;
    }
    return {tile(), queue, {}, d};
  }

  uint8_t tile() { return static_cast<uint8_t>(r_.below(2)); }

 private:
  void dims(std::array<uint32_t, 5>& d) {
    for (auto& n : d) n = r_.once_in(2) ? 1 : 1 + r_.below(4);
    if (r_.once_in(4)) d[4] = 1 + r_.below(40);
  }
  isa::Operand operand(bool repeats) {
    isa::Operand o{34000 + 2 * r_.below(2000), any_type(), {}};
    o.quantization = quantization(o.type);
    for (auto& s : o.strides) s = repeats && r_.once_in(3) ? 0 : 2 * r_.between(-20, 20);
    if (r_.once_in(2)) o.strides[4] = static_cast<int32_t>(isa::data_bytes(o.type));
    if (r_.once_in(4)) o.strides[4] = 2 * r_.between(-2, 2);  // elements that overlap their neighbours
    return o;
  }
  template <class W>
  void window(W& w, uint32_t depth) {
    w.in_h = 1 + r_.below(6), w.in_w = 1 + r_.below(6);
    w.kernel_h = 1 + r_.below(3), w.kernel_w = 1 + r_.below(3);
    w.stride_h = 1 + r_.below(3), w.stride_w = 1 + r_.below(3);
    w.dilation_h = 1 + r_.below(2), w.dilation_w = 1 + r_.below(2);
    w.out_h = 1 + r_.below(4), w.out_w = 1 + r_.below(4);
    w.y0 = r_.between(-3, 2), w.x0 = r_.between(-3, 2);
    w.x_col = 2 * depth + (r_.once_in(2) ? 0 : 2 * r_.below(4));
    w.x_row = w.x_col * w.in_w + (r_.once_in(2) ? 0 : 2 * r_.below(8));
  }

  Random r_;
};

// The same bytes in the simulator's memory and in the documented machine.
struct Both {
  isa::Binary binary;
  target::Machine machine;
  Memory memory;
  documented::State state;
  Scratch scratch;

  Both() : binary(sim::binary({}, 2)), machine(make_machine()), memory(binary, machine) {
    state.tiles.resize(2);
    for (auto& t : state.tiles) t.ocm.resize(kOcm), t.sums.resize(size_t{machine.accumulator_pixels} * 16);
    state.ddr.resize(kScratchAt + kRange);
  }
  static target::Machine make_machine() {
    target::Machine m = sim::machine();
    m.ocm_bytes = kOcm;
    return m;
  }

  void fill(Random& r) {
    for (size_t t = 0; t < 2; ++t) {
      // fp32 where tables and biases lie, fp16 behind.
      for (uint32_t at = 0; at < 20000; at += 4) put(t, at, std::bit_cast<uint32_t>(r.number()), 4);
      for (uint32_t at = 20000; at < kOcm; at += 2) put(t, at, r.half(), 2);
    }
    for (uint32_t at = 0; at < 16384; ++at) {
      auto byte = static_cast<uint8_t>(r.below(256));
      state.ddr[kScratchAt + at] = byte;
      *memory.write_ddr(kScratchAt + at) = std::byte{byte};
    }
  }

  void run(const Instruction& i) {
    execute(i, memory, scratch);
    documented::execute(i, state);
  }

  bool same() {
    for (size_t t = 0; t < 2; ++t)
      if (std::memcmp(memory.ocm(static_cast<uint8_t>(t), 0), state.tiles[t].ocm.data(), kOcm) != 0)
        return false;
    return std::memcmp(memory.read_ddr(kScratchAt), state.ddr.data() + kScratchAt, 16384) == 0;
  }

 private:
  void put(size_t tile, uint32_t at, uint32_t bits, size_t size) {
    std::memcpy(state.tiles[tile].ocm.data() + at, &bits, size);
    std::memcpy(memory.ocm(static_cast<uint8_t>(tile), at), &bits, size);
  }
};

template <class Make>
void compare(uint32_t seed, int cases, Make make) {
  Instructions instructions(seed);
  Both both;
  for (int n = 0; n < cases; ++n) {
    if (n % 20 == 0) both.fill(instructions.random());
    for (const Instruction& i : make(instructions)) {
      both.run(i);
      INFO("case " << n << ": " << isa::to_text(i));
      REQUIRE(both.same());
    }
  }
}

using List = std::vector<Instruction>;

target::Machine any_machine(Random& r) {
  target::Machine m = machine();
  m.int8_macs = 128u << r.below(3), m.int8_depthwise_macs = 32u << r.below(3);
  m.fp16_macs = 64u << r.below(3), m.depthwise_macs = 16u << r.below(3),
  m.accumulator_pixels = 8 + r.below(30);
  m.weight_block_cycles = 1 + r.below(9), m.strided_weight_block_cycles = 5 + r.below(30);
  m.pe_lanes = 4 + r.below(30), m.pe_slow_factor = 1 + r.below(6);
  m.ocm_read_bytes = 20 + r.below(200), m.ocm_write_bytes = 10 + r.below(90),
  m.tile_link_bytes = 10 + r.below(90);
  m.ddr_bytes = 3 + r.below(60), m.ddr_latency = r.below(300), m.ddr_burst = 1 + r.below(200);
  m.instruction_overhead = r.below(30);
  if (r.once_in(2)) m.ddr_efficiency = 1 + r.below(100);
  if (r.once_in(2)) m.sync_latency = r.below(60);
  if (r.once_in(2)) m.accumulation_fill = r.below(100);
  if (r.once_in(2)) m.reduction_gap = r.below(200);
  if (r.once_in(2)) m.pixel_block = 1 + r.below(20);
  if (r.once_in(2)) m.queue_depth = 1 + r.below(6);
  if (r.once_in(2)) m.fetch_buffer = target::kLeastFetchBuffer + r.below(3000);
  return m;
}

// Waits name instructions that stand before.
std::vector<Instruction> any_program(Instructions& make, size_t size) {
  Random& r = make.random();
  std::map<std::pair<uint8_t, Queue>, uint32_t> count;
  std::vector<Instruction> program;
  while (program.size() < size) {
    Instruction i;
    switch (r.below(7)) {
      case 0:
        i = make.elementwise();
        break;
      case 1:
        i = make.reduce();
        break;
      case 2:
        i = make.pool();
        break;
      case 3: {
        isa::Conv c = make.conv();
        c.first = r.once_in(2), c.last = r.once_in(2);
        i = {make.tile(), Queue::Pod, {}, c};
        break;
      }
      case 4:
        i = {make.tile(), static_cast<Queue>(r.below(4)), {}, isa::Sync{}};
        break;
      default:
        i = make.copy(!r.once_in(3));
        break;
    }
    for (const auto& [key, n] : count)
      if (r.once_in(6) && i.waits.size() < isa::kMaxWaits)
        i.waits.push_back({key.first, key.second, r.once_in(5) ? 0 : 1 + r.below(n)});
    ++count[{i.tile, i.queue}];
    program.push_back(std::move(i));
  }
  return program;
}

}  // namespace

TEST_CASE("element-wise instructions are those of docs/isa.md") {
  compare(1, 3000, [](Instructions& make) { return List{make.elementwise()}; });
}

TEST_CASE("reductions are those of docs/isa.md") {
  compare(2, 3000, [](Instructions& make) { return List{make.reduce()}; });
}

TEST_CASE("pools are those of docs/isa.md") {
  compare(3, 2000, [](Instructions& make) { return List{make.pool()}; });
}

TEST_CASE("copies are those of docs/isa.md") {
  compare(4, 2000, [](Instructions& make) { return List{make.copy(true), make.copy(false)}; });
}

TEST_CASE("convolutions, whole and in parts, are those of docs/isa.md") {
  compare(5, 700, [](Instructions& make) {
    isa::Conv c = make.conv();
    c.first = c.last = true;
    return List{{make.tile(), Queue::Pod, {}, c}};
  });
  compare(6, 300, [](Instructions& make) {
    // The second part has weights and an input of its own, and agrees in pixels and channels.
    isa::Conv a = make.conv();
    a.first = true, a.last = false;
    isa::Conv b = a;
    if (b.of_integers()) b.x_zero = 5, b.w_zero = 7;
    b.first = false, b.last = true, b.w += 2 * make.random().below(50), b.x += 2 * make.random().below(50);
    uint8_t tile = make.tile();
    return List{{tile, Queue::Pod, {}, a}, {tile, Queue::Pod, {}, b}};
  });
}

TEST_CASE("times are those of docs/timing.md, on any machine") {
  Instructions make(7);
  for (int n = 0; n < 400; ++n) {
    target::Machine m = any_machine(make.random());
    auto program = any_program(make, 5 + make.random().below(120));
    const auto encoding = make.random().once_in(2) ? isa::Encoding::Plain : isa::Encoding::Compact;
    auto timing = time_program(program, m, Section::Main, encoding);
    REQUIRE(timing.ok());
    const auto sizes = isa::code_sizes(program, encoding);
    auto expected = documented::times(program, m, {sizes.begin(), sizes.end()});
    for (size_t i = 0; i < program.size(); ++i) {
      const Event& e = timing->events[i];
      INFO("program " << n << ", instruction " << i << ": " << isa::to_text(program[i]));
      CHECK(e.start == expected[i].start);
      CHECK(e.begin == expected[i].begin);
      CHECK(e.moved == expected[i].moved);
      REQUIRE(e.end == expected[i].end);
    }
    uint64_t at = 0;
    for (const PathStep& step : critical_path(timing->events, Section::Main)) {
      REQUIRE(step.begin == at);
      at = step.end;
    }
    CHECK(at == timing->cycles);
  }
}
