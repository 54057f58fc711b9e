// Index tables, merged where indices stay; a row's longest consecutive stretch is one memcpy.
#include "common/mapped_copy.h"

#include <algorithm>
#include <numeric>

#include "common/index_util.h"
#include "mrvlc/support/diag/ops.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::ops {
namespace {

bool is_identity(const std::vector<int64_t>& table, int64_t size) {
  if (static_cast<int64_t>(table.size()) != size) return false;
  for (size_t o = 0; o < table.size(); ++o) {
    if (table[o] != static_cast<int64_t>(o)) return false;
  }
  return true;
}

// Neighbouring dimensions that both keep their indices are one dimension, unless its table would be large.
constexpr int64_t kMaxMerged = int64_t{1} << 20;

MappedCopy merged(const MappedCopy& copy) {
  MappedCopy m;
  bool previous = false;
  for (size_t d = 0; d < copy.in.size(); ++d) {
    bool identity = is_identity(copy.from[d], copy.in[d]);
    if (identity && previous && m.in.back() <= kMaxMerged / std::max<int64_t>(1, copy.in[d])) {
      m.in.back() *= copy.in[d];
      m.from.back() = index_table(m.in.back(), [](int64_t o) { return o; });
    } else {
      m.in.push_back(copy.in[d]);
      m.from.push_back(copy.from[d]);
    }
    previous = identity;
  }
  if (m.in.empty()) return {{1}, {{0}}};
  return m;
}

// The longest run of consecutive source indices: [first, past).
std::pair<int64_t, int64_t> longest_run(const std::vector<int64_t>& table) {
  size_t best = 0, best_past = 0;
  for (size_t i = 0; i < table.size();) {
    size_t past = i + 1;
    while (past < table.size() && table[past] == table[past - 1] + 1) ++past;
    if (past - i > best_past - best) best = i, best_past = past;
    i = past;
  }
  return {static_cast<int64_t>(best), static_cast<int64_t>(best_past)};
}

std::string table_of(EmitContext& context, const std::vector<int64_t>& table) {
  return context.table(Tensor::of(ElementType::I64, {static_cast<int64_t>(table.size())}, table));
}

void emit_range(EmitContext& context, const std::string& table, int64_t first, int64_t past) {
  if (first >= past) return;
  context.line(fmt::format("for (ptrdiff_t i = {}; i < {}; ++i) to[i] = from[{}[i]];", first, past, table));
}

void emit_row(EmitContext& context, const std::vector<int64_t>& table, ElementType elem) {
  auto [first, past] = longest_run(table);
  constexpr int64_t kWorthACall = 8;
  if (past - first < kWorthACall) first = past = 0;
  bool whole = first == 0 && past == static_cast<int64_t>(table.size());
  std::string name = whole ? std::string() : table_of(context, table);
  emit_range(context, name, 0, first);
  if (past > first) {
    context.line(fmt::format("memcpy(to + {}, from + {}, {});", first, table[at(first)],
                             (past - first) * byte_size(elem)));
  }
  emit_range(context, name, past, static_cast<int64_t>(table.size()));
}

}  // namespace

Status check_table_sizes(const std::vector<int64_t>& entries) {
  constexpr int64_t kMost = int64_t{1} << 23;
  const int64_t all = std::accumulate(entries.begin(), entries.end(), int64_t{0}, saturating_add);
  if (all <= kMost) return {};
  return make_diag<DiagCode::MRV0210>(all, kMost);
}

void run_mapped_copy(const MappedCopy& copy, const Tensor& in, Tensor& out) {
  if (out.elements() == 0) return;
  MappedCopy m = merged(copy);
  Shape strides = row_major_strides(m.in);
  ElementBytes bytes(in, out);
  size_t last = m.in.size() - 1;
  auto [first, past] = longest_run(m.from[last]);
  auto width = static_cast<int64_t>(m.from[last].size());
  for (int64_t to = 0; to < out.elements(); to += width) {
    int64_t base = 0, rest = to / width;
    for (size_t d = last; d-- > 0;) {
      auto size = static_cast<int64_t>(m.from[d].size());
      base += m.from[d][at(rest % size)] * strides[d];
      rest /= size;
    }
    for (int64_t i = 0; i < first; ++i) bytes.copy(base + m.from[last][at(i)], to + i, 1);
    bytes.copy(base + m.from[last][at(first)], to + first, past - first);
    for (int64_t i = past; i < width; ++i) bytes.copy(base + m.from[last][at(i)], to + i, 1);
  }
}

void emit_mapped_copy(EmitContext& context, const MappedCopy& copy) {
  if (context.out_type(0).elements() == 0) return;
  MappedCopy m = merged(copy);
  size_t last = m.in.size() - 1;
  Shape in = row_major_strides(m.in), sizes;
  for (const auto& table : m.from) sizes.push_back(static_cast<int64_t>(table.size()));
  Shape out = row_major_strides(sizes);
  std::string_view type = c_type(context.in_type(0).elem);
  std::string from = context.in(0), to = context.out(0);
  for (size_t d = 0; d < last; ++d) {
    context.loop(fmt::format("i{}", d), sizes[d]);
    bool same = is_identity(m.from[d], m.in[d]);
    std::string index =
        same ? fmt::format("i{}", d) : fmt::format("(ptrdiff_t){}[i{}]", table_of(context, m.from[d]), d);
    from += fmt::format(" + {} * {}", index, in[d]);
    to += fmt::format(" + i{} * {}", d, out[d]);
  }
  if (last == 0) context.open("");
  context.line(fmt::format("const {}* from = {};", type, from));
  context.line(fmt::format("{}* to = {};", type, to));
  emit_row(context, m.from[last], context.in_type(0).elem);
  for (size_t d = 0; d < std::max<size_t>(last, 1); ++d) context.close();
}

}  // namespace mrvlc::ops
