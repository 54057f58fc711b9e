// Writes the steps of a layer: loads of boxes and blocks, products tap by tap, requantisation, stores.
#include "emit.h"

#include <algorithm>

#include "alu.h"
#include "blocks.h"

namespace vta {
namespace {

// Moves a box of elements that lies dense on chip: as few instructions as 16 bits of sizes and strides allow.
struct Box {
  uint32_t memory, sram;
  uint64_t dram;
  uint32_t planes, rows, cols;
  uint64_t plane_stride, row_stride;
};

void move(std::vector<Instruction>& out, Opcode opcode, const Box& b) {
  constexpr uint64_t kMost = 65535;
  Instruction i;
  i.opcode = opcode;
  i.memory = b.memory;
  const auto put = [&](uint32_t sram, uint64_t dram, uint32_t y, uint32_t x, uint64_t stride) {
    i.sram = sram, i.dram = static_cast<uint32_t>(dram), i.y = y, i.x = x;
    i.stride = y > 1 ? static_cast<uint32_t>(stride) : x;
    out.push_back(i);
  };
  const uint32_t plane = b.rows * b.cols;
  if (b.cols == b.row_stride || b.rows == 1) {
    if (b.planes == 1 || b.plane_stride <= kMost) return put(b.sram, b.dram, b.planes, plane, b.plane_stride);
    for (uint32_t p = 0; p < b.planes; ++p) put(b.sram + p * plane, b.dram + p * b.plane_stride, 1, plane, 0);
    return;
  }
  for (uint32_t p = 0; p < b.planes; ++p) {
    const uint64_t at = b.dram + p * b.plane_stride;
    if (b.row_stride <= kMost) {
      put(b.sram + p * plane, at, b.rows, b.cols, b.row_stride);
      continue;
    }
    for (uint32_t r = 0; r < b.rows; ++r)
      put(b.sram + p * plane + r * b.cols, at + r * b.row_stride, 1, b.cols, 0);
  }
}

struct Tile {
  uint32_t n = 0;
  Span blocks, rows, cols;
  uint32_t base = 0;  // of its sums in ACC
  uint32_t pixels() const { return rows.size() * cols.size(); }
  uint32_t sums() const { return blocks.size() * pixels(); }
};

// What a step has on chip of a term's input.
struct Loaded {
  Span planes, rows, cols;
  uint32_t inp = 0;  // where
};

class LayerEmitter {
 public:
  LayerEmitter(Program& program, const Layer& layer, const Tiling& tiling)
      : program_(program), layer_(layer), tiling_(tiling) {
    for (const Term& t : layer.terms) {
      blocks_.emplace_back(t);
      most_.push_back(most_planes(t));
    }
  }

  void run() {
    const Tensor& out = layer_.output;
    const uint32_t blocks = out.blocks();
    for (uint32_t b = 0; tiling_.weights_stay && b < blocks; b += tiling_.blocks) images(b);
    if (!tiling_.weights_stay) images(blocks);
  }

 private:
  // All pixels, for the blocks from `block` on, or where there is none for all.
  void images(uint32_t block) {
    const Tensor& out = layer_.output;
    const uint32_t blocks = out.blocks();
    for (uint32_t n = 0; n < out.n; ++n)
      for (uint32_t r = 0; r < out.h; r += tiling_.rows)
        for (uint32_t c = 0; c < out.w; c += tiling_.cols)
          for (uint32_t b = block < blocks ? block : 0; b < (block < blocks ? block + 1 : blocks);
               b += tiling_.blocks)
            tile({n,
                  {b, std::min(b + tiling_.blocks, blocks)},
                  {r, std::min(r + tiling_.rows, out.h)},
                  {c, std::min(c + tiling_.cols, out.w)}});
  }

