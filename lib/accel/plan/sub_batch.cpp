// Who works on how many images at a time, and the program in that order.
#include "plan/sub_batch.h"

#include <algorithm>
#include <map>

#include "mrvlc/support/checked.h"
#include "plan/image_use.h"
#include "plan/pe_plan.h"

namespace mrvlc::accel {
namespace {

// Where a buffer is used: from its first to its last primitive.
struct Stretch {
  size_t first = SIZE_MAX, last = 0;
  bool apart = true;  // all treat its images apart
};

class Uses {
 public:
  explicit Uses(const Program& program) : p_(program), stretches_(program.buffers.size()) {
    for (size_t i = 0; i < p_.primitives.size(); ++i) {
      uses_.push_back(p_.images > 1 ? image_use(p_.primitives[i], p_) : std::nullopt);
      note(i);
    }
    // Who reads all images of what others make image by image waits for all of them.
    for (size_t i = 0; i < uses_.size(); ++i) {
      const bool meets = uses_[i] && std::ranges::any_of(uses_[i]->whole, [&](uint32_t b) {
                           return stretches_[b].first < i && written_apart_[b];
                         });
      if (meets) uses_[i] = std::nullopt;
    }
    for (size_t i = 0; i < uses_.size(); ++i)
      if (!uses_[i]) each_buffer(i, [&](uint32_t b) { stretches_[b].apart = false; });
  }

  const std::optional<ImageUse>& of(size_t primitive) const { return uses_[primitive]; }
  const Stretch& of_buffer(uint32_t b) const { return stretches_[b]; }
  // It may lie in parts.
  bool in_parts(uint32_t b) const {
    return p_.buffers[b].kind == Buffer::Kind::Scratch && stretches_[b].apart &&
           stretches_[b].first != SIZE_MAX && image_bytes(p_.buffers[b], p_.images) > 0;
  }

 private:
  void note(size_t i) {
    each_buffer(i, [&](uint32_t b) {
      stretches_[b].first = std::min(stretches_[b].first, i);
      stretches_[b].last = i;
    });
    written_apart_.resize(p_.buffers.size(), false);
    if (!uses_[i]) return;
    for (uint32_t b : uses_[i]->writes) written_apart_[b] = true;
    for (uint32_t b : uses_[i]->whole) stretches_[b].apart = false;
  }

  void each_buffer(size_t i, const auto& f) const {
    if (const auto* g = std::get_if<PeGroup>(&p_.primitives[i])) {
      for (const PeStage& s : g->stages)
        for (const PeOperand* o : {&s.a, &s.b, &s.dst})
          if (o->kind == PeOperand::Kind::External && o->view.buffer != kWeights) f(o->view.buffer);
      return;
    }
    const auto& op = std::get<WindowOp>(p_.primitives[i]);
    f(op.x.buffer);
    f(op.out.buffer);
    if (op.has_residual) f(op.residual.buffer);
    if (op.dynamic_weights && op.w.buffer != kWeights) f(op.w.buffer);
  }

  const Program& p_;
  std::vector<std::optional<ImageUse>> uses_;
  std::vector<Stretch> stretches_;
  std::vector<bool> written_apart_;
};

// Numbers that only a few primitives in a row exceed come down to those of their neighbours: both ends of a
// stretch hold all its images while the neighbours work through them.
void level_peaks(ImagesAtOnce& n) {
  constexpr size_t kFew = 8;
  for (size_t begin = 0; begin < n.size();) {
    size_t end = begin;
    while (end < n.size() && n[end] >= n[begin]) ++end;
    const bool rises = begin > 0 && n[begin - 1] < n[begin];
    if (rises && end < n.size() && end - begin < kFew) {
      std::fill(n.begin() + static_cast<std::ptrdiff_t>(begin), n.begin() + static_cast<std::ptrdiff_t>(end),
                std::max(n[begin - 1], n[end]));
      begin = begin > kFew ? begin - kFew : 0;
      while (begin > 0 && n[begin - 1] == n[begin]) --begin;
    } else {
      ++begin;
    }
  }
}

class SubBatcher {
 public:
  SubBatcher(const Program& program, const ImagesAtOnce& at_once)
      : p_(program), uses_(program), n_(at_once), grain_(program.buffers.size(), 0) {
    for (size_t i = 0; i < n_.size(); ++i)
      if (!uses_.of(i)) n_[i] = p_.images;
    for (uint32_t b = 0; b < grain_.size(); ++b) {
      const Stretch& s = uses_.of_buffer(b);
      for (size_t i = s.first; uses_.in_parts(b) && i <= s.last; ++i) grain_[b] = std::max(grain_[b], n_[i]);
    }
  }

