// The bytes of instructions against the tables of docs/isa.md. Encoder and decoder walk one list of fields,
// so that a round trip says nothing about where they lie: here the document says it, and bytes written by
// hand.
#include <re2/re2.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "mrvlc/isa/isa.h"
#include "paths.h"

using namespace mrvlc::isa;

namespace {

using Bytes = std::array<std::byte, kInstructionBytes>;

// A field as the document has it: u32[3] is three of size 4.
struct DocField {
  std::string name, type;
  size_t offset = 0, count = 1;
  size_t size() const {
    return type == "u8" ? 1 : type == "i16" ? 2 : type == "u64" || type == "i64" ? 8 : 4;
  }
};

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  static const re2::RE2 kBlanks("^\\s+|\\s+$");
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(separator, at), text.size());
    re2::RE2::GlobalReplace(&parts.emplace_back(text.substr(at, end - at)), kBlanks, "");
    at = end + separator.size();
  }
  return parts;
}

std::string section(const std::string& heading) {
  std::ifstream in(std::string(MRVLC_SOURCE_DIR) + "/docs/isa.md");
  std::ostringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  size_t begin = text.find("\n### " + heading + "\n");
  REQUIRE(begin != std::string::npos);
  text = text.substr(begin + 1);
  return text.substr(0, std::min(text.find("\n### "), text.find("\n## ")));
}

// "x, x_row u32, y0 i32", at one offset and on, or each at its own.
void add_fields(const std::vector<std::string>& offsets, const std::string& text,
                std::vector<DocField>& out) {
  static const re2::RE2 kTyped("(.*) ([uif](?:8|16|32|64))(?:\\[(\\d)\\])?");
  size_t first = out.size();
  for (const std::string& part : split(text, ",")) {
    DocField f;
    std::string name, type, count;
    const bool typed = re2::RE2::FullMatch(part, kTyped, &name, &type, &count);
    f.name = typed ? name : part;
    out.push_back(f);
    if (!typed) continue;
    for (size_t i = out.size(); i-- > first && out[i].type.empty();)
      out[i].type = type, out[i].count = count.empty() ? 1 : std::stoul(count);
  }
  size_t at = std::stoul(offsets[0]);
  for (size_t i = first; i < out.size(); ++i) {
    CAPTURE(out[i].name);
    REQUIRE_FALSE(out[i].type.empty());
    bool own = offsets.size() > 1;
    REQUIRE((!own || i - first < offsets.size()));
    out[i].offset = own ? std::stoul(offsets[i - first]) : at;
    at = out[i].offset + out[i].size() * out[i].count;
  }
}

void add_group(const std::string& name, size_t offset, bool epilogue, std::vector<DocField>& out) {
  std::string fields = epilogue ? "activation u8" : "address u32";
  auto add = [&](const char* field, const char* type, size_t at, size_t count = 1) {
    out.push_back({name + "." + field, type, offset + at, count});
  };
  if (epilogue)
    return add("activation", "u8", 0), add("alpha", "f32", 4), add("beta", "f32", 8), add("table", "u32", 12);
  add("address", "u32", 0), add("type", "u8", 4), add("zero", "i16", 6), add("strides", "i32", 8, 5);
}

void add_cells(const std::string& offsets, std::string text, std::vector<DocField>& out) {
  re2::RE2::GlobalReplace(&text, "( u8): .*", "\\1");  // the meaning of codes
  re2::RE2::GlobalReplace(&text, ", outermost first", "");
  re2::RE2::GlobalReplace(&text, " \\(as at .*", "");
  auto at = split(offsets, ",");
  if (text == "epilogue") return add_group("epilogue", std::stoul(at[0]), true, out);
  if (text.starts_with("operands ")) {
    auto names = split(text.substr(9), ",");
    REQUIRE(names.size() == at.size());
    for (size_t i = 0; i < names.size(); ++i) add_group(names[i], std::stoul(at[i]), false, out);
    return;
  }
  add_fields(at, text, out);
}

// Every field of a body, of all tables of the section whose first column holds offsets.
std::vector<DocField> fields_of(const std::string& heading) {
  static const re2::RE2 kOffsets("\\d+(, \\d+)*");
  std::vector<DocField> out;
  std::istringstream lines(section(heading));
  for (std::string line; std::getline(lines, line);) {
    auto cells = split(line, "|");
    for (size_t c = 1; c + 1 < cells.size(); ++c) {
      if (!re2::RE2::FullMatch(cells[c], kOffsets) || std::stoul(cells[c]) < 64) continue;
      add_cells(cells[c], cells[c + 1], out);
    }
  }
  return out;
}

