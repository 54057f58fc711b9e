// The header's dictionary parsed and written; Fortran order and big-endian data brought to C order.
#include "mrvlc/tensor/npy.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/tensor/narrow.h"
#include "mrvlc/tensor/npy_descr.h"

namespace mrvlc {
namespace {

struct Dtype {
  std::string_view descr;
  ElementType elem;
};
constexpr Dtype kDtypes[] = {
    {"<f4", ElementType::F32}, {"<f8", ElementType::F64}, {"<f2", ElementType::F16},
    {"|u1", ElementType::U8},  {"|i1", ElementType::I8},  {"<u2", ElementType::U16},
    {"<i2", ElementType::I16}, {"<i4", ElementType::I32}, {"<u4", ElementType::U32},
    {"<i8", ElementType::I64}, {"<u8", ElementType::U64}, {"|b1", ElementType::Bool}};

// NumPy knows none of the half and narrow types of its own: their bits, or values, as integers.
ElementType stored_as(ElementType elem) {
  if (elem == ElementType::BF16) return ElementType::U16;
  if (elem == ElementType::I4 || elem == ElementType::I2) return ElementType::I8;
  return is_narrow_float(elem) || is_narrow_integer(elem) ? ElementType::U8 : elem;
}

Diag bad(std::string_view file, std::string_view why) {
  return make_diag<DiagCode::MRV0006>(file, why);
}

// Text after `key` and its colon, up to the end of the value; empty when the key is missing.
std::string_view value_of(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  at = header.find(':', at);
  if (at == std::string_view::npos) return {};
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string_view::npos ? std::string_view{} : header.substr(at);
}

bool parse_shape(std::string_view text, Shape& shape) {
  if (text.empty() || text[0] != '(') return false;
  size_t i = 1;
  while (i < text.size() && text[i] != ')') {
    if (text[i] == ' ' || text[i] == ',') {
      ++i;
      continue;
    }
    int64_t d = 0;
    auto [end, ec] = std::from_chars(text.data() + i, text.data() + text.size(), d);
    if (ec != std::errc() || d < 0) return false;
    shape.push_back(d);
    i = static_cast<size_t>(end - text.data());
  }
  return i < text.size() && static_cast<int64_t>(shape.size()) <= 32;
}

struct Layout {
  bool fortran = false, swapped = false;  // the first dimension is the fastest; big-endian
};

// The element type of "'<f4'", as NumPy writes it; Undefined: none that is known.
ElementType parse_descr(std::string_view descr, Layout& layout) {
  if (descr.size() < 5) return ElementType::Undefined;
  std::string little(descr.substr(1, 3));
  layout.swapped = little[0] == '>';
  if (layout.swapped) little[0] = little[2] == '1' ? '|' : '<';
  for (const Dtype& d : kDtypes)
    if (little == d.descr) return d.elem;
  return ElementType::Undefined;
}

void swap_elements(std::string& data, size_t size) {
  for (size_t at = 0; at + size <= data.size(); at += size)
    std::reverse(data.begin() + static_cast<long>(at), data.begin() + static_cast<long>(at + size));
}

// From the order where the first dimension is the fastest to that where the last one is.
std::string to_c_order(std::string_view data, const Shape& shape, size_t size) {
  std::string out(data.size(), '\0');
  std::vector<size_t> stride(shape.size(), 1);  // in the file
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * static_cast<size_t>(shape[d - 1]);
  Shape index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to + size <= out.size(); to += size) {
    std::copy_n(data.data() + from * size, size, out.data() + to);
    for (size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return out;
}

// The header's text, and what stands behind it. Errors: why it is none.
struct Parts {
  std::string_view header, data;
};
std::string_view split_npy(std::string_view bytes, Parts& parts) {
  if (bytes.starts_with("PK\x03\x04"))
    return "it is an archive (.npz, .zip); save each of its arrays with numpy.save";
  if (bytes.size() < 10 || bytes.substr(0, 6) != std::string_view("\x93NUMPY", 6))
    return "it does not begin as one does; numpy.save writes them";
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return "unknown version";
  const size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) return "cut short";
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - start < length) return "cut short";
  parts = {bytes.substr(start, length), bytes.substr(start + length)};
  return {};
}

}  // namespace

Result<Tensor> parse_npy(std::string_view bytes, std::string_view file) {
  Parts parts;
  if (const std::string_view why = split_npy(bytes, parts); !why.empty()) return bad(file, why);
  TensorType type;
  Layout layout;
  type.elem = parse_descr(value_of(parts.header, "descr"), layout);
  if (type.elem == ElementType::Undefined) return bad(file, "unsupported element type");
  const std::string_view fortran = value_of(parts.header, "fortran_order");
  layout.fortran = fortran.starts_with("True");
  if (!layout.fortran && !fortran.starts_with("False")) return bad(file, "malformed header");
  if (!parse_shape(value_of(parts.header, "shape"), type.shape)) return bad(file, "malformed shape");
  auto count = checked_product(type.shape);
  if (!count || *count > kMaxElements || static_cast<uint64_t>(type.bytes()) != parts.data.size()) {
    return bad(file, "data does not match the shape");
  }
  const size_t size = *count == 0 ? 1 : parts.data.size() / static_cast<size_t>(*count);
  std::string data = layout.fortran && type.shape.size() > 1 ? to_c_order(parts.data, type.shape, size)
                                                             : std::string(parts.data);
  if (layout.swapped) swap_elements(data, size);
  return Tensor(type, std::move(data));
}

bool is_plain_npy(std::string_view bytes) {
  Parts parts;
  return split_npy(bytes, parts).empty() && value_of(parts.header, "fortran_order").starts_with("False") &&
         !value_of(parts.header, "descr").starts_with("'>");
}

Result<Tensor> read_npy(const std::filesystem::path& path) {
  MRVLC_ASSIGN(std::string bytes, read_file(path));
  return parse_npy(bytes, path.string());
}

Tensor from_npy(const Tensor& tensor, ElementType elem) {
  if (tensor.elem() == elem || tensor.elem() != stored_as(elem)) return tensor;
  auto raw = tensor.bytes();
  return Tensor(tensor.type().with_elem(elem),
                std::string(reinterpret_cast<const char*>(raw.data()), raw.size()));
}

std::string_view npy_descr(ElementType elem) {
  const auto* found = std::ranges::find(kDtypes, stored_as(elem), &Dtype::elem);
  return found == std::end(kDtypes) ? std::string_view() : found->descr;
}

std::string to_npy(const Tensor& tensor) {
  const std::string_view descr = npy_descr(tensor.elem());
  std::string shape;
  for (int64_t d : tensor.shape()) shape += std::to_string(d) + ", ";
  if (tensor.shape().size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape().size() == 1) shape.resize(shape.size() - 1);
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');  // data starts at a multiple of 64
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  auto raw = tensor.bytes();
  out.append(reinterpret_cast<const char*>(raw.data()), raw.size());
  return out;
}

}  // namespace mrvlc
