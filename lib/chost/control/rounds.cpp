// The C of states and scanned results.
#include "control/rounds.h"

#include "text.h"

namespace mrvlc::chost {
namespace {

std::string current(size_t k) {
  return fmt::format("(&st{})", k);
}

// Of the tensors of no round at all: what is dynamic is 0.
std::string first_dims(const TensorType& t) {
  std::string text;
  for (int64_t d = 0; d < t.rank(); ++d)
    text += fmt::format("{}{}", d == 0 ? "" : ", ", t.is_dynamic(d) ? 0 : t.shape[static_cast<size_t>(d)]);
  return text.empty() ? "0" : text;
}

}  // namespace

void States::declare() {
  for (size_t k = 0; k < count_; ++k) {
    const int64_t bytes = std::max(memory_bytes(formal(k)), memory_bytes(result(k)));
    n_.declare_buffer(fmt::format("st{}", k), formal(k), bytes);
    n_.declare_buffer(fmt::format("nx{}", k), result(k), bytes);
    n_.copy_value(current(k), formal(k), n_.in_view(begin_.input + k), n_.in_type(begin_.input + k));
  }
}

void States::add_views(std::vector<std::string>& in, std::vector<std::string>& out) const {
  for (size_t k = 0; k < count_; ++k) {
    in.push_back(fmt::format("&st{}", k));
    out.push_back(fmt::format("&nx{}", k));
  }
}

void States::turn() {
  Function& f = n_.function();
  for (size_t k = 0; k < count_; ++k) {
    const std::string next = fmt::format("(&nx{})", k);
    if (!same_memory(result(k), formal(k))) {
      n_.copy_value(current(k), formal(k), next, result(k));
      continue;
    }
    n_.copy_dims(current(k), next, formal(k));
    f.open("");
    f.put("void* const t = st{0}.data;", k);
    f.put("st{0}.data = nx{0}.data;", k);
    f.put("nx{}.data = t;", k);
    f.close();
  }
}

void States::give() {
  for (size_t k = 0; k < count_ && k < n_.node().outputs.size(); ++k)
    n_.copy_value(n_.out_view(k), n_.out_type(k), current(k), formal(k));
}

void ScannedResult::declare() {
  n_.declare_buffer(fmt::format("it{}", k_), item_);
  n_.function().put("int64_t dim{}[8] = {{{}}};", k_, first_dims(item_));
}

void ScannedResult::place(std::string_view index, RoundCount count) {
  Function& f = n_.function();
  const std::string view = fmt::format("it{}", k_);
  f.put("if (i == 0) memcpy(dim{}, {}.dim, sizeof dim{});", k_, view, k_);
  n_.fail_if(fmt::format("memcmp(dim{}, {}.dim, {} * sizeof(int64_t)) != 0", k_, view, item_.rank()));
  set_dims(count);
  f.open("");
  std::string outer = "1", inner = fmt::format("{}u", memory_bytes(TensorType{item_.elem, {}}));
  for (int64_t d = 0; d < item_.rank(); ++d)
    (d < axis_ ? outer : inner) += fmt::format(" * (size_t)dim{}[{}]", k_, d);
  f.put("const size_t outer = {}, bytes = {};", outer, inner);
  f.open("for (size_t o = 0; o < outer && bytes > 0; ++o)");
  f.put(
      "memcpy((unsigned char*){0}->data + (o * (size_t){0}->dim[{1}] + (size_t)({2})) * bytes, (const "
      "unsigned char*){3}.data + o * bytes, bytes);",
      n_.out_view(output_), axis_, index, view);
  f.close();
  f.close();
}

void ScannedResult::set_dims(RoundCount count) {
  const TensorType& t = n_.out_type(output_);
  std::string dims;
  for (int64_t d = 0; d <= item_.rank(); ++d) {
    dims += d == 0 ? "" : ", ";
    dims += d == axis_ ? std::string(count.text) : fmt::format("dim{}[{}]", k_, d < axis_ ? d : d - 1);
  }
  // While rounds go on, a fixed number of them is not reached yet.
  const uint32_t dynamic = t.dynamic | (count.so_far ? 1u << axis_ : 0);
  n_.fail_if(fmt::format("{}({}, {}, (const int64_t[]){{{}}}, (const int64_t[]){{{}}}, {}u, INT64_C({}))",
                         n_.function().need(Piece::set_dims), n_.out_view(output_), t.rank(), dims,
                         dims_text(t), dynamic, t.elements()));
}

}  // namespace mrvlc::chost
