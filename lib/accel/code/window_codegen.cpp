// WindowOp -> instructions. All tiles take the same steps: step i works on the i-th block of each tile, so
// that what two tiles need at the same time arrives in one multicast.
#include <algorithm>

#include "code/codegen.h"
#include "mrvlc/support/checked.h"
#include "plan/window_plan.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

struct Block {
  int64_t image = 0;
  Span rows, cols, units, k;
  Span x_rows, x_cols;             // of the input, that rows and cols read
  int64_t tap = -1;                // of a split reduction; else all
  bool first = true, last = true;  // part of the reduction
  bool empty() const { return rows.empty() || cols.empty() || units.empty(); }
};

// Where an operand of a tile's block begins: an item, the offset in it, and the strides of rows and columns
// in bytes.
struct Place {
  uint32_t item = kNoItem;
  int64_t at = 0, row = 0, col = 0;
};

// Of one step, for all tiles: offsets in the slots of streamed operands.
struct Offsets {
  int64_t w = 0, x = 0, dynamic_w = 0, residual = 0, out = 0;
  uint32_t w_item = kNoItem;
};

class WindowCodegen {
 public:
  WindowCodegen(const WindowOp& op, const WindowPlan& plan, const Streams& streams, CodegenContext& context)
      : op_(op),
        p_(plan),
        s_(streams),
        c_(context),
        writer_(context.writer),
        cut_(context.cuts[context.primitive]),
        g_(op) {
    allocate();
    bool one_stripe = tile_rows(op_, cut_, 0).size() * op_.out_w * 2 <= writer_.machine().accumulator_pixels;
    waited_for_ = !s_.out && p_.weights_once && one_stripe && shared_out();
  }

  Status run() {
    if (least_steps() > kMostInstructions / cut_.parts()) return too_many_instructions();
    if (op_.epilogue.activation == isa::Activation::Table)
      table_ = c_.tables.item(op_.epilogue.table, c_.primitive, writer_);
    // Tiles with less to do stand still now and then, so that all take the same step.
    for (uint32_t t = 0; t < writer_.tiles(); ++t) {
      pixel_steps_ = std::max(pixel_steps_, pixel_blocks(tile_rows(op_, cut_, t)).size());
      unit_steps_ = std::max(unit_steps_, unit_parts(tile_units(g_, cut_, t)).size());
    }
    std::vector<std::vector<Block>> blocks;
    size_t steps = 0;
    for (uint32_t t = 0; t < writer_.tiles(); ++t) {
      blocks.push_back(blocks_of(t));
      steps = std::max(steps, blocks.back().size());
    }
    for (size_t i = 0; i < steps; ++i) {
      std::vector<Block> now;
      for (auto& list : blocks) now.push_back(i < list.size() ? list[i] : Block{});
      step(now);
    }
    return {};
  }

 private:
  void allocate() {
    Item item;
    item.bytes = p_.workspace();
    uint32_t slots = item.bytes > 0 ? writer_.add_item(std::move(item)) : kNoItem;
    int64_t at = 0;
    auto slot = [&](int64_t bytes, uint32_t depth) {
      InputSlot s(slots, at, bytes, depth);
      at += bytes * depth;
      return s;
    };
    if (op_.dynamic_weights) dynamic_ = slot(p_.w_bytes, p_.w_depth);
    if (!p_.weights_once) w_ = slot(p_.bias_bytes + (op_.dynamic_weights ? 0 : p_.w_bytes), p_.w_depth);
    x_ = slot(p_.x_bytes, p_.x_depth);
    residual_ = slot(p_.residual_bytes, p_.out_depth);
    out_ = {slots, at, p_.out_bytes, p_.out_depth};
  }

  // Of the tile with most to do; each has an instruction at least.
  int64_t least_steps() const {
    int64_t rows = tile_rows(op_, cut_, 0).size(), units = tile_units(g_, cut_, 0).size();
    int64_t pixels = ceil_div(rows, p_.rows) * ceil_div(op_.out_w, p_.cols);
    int64_t sums = ceil_div(g_.all_channels, p_.k) * (p_.split ? g_.taps : 1);
    int64_t most = kMostInstructions + 1;
    return std::min(
        most, std::min(most, pixels) * std::min(most, ceil_div(units, p_.units)) * std::min(most, sums));
  }

