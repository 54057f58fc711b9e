// WindowOp -> instructions. All tiles take the same steps: step i works on the i-th block of each tile, so
// that what two tiles need at the same time arrives in one multicast.
#include <algorithm>

#include "codegen.h"
#include "mrvlc/support/checked.h"
#include "window_plan.h"

namespace mrvlc::accel {
namespace {

struct Block {
  int64_t image = 0;
  Span rows, cols, units, k;
  bool first = true, last = true;  // chunk of the reduction
  bool empty() const { return rows.empty() || cols.empty() || units.empty(); }
};

// Input rows or columns that a block reads.
Span input_range(const WindowOp& op, Span outputs, bool rows) {
  int64_t lattice = rows ? op.lattice_h : op.lattice_w, stride = rows ? op.stride_h : op.stride_w;
  int64_t size = rows ? op.in_h : op.in_w;
  Span r{INT64_MAX, INT64_MIN};
  for (const WindowPhase& p : op.phases) {
    int64_t first = rows ? p.first_h : p.first_w, origin = rows ? p.y0 : p.x0;
    int64_t q0 = ceil_div(std::max<int64_t>(outputs.begin - first, 0), lattice);
    int64_t q1 = outputs.end <= first ? 0 : ceil_div(outputs.end - first, lattice);
    if (q1 <= q0) continue;
    int64_t span = ((rows ? p.kernel_h : p.kernel_w) - 1) * (rows ? op.dilation_h : op.dilation_w);
    r.begin = std::min(r.begin, origin + q0 * stride);
    r.end = std::max(r.end, origin + (q1 - 1) * stride + span + 1);
  }
  r.begin =
      std::clamp<int64_t>(r.begin, 0, size - 1);  // windows wholly in the padding: one row that nothing uses
  r.end = std::clamp<int64_t>(r.end, r.begin + 1, size);
  return r;
}

struct Addresses {
  uint32_t x = 0, w = 0, bias = isa::kNoAddress, residual = isa::kNoAddress, out = 0, table = isa::kNoAddress;
};

class WindowCodegen {
 public:
  WindowCodegen(const WindowOp& op, const WindowPlan& plan, const Program& program, Emitter& emitter)
      : op_(op), p_(plan), program_(program), e_(emitter), g_(op) {
    allocate();
  }

  std::string run() {
    if (op_.epilogue.activation == isa::Activation::Table)
      e_.load(static_cast<uint8_t>((1u << e_.tiles()) - 1), table_transfer(op_.epilogue), table_);
    std::vector<std::vector<Block>> blocks;
    size_t steps = 0;
    for (uint32_t t = 0; t < e_.tiles(); ++t) {
      blocks.push_back(blocks_of(t));
      steps = std::max(steps, blocks.back().size());
    }
    for (size_t i = 0; i < steps; ++i) {
      std::vector<Block> now;
      for (auto& list : blocks) now.push_back(i < list.size() ? list[i] : Block{});
      step(now);
    }
    return describe();
  }

 private:
  std::string describe() const {
    if (p_.row_parts > 1 && p_.channel_parts > 1)
      return "rows x " + std::to_string(p_.row_parts) + ", channels x " + std::to_string(p_.channel_parts);
    if (p_.channel_parts > 1) return "channels x " + std::to_string(p_.channel_parts);
    return p_.row_parts > 1 ? "rows x " + std::to_string(p_.row_parts) : "one tile";
  }

  void allocate() {
    bool has_table = op_.epilogue.activation == isa::Activation::Table;
    int64_t total = p_.x_bytes * p_.x_depth + p_.w_bytes * p_.w_depth + p_.bias_bytes * 2 +
                    (p_.out_bytes + p_.residual_bytes) * p_.out_depth + (has_table ? isa::kTableBytes : 0);
    uint32_t at = e_.reserve(total);
    auto advance = [&](int64_t bytes) {
      uint32_t here = at;
      at += static_cast<uint32_t>(bytes);
      return here;
    };
    w_ = {advance(p_.w_bytes * p_.w_depth), p_.w_bytes, p_.w_depth};
    bias_ = {advance(p_.bias_bytes * 2), p_.bias_bytes, 2};
    x_ = {advance(p_.x_bytes * p_.x_depth), p_.x_bytes, p_.x_depth};
    residual_ = {advance(p_.residual_bytes * p_.out_depth), p_.residual_bytes, p_.out_depth};
    out_ = {advance(p_.out_bytes * p_.out_depth), p_.out_bytes, p_.out_depth};
    if (has_table) table_ = advance(isa::kTableBytes);
  }

