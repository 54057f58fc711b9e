// Bytes that a piece's instructions wrote, and the elements that lie in them.
#include "machine/observe.h"

#include <algorithm>

namespace mrvlc::prove {
namespace {

std::optional<Type> watched_type(ElementType t) {
  switch (t) {
    case ElementType::F16:
      return Type::F16;
    case ElementType::F32:
      return Type::F32;
    case ElementType::I8:
      return Type::I8;
    case ElementType::U8:
      return Type::U8;
    default:
      return std::nullopt;
  }
}

// Calls f(byte of the buffer, index in the order of ONNX) for the elements in some rows: dimensions with
// large strides first, so that whole slabs outside are left out.
class Walk {
 public:
  Walk(const PlacedValue& p, const Shape& shape, int64_t row0, int64_t row1)
      : p_(p), row0_(row0), row1_(row1) {
    int64_t own = 1;
    for (size_t d = shape.size(); d-- > 0; own *= shape[d]) dims_.push_back({shape[d], p.strides[d], own});
    std::stable_sort(dims_.begin(), dims_.end(),
                     [](const Dim& a, const Dim& b) { return std::abs(a.stride) > std::abs(b.stride); });
    low_.assign(dims_.size() + 1, 0);
    high_ = low_;
    for (size_t d = dims_.size(); d-- > 0;) {
      const int64_t reach = (dims_[d].size - 1) * dims_[d].stride;
      low_[d] = low_[d + 1] + std::min<int64_t>(0, reach);
      high_[d] = high_[d + 1] + std::max<int64_t>(0, reach);
    }
  }
  // f returns false to end the walk.
  template <class F>
  bool run(F&& f, size_t d = 0, int64_t byte = 0, int64_t index = 0) const {
    if (d == 0) byte = p_.offset;
    if (byte + high_[d] < row0_ * p_.pitch || byte + low_[d] >= row1_ * p_.pitch) return true;
    if (d == dims_.size()) return f(byte, static_cast<size_t>(index));
    for (int64_t i = 0; i < dims_[d].size; ++i)
      if (!run(f, d + 1, byte + i * dims_[d].stride, index + i * dims_[d].own)) return false;
    return true;
  }

 private:
  struct Dim {
    int64_t size, stride, own;
  };
  const PlacedValue& p_;
  int64_t row0_, row1_;
  std::vector<Dim> dims_;
  std::vector<int64_t> low_, high_;
};

constexpr int64_t kMostWatched = int64_t{1} << 31;

}  // namespace

bool Observed::whole() const {
  return !torn && std::all_of(seen.begin(), seen.end(), [](uint8_t s) { return s != 0; });
}

Observer::Observer(const RegionHints& region) : room_(kMostWatched) {
  for (const Layer& l : region.layers)
    for (const Node& n : l.nodes)
      for (const ValueInfo& o : n.outputs) shapes_[o.name] = o.shape;
  for (const PlacedValue& p : region.places) {
    const auto shape = shapes_.find(p.value);
    if (shape == shapes_.end() || shape->second.size() != p.strides.size() || !watched_type(p.stored))
      continue;
    for (const PlacedValue::Piece& k : p.pieces) pieces_.emplace_back(&p, &k);
  }
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
}

void Observer::before(uint32_t instruction) {
  for (; next_ < pieces_.size() && pieces_[next_].second->begin <= instruction; ++next_) {
    const auto& [value, piece] = pieces_[next_];
    if (piece->end <= instruction || piece->extent() > room_) continue;
    room_ -= piece->extent();
    active_.push_back({value, piece, std::vector<bool>(static_cast<size_t>(piece->extent()), false)});
  }
}

void Observer::written(const Touch& t) {
  for (Active& a : active_) {
    if (a.piece->space != t.space) continue;
    const auto from = static_cast<uint64_t>(a.piece->address), end = from + a.written.size();
    const uint64_t first = std::max(t.begin, from), last = std::min(t.end, end);
    for (uint64_t b = first; b < last; ++b) a.written[b - from] = true;
  }
}

void Observer::after(uint32_t instruction, const Memory& memory, const Values& values) {
  std::erase_if(active_, [&](const Active& a) {
    if (a.piece->end != instruction + 1) return false;
    collect(a, memory, values);
    room_ += a.piece->extent();
    return true;
  });
}

void Observer::collect(const Active& a, const Memory& memory, const Values& values) {
  const PlacedValue& p = *a.value;
  const PlacedValue::Piece& k = *a.piece;
  const Shape& shape = shapes_.at(p.value);
  const Type type = *watched_type(p.stored);
  Observed& o = observed_[p.value];
  if (o.seen.empty()) {
    o.seen.assign(static_cast<size_t>(element_count(shape)), 0);
    o.v.assign(o.seen.size(), 0);
  }
  Walk(p, shape, k.row0, k.row1).run([&](int64_t byte, size_t index) {
    const int64_t row = byte / p.pitch, column = byte % p.pitch, size = size_of(type);
    if (byte < 0 || row < k.row0 || row >= k.row1 || column < k.byte0 || column + size > k.byte1) return true;
    const auto at = static_cast<size_t>((row - k.row0) * k.local + column - k.byte0);
    for (size_t b = at; b < at + static_cast<size_t>(size); ++b)
      if (b >= a.written.size() || !a.written[b]) return true;
    const auto v = memory.peek(k.space, static_cast<uint64_t>(k.address) + at, type);
    if (!v) return false;
    o.torn = o.torn || (o.seen[index] != 0 && !values.same(o.v[index], *v));
    o.v[index] = *v;
    o.seen[index] = 1;
    return true;
  });
}

}  // namespace mrvlc::prove