  void tile(Tile t) {
    t.base = program_.tile++ % 2 * tiling_.sums();
    begin_step();
    step_.begins_tile = true;
    step_.compute.push_back(alu::reset(t.base, t.sums()));
    if (layer_.maxima) {
      maxima(t);
    } else {
      uint32_t bias = 2 * tiling_.sums() + tiling_.scratch;
      for (size_t i = 0; i < layer_.terms.size(); ++i) {
        chunks(t, i);
        for (const AluStep& s : layer_.terms[i].after) after(t, s, bias);
      }
    }
    store(t);
    end_step();
  }

  void begin_step() {
    step_ = {};
    step_reads_ = false;
    step_.layer = layer_.index;
  }
  void end_step() {
    if (!step_.compute.empty()) program_.steps.push_back(std::move(step_));
    begin_step();
  }
  int64_t number() const { return static_cast<int64_t>(program_.steps.size()); }

  void chunks(const Tile& t, size_t term) {
    const Term& of = layer_.terms[term];
    const auto kh = static_cast<uint32_t>(of.window.kh);
    const uint32_t most = most_[term], planes = tiling_.chunks[term].planes,
                   rows = tiling_.chunks[term].kernel_rows;
    for (uint32_t p = 0; p < most; p += planes)
      for (uint32_t k = 0; k < kh; k += rows)
        chunk(t, term, {p, std::min(p + planes, most)}, {k, std::min(k + rows, kh)});
  }

  Loaded box_of(const Tile& t, const Term& term, Span planes, Span kernel) const {
    Loaded in;
    in.rows = input_rows(term, t.rows.begin, t.rows.end, kernel.begin, kernel.end);
    in.cols = input_cols(term, t.cols.begin, t.cols.end, 0, static_cast<uint32_t>(term.window.kw));
    const uint32_t last = t.blocks.end - 1;
    in.planes = {planes_of(term, t.blocks.begin).first + planes.begin,
                 std::min(planes_of(term, last).first + planes.end, term.input.blocks())};
    return in;
  }

  // One step more, where anything is multiplied.
  void chunk(const Tile& t, size_t number_of_term, Span planes, Span kernel) {
    const Term& term = layer_.terms[number_of_term];
    Loaded in = box_of(t, term, planes, kernel);
    std::vector<int32_t> used;
    for (uint32_t p = planes.begin; p < planes.end; ++p)
      for (uint32_t b = t.blocks.begin; b < t.blocks.end; ++b)
        for (uint32_t ky = kernel.begin; ky < kernel.end; ++ky)
          for (uint32_t kx = 0; kx < term.window.kw; ++kx)
            used.push_back(blocks_[number_of_term].at(b, p, ky, kx));
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (!used.empty() && used.front() < 0) used.erase(used.begin());
    if (used.empty() || !in.rows.size() || !in.cols.size()) return;
    std::vector<Kernel> made;
    for (uint32_t p = planes.begin; p < planes.end; ++p)
      for (uint32_t ky = kernel.begin; ky < kernel.end; ++ky)
        for (uint32_t kx = 0; kx < term.window.kw; ++kx)
          products(made, t, number_of_term, in, {p, ky, kx}, used);
    if (made.empty()) return;
    // A step has one half of each memory, so that the next one can load the others.
    if (step_reads_) end_step();
    load_input(term, t.n, in);
    const uint32_t wgt = load_weights(number_of_term, used);
    step_reads_ = true;
    step_.reader = step_.compute.size();
    for (Kernel& k : made) {
      for (uint32_t& u : k.uops) u += encode(Uop{0, in.inp, wgt});
      step_.compute.push_back(std::move(k));
    }
  }

  void load_input(const Term& term, uint32_t n, Loaded& in) {
    const Tensor& x = term.input;
    bool load = false;
    const uint32_t half = program_.inp.take(
        {x.value, n, in.planes.begin, in.planes.end, in.rows.begin, in.rows.end, in.cols.begin, in.cols.end},
        number(), load, step_.waits_for);
    in.inp = half * (kInpDepth / 2);
    if (!load) return;
    const uint64_t plane = uint64_t{x.h} * x.w;
    const uint64_t from = program_.tensor_at[x.value] + (uint64_t{n} * x.blocks() + in.planes.begin) * plane +
                          uint64_t{in.rows.begin} * x.w + in.cols.begin;
    move(step_.loads, kLoad,
         {kInp, in.inp, from, in.planes.size(), in.rows.size(), in.cols.size(), plane, x.w});
  }

