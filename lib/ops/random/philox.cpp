// Ten rounds of Philox; keys from seeds or stream numbers; uniform and normal (Box-Muller) numbers, C too.
#include "random/philox.h"

#include <bit>
#include <cmath>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/random.h"

namespace mrvlc::ops {
namespace {

constexpr double kTurn = 0x1.921fb54442d18p+2;  // 2 pi
constexpr uint32_t kUnseeded = 0x6d72766cu;     // first key word of nodes without a seed: "mrvl"

// 27 and 26 bits: the 53 that a double holds, as genrand_res53 of the Mersenne Twister has them.
double from_words(uint32_t a, uint32_t b) {
  return (static_cast<double>(a >> 5) * 0x1p26 + static_cast<double>(b >> 6)) * 0x1p-53;
}

std::string call_text(EmitContext& context, RandomKey key, std::string_view counter) {
  return fmt::format("{}((uint64_t)({}), {}u, {}u, w);", context.helper("philox"), counter, key.low,
                     key.high);
}

}  // namespace

bool is_random(const ir::Node& node) {
  if (node.op->attr_index(kStream) < 0) return false;
  // Without its third input, Dropout is the identity.
  return !node.is(Op::Dropout) || (node.inputs.size() > 2 && node.inputs[2].valid());
}

void set_stream(const ir::OpSchema& op, std::vector<ir::Attr>& slots, int64_t number) {
  int index = op.attr_index(kStream);
  if (index >= 0) slots[static_cast<size_t>(index)] = number;
}

RandomKey random_key(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs) {
  const ir::Attr& seed = attrs[static_cast<size_t>(op.attr_index("seed"))];
  if (const auto* f = std::get_if<float>(&seed)) return {std::bit_cast<uint32_t>(*f), 0};
  const auto* given = std::get_if<int64_t>(&seed);
  if (given != nullptr) {
    auto bits = static_cast<uint64_t>(*given);
    return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  }
  auto stream = std::get<int64_t>(attrs[static_cast<size_t>(op.attr_index(kStream))]);
  return {kUnseeded, static_cast<uint32_t>(stream)};
}

std::array<uint32_t, 4> philox(RandomKey key, uint64_t counter) {
  std::array<uint32_t, 4> c{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  for (int round = 0; round < 10; ++round) {
    // Multipliers and key steps are the paper's; the steps are from the golden ratio and sqrt(3) - 1.
    uint64_t p = uint64_t{0xd2511f53u} * c[0], q = uint64_t{0xcd9e8d57u} * c[2];
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ key.low, static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ key.high, static_cast<uint32_t>(p)};
    key.low += 0x9e3779b9u;
    key.high += 0xbb67ae85u;
  }
  return c;
}

double uniform24(RandomKey key, uint64_t i) {
  return static_cast<double>(philox(key, i / 4)[i % 4] >> 8) * 0x1p-24;
}

double uniform53(RandomKey key, uint64_t i) {
  auto w = philox(key, i / 2);
  size_t at = i % 2 * 2;
  return from_words(w[at], w[at + 1]);
}

std::array<double, 2> normal_pair(RandomKey key, uint64_t pair) {
  auto w = philox(key, pair);
  double radius = std::sqrt(-2 * std::log(from_words(w[0], w[1]) + 0x1p-53));  // (0, 1]
  double angle = kTurn * from_words(w[2], w[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

void open_uniform24(EmitContext& context, RandomKey key, std::string_view n) {
  context.line("uint32_t w[4] = {0};");
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  context.line(fmt::format("if (i % 4 == 0) {}", call_text(context, key, "i / 4")));
  context.line("const double u = (double)(w[i % 4] >> 8) * 0x1p-24;");
}

void open_uniform53(EmitContext& context, RandomKey key, std::string_view n) {
  context.line("uint32_t w[4] = {0};");
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  context.line(fmt::format("if (i % 2 == 0) {}", call_text(context, key, "i / 2")));
  context.line(fmt::format("const double u = {}(w + i % 2 * 2);", context.helper("uniform53")));
}

void open_normals(EmitContext& context, RandomKey key, std::string_view n) {
  std::string uniform = context.helper("uniform53");
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; i += 2)", n));
  context.line("uint32_t w[4];");
  context.line(call_text(context, key, "i / 2"));
  context.line(fmt::format("const double r = sqrt(-2.0 * log({}(w) + 0x1p-53));", uniform));
  context.line(
      fmt::format("const double angle = {} * {}(w + 2);", c_literal(kTurn, ElementType::F64), uniform));
  context.line("const double z0 = r * cos(angle), z1 = r * sin(angle);");
}

}  // namespace mrvlc::ops
