// The order of execution, memory accesses, copies.
#include "machine/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/support/hash.h"

namespace mrvlc::prove {

Machine::Machine(const Binary& b, Values& values, const Limits& limits, bool open)
    : b_(b),
      v_(values),
      limits_(limits),
      open_(open),
      memory_(b, values),
      races_(b.ocm_bytes, b.tiles),
      sums_(b.tiles),
      by_init_(b.tiles, std::vector<bool>(b.ocm_bytes, false)) {}

void Machine::run(const Stored& stored, Observer* observer) {
  observer_ = observer;
  for (uint32_t s = 0; s < 3; ++s) run_section(s, stored);
}

void Machine::run_section(uint32_t section, const Stored& stored) {
  section_ = section;
  stored_ = &stored;
  races_.begin_section();
  for (index_ = 0; index_ < b_.sections[section].size(); ++index_) {
    try {
      if (observer_ != nullptr && section == 1) observer_->before(index_);
      execute(b_.sections[section][index_]);
      if (observer_ != nullptr && section == 1) observer_->after(index_, memory_, v_);
    } catch (const Refusal& r) {
      throw Located{section, index_, r.text};
    }
  }
}

void Machine::execute(const Instruction& i) {
  space_ = 1u + i.tile;
  touched_.clear();
  races_.begin(i);
  switch (i.op) {
    case Opcode::Sync:
      break;
    case Opcode::Dma:
      dma(i);
      break;
    case Opcode::Conv:
    case Opcode::Depthwise:
      product(i);
      break;
    case Opcode::Elementwise:
      elementwise(i);
      break;
    case Opcode::Reduce:
      reduce(i);
      break;
    case Opcode::Pool:
      pool(i);
      break;
  }
  for (const Touch& t : touched_) {
    races_.touch(t);
    if (observer_ != nullptr && section_ == 1 && t.writes) observer_->written(t);
  }
  races_.end();
}

// Checked when it is noted, so before the access; neighbours are joined.
void Machine::touch(uint32_t space, uint64_t begin, uint64_t end, bool writes) {
  memory_.check(space, begin, end, writes);
  if (space == 0 && !writes && b_.weights.contains(begin, end)) return;  // nobody writes there
  if (section_ == 0 && space == 0) throw Refusal{"init touches DDR other than weights"};
  if (writes && space > 0) {
    std::vector<bool>& kept = by_init_[space - 1];
    for (uint64_t b = begin; b < end; ++b) {
      if (section_ == 0) kept[b] = true;
      if (section_ != 0 && kept[b])
        throw Refusal{fmt::format("it writes {:#x}, which init left for every inference", b)};
    }
  }
  if (!touched_.empty()) {
    Touch& t = touched_.back();
    if (t.space == space && t.writes == writes && begin >= t.begin && begin <= t.end) {
      t.end = std::max(t.end, end);
      return;
    }
  }
  touched_.push_back({space, writes, begin, end});
}

// What a product reads must not be written by it.
void Machine::check_overlap() const {
  std::vector<Touch> sorted = touched_;
  std::sort(sorted.begin(), sorted.end(), [](const Touch& a, const Touch& b) { return a.begin < b.begin; });
  uint64_t read_end = 0, write_end = 0;
  for (const Touch& t : sorted) {
    if (t.begin < (t.writes ? read_end : write_end)) throw Refusal{"its result overlaps what it reads"};
    uint64_t& end = t.writes ? write_end : read_end;
    end = std::max(end, t.end);
  }
}

void Machine::write(uint64_t at, Type type, Val v) {
  memory_.write(space_, at, type, v);
  (*stored_)(section_, index_, v);
}

void Machine::dma(const Instruction& i) {
  const uint64_t run = i.u32(68), src = i.u64(72), dst = i.u64(80);
  const uint32_t from = i.u8(64) == 0 ? 0 : space_;
  std::array<int64_t, 3> n{}, s{}, d{};
  uint64_t runs = 1;
  for (size_t k = 0; k < 3; ++k) {
    n[k] = i.u32(88 + 4 * k);
    s[k] = i.i64(104 + 8 * k);
    d[k] = i.i64(128 + 8 * k);
    if (n[k] == 0) throw Refusal{"a dimension of 0"};
    runs *= static_cast<uint64_t>(n[k]);
    if (runs * run > uint64_t{16} * std::max<uint64_t>(limits_.ocm_bytes, b_.ocm_bytes))
      throw Refusal{"a copy is larger than one can be"};
  }
  Memory::Bytes bytes;
  bytes.kinds.reserve(runs * run);
  bytes.values.reserve(runs * run);
  const auto each = [&](auto f) {
    for (int64_t a = 0; a < n[0]; ++a)
      for (int64_t b = 0; b < n[1]; ++b)
        for (int64_t c = 0; c < n[2]; ++c)
          f(src + static_cast<uint64_t>(a * s[0] + b * s[1] + c * s[2]),
            dst + static_cast<uint64_t>(a * d[0] + b * d[1] + c * d[2]));
  };
  each([&](uint64_t at, uint64_t) {
    touch(from, at, at + run, false);
    memory_.fetch(from, at, run, bytes);
  });
  for (uint32_t t = 0; t <= b_.tiles; ++t) {
    const bool there = t == 0 ? i.u8(65) == 0 : i.u8(65) == 1 && (i.u8(66) >> (t - 1) & 1u) != 0;
    if (!there) continue;
    uint64_t offset = 0;
    each([&](uint64_t, uint64_t at) {
      touch(t, at, at + run, true);
      memory_.put(t, at, bytes, offset, run);
      offset += run;
    });
  }
}

Machine::Operand Machine::operand(const Instruction& i, size_t at, size_t scale) const {
  Operand o;
  o.at = i.u32(at);
  o.type = static_cast<Type>(i.u8(at + 4));
  o.quantum = {i.i16(at + 6), i.f32(scale)};
  for (size_t d = 0; d < 5; ++d) o.strides[d] = i.i32(at + 8 + 4 * d);
  return o;
}

Machine::Epilogue Machine::epilogue(const Instruction& i, size_t at) {
  Epilogue e{i.u8(at), i.f32(at + 4), i.f32(at + 8), i.u32(at + 12), 0};
  if (e.activation < 6) return e;
  const uint64_t size = e.activation == 6 ? 16384 : 256;
  touch(e.table, e.table + size, false);
  const std::string bytes = memory_.known_bytes(space_, e.table, size);
  if (e.activation == 7) {
    e.table_id = v_.register_bytes(bytes);
    return e;
  }
  std::vector<float> lines(4096);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(lines.data()));
  auto known = v_.find_table(lines);
  if (!known && open_) {
    known = v_.register_table("table " + sha256_hex(bytes), lines, false);
    unknown_.push_back(
        {*known,
         {section_, index_, fmt::format("the table at {:#x} is that of no function of the model", e.table)}});
  }
  if (!known) throw Refusal{fmt::format("the table at {:#x} is that of no function of the model", e.table)};
  e.table_id = *known;
  return e;
}