  Program run() {
    out_.images = p_.images;
    out_.buffers = p_.buffers;
    work(0, p_.primitives.size(), {0, p_.images});
    return std::move(out_);
  }

 private:
  // Primitives of [begin, end) on these images: those that take as many in one go, what lies between in
  // parts.
  void work(size_t begin, size_t end, Span images) {
    const int64_t most = *std::max_element(n_.begin() + static_cast<std::ptrdiff_t>(begin),
                                           n_.begin() + static_cast<std::ptrdiff_t>(end));
    if (most < images.size()) {
      for (int64_t k = images.begin; k < images.end; k += most)
        work(begin, end, {k, std::min(k + most, images.end)});
      return;
    }
    for (size_t i = begin; i < end;) {
      if (n_[i] >= images.size()) {
        add(i++, images);
        continue;
      }
      size_t stop = i;
      while (stop < end && n_[stop] < images.size()) ++stop;
      work(i, stop, images);
      i = stop;
    }
  }

  void add(size_t i, Span images) {
    Primitive primitive = p_.primitives[i];
    const std::optional<ImageUse>& use = uses_.of(i);
    if (use && images.size() < p_.images) {
      std::vector<ImagePart> parts;
      for (const auto& list : {use->reads, use->writes})
        for (uint32_t b : list)
          if (grain_[b] > 0 && grain_[b] < p_.images) parts.push_back(part_of(b, images.begin));
      keep_images(primitive, *use, images, parts, p_);
      if (auto* g = std::get_if<PeGroup>(&primitive)) simplify(*g, out_.buffers);
    }
    out_.primitives.push_back(std::move(primitive));
  }

  ImagePart part_of(uint32_t buffer, int64_t image) {
    const int64_t first = image / grain_[buffer] * grain_[buffer];
    const Span images{first, std::min(first + grain_[buffer], p_.images)};
    const auto [it, fresh] = parts_.try_emplace({buffer, first}, static_cast<uint32_t>(out_.buffers.size()));
    if (fresh) {
      Buffer b = p_.buffers[buffer];
      const int64_t rows = b.rows / p_.images;
      b.part_of = buffer;
      b.first_row = images.begin * rows;
      b.rows = images.size() * rows;
      b.bytes = b.rows * b.pitch;
      out_.buffers.push_back(b);
    }
    return {buffer, it->second, images};
  }

  const Program& p_;
  Uses uses_;
  ImagesAtOnce n_;
  std::vector<int64_t> grain_;  // by buffer: images of a part; 0: it is not parted
  std::map<std::pair<uint32_t, int64_t>, uint32_t> parts_;
  Program out_;
};

}  // namespace

ImagesAtOnce images_within(const Program& program, int64_t bytes) {
  const Uses uses(program);
  std::vector<int64_t> live(program.primitives.size() + 1, 0);
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (!uses.in_parts(b)) continue;
    live[uses.of_buffer(b).first] += image_bytes(program.buffers[b], program.images);
    live[uses.of_buffer(b).last + 1] -= image_bytes(program.buffers[b], program.images);
  }
  ImagesAtOnce out;
  int64_t now = 0;
  for (size_t i = 0; i < program.primitives.size(); ++i) {
    now += live[i];
    int64_t n = 1;
    while (n < program.images && 2 * n * now <= bytes) n *= 2;
    out.push_back(uses.of(i) ? std::min(n, program.images) : program.images);
  }
  level_peaks(out);
  return out;
}

ImagesAtOnce images_at_most(const Program& program, int64_t most) {
  return ImagesAtOnce(program.primitives.size(), std::min(most, program.images));
}

Program in_sub_batches(const Program& program, const ImagesAtOnce& at_once) {
  return SubBatcher(program, at_once).run();
}

}  // namespace mrvlc::accel
