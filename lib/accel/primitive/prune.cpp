// Strides moved from the readers of an image to its maker.
#include "primitive/prune.h"

#include <algorithm>
#include <map>

#include "mrvlc/cost/limits.h"
#include "mrvlc/support/checked.h"
#include "primitive/image.h"

namespace mrvlc::accel {
namespace {

struct Users {
  std::vector<WindowOp*> writers, readers;
  bool others = false;  // somebody uses it in another way
};

std::map<uint32_t, Users> users_of(Program& program) {
  std::map<uint32_t, Users> out;
  for (Primitive& p : program.primitives) {
    if (auto* g = std::get_if<PeGroup>(&p)) {
      for (PeStage& s : g->stages)
        for (PeOperand* o : {&s.a, &s.b, &s.dst})
          if (o->kind == PeOperand::Kind::External) out[o->view.buffer].others = true;
      continue;
    }
    auto& w = std::get<WindowOp>(p);
    out[w.out.buffer].writers.push_back(&w);
    out[w.x.buffer].readers.push_back(&w);
    if (w.has_residual) out[w.residual.buffer].others = true;
    if (w.dynamic_weights) out[w.w.buffer].others = true;
  }
  return out;
}

// Reads pixel (stride * y, stride * x) of the image alone for its output (y, x).
bool skips(const WindowOp& op) {
  if (op.kind == WindowOp::Kind::Pool || op.dynamic_weights || op.phases.size() != 1) return false;
  const WindowPhase& p = op.phases[0];
  return p.kernel_h == 1 && p.kernel_w == 1 && p.y0 == 0 && p.x0 == 0 && op.stride_h > 1 &&
         op.stride_h == op.stride_w && op.lattice_h == 1 && op.lattice_w == 1;
}

bool same_image(const WindowOp::Image& a, const WindowOp::Image& b) {
  return a.offsets == b.offsets && a.stride_h == b.stride_h && a.stride_w == b.stride_w;
}

// Height, width and images are dimensions of their own, where rows of all images were joined; false where
// they cannot be: rows are no multiple, or images do not follow each other without a gap.
bool separate_images(WindowOp& op, int64_t images) {
  unflatten(op);
  if (op.batch() == images) return true;
  const WindowPhase& p = op.phases[0];
  const bool row_by_row = p.kernel_h == 1 && p.y0 == 0 && op.stride_h == 1 && op.in_h == op.out_h;
  if (op.batch() != 1 || op.out_h % images != 0 || !row_by_row) return false;
  op.in_h = op.out_h = op.out_h / images;
  for (WindowOp::Image* i : {&op.x, &op.out, &op.residual}) {
    if (i == &op.residual && !op.has_residual) continue;
    for (int64_t k = 1; k < images; ++k) i->offsets.push_back(i->offsets[0] + k * op.out_h * i->stride_h);
  }
  return true;
}

bool applies(const WindowOp& made, const Users& users) {
  if (made.kind == WindowOp::Kind::Pool || made.dynamic_weights || made.phases.size() != 1 ||
      made.lattice_h != 1 || made.lattice_w != 1)
    return false;
  WindowOp plain = made;
  if (!separate_images(plain, users.readers[0]->batch())) return false;
  int64_t s = users.readers[0]->stride_h, most = cost::kMaxWindowSize;
  if (std::max(plain.stride_h, plain.stride_w) > most / s) return false;
  return std::ranges::all_of(users.readers, [&](const WindowOp* r) {
    return skips(*r) && r->stride_h == users.readers[0]->stride_h && same_image(r->x, plain.out) &&
           r->in_h == plain.out_h && r->in_w == plain.out_w && r->out_h == users.readers[0]->out_h &&
           r->out_w == users.readers[0]->out_w;
  });
}

void shrink(WindowOp& made, const Users& users, Buffer& buffer) {
  separate_images(made, users.readers[0]->batch());
  int64_t s = users.readers[0]->stride_h, h = users.readers[0]->out_h, w = users.readers[0]->out_w;
  int64_t pixel = made.out.stride_w, images = made.batch(), before = images * made.out_h * made.out_w;
  made.stride_h *= s;
  made.stride_w *= s;
  made.residual.stride_h *= s;
  made.residual.stride_w *= s;
  made.out_h = h;
  made.out_w = w;
  made.out.stride_h = w * pixel;
  for (int64_t k = 0; k < images; ++k) made.out.offsets[static_cast<size_t>(k)] = k * h * w * pixel;
  buffer.bytes = ceil_div(buffer.bytes, before) * images * h * w;
  buffer.rows = images * h * w;
  buffer.grain = w;
  for (WindowOp* r : users.readers) {
    r->stride_h = r->stride_w = 1;
    r->in_h = h;
    r->in_w = w;
    r->x = made.out;
  }
}

}  // namespace

void prune_unread_pixels(Program& program) {
  // Later images first: what they leave out may be all that an earlier one was read for.
  std::map<uint32_t, Users> all = users_of(program);
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    Users& users = it->second;
    Buffer& buffer = program.buffers[it->first];
    bool whole = users.writers.size() == 1 && !users.others && !users.readers.empty();
    if (!whole || buffer.kind != Buffer::Kind::Scratch) continue;
    WindowOp& made = *users.writers[0];
    bool dense = made.out.offsets[0] == 0 && made.out_channels() * made.out.element_bytes() == buffer.pitch;
    if (dense && applies(made, users)) shrink(made, users, buffer);
  }
}

}  // namespace mrvlc::accel
