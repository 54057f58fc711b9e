// Chooses tiles: every size that fits two halves of the memories, by an estimate of its cycles.
#include "tiles.h"

#include <algorithm>

#include "region.h"

namespace vta {
namespace {

constexpr uint32_t kHalfInp = kInpDepth / 2, kHalfWgt = kWgtDepth / 2;
constexpr uint32_t kLeastScratch = 64;

int64_t quotient_up(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}
int64_t quotient_down(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
uint32_t parts(uint32_t all, uint32_t each) {
  return (all + each - 1) / each;
}

Span clipped(int64_t begin, int64_t end, int64_t low, int64_t high) {
  begin = std::max(begin, low);
  end = std::min(end, high);
  if (begin >= end) return {};
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

Span inputs(int64_t begin, int64_t end, int64_t stride, int64_t first, int64_t last, uint32_t size) {
  return clipped(begin * stride + first, (end - 1) * stride + last + 1, 0, size);
}

// Results whose input result * stride + offset lies in [0, size).
Span results(int64_t begin, int64_t end, int64_t stride, int64_t offset, int64_t size) {
  return clipped(quotient_up(-offset, stride), quotient_down(size - 1 - offset, stride) + 1, begin, end);
}

// Sizes of equal parts: of those that make as many parts, the smallest.
std::vector<uint32_t> sizes(uint32_t all, uint32_t most) {
  std::vector<uint32_t> made;
  for (uint32_t each = std::min(all, most); each > 0;) {
    const uint32_t size = parts(all, parts(all, each));
    made.push_back(size);
    each = size - 1;
  }
  return made;
}

uint32_t box(const Term& t, uint32_t rows, uint32_t cols, uint32_t kernel_rows) {
  const int64_t high =
      std::min<int64_t>(t.input.h, (rows - 1) * t.window.sh + (kernel_rows - 1) * t.window.dh + 1);
  const int64_t wide =
      std::min<int64_t>(t.input.w, (cols - 1) * t.window.sw + (t.window.kw - 1) * t.window.dw + 1);
  return static_cast<uint32_t>(std::min<int64_t>(high * wide, kInpDepth * 2));
}

// Planes between the first and the last block of a tile.
uint32_t spread(const Term& t, uint32_t blocks, uint32_t all) {
  uint32_t most = 0;
  for (uint32_t b = 0; b < all; b += blocks)
    most = std::max(most, planes_of(t, std::min(b + blocks, all) - 1).first - planes_of(t, b).first);
  return most;
}

bool rounds(const Layer& layer) {
  return std::any_of(layer.terms.begin(), layer.terms.end(), [](const Term& t) {
    return std::any_of(t.after.begin(), t.after.end(),
                       [](const AluStep& s) { return s.kind == AluStep::kRequantize && s.shift > 0; });
  });
}

class Search {
 public:
  Search(const Layer& layer, const Board& board)
      : layer_(layer), board_(board), blocks_(layer.output.blocks()) {
    for (const Term& t : layer.terms) most_.push_back(most_planes(t));
  }

  Tiling best() {
    for (const uint32_t b : sizes(blocks_, kAccDepth / 2)) {
      spread_.clear();
      for (const Term& t : layer_.terms) spread_.push_back(spread(t, b, blocks_));
      for (const uint32_t r : sizes(layer_.output.h, kAccDepth / 2 / b))
        for (const uint32_t c : sizes(layer_.output.w, kAccDepth / 2 / b / r)) consider(b, r, c);
    }
    const Window& w = layer_.terms[0].window;
    require(best_.cycles > 0, "window", std::to_string(w.kh) + " x " + std::to_string(w.kw),
            "1024 elements of INP",
            "a row of the window, or the window of a maximum, does not fit half of a memory");
    require(best_.instructions < 1 << 20, "instructions", shown(best_.instructions), "2^20",
            "the layer is too large");
    return best_;
  }

 private:
  void consider(uint32_t blocks, uint32_t rows, uint32_t cols) {
    Tiling t;
    t.blocks = blocks, t.rows = rows, t.cols = cols;
    if (!fits(t)) return;
    const std::vector<Chunk> largest = t.chunks;
    // Smaller chunks begin sooner; the first load and the last store overlap with nothing.
    for (const uint32_t part : {1, 2, 4, 8})
      for (const bool stay : {false, true}) {
        for (size_t i = 0; i < largest.size(); ++i) t.chunks[i].planes = parts(largest[i].planes, part);
        t.weights_stay = stay;
        t.cycles = estimate(t);
        if (best_.cycles == 0 || t.cycles < best_.cycles) best_ = t;
      }
  }

  bool fits(Tiling& t) {
    const uint32_t biases = bias_steps(layer_) * t.blocks;
    if (2 * t.sums() + biases > kAccDepth) return false;
    const uint32_t left = kAccDepth - 2 * t.sums() - biases;
    if (layer_.maxima) {
      const Term& term = layer_.terms[0];
      t.scratch = t.blocks * box(term, t.rows, t.cols, static_cast<uint32_t>(term.window.kh));
      t.chunks = {{1, static_cast<uint32_t>(term.window.kh)}};
      return t.scratch <= left && t.scratch <= kHalfInp;
    }
    t.scratch = rounds(layer_) ? std::min(t.sums(), left) : 0;
    if (rounds(layer_) && t.scratch < std::min(t.sums(), kLeastScratch)) return false;
    for (size_t i = 0; i < layer_.terms.size(); ++i) {
      const Term& term = layer_.terms[i];
      const Chunk chunk = chunk_of(term, t, most_[i], spread_[i]);
      if (chunk.planes == 0) return false;
      t.chunks.push_back(chunk);
    }
    return true;
  }

  static Chunk chunk_of(const Term& term, const Tiling& t, uint32_t most, uint32_t spread) {
    const auto kh = static_cast<uint32_t>(term.window.kh);
    for (uint32_t rows = kh; rows > 0; rows = rows == 1 ? 0 : parts(rows, 2)) {
      const uint64_t taps = static_cast<uint64_t>(term.window.kw) * rows;
      const uint32_t by_inp = kHalfInp / box(term, t.rows, t.cols, rows);
      const uint64_t by_wgt = term.weights.data ? kHalfWgt / (taps * t.blocks) : kHalfInp;
      if (by_inp <= spread || by_wgt == 0) continue;
      const uint32_t planes = std::min({most, by_inp - spread, static_cast<uint32_t>(by_wgt)});
      if (rows < kh) return {1, rows};
      return {parts(most, parts(most, planes)), rows};
    }
    return {0, 0};
  }

  // Cycles of a tile's ALU passes, per accumulator and per instruction.
  void alu_of(const Tiling& t, double& each, double& instructions) const {
    const double imm = board_.alu_immediate, two = board_.alu_operands;
    if (layer_.maxima) {
      const Window& w = layer_.terms[0].window;
      const double taps = static_cast<double>(w.kh * w.kw);
      each = 1 + imm + taps * two + static_cast<double>(t.scratch) / t.sums();
      instructions = 3 + taps;
      return;
    }
    each = 1;
    for (const Term& term : layer_.terms)
      for (const AluStep& s : term.after) {
        if (s.kind == AluStep::kBias) each += two, instructions += 1;
        if (s.kind == AluStep::kShiftLeft) each += imm, instructions += 1;
        if (s.kind != AluStep::kRequantize) continue;
        each += 2 * imm + (s.shift ? 1 + 2 * two + 5 * imm : 0);
        instructions += s.shift ? 10.0 * t.sums() / t.scratch : 2;
      }
  }

  double estimate(Tiling& t) const {
    const Tensor& out = layer_.output;
    const double pixels_tiles = static_cast<double>(out.n) * parts(out.h, t.rows) * parts(out.w, t.cols);
    const double block_tiles = parts(blocks_, t.blocks), tiles = pixels_tiles * block_tiles;
    const double sums = static_cast<double>(out.n) * blocks_ * out.h * out.w;
    double each = 0, instructions = 2;
    alu_of(t, each, instructions);
    double load = 0, first = 0;
    for (size_t i = 0; i < layer_.terms.size(); ++i) {
      const Term& term = layer_.terms[i];
      const uint32_t planes = t.chunks[i].planes, rows = t.chunks[i].kernel_rows;
      const double kw = static_cast<double>(term.window.kw);
      const double chunks =
          static_cast<double>(parts(most_[i], planes)) * parts(static_cast<uint32_t>(term.window.kh), rows);
      const double inp = (planes + spread_[i]) * static_cast<double>(box(term, t.rows, t.cols, rows)) * 16 /
                         board_.bus_bytes;
      const double wgt = (term.weights.data ? t.blocks * planes * rows * kw : 1) * 256 / board_.bus_bytes;
      const bool few = chunks <= 2 && layer_.terms.size() == 1;
      load += inp * chunks * (few && !t.weights_stay ? pixels_tiles : tiles);
      load += wgt * chunks *
              (few && t.weights_stay                ? block_tiles
               : (few && chunks * block_tiles <= 2) ? block_tiles
                                                    : tiles);
      first += inp + wgt;
      const double steps = most_[i] * static_cast<double>(term.window.kh) * kw;
      each += layer_.maxima ? 0 : steps;
      instructions += steps;
    }
    t.instructions = tiles * (instructions + 4);
    const double compute = sums * each + tiles * instructions * (kFill + 1);
    const double store = t.sums() * 16.0 / board_.bus_bytes;
    return std::max(compute, load) + 0.1 * std::min(compute, load) + first + store + 1;
  }

  const Layer& layer_;
  const Board& board_;
  uint32_t blocks_;
  std::vector<uint32_t> most_, spread_;  // planes of each term: of a block, and between blocks of a tile
  Tiling best_;
};

}  // namespace

Planes planes_of(const Term& term, uint32_t block) {
  const Weights& w = term.weights;
  if (!w.data) return {block, 1};
  const uint32_t each = w.outputs / w.group, last = std::min(block * kBlock + kBlock, w.outputs) - 1;
  const uint32_t from = block * kBlock / each * w.inside, to = (last / each + 1) * w.inside;
  return {from / kBlock, parts(to, kBlock) - from / kBlock};
}

uint32_t most_planes(const Term& term) {
  uint32_t most = 0;
  for (uint32_t b = 0; b * kBlock < term.weights.outputs; ++b)
    most = std::max(most, planes_of(term, b).count);
  return most;
}

uint32_t bias_steps(const Layer& layer) {
  uint32_t count = 0;
  for (const Term& t : layer.terms)
    for (const AluStep& s : t.after) count += s.kind == AluStep::kBias ? 1 : 0;
  return count;
}

Span input_rows(const Term& t, uint32_t begin, uint32_t end, uint32_t k0, uint32_t k1) {
  return inputs(begin, end, t.window.sh, k0 * t.window.dh - t.window.ph, (k1 - 1) * t.window.dh - t.window.ph,
                t.input.h);
}
Span input_cols(const Term& t, uint32_t begin, uint32_t end, uint32_t k0, uint32_t k1) {
  return inputs(begin, end, t.window.sw, k0 * t.window.dw - t.window.pw, (k1 - 1) * t.window.dw - t.window.pw,
                t.input.w);
}
Span valid_rows(const Term& t, uint32_t begin, uint32_t end, uint32_t k) {
  return results(begin, end, t.window.sh, k * t.window.dh - t.window.ph, t.input.h);
}
Span valid_cols(const Term& t, uint32_t begin, uint32_t end, uint32_t k) {
  return results(begin, end, t.window.sw, k * t.window.dw - t.window.pw, t.input.w);
}

Tiling choose_tiling(const Layer& layer, const Board& board) {
  return Search(layer, board).best();
}

}  // namespace vta