  std::vector<Block> blocks_of(uint32_t tile) const {
    std::vector<Block> out;
    if (tile >= p_.row_parts * p_.channel_parts) return out;
    Span rows = part_of(op_.batch() * op_.out_h, p_.row_parts, tile / p_.channel_parts, 1);
    Span units = part_of(g_.units, p_.channel_parts, tile % p_.channel_parts, 1);
    std::vector<Block> pixels = pixel_blocks(rows);
    auto chunks = [&](Block b, Span u) {
      b.units = u;
      for (int64_t k = 0; k < g_.all_channels; k += p_.k) {
        b.k = {k, std::min(g_.all_channels, k + p_.k)};
        b.first = k == 0;
        b.last = b.k.end == g_.all_channels;
        out.push_back(b);
      }
    };
    auto unit_span = [&](int64_t u) { return Span{u, std::min(units.end, u + p_.units)}; };
    if (p_.weights_outer) {
      for (int64_t u = units.begin; u < units.end; u += p_.units)
        for (const Block& b : pixels) chunks(b, unit_span(u));
    } else {
      for (const Block& b : pixels)
        for (int64_t u = units.begin; u < units.end; u += p_.units) chunks(b, unit_span(u));
    }
    return out;
  }

  std::vector<Block> pixel_blocks(Span rows) const {
    std::vector<Block> out;
    for (int64_t at = rows.begin; at < rows.end;) {
      int64_t image = at / op_.out_h, first = at % op_.out_h;
      int64_t n = std::min({p_.rows, op_.out_h - first, rows.end - at});
      for (int64_t c = 0; c < op_.out_w; c += p_.cols) {
        Block b;
        b.image = image;
        b.rows = {first, first + n};
        b.cols = {c, std::min(op_.out_w, c + p_.cols)};
        out.push_back(b);
      }
      at += n;
    }
    return out;
  }

  Span out_channels(const Block& b) const {
    return {b.units.begin * g_.unit_out, std::min(b.units.end * g_.unit_out, op_.out_channels())};
  }
  Span in_channels(const Block& b) const {
    if (g_.shared_input) return b.k;
    if (op_.kind != WindowOp::Kind::Conv)
      return {b.units.begin * 16, std::min(b.units.end * 16, op_.in_channels())};
    if (b.k.size() == g_.all_channels) return {b.units.begin * op_.group_in, b.units.end * op_.group_in};
    int64_t group = b.units.begin * op_.group_in;
    return {group + b.k.begin, group + b.k.end};
  }

  Packed pack_image(const WindowOp::Image& image, const Block& b, Span rows, Span cols, Span channels,
                    bool load) const {
    int64_t element = image.offsets[static_cast<size_t>(b.image)] + rows.begin * image.stride_h +
                      cols.begin * image.stride_w + channels.begin;
    int64_t strides[] = {image.stride_h, image.stride_w, 1};
    int64_t extents[] = {rows.size(), cols.size(), channels.size()};
    return pack_box(program_.buffers[image.buffer].ddr + element * 2, strides, extents, 2, load);
  }
  Packed pack_x(const Block& b) const {
    return pack_image(op_.x, b, input_range(op_, b.rows, true), input_range(op_, b.cols, false),
                      in_channels(b), true);
  }
  Packed pack_w(const Block& b) const {  // computed weights
    int64_t element = op_.w.offsets[static_cast<size_t>(b.image)] + b.k.begin * op_.w.stride_h +
                      b.units.begin * 16 * op_.w.stride_w;
    int64_t strides[] = {op_.w.stride_h, op_.w.stride_w};
    int64_t extents[] = {b.k.size(), out_channels(b).size()};
    return pack_box(program_.buffers[op_.w.buffer].ddr + element * 2, strides, extents, 2, false);
  }