  uint32_t load_weights(size_t term, const std::vector<int32_t>& used) {
    std::vector<int8_t> bytes;
    for (const int32_t number : used) {
      const auto& block = blocks_[term].bytes(number);
      bytes.insert(bytes.end(), block.begin(), block.end());
    }
    const auto count = static_cast<uint32_t>(used.size());
    std::vector<int32_t> key{static_cast<int32_t>(layer_.index), static_cast<int32_t>(term)};
    key.insert(key.end(), used.begin(), used.end());
    const auto [known, made] =
        program_.weight_at.emplace(std::move(key), static_cast<uint32_t>(program_.weights.size() / 256));
    if (made) program_.weights.insert(program_.weights.end(), bytes.begin(), bytes.end());
    bool load = false;
    const uint32_t half =
        program_.wgt.take({known->second}, number(), load, step_.waits_for) * (kWgtDepth / 2);
    if (load) move(step_.loads, kLoad, {kWgt, half, known->second, 1, 1, count, 0, count});
    return half;
  }

  struct Tap {
    uint32_t plane, row, col;
  };

  // The products of a tap, for all blocks of the tile that have weights there; these are `used`, from 0 on.
  void products(std::vector<Kernel>& out, const Tile& t, size_t term, const Loaded& in, Tap tap,
                const std::vector<int32_t>& used) const {
    const Term& of = layer_.terms[term];
    const Span rows = valid_rows(of, t.rows.begin, t.rows.end, tap.row),
               cols = valid_cols(of, t.cols.begin, t.cols.end, tap.col);
    if (!rows.size() || !cols.size()) return;
    const auto sh = static_cast<uint32_t>(of.window.sh), sw = static_cast<uint32_t>(of.window.sw);
    const int64_t y = rows.begin * of.window.sh + tap.row * of.window.dh - of.window.ph - in.rows.begin;
    const int64_t x = cols.begin * of.window.sw + tap.col * of.window.dw - of.window.pw - in.cols.begin;
    const auto src = static_cast<uint32_t>(y * in.cols.size() + x);
    const uint32_t dst = (rows.begin - t.rows.begin) * t.cols.size() + cols.begin - t.cols.begin;
    Kernel k = alu::loops(kGemm, rows.size(), cols.size());
    for (uint32_t b = t.blocks.begin; b < t.blocks.end; ++b) {
      const int32_t block = blocks_[term].at(b, tap.plane, tap.row, tap.col);
      if (block < 0) continue;
      const uint32_t plane = planes_of(of, b).first + tap.plane - in.planes.begin;
      const auto at = static_cast<uint32_t>(std::lower_bound(used.begin(), used.end(), block) - used.begin());
      k.uops.push_back(encode(Uop{t.base + (b - t.blocks.begin) * t.pixels() + dst,
                                  in.inp + plane * in.rows.size() * in.cols.size() + src, at}));
    }
    if (k.uops.empty()) return;
    alu::factors(k, rows.size() > 1 ? t.cols.size() : 0, cols.size() > 1 ? 1 : 0,
                 rows.size() > 1 ? sh * in.cols.size() : 0, cols.size() > 1 ? sw : 0);
    out.push_back(std::move(k));
  }

  void after(const Tile& t, const AluStep& s, uint32_t& bias) {
    if (s.kind == AluStep::kBias) {
      load_bias(t, s, bias);
      step_.compute.push_back(alu::add_bias(t.base, bias, t.blocks.size(), t.pixels()));
      bias += tiling_.blocks;
    } else if (s.kind == AluStep::kShiftLeft) {
      step_.compute.push_back(alu::immediate(kShr, t.base, t.sums(), -static_cast<int32_t>(s.shift)));
    } else {
      alu::requantize(step_.compute, s, t.base, t.sums(), 2 * tiling_.sums(), tiling_.scratch);
    }
  }