  std::vector<Block> blocks_of(uint32_t tile) const {
    std::vector<Block> out;
    Span rows = tile_rows(op_, cut_, tile), units = tile_units(g_, cut_, tile);
    if (rows.empty() || units.empty()) return out;
    std::vector<Block> pixels = pixel_blocks(rows);
    pixels.resize(pixel_steps_);
    auto chunks = [&](Block b, Span u) {
      b.units = u;
      int64_t taps = p_.split ? g_.taps : 1;
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t k = 0; k < g_.all_channels; k += p_.k) {
          b.k = {k, std::min(g_.all_channels, k + p_.k)};
          b.tap = p_.split ? tap : -1;
          b.first = tap == 0 && k == 0;
          b.last = tap + 1 == taps && b.k.end == g_.all_channels;
          out.push_back(b);
        }
    };
    std::vector<Span> parts = unit_parts(units);
    parts.resize(unit_steps_);
    if (p_.weights_outer) {
      for (Span u : parts)
        for (const Block& b : pixels) chunks(b, u);
    } else {
      for (const Block& b : pixels)
        for (Span u : parts) chunks(b, u);
    }
    return out;
  }

  // The last part is small when others wait for it: what comes before it is on its way by then.
  std::vector<Span> unit_parts(Span units) const {
    std::vector<Span> parts;
    for (int64_t u = units.begin; u < units.end; u += p_.units)
      parts.push_back({u, std::min(units.end, u + p_.units)});
    if (waited_for_ && !parts.empty() && parts.back().size() > 1 && op_.kind == WindowOp::Kind::Conv) {
      int64_t cut = parts.back().end - 1;
      parts.push_back({cut, cut + 1});
      parts[parts.size() - 2].end = cut;
    }
    return parts;
  }

  // Whether some tile needs what another one makes.
  bool shared_out() const {
    const Home& h = c_.homes[op_.out.buffer];
    for (uint32_t t = 0; t < writer_.tiles(); ++t)
      for (const Touch& touch : touches(c_.program.primitives[c_.primitive], cut_, t, c_.program))
        if (touch.write && !contains(touch.rect, h.need[t])) return true;
    return false;
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
        b.x_rows = input_range(op_, b.rows, true);
        b.x_cols = input_range(op_, b.cols, false);
        out.push_back(b);
      }
      at += n;
    }
    return out;
  }

  Span block_out(const Block& b) const { return out_channels(op_, g_, b.units); }
  Span block_in(const Block& b) const {
    if (g_.shared_input) return b.k;
    if (op_.kind != WindowOp::Kind::Conv || !p_.split) return in_channels(op_, g_, b.units);
    int64_t group = b.units.begin * op_.group_in;
    return {group + b.k.begin, group + b.k.end};
  }

  Packed pack_image(const WindowOp::Image& image, const Block& b, Span rows, Span cols, Span channels,
                    bool load) const {
    int64_t element = image.offsets[static_cast<size_t>(b.image)] + rows.begin * image.stride_h +
                      cols.begin * image.stride_w + channels.begin;
    int64_t strides[] = {image.stride_h, image.stride_w, 1};
    int64_t extents[] = {rows.size(), cols.size(), channels.size()};
    return pack_box(c_.program.buffers[image.buffer].ddr + element * 2, strides, extents, 2, load);
  }
  Packed pack_x(const Block& b) const { return pack_image(op_.x, b, b.x_rows, b.x_cols, block_in(b), true); }
  Packed pack_w(const Block& b) const {  // computed weights
    int64_t element = op_.w.offsets[static_cast<size_t>(b.image)] + b.k.begin * op_.w.stride_h +
                      b.units.begin * 16 * op_.w.stride_w;
    int64_t strides[] = {op_.w.stride_h, op_.w.stride_w};
    int64_t extents[] = {b.k.size(), block_out(b).size()};
    return pack_box(c_.program.buffers[op_.w.buffer].ddr + element * 2, strides, extents, 2, false);
  }

  // Bytes of one 16-channel weight block of a phase, for the channels of the block.
  int64_t block_bytes(const WindowPhase& ph, int64_t k) const {
    return p_.split ? k * 32 : ph.kernel_h * ph.kernel_w * k * 32;
  }

  std::vector<Transfer> weight_transfers(const Block& b) const {
    if (op_.kind == WindowOp::Kind::Pool) return {};
    if (op_.dynamic_weights) return bias_transfer(b);
    std::vector<Transfer> list = bias_transfer(b);
    int64_t at = p_.bias_bytes;
    for (const WindowPhase& ph : op_.phases) {
      int64_t taps = ph.kernel_h * ph.kernel_w;
      Transfer t;
      t.ocm = at;
      t.ddr = c_.program.buffers[kWeights].ddr + ph.weights;
      if (op_.kind == WindowOp::Kind::Depthwise) {
        Span c = block_in(b);
        t.ddr += c.begin * 2;
        t.run = c.size() * 2;
        t.levels = {{op_.group_out * taps, op_.groups * 2, t.run}};
      } else {
        int64_t blocks = b.units.size() * g_.unit_blocks;
        int64_t whole = taps * g_.all_channels * 32;  // of 16 output channels
        t.ddr += b.units.begin * g_.unit_blocks * whole;
        t.run = blocks * whole;
        if (p_.split) {
          t.ddr += (b.tap * g_.all_channels + b.k.begin) * 32;
          t.run = b.k.size() * 32;
          t.levels = {{blocks, whole, t.run}};
        }
      }
      at += t.bytes();
      list.push_back(t);
    }
    return list;
  }

  // Bias stands before the weights of its block.
  std::vector<Transfer> bias_transfer(const Block& b) const {
    if (op_.bias < 0) return {};
    Transfer t;
    t.ddr = c_.program.buffers[kWeights].ddr + op_.bias;
    if (op_.kind == WindowOp::Kind::Depthwise) {
      Span c = block_in(b);
      t.ddr += c.begin * 4;
      t.run = c.size() * 4;
      t.levels = {{op_.group_out, op_.groups * 4, t.run}};
    } else {
      Span c = block_out(b);
      t.ddr += c.begin * 4;
      t.run = c.size() * 4;
    }
    return {t};
  }

  bool has_weights() const {
    return op_.kind != WindowOp::Kind::Pool && (!op_.dynamic_weights || op_.bias >= 0);
  }

  template <class F>
  std::vector<std::vector<Transfer>> wanted(const std::vector<Block>& blocks, F transfers) const {
    std::vector<std::vector<Transfer>> list(blocks.size());
    for (size_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty()) list[t] = transfers(blocks[t]);
    return list;
  }

  void fetch_weights(const std::vector<Block>& blocks, Offsets& a) {
    if (!has_weights()) return;
    auto list = wanted(blocks, [&](const Block& b) { return weight_transfers(b); });
    if (!p_.weights_once) {
      a.w = w_.fetch(writer_, std::move(list));
      a.w_item = w_.item();
      return;
    }
    if (!covers(held_, list)) {
      Item item;
      item.kind = OcmUse::Kind::Weights;
      item.prefetch = true;
      item.loads = multicast(list);
      for (const Load& l : item.loads) item.bytes = std::max(item.bytes, l.transfer.ocm + l.transfer.bytes());
      weights_ = writer_.add_item(std::move(item));
      held_ = std::move(list);
    }
    a.w_item = weights_;
  }

  void step(const std::vector<Block>& blocks) {
    writer_.begin_step();
    Offsets a;
    fetch_weights(blocks, a);
    if (op_.dynamic_weights && s_.w)
      a.dynamic_w = dynamic_.fetch(
          writer_, wanted(blocks, [&](const Block& b) { return std::vector<Transfer>{pack_w(b).transfer}; }));
    if (s_.x)
      a.x = x_.fetch(
          writer_, wanted(blocks, [&](const Block& b) { return std::vector<Transfer>{pack_x(b).transfer}; }));
    bool last = std::ranges::any_of(blocks, [](const Block& b) { return !b.empty() && b.last; });
    if (op_.has_residual && s_.residual && last)
      a.residual =
          residual_.fetch(writer_, wanted(blocks, [&](const Block& b) {
                            return std::vector<Transfer>{
                                pack_image(op_.residual, b, b.rows, b.cols, block_out(b), true).transfer};
                          }));
    if (s_.out && last) a.out = out_.next();
    for (size_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty()) compute(static_cast<uint32_t>(t), blocks[t], a);
    for (size_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty() && blocks[t].last) deliver(static_cast<uint32_t>(t), blocks[t], a);
    writer_.end_step();
  }

  void deliver(uint32_t tile, const Block& b, const Offsets& a) {
    if (s_.out) {
      Packed out = pack_image(op_.out, b, b.rows, b.cols, block_out(b), false);
      writer_.store(tile, out.transfer, out_.item(), a.out);
      return;
    }
    if (!by_stripes()) publish(tile, b, b.rows);
  }

  // Of the block's first row and column.
  Place place(uint32_t tile, const Block& b, const WindowOp::Image& image, Span rows, Span cols,
              Span channels, bool streamed, uint32_t slot, int64_t offset, bool load) const {
    if (streamed) {
      Packed p = pack_image(image, b, rows, cols, channels, load);
      return {slot, offset, p.strides[0], p.strides[1]};
    }
    const Home& h = c_.homes[image.buffer];
    int64_t element = image.offsets[static_cast<size_t>(b.image)] + rows.begin * image.stride_h +
                      cols.begin * image.stride_w + channels.begin;
    return {c_.home_item(image.buffer), h.offset(tile, element * 2), h.stride(image.stride_h * 2),
            h.stride(image.stride_w * 2)};
  }
  Place x_place(uint32_t tile, const Block& b, const Offsets& a) const {
    return place(tile, b, op_.x, b.x_rows, b.x_cols, block_in(b), s_.x, x_.item(), a.x, true);
  }
  Place out_place(uint32_t tile, const Block& b, const Offsets& a) const {
    return place(tile, b, op_.out, b.rows, b.cols, block_out(b), s_.out, out_.item(), a.out, false);
  }

  void compute(uint32_t tile, const Block& b, const Offsets& a) {
    int64_t weights_at = 0;
    for (const WindowPhase& ph : op_.phases) {
      pieces(tile, b, a, ph, weights_at);
      if (op_.kind == WindowOp::Kind::Depthwise)
        weights_at += ph.kernel_h * ph.kernel_w * op_.group_out * block_in(b).size() * 2;
      if (op_.kind == WindowOp::Kind::Conv)
        weights_at += b.units.size() * g_.unit_blocks * block_bytes(ph, b.k.size());
    }
  }

  // The outputs of a phase within the block, in pieces that the accumulators hold.
  void pieces(uint32_t tile, const Block& b, const Offsets& a, const WindowPhase& ph, int64_t weights_at) {
    auto range = [](Span s, int64_t first, int64_t lattice) {
      return Span{ceil_div(std::max<int64_t>(s.begin - first, 0), lattice),
                  s.end <= first ? 0 : ceil_div(s.end - first, lattice)};
    };
    Span qh = range(b.rows, ph.first_h, op_.lattice_h), qw = range(b.cols, ph.first_w, op_.lattice_w);
    if (qh.empty() || qw.empty()) return;
    // Half the accumulators: one block of channels drains while the next is computed.
    int64_t limit = writer_.machine().accumulator_pixels / (p_.split ? 1 : 2);
    limit = std::min(limit, pixels_at_once(op_, block_out(b).size(), writer_.machine()));
    int64_t cols = std::min(qw.size(), limit), rows = std::max<int64_t>(1, limit / cols);
    rows = ceil_div(qh.size(), ceil_div(qh.size(), rows));  // even pieces
    std::vector<Span> stripes;
    for (int64_t y = qh.begin; y < qh.end; y += rows) stripes.push_back({y, std::min(qh.end, y + rows)});
    // Up and down in turn: what neighbours need first of this operation was made first, and the last of it is
    // what they need last.
    bool from_input = c_.program.buffers[op_.x.buffer].kind == Buffer::Kind::Input;  // arrives from the top
    if (c_.primitive % 2 == 1 && !from_input) std::ranges::reverse(stripes);
    for (Span y : stripes) {
      for (int64_t x = qw.begin; x < qw.end; x += cols)
        piece(tile, b, a, ph, weights_at, y, {x, std::min(qw.end, x + cols)});
      if (by_stripes() && b.last) publish(tile, b, y);
    }
  }

  // Whether what a stripe makes is whole rows of the output, to be sent at once.
  bool by_stripes() const {
    return !s_.out && op_.phases.size() == 1 && op_.lattice_h == 1 && op_.lattice_w == 1;
  }

  void publish(uint32_t tile, const Block& b, Span rows) {
    const Home& h = c_.homes[op_.out.buffer];
    c_.publish(tile, op_.out.buffer, image_rect(op_.out, b.image, rows, b.cols, block_out(b), h.pitch));
  }

  // Fields common to POD and PE instructions.
  template <class I>
  void window_fields(I& i, const Block& b, const WindowPhase& ph, Span y, Span x, const Place& in,
                     const Place& out) const {
    const Span &in_rows = b.x_rows, &in_cols = b.x_cols;
    auto u = [](int64_t v) { return static_cast<uint32_t>(v); };
    i.x = u(in.at);
    i.x_row = u(in.row);
    i.x_col = u(in.col);
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
    i.out = u(out.at + (ph.first_h + y.begin * op_.lattice_h - b.rows.begin) * out.row +
              (ph.first_w + x.begin * op_.lattice_w - b.cols.begin) * out.col);
    i.out_row = u(op_.lattice_h * out.row);
    i.out_col = u(op_.lattice_w * out.col);
  }

  void piece(uint32_t tile, const Block& b, const Offsets& a, const WindowPhase& ph, int64_t weights_at,
             Span y, Span x) {
    Place in = x_place(tile, b, a), out = out_place(tile, b, a);
    ItemRefs refs = {in.item, a.w_item, a.w_item, kNoItem, out.item, table_};
    if (op_.kind == WindowOp::Kind::Pool) {
      isa::Pool i;
      i.op = op_.pool;
      i.alpha = op_.pool_alpha;
      i.channels = static_cast<uint32_t>(block_in(b).size());
      i.epilogue = epilogue_of(op_.epilogue);
      window_fields(i, b, ph, y, x, in, out);
      writer_.emit(tile, isa::Queue::Pe, i, refs);
      return;
    }
    isa::Conv i;
    i.first = b.first;
    i.last = b.last;
    if (b.last && op_.bias >= 0) i.bias = static_cast<uint32_t>(a.w);
    if (b.last) i.epilogue = epilogue_of(op_.epilogue);
    i.w = static_cast<uint32_t>(a.w + p_.bias_bytes + weights_at);
    window_fields(i, b, ph, y, x, in, out);
    if (op_.has_residual && b.last) refs[3] = set_residual(i, tile, b, ph, y, x, a);
    if (op_.kind == WindowOp::Kind::Depthwise) {
      depthwise(tile, b, ph, i, refs);
    } else {
      groups(tile, b, ph, i, refs, a);
    }
  }

  uint32_t set_residual(isa::Conv& i, uint32_t tile, const Block& b, const WindowPhase& ph, Span y, Span x,
                        const Offsets& a) const {
    Place r = place(tile, b, op_.residual, b.rows, b.cols, block_out(b), s_.residual, residual_.item(),
                    a.residual, true);
    i.residual = static_cast<uint32_t>(r.at + (ph.first_h + y.begin * op_.lattice_h - b.rows.begin) * r.row +
                                       (ph.first_w + x.begin * op_.lattice_w - b.cols.begin) * r.col);
    i.residual_row = static_cast<uint32_t>(op_.lattice_h * r.row);
    i.residual_col = static_cast<uint32_t>(op_.lattice_w * r.col);
    return r.item;
  }

  void depthwise(uint32_t tile, const Block& b, const WindowPhase& ph, isa::Conv i, const ItemRefs& refs) {
    auto channels = static_cast<uint32_t>(block_in(b).size());
    auto multiplier = static_cast<uint32_t>(op_.group_out);
    auto taps = static_cast<uint32_t>(ph.kernel_h * ph.kernel_w);
    i.depthwise = true;
    i.out_channels = channels;
    i.w_k = channels * 2;
    i.w_n = 2;
    i.out_channel = 2 * multiplier;
    for (uint32_t j = 0; j < multiplier; ++j) {
      writer_.emit(tile, isa::Queue::Pod, i, refs);
      i.out += 2;
      i.w += taps * channels * 2;
      if (i.bias != isa::kNoAddress) i.bias += channels * 4;
    }
  }

  void groups(uint32_t tile, const Block& b, const WindowPhase& ph, isa::Conv i, ItemRefs refs,
              const Offsets& a) {
    i.channels = static_cast<uint32_t>(b.k.size());
    i.w_block = static_cast<uint32_t>(block_bytes(ph, b.k.size()));
    if (b.tap >= 0) {
      i.y0 += static_cast<int32_t>(b.tap / ph.kernel_w * op_.dilation_h);
      i.x0 += static_cast<int32_t>(b.tap % ph.kernel_w * op_.dilation_w);
      i.kernel_h = i.kernel_w = 1;
    }
    if (op_.dynamic_weights) refs[1] = set_dynamic_weights(i, tile, b, a);
    if (op_.groups == 1) {
      i.out_channels = static_cast<uint32_t>(block_out(b).size());
      writer_.emit(tile, isa::Queue::Pod, i, refs);
      return;
    }
    i.out_channels = static_cast<uint32_t>(op_.group_out);
    for (int64_t u = b.units.begin; u < b.units.end; ++u) {
      writer_.emit(tile, isa::Queue::Pod, i, refs);
      if (p_.split) return;  // a split reduction works on one group at a time
      i.x += static_cast<uint32_t>(op_.group_in * 2);
      i.w += static_cast<uint32_t>(g_.unit_blocks * block_bytes(ph, b.k.size()));
      i.out += static_cast<uint32_t>(op_.group_out * 2);
      if (i.bias != isa::kNoAddress) i.bias += static_cast<uint32_t>(op_.group_out * 4);
      if (i.residual != isa::kNoAddress) i.residual += static_cast<uint32_t>(op_.group_out * 2);
    }
  }

  uint32_t set_dynamic_weights(isa::Conv& i, uint32_t tile, const Block& b, const Offsets& a) const {
    int64_t by_row = 0, by_col = 0;
    uint32_t item = dynamic_.item();
    if (s_.w) {
      Packed w = pack_w(b);
      by_row = w.strides[0];
      by_col = w.strides[1];
      i.w = static_cast<uint32_t>(a.dynamic_w);
    } else {
      const Home& h = c_.homes[op_.w.buffer];
      int64_t element = op_.w.offsets[static_cast<size_t>(b.image)] + b.k.begin * op_.w.stride_h +
                        b.units.begin * 16 * op_.w.stride_w;
      by_row = h.stride(op_.w.stride_h * 2);
      by_col = h.stride(op_.w.stride_w * 2);
      i.w = static_cast<uint32_t>(h.offset(tile, element * 2));
      item = c_.home_item(op_.w.buffer);
    }
    i.w_k = static_cast<uint32_t>(by_row);
    i.w_n = static_cast<uint32_t>(by_col);
    i.w_block = 16 * i.w_n;
    return item;
  }

  const WindowOp& op_;
  const WindowPlan& p_;
  const Streams& s_;
  CodegenContext& c_;
  StepWriter& writer_;
  const Cut& cut_;
  WindowGeometry g_;
  InputSlot w_, dynamic_, x_, residual_;
  OutputSlot out_;
  uint32_t table_ = kNoItem, weights_ = kNoItem;
  bool waited_for_ = false;  // other tiles need what a tile makes
  size_t pixel_steps_ = 0, unit_steps_ = 0;
  std::vector<std::vector<Transfer>> held_;  // by the item of weights at hand
};

}  // namespace

Status generate(const WindowOp& op, CodegenContext& c) {
  c.writer.set_owner(op.owner);
  Streams s;
  s.x = !c.on_chip(op.x.buffer);
  s.out = !c.on_chip(op.out.buffer);
  s.residual = op.has_residual && !c.on_chip(op.residual.buffer);
  s.w = op.dynamic_weights && !c.on_chip(op.w.buffer);
  const target::Machine& m = c.writer.machine();
  std::optional<WindowPlan> plan = plan_window(op, c.cuts[c.primitive], s, c.budget, m);
  if (!plan) return make_diag<DiagCode::MRV0501>(m.ocm_bytes);
  return WindowCodegen(op, *plan, s, c).run();
}

}  // namespace mrvlc::accel