  // Bytes of one 16-channel weight block of a phase, for the channels of the block.
  static int64_t block_bytes(const WindowPhase& ph, int64_t k) { return ph.kernel_h * ph.kernel_w * k * 32; }

  std::vector<Transfer> weight_transfers(const Block& b) const {
    if (op_.kind == WindowOp::Kind::Pool) return {};
    if (op_.dynamic_weights) return {pack_w(b).transfer};
    std::vector<Transfer> list;
    int64_t at = 0;
    for (const WindowPhase& ph : op_.phases) {
      int64_t taps = ph.kernel_h * ph.kernel_w;
      Transfer t;
      t.ocm = at;
      t.ddr = program_.buffers[kWeights].ddr + ph.weights;
      if (op_.kind == WindowOp::Kind::Depthwise) {
        Span c = in_channels(b);
        t.ddr += c.begin * 2;
        t.run = c.size() * 2;
        t.levels = {{op_.group_out * taps, op_.groups * 2, t.run}};
      } else {
        int64_t blocks = b.units.size() * g_.unit_blocks;
        t.ddr += b.units.begin * g_.unit_blocks * block_bytes(ph, g_.all_channels) + b.k.begin * 32;
        t.run = b.k.size() * 32;
        if (b.k.size() == g_.all_channels) {
          t.run = blocks * block_bytes(ph, g_.all_channels);
        } else {
          t.levels = {{blocks, block_bytes(ph, g_.all_channels), block_bytes(ph, b.k.size())},
                      {taps, g_.all_channels * 32, t.run}};
        }
      }
      at += t.bytes();
      list.push_back(t);
    }
    return list;
  }

  std::vector<Transfer> bias_transfer(const Block& b) const {
    Transfer t;
    t.ddr = program_.buffers[kWeights].ddr + op_.bias;
    if (op_.kind == WindowOp::Kind::Depthwise) {
      Span c = in_channels(b);
      t.ddr += c.begin * 4;
      t.run = c.size() * 4;
      t.levels = {{op_.group_out, op_.groups * 4, t.run}};
    } else {
      Span c = out_channels(b);
      t.ddr += c.begin * 4;
      t.run = c.size() * 4;
    }
    return {t};
  }

  template <class F>
  uint32_t fetch(InputSlot& slot, const std::vector<Block>& blocks, F transfers) {
    std::vector<std::vector<Transfer>> wanted(blocks.size());
    for (size_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty()) wanted[t] = transfers(blocks[t]);
    return slot.fetch(e_, std::move(wanted));
  }

  void step(const std::vector<Block>& blocks) {
    Addresses a;
    a.table = table_;
    if (op_.kind != WindowOp::Kind::Pool)
      a.w = fetch(w_, blocks, [&](const Block& b) { return weight_transfers(b); });
    if (op_.bias >= 0) a.bias = fetch(bias_, blocks, [&](const Block& b) { return bias_transfer(b); });
    a.x = fetch(x_, blocks, [&](const Block& b) { return std::vector<Transfer>{pack_x(b).transfer}; });
    bool last = std::ranges::any_of(blocks, [](const Block& b) { return !b.empty() && b.last; });
    if (op_.has_residual && last)
      a.residual = fetch(residual_, blocks, [&](const Block& b) {
        return std::vector<Transfer>{
            pack_image(op_.residual, b, b.rows, b.cols, out_channels(b), true).transfer};
      });
    if (last) a.out = out_.next();
    for (size_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty()) compute(static_cast<uint32_t>(t), blocks[t], a);
    for (size_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty() && blocks[t].last)
        e_.store(
            static_cast<uint32_t>(t),
            pack_image(op_.out, blocks[t], blocks[t].rows, blocks[t].cols, out_channels(blocks[t]), false)
                .transfer,
            a.out);
  }

  void compute(uint32_t tile, const Block& b, const Addresses& a) {
    int64_t weights_at = 0;
    for (const WindowPhase& ph : op_.phases) {
      pieces(tile, b, a, ph, weights_at);
      if (op_.kind == WindowOp::Kind::Depthwise)
        weights_at += ph.kernel_h * ph.kernel_w * op_.group_out * in_channels(b).size() * 2;
      if (op_.kind == WindowOp::Kind::Conv)
        weights_at += b.units.size() * g_.unit_blocks * block_bytes(ph, b.k.size());
    }
  }

