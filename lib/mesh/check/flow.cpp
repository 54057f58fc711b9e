// Results are computed once and whole; operands hold what their task reads, written once and whole, each
// element by who computes it.
#include <algorithm>

#include "check/checker.h"

namespace mrvlc::mesh {
namespace {

// Rows and channels that a part of a result reads, from the definition of its layer: written apart from
// needed().
Box read_by(const PlannedLayer& l, const Tensor3& result, const Tensor3& operand, const Box& b) {
  switch (l.kind) {
    case Kind::Map:
      return b;
    case Kind::Softmax:
      return {b.row, b.rows, 0, operand.channels};
    case Kind::Move:
      return {0, operand.rows, 0, operand.channels};
    default:
      break;
  }
  int64_t first = operand.rows, last = -1;
  for (const int64_t row : {b.row, b.row + b.rows - 1})
    for (const int64_t tap : {int64_t{0}, l.window.kernel - 1}) {
      const int64_t y = row * l.window.stride - l.window.pad + tap * l.window.dilation;
      first = std::min(first, y), last = std::max(last, y);
    }
  first = std::max<int64_t>(first, 0), last = std::min(last, operand.rows - 1);
  const int64_t in = operand.channels / l.window.group, out = result.channels / l.window.group;
  const int64_t from = b.channel / out * in, to = ((b.channel + b.channels - 1) / out + 1) * in;
  return {first, std::max<int64_t>(last - first + 1, 0), from, to - from};
}

bool holds(const Box& a, const Box& b) {
  return b.rows == 0 || (a.row <= b.row && a.row + a.rows >= b.row + b.rows && a.channel <= b.channel &&
                         a.channel + a.channels >= b.channel + b.channels);
}

// Of an operand, together: a file may say anything.
constexpr uint64_t kMostPieces = uint64_t{1} << 22;

// A tensor's part as it lies in memory.
struct Image {
  const Tensor3* tensor;
  Box box;
  uint64_t offset;

  uint64_t element() const { return static_cast<uint64_t>(size_of(tensor->elem)); }
  uint64_t step() const { return static_cast<uint64_t>(box.channels) * element(); }
  uint64_t bytes() const { return static_cast<uint64_t>(box.rows * tensor->width) * step(); }
};

struct Piece {
  uint64_t pixel = 0, channel = 0, channels = 0;  // in the whole tensor; along its memory
};

// Which element of the tensor a byte of the image is; false: none begins there.
bool element_at(const Image& m, uint64_t offset, uint64_t& pixel, uint64_t& channel) {
  if (offset < m.offset || offset - m.offset >= m.bytes() || (offset - m.offset) % m.element() != 0)
    return false;
  const uint64_t at = (offset - m.offset) / m.element(), channels = static_cast<uint64_t>(m.box.channels);
  pixel = at / channels + static_cast<uint64_t>(m.box.row * m.tensor->width);
  channel = at % channels + static_cast<uint64_t>(m.box.channel);
  return true;
}

// Whether run and step stay in the image, and the elements of a run are neighbours in both.
std::string moves_same(const Edge& e, const Image& from, const Image& to, std::vector<Piece>& pieces) {
  if (e.run % from.element() != 0) return "a run is no number of elements";
  if (e.count > to.bytes() / e.run || e.run > to.bytes()) return "it carries more than its operand takes";
  const bool long_run = e.run > from.step() || e.run > to.step();
  // Runs over several pixels are the same elements where whole pixels lie one after the other on both sides.
  if (long_run &&
      (from.step() != to.step() || e.run % from.step() != 0 || from.box.channel != to.box.channel))
    return "a run goes over pixels that lie otherwise in sender and receiver";
  for (uint64_t i = 0; i < e.count; ++i) {
    uint64_t fp = 0, fc = 0, tp = 0, tc = 0;
    const uint64_t f = e.from_offset + i * e.from_step, t = e.to_offset + i * e.to_step;
    if (!element_at(from, f, fp, fc) || !element_at(to, t, tp, tc)) return "a piece begins outside";
    if (fp != tp || fc != tc) return "a piece is of another place in the tensor than where it goes to";
    if (f + e.run > from.offset + from.bytes() || t + e.run > to.offset + to.bytes())
      return "a piece ends outside";
    const uint64_t pixels = long_run ? e.run / from.step() : 1;
    const uint64_t channels = e.run / from.element() / pixels;
    if (fc + channels > static_cast<uint64_t>(from.box.channel + from.box.channels) ||
        tc + channels > static_cast<uint64_t>(to.box.channel + to.box.channels))
      return "a piece goes beyond its pixel";
    if (pieces.size() > kMostPieces) return "the operand comes in too many pieces";
    for (uint64_t p = 0; p < pixels; ++p) pieces.push_back({fp + p, fc, channels});
  }
  return "";
}

// Whether pieces cover the box, none twice.
bool covers(std::vector<Piece>& pieces, const Box& box, int64_t width) {
  std::ranges::sort(pieces, {}, [](const Piece& p) { return std::pair(p.pixel, p.channel); });
  uint64_t pixel = static_cast<uint64_t>(box.row * width), channel = static_cast<uint64_t>(box.channel);
  const uint64_t end = static_cast<uint64_t>(box.channel + box.channels);
  for (const Piece& p : pieces) {
    if (p.pixel != pixel || p.channel != channel) return false;
    channel += p.channels;
    if (channel == end) ++pixel, channel = static_cast<uint64_t>(box.channel);
  }
  return pixel == static_cast<uint64_t>((box.row + box.rows) * width) &&
         channel == static_cast<uint64_t>(box.channel);
}

}  // namespace

void Checker::results() {
  std::vector<std::vector<Piece>> rows(p_.layers.size());
  for (const Task& t : p_.tasks)
    for (int64_t r = 0; r < t.box.rows; ++r)
      rows[t.layer].push_back({static_cast<uint64_t>(t.box.row + r), static_cast<uint64_t>(t.box.channel),
                               static_cast<uint64_t>(t.box.channels)});
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor3& t = p_.tensors[p_.layers[i].output];
    if (!covers(rows[i], {0, t.rows, 0, t.channels}, 1))
      fault("the parts of layer {} do not make its result once and whole", i);
  }
  for (uint32_t i = 0; i < p_.tasks.size(); ++i) {
    const Task& t = p_.tasks[i];
    for (size_t k = 0; k < t.inboxes.size(); ++k) {
      const Tensor3& operand = p_.tensors[p_.layers[t.layer].inputs[k]];
      if (!holds(t.inboxes[k].box, read_by(p_.layers[t.layer], result(t), operand, t.box)))
        fault("{} reads more of operand {} than it is sent", task_name(i), k);
    }
  }
}