Val Machine::finish(Val x, const Epilogue& e, Type type, Quantum quantum) {
  switch (e.activation) {
    case 1:
      x = v_.clip(x, 0, kInfinity, is_byte(type));
      break;
    case 2:
      x = v_.clip(x, e.alpha, e.beta, type != Type::F16);
      break;
    case 3:
      x = v_.leaky(x, e.alpha);
      break;
    case 4:
      x = v_.clip(v_.fma(number(e.alpha), x, number(e.beta)), 0, 1);
      break;
    case 5:
      x = v_.mul(x, v_.clip(v_.fma(number(e.alpha), x, number(e.beta)), 0, 1));
      break;
    case 6:
      x = v_.look_up(e.table_id, x);
      break;
    default:
      break;
  }
  if (type == Type::F16) return v_.half(x);
  if (type == Type::F32) return x;
  const Val q = v_.store(x, quantum, type);
  return e.activation == 7 ? v_.look_up_byte(e.table_id, q, type) : q;
}

Val Machine::read(const Operand& o, uint64_t at) {
  const Val v = memory_.read(space_, at, o.type);
  return is_byte(o.type) ? v_.read(v, o.quantum) : v;
}

// All elements of the operand; an innermost dimension without gaps is one run.
void Machine::touch_operand(const Operand& o, const std::array<uint32_t, 5>& dims, bool writes) {
  const int64_t size = size_of(o.type);
  const bool dense = o.strides[4] == size || dims[4] == 1;
  std::array<uint32_t, 5> at{};
  for (;;) {
    int64_t address = static_cast<int64_t>(o.at);
    for (size_t d = 0; d < 4; ++d) address += at[d] * o.strides[d];
    if (dense || o.strides[4] == 0) {
      const int64_t bytes = dense ? size * dims[4] : size;
      touch(static_cast<uint64_t>(address), static_cast<uint64_t>(address + bytes), writes);
    } else {
      for (uint32_t k = 0; k < dims[4]; ++k) {
        const auto b = static_cast<uint64_t>(address + k * o.strides[4]);
        touch(b, b + static_cast<uint64_t>(size), writes);
      }
    }
    size_t d = 4;
    while (d > 0) {
      --d;
      // A stride of 0 repeats the same bytes.
      if (o.strides[d] != 0 && ++at[d] < dims[d]) break;
      at[d] = 0;
      if (d == 0) return;
    }
    if (std::all_of(at.begin(), at.end(), [](uint32_t x) { return x == 0; })) return;
  }
}

}  // namespace mrvlc::prove