  // The outputs of a phase within the block, in pieces that the accumulators hold.
  void pieces(uint32_t tile, const Block& b, const Addresses& a, const WindowPhase& ph, int64_t weights_at) {
    auto range = [](Span s, int64_t first, int64_t lattice) {
      return Span{ceil_div(std::max<int64_t>(s.begin - first, 0), lattice),
                  s.end <= first ? 0 : ceil_div(s.end - first, lattice)};
    };
    Span qh = range(b.rows, ph.first_h, op_.lattice_h), qw = range(b.cols, ph.first_w, op_.lattice_w);
    if (qh.empty() || qw.empty()) return;
    // Half the accumulators: one block of channels drains while the next is computed.
    int64_t limit = e_.machine().accumulator_pixels / (b.k.size() == g_.all_channels ? 2 : 1);
    int64_t cols = std::min(qw.size(), limit), rows = std::max<int64_t>(1, limit / cols);
    rows = ceil_div(qh.size(), ceil_div(qh.size(), rows));  // even pieces
    for (int64_t y = qh.begin; y < qh.end; y += rows)
      for (int64_t x = qw.begin; x < qw.end; x += cols)
        piece(tile, b, a, ph, weights_at, {y, std::min(qh.end, y + rows)}, {x, std::min(qw.end, x + cols)});
  }

  // Fields common to POD and PE instructions.
  template <class I>
  void window_fields(I& i, const Block& b, const WindowPhase& ph, Span y, Span x, const Packed& in,
                     const Packed& out) const {
    Span in_rows = input_range(op_, b.rows, true), in_cols = input_range(op_, b.cols, false);
    auto u = [](int64_t v) { return static_cast<uint32_t>(v); };
    i.x_row = u(in.strides[0]);
    i.x_col = u(in.strides[1]);
    i.in_h = u(in_rows.size());
    i.in_w = u(in_cols.size());
    i.y0 = static_cast<int32_t>(ph.y0 + y.begin * op_.stride_h - in_rows.begin);
    i.x0 = static_cast<int32_t>(ph.x0 + x.begin * op_.stride_w - in_cols.begin);
    i.kernel_h = u(ph.kernel_h);
    i.kernel_w = u(ph.kernel_w);
    i.stride_h = u(op_.stride_h);
    i.stride_w = u(op_.stride_w);
    i.dilation_h = u(op_.dilation_h);
    i.dilation_w = u(op_.dilation_w);
    i.out_h = u(y.size());
    i.out_w = u(x.size());
    i.out += u((ph.first_h + y.begin * op_.lattice_h - b.rows.begin) * out.strides[0] +
               (ph.first_w + x.begin * op_.lattice_w - b.cols.begin) * out.strides[1]);
    i.out_row = u(op_.lattice_h * out.strides[0]);
    i.out_col = u(op_.lattice_w * out.strides[1]);
  }

  void piece(uint32_t tile, const Block& b, const Addresses& a, const WindowPhase& ph, int64_t weights_at,
             Span y, Span x) {
    Packed in = pack_x(b), out = pack_image(op_.out, b, b.rows, b.cols, out_channels(b), false);
    if (op_.kind == WindowOp::Kind::Pool) {
      isa::Pool i;
      i.op = op_.pool;
      i.alpha = op_.pool_alpha;
      i.x = a.x;
      i.out = a.out;
      i.channels = static_cast<uint32_t>(in_channels(b).size());
      i.epilogue = epilogue_at(op_.epilogue, a.table);
      window_fields(i, b, ph, y, x, in, out);
      e_.emit(tile, isa::Queue::Pe, i);
      return;
    }
    isa::Conv i;
    i.x = a.x;
    i.out = a.out;
    i.first = b.first;
    i.last = b.last;
    i.bias = b.last ? a.bias : isa::kNoAddress;
    i.epilogue = epilogue_at(op_.epilogue, a.table);
    i.w = a.w + static_cast<uint32_t>(weights_at);
    window_fields(i, b, ph, y, x, in, out);
    if (op_.has_residual && b.last) {
      i.residual = a.residual + static_cast<uint32_t>(i.out - a.out);  // same box, same layout
      i.residual_row = i.out_row;
      i.residual_col = i.out_col;
      Packed res = pack_image(op_.residual, b, b.rows, b.cols, out_channels(b), true);
      if (res.strides != out.strides) place_residual(i, b, ph, y, x, a, res);
    }
    if (op_.kind == WindowOp::Kind::Depthwise) {
      depthwise(tile, b, ph, i);
    } else {
      groups(tile, b, ph, i);
    }
  }