// The same fields in the decoded form: writes element k.
using Set = std::function<void(Instruction&, uint64_t value, size_t k)>;
using Setters = std::map<std::string, Set>;

template <class T>
void put(T& field, uint64_t v) {
  if constexpr (std::is_same_v<T, float>) {
    field = std::bit_cast<float>(static_cast<uint32_t>(v));
  } else {
    field = static_cast<T>(v);
  }
}

template <class B, class T>
Set set(T B::*member) {
  return [member](Instruction& i, uint64_t v, size_t k) {
    auto& field = std::get<B>(i.body).*member;
    if constexpr (requires { field.size(); }) {
      put(field[k], v);
    } else {
      put(field, v);
    }
  };
}

template <class B>
void add_epilogue(Setters& s) {
  auto of = [](Instruction& i) -> Epilogue& { return std::get<B>(i.body).epilogue; };
  s["epilogue.activation"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).activation, v); };
  s["epilogue.alpha"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).alpha, v); };
  s["epilogue.beta"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).beta, v); };
  s["epilogue.table"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).table, v); };
}

template <class B>
void add_operand(Setters& s, const std::string& name, Operand B::*member) {
  auto of = [member](Instruction& i) -> Operand& { return std::get<B>(i.body).*member; };
  s[name + ".address"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).address, v); };
  s[name + ".type"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).type, v); };
  s[name + ".zero"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).quantization.zero, v); };
  s[name + ".scale"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).quantization.scale, v); };
  s[name + ".strides"] = [of](Instruction& i, uint64_t v, size_t k) { put(of(i).strides[k], v); };
}

template <class B>
void add_quantization(Setters& s, const std::string& name, Quantization B::*member) {
  auto of = [member](Instruction& i) -> Quantization& { return std::get<B>(i.body).*member; };
  s[name + "_zero"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).zero, v); };
  s[name + "_scale"] = [of](Instruction& i, uint64_t v, size_t) { put(of(i).scale, v); };
}

template <class B>
Setters window_setters() {
  Setters s = {{"x", set(&B::x)},
               {"x_row", set(&B::x_row)},
               {"x_col", set(&B::x_col)},
               {"in_h", set(&B::in_h)},
               {"in_w", set(&B::in_w)},
               {"y0", set(&B::y0)},
               {"x0", set(&B::x0)},
               {"kernel_h", set(&B::kernel_h)},
               {"kernel_w", set(&B::kernel_w)},
               {"stride_h", set(&B::stride_h)},
               {"stride_w", set(&B::stride_w)},
               {"dilation_h", set(&B::dilation_h)},
               {"dilation_w", set(&B::dilation_w)},
               {"channels", set(&B::channels)},
               {"out_h", set(&B::out_h)},
               {"out_w", set(&B::out_w)},
               {"out", set(&B::out)},
               {"out_row", set(&B::out_row)},
               {"out_col", set(&B::out_col)}};
  add_epilogue<B>(s);
  return s;
}

Setters conv_setters() {
  Setters s = window_setters<Conv>();
  s.merge(Setters{{"out_type", set(&Conv::out_type)},
                  {"out_channel", set(&Conv::out_channel)},
                  {"out_channels", set(&Conv::out_channels)},
                  {"w", set(&Conv::w)},
                  {"w_k", set(&Conv::w_k)},
                  {"w_n", set(&Conv::w_n)},
                  {"w_block", set(&Conv::w_block)},
                  {"bias", set(&Conv::bias)},
                  {"residual", set(&Conv::residual)},
                  {"residual_row", set(&Conv::residual_row)},
                  {"residual_col", set(&Conv::residual_col)},
                  {"x_type", set(&Conv::x_type)},
                  {"w_type", set(&Conv::w_type)},
                  {"x_zero", set(&Conv::x_zero)},
                  {"w_zero", set(&Conv::w_zero)},
                  {"scales", set(&Conv::scales)}});
  add_quantization(s, "out", &Conv::out_quantization);
  return s;
}

Setters dma_setters() {
  return {{"src_space", set(&Dma::src_space)},
          {"dst_space", set(&Dma::dst_space)},
          {"dst_tiles", set(&Dma::dst_tiles)},
          {"run_bytes", set(&Dma::run_bytes)},
          {"src", set(&Dma::src)},
          {"dst", set(&Dma::dst)},
          {"dims", set(&Dma::dims)},
          {"src_strides", set(&Dma::src_strides)},
          {"dst_strides", set(&Dma::dst_strides)}};
}

