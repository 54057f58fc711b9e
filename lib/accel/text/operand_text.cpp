// Operands of primitives to text and back.
#include "text/operand_text.h"

#include "mrvlc/isa/names.h"
#include "text/fields.h"

namespace mrvlc::accel {
namespace {

// Takes what stands before `stop` off the text; false: it does not occur.
bool take_until(std::string_view& text, char stop, std::string_view& part) {
  size_t at = text.find(stop);
  if (at == std::string_view::npos) return false;
  part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return true;
}

// The buffer's name, which may be quoted, up to "+".
bool take_name(std::string_view& text, std::string& name) {
  size_t at = 0;
  for (bool quoted = false; at < text.size() && (quoted || text[at] != '+'); ++at) {
    if (quoted && text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      quoted = !quoted;
  }
  if (at >= text.size() || at == 0) return false;
  name = text.substr(0, at);
  text.remove_prefix(at + 1);
  return true;
}

template <class E, size_t N>
bool read_name(const char* const (&names)[N], std::string_view text, E& value) {
  int at = position(names, text);
  if (at >= 0) value = static_cast<E>(at);
  return at >= 0;
}

// "ZERO,SCALE)"
bool read_quantization(std::string_view text, isa::Quantization& q) {
  std::string_view zero;
  int64_t n = 0;
  if (!take_until(text, ',', zero) || text.empty() || text.back() != ')' || !read_number(zero, n))
    return false;
  text.remove_suffix(1);
  q.zero = static_cast<int16_t>(n);
  return n >= -128 && n <= 255 && read_number(text, q.scale) && q.scale > 0;
}

}  // namespace

std::string to_text(const PlaceText& p) {
  std::string out = p.buffer + "+" + list_text(p.offsets) + "{" + list_text(p.strides) + "}";
  if (p.type != isa::DataType::F16) out += std::string(":") + isa::kTypeNames[static_cast<size_t>(p.type)];
  if (p.quantization != isa::Quantization{})
    out += "(" + number_text(int64_t{p.quantization.zero}) + "," + number_text(p.quantization.scale) + ")";
  return out;
}

std::optional<PlaceText> read_place(std::string_view text) {
  PlaceText p;
  std::string_view offsets, strides;
  bool ok = take_name(text, p.buffer) && take_until(text, '{', offsets) && read_list(offsets, p.offsets) &&
            take_until(text, '}', strides) && read_list(strides, p.strides);
  if (!ok || (!text.empty() && text[0] != ':')) return std::nullopt;
  if (text.empty()) return p;
  text.remove_prefix(1);
  std::string_view type = text;
  if (take_until(text, '(', type) && !read_quantization(text, p.quantization)) return std::nullopt;
  if (!read_name(isa::kTypeNames, type, p.type)) return std::nullopt;
  return isa::is_integer(p.type) == (p.quantization.scale > 0) ? std::optional(p) : std::nullopt;
}

std::string to_text(const EpilogueSpec& e) {
  std::string out = isa::kActivationNames[static_cast<size_t>(e.activation)];
  if (e.alpha != 0 || e.beta != 0) out += "(" + number_text(e.alpha) + "," + number_text(e.beta) + ")";
  if (e.table >= 0) out += "@" + number_text(e.table);
  return out;
}

std::optional<EpilogueSpec> read_epilogue(std::string_view text) {
  EpilogueSpec e;
  size_t table = text.rfind('@');
  bool ok = true;
  if (table != std::string_view::npos) {
    ok = read_number(text.substr(table + 1), e.table) && e.table >= 0;
    text = text.substr(0, table);
  }
  std::string_view name = text, alpha;
  if (take_until(text, '(', name)) {
    ok = ok && !text.empty() && text.back() == ')';
    if (ok) text.remove_suffix(1);
    ok = ok && take_until(text, ',', alpha) && read_number(alpha, e.alpha) && read_number(text, e.beta);
  }
  ok = ok && read_name(isa::kActivationNames, name, e.activation);
  ok = ok && (e.table_bytes() > 0) == (e.table >= 0);
  return ok ? std::optional(e) : std::nullopt;
}

}  // namespace mrvlc::accel