  void place_residual(isa::Conv& i, const Block& b, const WindowPhase& ph, Span y, Span x, const Addresses& a,
                      const Packed& res) const {
    i.residual = a.residual + static_cast<uint32_t>(
                                  (ph.first_h + y.begin * op_.lattice_h - b.rows.begin) * res.strides[0] +
                                  (ph.first_w + x.begin * op_.lattice_w - b.cols.begin) * res.strides[1]);
    i.residual_row = static_cast<uint32_t>(op_.lattice_h * res.strides[0]);
    i.residual_col = static_cast<uint32_t>(op_.lattice_w * res.strides[1]);
  }

  void depthwise(uint32_t tile, const Block& b, const WindowPhase& ph, isa::Conv i) {
    auto channels = static_cast<uint32_t>(in_channels(b).size());
    auto multiplier = static_cast<uint32_t>(op_.group_out);
    auto taps = static_cast<uint32_t>(ph.kernel_h * ph.kernel_w);
    i.depthwise = true;
    i.out_channels = channels;
    i.w_k = channels * 2;
    i.w_n = 2;
    i.out_channel = 2 * multiplier;
    for (uint32_t j = 0; j < multiplier; ++j) {
      e_.emit(tile, isa::Queue::Pod, i);
      i.out += 2;
      i.w += taps * channels * 2;
      if (i.bias != isa::kNoAddress) i.bias += channels * 4;
    }
  }

  void groups(uint32_t tile, const Block& b, const WindowPhase& ph, isa::Conv i) {
    i.channels = static_cast<uint32_t>(b.k.size());
    i.w_block = static_cast<uint32_t>(block_bytes(ph, b.k.size()));
    if (op_.dynamic_weights) {
      Packed w = pack_w(b);
      i.w_k = static_cast<uint32_t>(w.strides[0]);
      i.w_n = static_cast<uint32_t>(w.strides[1]);
      i.w_block = 16 * i.w_n;
    }
    if (op_.groups == 1) {
      i.out_channels = static_cast<uint32_t>(out_channels(b).size());
      e_.emit(tile, isa::Queue::Pod, i);
      return;
    }
    i.out_channels = static_cast<uint32_t>(op_.group_out);
    bool split = b.k.size() != g_.all_channels;
    for (int64_t u = b.units.begin; u < b.units.end; ++u) {
      e_.emit(tile, isa::Queue::Pod, i);
      if (split) return;  // a split reduction works on one group at a time
      i.x += static_cast<uint32_t>(op_.group_in * 2);
      i.w += static_cast<uint32_t>(g_.unit_blocks * block_bytes(ph, b.k.size()));
      i.out += static_cast<uint32_t>(op_.group_out * 2);
      if (i.bias != isa::kNoAddress) i.bias += static_cast<uint32_t>(op_.group_out * 4);
      if (i.residual != isa::kNoAddress) i.residual += static_cast<uint32_t>(op_.group_out * 2);
    }
  }

  const WindowOp& op_;
  const WindowPlan& p_;
  const Program& program_;
  Emitter& e_;
  WindowGeometry g_;
  InputSlot w_, bias_, x_, residual_;
  OutputSlot out_;
  uint32_t table_ = isa::kNoAddress;
};

}  // namespace

Result<std::string> generate(const WindowOp& op, const Program& program, Emitter& emitter) {
  emitter.set_owner(op.owner);
  std::optional<WindowPlan> plan = plan_window(op, emitter.machine(), emitter.tiles());
  if (!plan) return make_diag<DiagCode::MRV0501>(emitter.machine().ocm_bytes);
  return WindowCodegen(op, *plan, program, emitter).run();
}

}  // namespace mrvlc::accel