template <class B>
Setters vector_setters() {
  Setters s = {
      {"op", set(&B::op)}, {"alpha", set(&B::alpha)}, {"beta", set(&B::beta)}, {"dims", set(&B::dims)}};
  add_operand(s, "dst", &B::dst);
  add_operand(s, "a", &B::a);
  add_epilogue<B>(s);
  return s;
}

Setters elementwise_setters() {
  Setters s = vector_setters<Elementwise>();
  add_operand(s, "b", &Elementwise::b);
  return s;
}

Setters pool_setters() {
  Setters s = window_setters<Pool>();
  s.merge(Setters{{"op", set(&Pool::op)},
                  {"alpha", set(&Pool::alpha)},
                  {"x_type", set(&Pool::x_type)},
                  {"out_type", set(&Pool::out_type)}});
  add_quantization(s, "x", &Pool::x_quantization);
  add_quantization(s, "out", &Pool::out_quantization);
  return s;
}

Bytes encoded(const Instruction& i) {
  Bytes b;
  encode(i, b);
  return b;
}

// Another value for each field and element; codes stay known ones: of types that of int8, so that zero points
// and scales count.
uint64_t value_of(const DocField& f, size_t number) {
  if (f.name == "dst_tiles") return 0x5a;
  if (f.name.ends_with("type")) return 2;
  if (f.type == "u8") return 1;
  if (f.type == "i16") return 3 + number;
  if (f.name.ends_with("scale")) return std::bit_cast<uint32_t>(static_cast<float>(number));
  uint64_t v = 0x4142434445464701u + number * 0x0101010101010101u;
  return f.size() == 4 ? v & 0x7fffffffu : v;
}

void check_body(const std::string& heading, const Instruction& empty, const Setters& setters) {
  auto fields = fields_of(heading);
  std::map<std::string, int> met;
  Instruction whole = empty;
  Bytes expected = encoded(empty);
  size_t number = 0;
  for (const DocField& f : fields) {
    CAPTURE(heading, f.name, f.offset, f.type, f.count);
    auto setter = setters.find(f.name);
    REQUIRE(setter != setters.end());
    CHECK(++met[f.name] == 1);
    for (size_t k = 0; k < f.count; ++k) {
      uint64_t v = value_of(f, ++number);
      setter->second(whole, v, k);
      std::memcpy(expected.data() + f.offset + k * f.size(), &v, f.size());  // little-endian, as is this test
      Instruction one = empty;
      setter->second(one, v, k);
      Bytes before = encoded(empty), after = encoded(one);
      for (size_t at = 0; at < before.size(); ++at) {
        bool inside = at >= f.offset + k * f.size() && at < f.offset + (k + 1) * f.size();
        CAPTURE(at);
        if (inside) REQUIRE(after[at] == expected[at]);
        if (!inside) REQUIRE(after[at] == before[at]);
      }
    }
  }
  CHECK(met.size() == setters.size());
  CHECK(encoded(whole) == expected);
  auto back = decode(expected);
  REQUIRE(back.ok());
  CHECK(*back == whole);
}

// Bytes at an offset, in hexadecimal; everything else is 0.
Bytes image(const std::vector<std::pair<size_t, std::string>>& parts) {
  Bytes b{};
  for (const auto& [at, hex] : parts)
    for (size_t i = 0, n = 0; i + 1 < hex.size(); i += hex[i] == ' ' ? 1 : 2)
      if (hex[i] != ' ') b[at + n++] = static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16));
  return b;
}

void check_golden(const Instruction& i, const std::vector<std::pair<size_t, std::string>>& parts) {
  Bytes bytes = image(parts);
  CHECK(encoded(i) == bytes);
  auto back = decode(bytes);
  REQUIRE(back.ok());
  CHECK(*back == i);
}

}  // namespace

TEST_CASE("the fields of every body lie where docs/isa.md says") {
  Dma out;
  out.src_space = Space::Ocm, out.dst_tiles = 1;
  check_body("Dma", {0, Queue::DmaOut, {}, out}, dma_setters());
  check_body("Conv, Depthwise", {0, Queue::Pod, {}, Conv{}}, conv_setters());
  Conv depthwise;
  depthwise.depthwise = true;
  check_body("Conv, Depthwise", {0, Queue::Pod, {}, depthwise}, conv_setters());
  check_body("Elementwise", {0, Queue::Pe, {}, Elementwise{}}, elementwise_setters());
  check_body("Reduce", {0, Queue::Pe, {}, Reduce{}}, vector_setters<Reduce>());
  check_body("Pool", {0, Queue::Pe, {}, Pool{}}, pool_setters());
}

