// Which readers of a tensor get a window of their own, by the room that it saves over time.
#include "plan/second_window.h"

#include <algorithm>

#include "primitive/each_view.h"

namespace mrvlc::accel {
namespace {

using Windows = std::vector<Rect>;  // by tile

Windows hull(const Windows& a, const Windows& b) {
  Windows out;
  for (size_t t = 0; t < a.size(); ++t) out.push_back(accel::hull(a[t], b[t]));
  return out;
}

// Bytes of the largest of them.
int64_t bytes_of(const Windows& w) {
  int64_t most = 0;
  for (const Rect& r : w) most = std::max(most, r.bytes());
  return most;
}

struct Reader {
  size_t primitive = 0;
  Windows reads;
  bool moves = false;  // to the second window
};

struct Tensor {
  Windows made;
  size_t first = SIZE_MAX, last_write = 0, last = 0;
  std::vector<Reader> readers;
};

class SecondWindows {
 public:
  SecondWindows(const Program& program, const std::vector<Cut>& cuts, uint32_t tiles)
      : p_(program), cuts_(cuts), tiles_(tiles), tensors_(program.buffers.size()) {
    for (size_t i = 0; i < p_.primitives.size(); ++i) visit(i);
  }

  std::optional<Program> run() {
    std::optional<Program> out;
    for (uint32_t b = 0; b < tensors_.size(); ++b) {
      if (!choose(b)) continue;
      if (!out) out = p_;
      const auto copy = static_cast<uint32_t>(out->buffers.size());
      out->buffers.push_back(p_.buffers[b]);
      out->buffers.back().copy_of = b;
      for (const Reader& r : tensors_[b].readers)
        if (r.moves) read_instead(out->primitives[r.primitive], b, copy);
    }
    return out;
  }

 private:
  void visit(size_t i) {
    for (uint32_t t = 0; t < tiles_; ++t)
      for (const Touch& touch : touches(p_.primitives[i], cuts_[i], t, p_)) {
        Tensor& tensor = tensors_[touch.buffer];
        tensor.first = std::min(tensor.first, i);
        tensor.last = i;
        if (touch.write) {
          tensor.made.resize(tiles_);
          tensor.made[t] = accel::hull(tensor.made[t], touch.rect);
          tensor.last_write = i;
          continue;
        }
        if (tensor.readers.empty() || tensor.readers.back().primitive != i)
          tensor.readers.push_back({i, Windows(tiles_), false});
        Rect& r = tensor.readers.back().reads[t];
        r = accel::hull(r, touch.rect);
      }
  }

  // Whether readers are worth a second window, and which.
  bool choose(uint32_t b) {
    Tensor& x = tensors_[b];
    if (p_.buffers[b].kind != Buffer::Kind::Scratch || x.made.empty()) return false;
    Windows first = x.made, second(tiles_);
    size_t first_ends = x.last_write, second_ends = x.last_write;
    Windows all = x.made;
    for (Reader& r : x.readers) {
      all = hull(all, r.reads);
      const Windows both = hull(first, r.reads);
      // What a primitive makes itself, and what comes before all of it is made, it reads where it lies.
      r.moves =
          r.primitive > x.last_write && 4 * bytes_of(both) > 5 * std::max(bytes_of(first), bytes_of(r.reads));
      if (r.moves) {
        second = hull(second, r.reads);
        second_ends = r.primitive;
      } else {
        first = both;
        first_ends = std::max(first_ends, r.primitive);
      }
    }
    const auto room = [&](const Windows& w, size_t end) {
      return static_cast<double>(bytes_of(w)) * static_cast<double>(end - x.first + 1);
    };
    constexpr double kWorth = 0.7;
    return bytes_of(second) > 0 &&
           room(first, first_ends) + room(second, second_ends) <= kWorth * room(all, x.last);
  }

  static void read_instead(Primitive& primitive, uint32_t from, uint32_t to) {
    if (auto* g = std::get_if<PeGroup>(&primitive)) {
      each_view(*g, [&](View& v, bool writes) {
        if (!writes && v.buffer == from) v.buffer = to;
      });
      return;
    }
    auto& op = std::get<WindowOp>(primitive);
    for (WindowOp::Image* i : {&op.x, &op.residual, &op.w})
      if (i->buffer == from) i->buffer = to;
  }

  const Program& p_;
  const std::vector<Cut>& cuts_;
  uint32_t tiles_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::optional<Program> with_second_windows(const Program& program, const std::vector<Cut>& cuts,
                                           uint32_t tiles) {
  return SecondWindows(program, cuts, tiles).run();
}

}  // namespace mrvlc::accel
