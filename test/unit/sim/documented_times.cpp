// When instructions run, from docs/timing.md alone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "documented.h"

namespace mrvlc::documented {
namespace {

uint64_t up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

uint64_t channel_cycles(uint64_t bytes, const target::Machine& m) {
  return up(100 * bytes, uint64_t{m.ddr_bytes} * m.ddr_efficiency);
}

struct Needs {
  uint64_t cycles = 0, read = 0, written = 0, ddr = 0;
  bool copy = false;
};

uint64_t operand_bytes(const isa::Operand& o, const std::array<uint32_t, 5>& dims) {
  size_t inner = 5;  // dimensions from here on repeat
  while (inner > 0 && (o.strides[inner - 1] == 0 || dims[inner - 1] == 1)) --inner;
  uint64_t n = size_of(o.type);
  for (size_t k = 0; k < inner; ++k) n *= dims[k];
  return n;
}

uint64_t all(const std::array<uint32_t, 5>& d) {
  return uint64_t{d[0]} * d[1] * d[2] * d[3] * d[4];
}

uint64_t table(const isa::Epilogue& e) {
  if (e.activation == isa::Activation::Bytes) return 256;
  return e.activation == isa::Activation::Table ? 16384 : 0;
}

Needs needs(const isa::Conv& c, const target::Machine& m) {
  Needs n;
  uint64_t pixels = uint64_t{c.out_h} * c.out_w, blocks = up(c.out_channels, 16),
           taps = uint64_t{c.kernel_h} * c.kernel_w;
  const uint64_t counted = m.pixel_block * up(pixels, m.pixel_block);
  uint64_t compute = 0, drain = up(counted * 16, m.pe_lanes);
  const uint64_t size = size_of(c.x_type), depth = integers(c.x_type) ? 32 : 16;
  if (c.depthwise) {
    compute = up(counted * 16 * taps, integers(c.x_type) ? m.int8_depthwise_macs : m.depthwise_macs);
    uint64_t columns =
        std::min<uint64_t>(uint64_t{c.out_w - 1} * c.stride_w + uint64_t{c.kernel_w - 1} * c.dilation_w + 1,
                           uint64_t{c.out_w} * c.kernel_w);
    n.read = size * c.out_channels * c.kernel_h * c.out_h * columns + size * taps * c.out_channels;
  } else {
    bool joined = c.kernel_w == 1 || (c.dilation_w == 1 && c.x_col == size * c.channels);
    uint64_t row = joined ? up(uint64_t{c.kernel_w} * c.channels, depth) : c.kernel_w * up(c.channels, depth);
    uint64_t weights =
        c.w_n == size && c.w_k == 16 * size ? m.weight_block_cycles : m.strided_weight_block_cycles;
    const uint64_t macs = integers(c.x_type) ? m.int8_macs : m.fp16_macs;
    const uint64_t step = std::max<uint64_t>(up(counted * depth * 16, macs), weights);
    // Every block but the last is followed by one that needs its sums.
    for (uint64_t left = c.kernel_h * row; left > 0; --left)
      compute += left == 1 || step > m.reduction_gap ? step : m.reduction_gap;
    uint64_t k = taps * c.channels;
    n.read = blocks * size * pixels * k + size * k * c.out_channels;
  }
  n.cycles = m.accumulation_fill + blocks * compute;
  if (!c.last) return n;
  n.cycles = m.accumulation_fill + (2 * counted <= m.accumulator_pixels
                                        ? compute + (blocks - 1) * std::max(compute, drain) + drain
                                        : blocks * (compute + drain));
  if (c.bias != isa::kNoAddress) n.read += 4 * uint64_t{c.out_channels};
  if (c.residual != isa::kNoAddress) n.read += 2 * pixels * c.out_channels;
  if (integers(c.x_type)) n.read += 4 * uint64_t{c.out_channels};
  n.read += table(c.epilogue);
  n.written = pixels * c.out_channels * size_of(c.out_type);
  return n;
}

uint64_t bursts(const isa::Dma& d, const std::array<int64_t, 3>& strides, uint64_t burst) {
  uint64_t run = d.run_bytes, count = 1;
  bool gap = false;
  for (size_t k = 3; k-- > 0;) {
    if (d.dims[k] == 1) continue;
    gap = gap || strides[k] != static_cast<int64_t>(run);
    (gap ? count : run) *= d.dims[k];
  }
  return count * up(run, burst) * burst;
}

Needs needs(const isa::Instruction& i, const target::Machine& m) {
  Needs n;
  if (const auto* c = std::get_if<isa::Conv>(&i.body)) return needs(*c, m);
  if (const auto* e = std::get_if<isa::Elementwise>(&i.body)) {
    auto op = static_cast<int>(e->op);
    n.cycles = up(all(e->dims), m.pe_lanes) * (op == 5 || op == 11 || op == 12 ? m.pe_slow_factor : 1);
    if (operands_of(e->op) > 0) n.read += operand_bytes(e->a, e->dims);
    if (operands_of(e->op) > 1) n.read += operand_bytes(e->b, e->dims);
    n.read += table(e->epilogue);
    n.written = all(e->dims) * size_of(e->dst.type);
  }
  if (const auto* r = std::get_if<isa::Reduce>(&i.body)) {
    n.cycles = up(all(r->dims), m.pe_lanes);
    n.read = operand_bytes(r->a, r->dims) + table(r->epilogue);
    n.written = size_of(r->dst.type);
    for (size_t k = 0; k < 5; ++k)
      if (r->dst.strides[k] != 0) n.written *= r->dims[k];
  }
  if (const auto* p = std::get_if<isa::Pool>(&i.body)) {
    uint64_t outputs = uint64_t{p->out_h} * p->out_w * p->channels,
             visits = outputs * p->kernel_h * p->kernel_w;
    n.cycles = up(visits, m.pe_lanes);
    n.read = size_of(p->x_type) * visits + table(p->epilogue);
    n.written = size_of(p->out_type) * outputs;
  }
  if (const auto* d = std::get_if<isa::Dma>(&i.body)) {
    uint64_t bytes = uint64_t{d->dims[0]} * d->dims[1] * d->dims[2] * d->run_bytes;
    if (d->src_space == isa::Space::Ddr) n.ddr = bursts(*d, d->src_strides, m.ddr_burst);
    if (d->dst_space == isa::Space::Ddr) n.ddr = bursts(*d, d->dst_strides, m.ddr_burst);
    if (d->src_space == isa::Space::Ocm) n.read = bytes;
    if (d->dst_space == isa::Space::Ocm) n.written = bytes;
    n.cycles = n.ddr > 0 ? channel_cycles(n.ddr, m) : up(bytes, m.tile_link_bytes);
  }
  return n;
}

// What is given away of a path: from each key on, until the next.
class Path {
 public:
  explicit Path(double rate) : rate_(rate) {}