TEST_CASE("Sync, its header and its waits, byte by byte") {
  Instruction i{5, Queue::DmaOut, {{1, Queue::Pe, 0x01020304}, {7, Queue::Pod, 9}}, Sync{}};
  check_golden(i, {{0, "00 01 05 02 00"}, {16, "01 03 00 00 04 03 02 01"}, {24, "07 02 00 00 09 00 00 00"}});
}

TEST_CASE("Dma, byte by byte") {
  Dma d;
  d.src_space = Space::Ocm, d.dst_space = Space::Ddr, d.run_bytes = 0x20;
  d.src = 0x1122, d.dst = 0x334455667788;
  d.dims = {2, 3, 4}, d.src_strides = {0x100, -2, 0x40}, d.dst_strides = {0x200, 0x300, 0x400};
  check_golden({2, Queue::DmaOut, {}, d},
               {{0, "01 01 02"},
                {64, "01 00 00 00 20 00 00 00"},
                {72, "22 11 00 00 00 00 00 00  88 77 66 55 44 33 00 00"},
                {88, "02 00 00 00 03 00 00 00 04 00 00 00"},
                {104, "00 01 00 00 00 00 00 00  fe ff ff ff ff ff ff ff  40 00 00 00 00 00 00 00"},
                {128, "00 02 00 00 00 00 00 00  00 03 00 00 00 00 00 00  00 04 00 00 00 00 00 00"}});
}

TEST_CASE("Conv and Depthwise, byte by byte") {
  Conv c;
  c.first = true, c.last = false, c.out_type = DataType::F32;
  c.x = 1, c.x_row = 2, c.x_col = 3, c.in_h = 4, c.in_w = 5, c.y0 = -1, c.x0 = -2, c.kernel_h = 6,
  c.kernel_w = 7;
  c.stride_h = 8, c.stride_w = 9, c.dilation_h = 10, c.dilation_w = 11, c.channels = 12, c.out_h = 13,
  c.out_w = 14;
  c.out = 15, c.out_row = 16, c.out_col = 17, c.out_channel = 18, c.out_channels = 19, c.w = 20, c.w_k = 21;
  c.w_n = 22, c.w_block = 23, c.bias = 24, c.residual = kNoAddress, c.residual_row = 26, c.residual_col = 27;
  c.epilogue = {Activation::Leaky, 1.0f, -2.0f, 0x30};
  std::vector<std::pair<size_t, std::string>> parts = {
      {0, "02 02 07 00 01"},
      {64, "01 00 00 00  01 00 00 00 02 00 00 00 03 00 00 00"},
      {80, "04 00 00 00 05 00 00 00  ff ff ff ff fe ff ff ff"},
      {96, "06 00 00 00 07 00 00 00 08 00 00 00 09 00 00 00 0a 00 00 00 0b 00 00 00"},
      {120, "0c 00 00 00 0d 00 00 00 0e 00 00 00"},
      {132, "0f 00 00 00 10 00 00 00 11 00 00 00 12 00 00 00 13 00 00 00"},
      {152, "14 00 00 00 15 00 00 00 16 00 00 00 17 00 00 00"},
      {168, "18 00 00 00 ff ff ff ff 1a 00 00 00 1b 00 00 00"},
      {184, "03 00 00 00 00 00 80 3f 00 00 00 c0 30 00 00 00"}};
  check_golden({7, Queue::Pod, {}, c}, parts);
  c.depthwise = true, c.first = false, c.last = true;
  parts[0].second = "03 02 07 00 02";
  check_golden({7, Queue::Pod, {}, c}, parts);
}

TEST_CASE("Elementwise, byte by byte") {
  Elementwise e;
  e.op = EwOp::Select, e.alpha = 0.5f, e.beta = -0.5f, e.dims = {1, 2, 3, 4, 5};
  e.dst = {0x10, DataType::F32, {6, 7, 8, 9, -4}};
  e.a = {0x20, DataType::F16, {10, 11, 12, 13, 2}};
  e.b = {0x30, DataType::F32, {0, 0, 0, 0, 4}};
  e.epilogue = {Activation::Clip, 0.0f, 6.0f, 0x40};
  check_golden({1, Queue::Pe, {}, e},
               {{0, "04 03 01"},
                {64, "13 00 00 00 00 00 00 3f 00 00 00 bf"},
                {76, "01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 05 00 00 00"},
                {96, "10 00 00 00 01 00 00 00 06 00 00 00 07 00 00 00 08 00 00 00 09 00 00 00 fc ff ff ff"},
                {124, "20 00 00 00 00 00 00 00 0a 00 00 00 0b 00 00 00 0c 00 00 00 0d 00 00 00 02 00 00 00"},
                {152, "30 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 04 00 00 00"},
                {180, "02 00 00 00 00 00 00 00 00 00 c0 40 40 00 00 00"}});
}

