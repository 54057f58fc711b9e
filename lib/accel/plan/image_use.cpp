// Where images lie in the operands of windows and groups.
#include "plan/image_use.h"

#include <algorithm>

#include "primitive/each_view.h"

namespace mrvlc::accel {
namespace {

// Elements between an image of a buffer and the next; 0 where images are no equal parts of it.
int64_t image_elements(const Program& p, uint32_t buffer, int64_t element_bytes) {
  const int64_t bytes = image_bytes(p.buffers[buffer], p.images);
  return bytes % element_bytes == 0 ? bytes / element_bytes : 0;
}

// --- Windows

// What one entry of the batch touches, in elements from its offset.
int64_t extent_of(const WindowOp& op, const WindowOp::Image& i) {
  if (&i == &op.w) return (op.group_in - 1) * i.stride_h + (op.out_channels() - 1) * i.stride_w + 1;
  const bool in = &i == &op.x;
  const int64_t h = in ? op.in_h : op.out_h, w = in ? op.in_w : op.out_w;
  return (h - 1) * i.stride_h + (w - 1) * i.stride_w + (in ? op.in_channels() : op.out_channels());
}

// Entry k * entries + j of the batch lies `apart` elements after entry (k - 1) * entries + j, and those of
// the first image within it.
bool by_entries(const WindowOp& op, const WindowOp::Image& image, int64_t entries, int64_t apart) {
  if (apart == 0 || image.stride_h < 0 || image.stride_w < 0) return false;
  const auto n = static_cast<size_t>(entries);
  for (size_t k = 0; k < image.offsets.size(); ++k) {
    const int64_t at = image.offsets[k % n];
    if (at < 0 || at + extent_of(op, image) > apart) return false;
    if (image.offsets[k] != at + static_cast<int64_t>(k / n) * apart) return false;
  }
  return true;
}

// Each output row reads the input row of the same number alone.
bool pointwise(const WindowOp& op) {
  const WindowPhase& p = op.phases[0];
  return op.phases.size() == 1 && p.kernel_h == 1 && op.stride_h == 1 && p.y0 == 0 && op.in_h == op.out_h &&
         op.lattice_h == 1;
}

bool by_rows(const WindowOp& op, const WindowOp::Image& image, int64_t rows, int64_t apart) {
  const bool in = &image == &op.x;
  const int64_t width = ((in ? op.in_w : op.out_w) - 1) * image.stride_w;
  const int64_t extent = (rows - 1) * image.stride_h + width + (in ? op.in_channels() : op.out_channels());
  return apart != 0 && rows * image.stride_h == apart && image.stride_w >= 0 && image.offsets[0] >= 0 &&
         image.offsets[0] + extent <= apart;
}

std::optional<ImageUse> use_of(const WindowOp& op, const Program& p) {
  ImageUse use;
  if (op.batch() % p.images == 0) use.entries = op.batch() / p.images;
  const bool joined = use.entries == 0;
  const bool whole_rows = op.out_h % (p.images * op.grain) == 0;
  if (joined && (op.batch() != 1 || op.dynamic_weights || !pointwise(op) || !whole_rows)) return std::nullopt;
  const auto lies_apart = [&](const WindowOp::Image& i) {
    const int64_t apart = image_elements(p, i.buffer, i.element_bytes());
    return joined ? by_rows(op, i, op.out_h / p.images, apart) : by_entries(op, i, use.entries, apart);
  };
  if (!lies_apart(op.x) || !lies_apart(op.out)) return std::nullopt;
  use.reads = {op.x.buffer};
  use.writes = {op.out.buffer};
  if (op.has_residual) {
    if (!lies_apart(op.residual)) return std::nullopt;
    use.reads.push_back(op.residual.buffer);
  }
  if (op.dynamic_weights && op.w.buffer != kWeights) {
    if (lies_apart(op.w)) {
      use.reads.push_back(op.w.buffer);
    } else {
      use.whole.push_back(op.w.buffer);
    }
  }
  return use;
}

// --- Groups

bool by_dimension(const View& v, size_t d, int64_t per, int64_t apart) {
  if (apart == 0 || v.offset < 0 || v.strides[d] * per != apart) return false;
  int64_t extent = (per - 1) * v.strides[d] + 1;
  for (size_t k = 0; k < v.dims.size(); ++k) {
    if (v.strides[k] < 0) return false;
    if (k != d) extent += (v.dims[k] - 1) * v.strides[k];
  }
  return v.offset + extent <= apart;
}

std::optional<ImageUse> along(const PeGroup& g, size_t d, const Program& p) {
  if (g.dims[d] % p.images != 0 || !keeps_apart(g, d)) return std::nullopt;
  ImageUse use;
  use.axis = d;
  use.per = g.dims[d] / p.images;
  bool apart = true;
  each_view(g, [&](const View& v, bool writes) {
    if (v.buffer == kWeights) {
      apart = apart && v.strides[d] == 0;
    } else if (v.strides[d] == 0) {
      use.whole.push_back(v.buffer);
    } else {
      const int64_t elements = image_elements(p, v.buffer, isa::data_bytes(v.type));
      apart = apart && by_dimension(v, d, use.per, elements);
      (writes ? use.writes : use.reads).push_back(v.buffer);
    }
  });
  return apart ? std::optional(use) : std::nullopt;
}

std::optional<ImageUse> use_of(const PeGroup& g, const Program& p) {
  for (size_t d = 0; d < g.dims.size(); ++d)
    if (auto use = along(g, d, p)) return use;
  return std::nullopt;
}

// --- Some of the images

const ImagePart* part_for(uint32_t buffer, const std::vector<ImagePart>& parts) {
  const auto it = std::ranges::find(parts, buffer, &ImagePart::of);
  return it == parts.end() ? nullptr : &*it;
}

void keep(WindowOp& op, const ImageUse& use, Span images, const std::vector<ImagePart>& parts,
          const Program& p) {
  const int64_t rows = op.out_h / p.images;
  const auto is_whole = [&](const WindowOp::Image& i) { return std::ranges::count(use.whole, i.buffer) > 0; };
  for (WindowOp::Image* i : {&op.x, &op.out, &op.residual, &op.w}) {
    if ((i == &op.residual && !op.has_residual) || (i == &op.w && !op.dynamic_weights)) continue;
    const auto from = [&](int64_t image) { return i->offsets.begin() + image * use.entries; };
    if (use.entries > 0) {
      i->offsets = {from(images.begin), from(images.end)};
    } else {
      i->offsets[0] += images.begin * rows * i->stride_h;
    }
    const ImagePart* part = is_whole(*i) ? nullptr : part_for(i->buffer, parts);
    if (part == nullptr) continue;
    const int64_t before = part->images.begin * image_elements(p, i->buffer, i->element_bytes());
    for (int64_t& offset : i->offsets) offset -= before;
    i->buffer = part->buffer;
  }
  if (use.entries == 0) op.in_h = op.out_h = images.size() * rows;
}

void keep(PeGroup& g, const ImageUse& use, Span images, const std::vector<ImagePart>& parts,
          const Program& p) {
  g.dims[use.axis] = images.size() * use.per;
  each_view(g, [&](View& v, bool) {
    v.dims[use.axis] = g.dims[use.axis];
    v.offset += images.begin * use.per * v.strides[use.axis];
    const ImagePart* part = v.strides[use.axis] == 0 ? nullptr : part_for(v.buffer, parts);
    if (v.buffer == kWeights || part == nullptr) return;
    v.offset -= part->images.begin * image_elements(p, v.buffer, isa::data_bytes(v.type));
    v.buffer = part->buffer;
  });
}

}  // namespace

int64_t image_bytes(const Buffer& b, int64_t images) {
  return b.rows % (images * b.grain) == 0 ? b.rows / images * b.pitch : 0;
}

std::optional<ImageUse> image_use(const Primitive& primitive, const Program& program) {
  return std::visit([&](const auto& v) { return use_of(v, program); }, primitive);
}

void keep_images(Primitive& primitive, const ImageUse& use, Span images, const std::vector<ImagePart>& parts,
                 const Program& program) {
  std::visit([&](auto& v) { keep(v, use, images, parts, program); }, primitive);
}

}  // namespace mrvlc::accel