  uint64_t pass(uint64_t begin, uint64_t bytes, uint64_t cycles) {
    if (bytes == 0) return begin;
    double wanted =
        std::min(rate_, static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(cycles, 1)));
    double left = static_cast<double>(bytes);
    cut(static_cast<double>(begin));
    for (auto step = used_.find(static_cast<double>(begin));; ++step) {
      double take = std::min(wanted, rate_ - step->second);
      if (take <= 1e-9) continue;
      auto next = std::next(step);
      double end = step->first + left / take;
      if (end <= step->first) return static_cast<uint64_t>(std::ceil(step->first));
      if (next == used_.end() || end <= next->first) {
        cut(end);
        step->second += take;
        return static_cast<uint64_t>(std::ceil(end - 1e-9 * std::max(1.0, end)));
      }
      left -= take * (next->first - step->first);
      step->second += take;
      if (left <= 1e-9) return static_cast<uint64_t>(std::ceil(next->first));
    }
  }

 private:
  void cut(double at) {
    auto after = used_.upper_bound(at);
    used_.try_emplace(at, std::prev(after)->second);
  }
  double rate_;
  std::map<double, double> used_ = {{0, 0}};
};

// "Fetch" of docs/timing.md: nothing is known of a time until everything it depends on is.
class Code {
 public:
  Code(const std::vector<isa::Instruction>& program, const target::Machine& m,
       const std::vector<uint64_t>& bytes)
      : m_(m), handed_(program.size()) {
    std::map<std::pair<int, int>, std::vector<size_t>> queues;
    for (size_t i = 0; i < program.size(); ++i) {
      begins_.push_back(i == 0 ? 0 : begins_[i - 1] + bytes[i - 1]);
      auto& queue = queues[{program[i].tile, static_cast<int>(program[i].queue)}];
      if (m.queue_depth > 0 && queue.size() >= m.queue_depth) room_[i] = queue[queue.size() - m.queue_depth];
      queue.push_back(i);
    }
    total_ = program.empty() ? 0 : begins_.back() + bytes.back();
  }

  std::optional<uint64_t> handed(size_t i) const { return handed_[i]; }

  // Whatever is known now that these instructions have started.
  void look(const std::vector<std::optional<uint64_t>>& starts) {
    for (size_t i = 0; i < handed_.size(); ++i) {
      if (handed_[i]) continue;
      uint64_t time = i == 0 ? 0 : *handed_[i - 1];
      if (m_.fetch_buffer > 0) {
        const uint64_t end = i + 1 < begins_.size() ? begins_[i + 1] : total_;
        const uint64_t piece = up(end, m_.fetch_buffer / 4) - 1;
        if (piece >= there_.size()) return;
        time = std::max(time, there_[piece]);
      }
      if (room_.contains(i)) {
        if (!starts[room_.at(i)]) return;
        time = std::max(time, *starts[room_.at(i)]);
      }
      handed_[i] = time;
    }
  }