void Checker::operands() {
  // The pieces that come to each operand, the model's outputs last.
  std::vector<size_t> first(p_.tasks.size() + 1, 0);
  for (size_t i = 0; i < p_.tasks.size(); ++i) first[i + 1] = first[i] + p_.tasks[i].inboxes.size();
  std::vector<std::vector<Piece>> pieces(first.back() + p_.outputs.size());
  const auto whole = [](const Tensor3& t) { return Box{0, t.rows, 0, t.channels}; };
  for (size_t i = 0; i < p_.edges.size(); ++i) {
    const Edge& e = p_.edges[i];
    const bool is_out = e.to == kHost;
    const uint32_t tensor =
        is_out ? p_.outputs[e.port].tensor : p_.layers[p_.tasks[e.to].layer].inputs[e.port];
    const uint32_t source =
        e.from == kHost ? p_.inputs[e.from_port].tensor : p_.layers[p_.tasks[e.from].layer].output;
    if (source != tensor) {
      fault("edge {} carries another tensor than {} reads", i, task_name(e.to));
      continue;
    }
    const Tensor3& t = p_.tensors[tensor];
    const Image from =
        e.from == kHost ? Image{&t, whole(t), 0} : Image{&t, p_.tasks[e.from].box, p_.tasks[e.from].offset};
    const Image to =
        is_out ? Image{&t, whole(t), 0}
               : Image{&t, p_.tasks[e.to].inboxes[e.port].box, p_.tasks[e.to].inboxes[e.port].offset};
    const std::string why =
        moves_same(e, from, to, pieces[is_out ? first.back() + e.port : first[e.to] + e.port]);
    if (!why.empty()) fault("edge {} from {} to {}: {}", i, task_name(e.from), task_name(e.to), why);
    if (!is_out && e.credits != p_.tasks[e.to].inboxes[e.port].slots)
      fault("edge {} from {} to {}: {} credits for {} slots", i, task_name(e.from), task_name(e.to),
            e.credits, p_.tasks[e.to].inboxes[e.port].slots);
    f_.moved_bytes += e.count * e.run;
  }
  for (uint32_t i = 0; i < p_.tasks.size(); ++i)
    for (size_t k = 0; k < p_.tasks[i].inboxes.size(); ++k) {
      const Tensor3& t = p_.tensors[p_.layers[p_.tasks[i].layer].inputs[k]];
      if (!covers(pieces[first[i] + k], p_.tasks[i].inboxes[k].box, t.width))
        fault("operand {} of {} is not written once and whole", k, task_name(i));
    }
  for (size_t k = 0; k < p_.outputs.size(); ++k) {
    const Tensor3& t = p_.tensors[p_.outputs[k].tensor];
    if (!covers(pieces[first.back() + k], whole(t), t.width))
      fault("output {} is not written once and whole", k);
  }
}

}  // namespace mrvlc::mesh