  // Biases are loaded by the compute unit, so their order needs no token.
  void load_bias(const Tile& t, const AluStep& s, uint32_t sram) {
    std::vector<int32_t> values(t.blocks.size() * kBlock, 0);
    for (uint32_t i = 0; i < values.size() && t.blocks.begin * kBlock + i < s.sums.size(); ++i)
      values[i] = s.sums[t.blocks.begin * kBlock + i];
    const auto [known, made] =
        program_.bias_at.emplace(values, static_cast<uint32_t>(program_.biases.size() / kBlock));
    if (made) program_.biases.insert(program_.biases.end(), values.begin(), values.end());
    uint64_t& holds = held_[sram];
    if (holds == known->second + uint64_t{1} + (uint64_t{t.blocks.size()} << 32)) return;
    holds = known->second + uint64_t{1} + (uint64_t{t.blocks.size()} << 32);
    Kernel k;
    std::vector<Instruction> load;
    move(load, kLoad, {kAcc, sram, known->second, 1, 1, t.blocks.size(), 0, t.blocks.size()});
    k.instruction = load.front();
    step_.compute.push_back(std::move(k));
  }

  void store(const Tile& t) {
    const Tensor& y = layer_.output;
    const uint64_t plane = uint64_t{y.h} * y.w;
    const uint64_t to = program_.tensor_at[y.value] + (uint64_t{t.n} * y.blocks() + t.blocks.begin) * plane +
                        uint64_t{t.rows.begin} * y.w + t.cols.begin;
    move(step_.stores, kStore, {kOut, t.base, to, t.blocks.size(), t.rows.size(), t.cols.size(), plane, y.w});
  }

  // The input as it is behind the tile's halves of ACC, then the maximum of each tap.
  void maxima(const Tile& t) {
    const Term& term = layer_.terms[0];
    const uint32_t image = 2 * tiling_.sums();
    step_.compute.push_back(alu::immediate(kAdd, t.base, t.sums(), -128));
    Loaded in = box_of(t, term, {0, 1}, {0, static_cast<uint32_t>(term.window.kh)});
    if (in.rows.size() && in.cols.size()) {
      const uint32_t count = in.planes.size() * in.rows.size() * in.cols.size();
      load_input(term, t.n, in);
      const uint32_t wgt = load_weights(0, {blocks_[0].at(0, 0, 0, 0)});
      step_.compute.push_back(alu::reset(image, count));
      step_.reader = step_.compute.size();
      Kernel k = alu::loops(kGemm, 1, count);
      k.uops = {encode(Uop{image, in.inp, wgt})};
      alu::factors(k, 0, count > 1 ? 1 : 0, 0, count > 1 ? 1 : 0);
      step_.compute.push_back(std::move(k));
      for (uint32_t ky = 0; ky < term.window.kh; ++ky)
        for (uint32_t kx = 0; kx < term.window.kw; ++kx) maximum(t, in, ky, kx, image);
    }
  }

  void maximum(const Tile& t, const Loaded& in, uint32_t ky, uint32_t kx, uint32_t image) {
    Loaded on_acc = in;
    on_acc.inp = image;
    const size_t before = step_.compute.size();
    products(step_.compute, t, 0, on_acc, {0, ky, kx}, {blocks_[0].at(0, 0, 0, 0)});
    if (step_.compute.size() == before) return;
    Instruction& i = step_.compute.back().instruction;
    i.opcode = kAlu;
    i.alu = kMax;
  }

  Program& program_;
  const Layer& layer_;
  const Tiling& tiling_;
  std::vector<Blocks> blocks_;
  std::vector<uint32_t> most_;  // planes of a block, of each term
  Step step_;
  bool step_reads_ = false;            // it has read INP
  std::map<uint32_t, uint64_t> held_;  // biases on chip, by their place
};

}  // namespace

void emit_layer(Program& program, const Layer& layer, const Tiling& tiling) {
  LayerEmitter(program, layer, tiling).run();
}

}  // namespace vta