TEST_CASE("Reduce and Pool, byte by byte") {
  Reduce r;
  r.op = ReduceOp::Prod, r.alpha = 2.0f, r.beta = 4.0f, r.dims = {5, 4, 3, 2, 1};
  r.dst = {0x50, DataType::F16, {1, 2, 3, 4, 0}};
  r.a = {0x60, DataType::F32, {5, 6, 7, 8, 9}};
  r.epilogue = {Activation::Relu, 0.0f, 0.0f, kNoAddress};
  check_golden({0, Queue::Pe, {}, r},
               {{0, "05 03 00"},
                {64, "04 00 00 00 00 00 00 40 00 00 80 40"},
                {76, "05 00 00 00 04 00 00 00 03 00 00 00 02 00 00 00 01 00 00 00"},
                {96, "50 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 00 00 00 00"},
                {124, "60 00 00 00 01 00 00 00 05 00 00 00 06 00 00 00 07 00 00 00 08 00 00 00 09 00 00 00"},
                {152, "01 00 00 00 00 00 00 00 00 00 00 00 ff ff ff ff"}});
  Pool p;
  p.op = PoolOp::AverageFixed, p.alpha = 0.25f;
  p.x = 1, p.x_row = 2, p.x_col = 3, p.in_h = 4, p.in_w = 5, p.y0 = -1, p.x0 = -2, p.kernel_h = 6,
  p.kernel_w = 7;
  p.stride_h = 8, p.stride_w = 9, p.dilation_h = 10, p.dilation_w = 11, p.channels = 12, p.out_h = 13,
  p.out_w = 14;
  p.out = 15, p.out_row = 16, p.out_col = 17;
  p.epilogue = {Activation::Table, 0.0f, 0.0f, 0x4000};
  check_golden({0, Queue::Pe, {}, p},
               {{0, "06 03 00"},
                {64, "02 00 00 00 00 00 80 3e"},
                {72, "01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 05 00 00 00 ff ff ff ff fe ff ff ff"},
                {100, "06 00 00 00 07 00 00 00 08 00 00 00 09 00 00 00 0a 00 00 00 0b 00 00 00 0c 00 00 00"},
                {128, "0d 00 00 00 0e 00 00 00 0f 00 00 00 10 00 00 00 11 00 00 00"},
                {148, "06 00 00 00 00 00 00 00 00 00 00 00 00 40 00 00"}});
}

TEST_CASE("codes have the numbers of docs/isa.md") {
  CHECK(static_cast<int>(Opcode::Sync) == 0);
  CHECK(static_cast<int>(Opcode::Pool) == 6);
  // The table of Elementwise: code, name; two columns.
  std::istringstream lines(section("Elementwise"));
  std::map<int, std::string> names;
  for (std::string line; std::getline(lines, line);) {
    auto cells = split(line, "|");
    for (size_t c = 1; c + 1 < cells.size(); ++c)
      if (re2::RE2::FullMatch(cells[c], "\\d\\d?") && std::isupper(cells[c + 1][0]) != 0)
        names[std::stoi(cells[c])] = cells[c + 1];
  }
  CHECK(names.size() == 20);
  const std::map<std::string, EwOp> expected = {{"Copy", EwOp::Copy},
                                                {"Fill", EwOp::Fill},
                                                {"Add", EwOp::Add},
                                                {"Sub", EwOp::Sub},
                                                {"Mul", EwOp::Mul},
                                                {"Div", EwOp::Div},
                                                {"Max", EwOp::Max},
                                                {"Min", EwOp::Min},
                                                {"AxpBy", EwOp::AxpBy},
                                                {"Prelu", EwOp::Prelu},
                                                {"Affine", EwOp::Affine},
                                                {"Sqrt", EwOp::Sqrt},
                                                {"Reciprocal", EwOp::Reciprocal},
                                                {"Abs", EwOp::Abs},
                                                {"Neg", EwOp::Neg},
                                                {"Equal", EwOp::Equal},
                                                {"Less", EwOp::Less},
                                                {"Greater", EwOp::Greater},
                                                {"Floor", EwOp::Floor},
                                                {"Select", EwOp::Select}};
  for (const auto& [code, name] : names) {
    CAPTURE(code, name);
    REQUIRE(expected.contains(name));
    CHECK(static_cast<int>(expected.at(name)) == code);
  }
}