  // When the next piece is asked for, if that is known.
  std::optional<uint64_t> asks() const {
    const uint64_t begin = there_.size() * (m_.fetch_buffer / 4);
    if (m_.fetch_buffer == 0 || begin >= total_) return {};
    // All instructions with a byte below what the buffer holds from now on must have left.
    uint64_t time = asked_;
    for (size_t i = 0; i < begins_.size() && begins_[i] + m_.fetch_buffer < begin + size(); ++i) {
      if (!handed_[i]) return {};
      time = std::max(time, *handed_[i]);
    }
    return time;
  }

  uint64_t size() const {
    return std::min<uint64_t>(m_.fetch_buffer / 4, total_ - there_.size() * (m_.fetch_buffer / 4));
  }

  // Takes the channel; when that is free again.
  uint64_t read(uint64_t asked, uint64_t channel) {
    asked_ = asked;
    channel = std::max(channel, asked) + channel_cycles(up(size(), m_.ddr_burst) * m_.ddr_burst, m_);
    there_.push_back(channel + m_.ddr_latency);
    return channel;
  }

 private:
  const target::Machine& m_;
  std::vector<uint64_t> begins_;
  uint64_t total_ = 0, asked_ = 0;
  std::map<size_t, size_t> room_;
  std::vector<std::optional<uint64_t>> handed_;
  std::vector<uint64_t> there_;  // pieces
};

}  // namespace

std::vector<Times> times(const std::vector<isa::Instruction>& program, const target::Machine& m,
                         const std::vector<uint64_t>& bytes) {
  struct Engine {
    std::vector<size_t> list;
    size_t next = 0;
    uint64_t free = 0, last_end = 0;
  };
  std::map<std::pair<int, int>, Engine> engines;  // by tile, queue
  for (size_t i = 0; i < program.size(); ++i)
    engines[{program[i].tile, static_cast<int>(program[i].queue)}].list.push_back(i);
  std::vector<Path> reads(8, Path(m.ocm_read_bytes)), writes(8, Path(m.ocm_write_bytes)),
      links(8, Path(m.tile_link_bytes));
  uint64_t channel = 0;
  std::vector<Times> out(program.size());
  Code code(program, m, bytes);
  std::vector<std::optional<uint64_t>> starts(program.size());
  for (size_t done = 0; done < program.size();) {
    code.look(starts);
    Engine* chosen = nullptr;
    uint64_t earliest = std::numeric_limits<uint64_t>::max();
    for (auto& [key, e] : engines) {
      if (e.next == e.list.size()) continue;
      const std::optional<uint64_t> handed = code.handed(e.list[e.next]);
      bool known = handed.has_value();
      uint64_t start = std::max(e.free, handed.value_or(0));
      for (const isa::Wait& w : program[e.list[e.next]].waits) {
        if (w.count == 0) continue;
        const Engine& other = engines.at({w.tile, static_cast<int>(w.queue)});
        known = known && other.next >= w.count;
        if (known)
          start = std::max(start, out[other.list[w.count - 1]].end + (&other == &e ? 0 : m.sync_latency));
      }
      if (known && start < earliest)
        earliest = start, chosen = &e;  // ascending keys: the lower tile, then queue
    }
    if (const auto asks = code.asks(); asks && *asks <= earliest) {
      channel = code.read(*asks, channel);
      continue;
    }
    ++done;
    size_t number = chosen->list[chosen->next++];
    starts[number] = earliest;
    const isa::Instruction& i = program[number];
    Needs n = needs(i, m);
    Times& t = out[number];
    t.start = t.begin = earliest;
    bool dma = i.queue == isa::Queue::DmaIn || i.queue == isa::Queue::DmaOut;
    if (n.ddr > 0) {
      t.begin = std::max(t.begin, channel);
      channel = t.begin + n.cycles;
    }
    t.moved = std::max(t.begin + n.cycles, reads[i.tile].pass(t.begin, n.read, n.cycles));
    if (const auto* d = std::get_if<isa::Dma>(&i.body)) {
      for (size_t k = 0; k < 8; ++k) {
        if (d->dst_space != isa::Space::Ocm || (d->dst_tiles >> k & 1) == 0) continue;
        t.moved = std::max(t.moved, links[k].pass(t.begin, n.written, n.cycles));
        t.moved = std::max(t.moved, writes[k].pass(t.begin, n.written, n.cycles));
      }
    } else {
      t.moved = std::max(t.moved, writes[i.tile].pass(t.begin, n.written, n.cycles));
    }
    t.end = std::max(chosen->last_end, t.moved + m.instruction_overhead + (n.ddr > 0 ? m.ddr_latency : 0));
    chosen->last_end = t.end;
    chosen->free = dma ? t.moved : t.end;
  }
  return out;
}

}  // namespace mrvlc::documented
