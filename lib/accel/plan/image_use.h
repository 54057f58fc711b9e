// Primitives that treat the images of a batch apart, and the same primitive on some of the images alone.
#pragma once
#include <optional>

#include "primitive/program.h"
#include "primitive/span.h"

namespace mrvlc::accel {

// Image k of a buffer is its k-th part of equal size.
struct ImageUse {
  std::vector<uint32_t> reads, writes;  // buffers, by images
  std::vector<uint32_t> whole;          // buffers that every image reads, weights apart
  int64_t entries = 0;  // of a window: entries of its batch an image; 0: its rows are those of
                        // all images
  size_t axis = 0;      // of a group: the dimension along which images lie,
  int64_t per = 1;      // and how many of its indices are an image
};
// nullopt: images meet in it, or do not lie one after the other in their buffers.
std::optional<ImageUse> image_use(const Primitive& primitive, const Program& program);

// Bytes of an image of the buffer; 0 where the buffer has no equal parts.
int64_t image_bytes(const Buffer& buffer, int64_t images);

// A buffer that holds `images` of another one.
struct ImagePart {
  uint32_t of = 0, buffer = 0;
  Span images;
};
// The primitive on `images` alone. Buffers named in `parts` are replaced by their parts; all other offsets
// are those of whole batches.
void keep_images(Primitive& primitive, const ImageUse& use, Span images, const std::vector<ImagePart>& parts,
                 const Program& program);

}  // namespace mrvlc::accel
