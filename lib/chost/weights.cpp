// Lays out the weights blob; its files, and what stub and header say of it.
#include "mrvlc/support/hash.h"
#include "text.h"
#include "weight_store.h"

namespace mrvlc::chost {
namespace {

// Eight bytes, the first in the lowest bits; behind the end lie zeros.
uint64_t word_of(const std::string& bytes, size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8 && at + i < bytes.size(); ++i)
    word |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  return word;
}

}  // namespace

int64_t Weights::add(std::span<const std::byte> bytes, int64_t alignment) {
  auto [it, is_new] = offsets_.try_emplace({alignment, sha256_hex(bytes)}, 0);
  if (!is_new) return it->second;
  auto at = static_cast<size_t>(round_up(static_cast<int64_t>(blob_.size()), alignment));
  blob_.resize(at, '\0');
  if (bytes.empty()) blob_.push_back('\0');  // so that there is an address
  blob_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return it->second = static_cast<int64_t>(at);
}

uint64_t Weights::sum() const {
  uint64_t sum = blob_.size();
  for (size_t at = 0; at < blob_.size(); at += 8) {
    sum = (sum ^ word_of(blob_, at)) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  return sum;
}

namespace {

constexpr size_t kWordsInLine = 4;

std::string weights_assembly(const Program& program) {
  return fmt::format(
      "/* The weights of {0} as they are in {1}_weights.bin, in the section of {0}_WEIGHTS_SECTION. */\n"
      "#if defined(__GNUC__) && !defined(__ELF__)\n#error \"this text is for ELF: compile the model with "
      "--weights c\"\n#endif\n"
      "#ifndef {0}_WEIGHTS_SECTION\n#define {0}_WEIGHTS_SECTION .rodata\n#endif\n"
      "  .section {0}_WEIGHTS_SECTION,\"a\",%progbits\n"
      "  .balign 64\n  .globl {0}_weights\n  .type {0}_weights, %object\n{0}_weights:\n"
      "  .incbin \"{1}_weights.bin\"\n  .byte 0\n  .size {0}_weights, . - {0}_weights\n"
      "  .section .note.GNU-stack,\"\",%progbits\n",
      program.options.name, program.options.file_stem);
}

// How an object is put into a section and aligned is no matter of C99.
constexpr std::string_view kAttributes =
    R"(/* For compilers without .incbin. K_WEIGHTS_SECTION is the section that they are to lie in;
 * K_WEIGHTS_ATTRIBUTES says the same, and that they are aligned to 64 bytes, to compilers that are not known here. */
#include <stdint.h>

#define K_WEIGHTS_TEXT(x) #x
#define K_WEIGHTS_NAME(x) K_WEIGHTS_TEXT(x)
#ifdef K_WEIGHTS_ATTRIBUTES
#elif defined(__GNUC__) || defined(__clang__) || defined(__ARMCC_VERSION) || defined(__ICCARM__) || \
    defined(__TINYC__)
#ifdef K_WEIGHTS_SECTION
#define K_WEIGHTS_ATTRIBUTES __attribute__((aligned(64), section(K_WEIGHTS_NAME(K_WEIGHTS_SECTION))))
#else
#define K_WEIGHTS_ATTRIBUTES __attribute__((aligned(64)))
#endif
#elif defined(_MSC_VER)
#ifdef K_WEIGHTS_SECTION
__pragma(section(K_WEIGHTS_NAME(K_WEIGHTS_SECTION), read))
#define K_WEIGHTS_ATTRIBUTES __declspec(align(64)) __declspec(allocate(K_WEIGHTS_NAME(K_WEIGHTS_SECTION)))
#else
#define K_WEIGHTS_ATTRIBUTES __declspec(align(64))
#endif
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(K_WEIGHTS_SECTION)
#define K_WEIGHTS_ATTRIBUTES _Alignas(64)
#else
#error "K_WEIGHTS_ATTRIBUTES: how does this compiler align an object to 64 bytes, and put it into a section?"
#endif

#ifdef __cplusplus
extern "C" {
#endif
)";

// Words, not bytes: compilers keep some hundred bytes for every element. Hexadecimal numbers are exact.
std::string weights_array(const Program& program) {
  const std::string& blob = program.weights.blob();
  const size_t words = std::max<size_t>(1, (blob.size() + 7) / 8);
  std::string text = with_prefix(kAttributes, program.options.name);
  text += fmt::format(
      "extern const uint64_t {0}_weight_words[{1}];\n"
      "{0}_WEIGHTS_ATTRIBUTES const uint64_t {0}_weight_words[{1}] = {{",
      program.options.name, words);
  text.reserve(text.size() + words * 23 + 64);
  for (size_t i = 0; i < words; ++i)
    fmt::format_to(std::back_inserter(text), "{}0x{:016x}u,", i % kWordsInLine == 0 ? "\n" : "",
                   word_of(blob, 8 * i));
  return text + "};\n#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace

std::string declare_weights(const Program& program) {
  const bool any = !program.weights.blob().empty();
  std::string text;
  switch (program.options.weights) {
    case WeightsAs::Blob:  // a parameter of functions
      break;
    case WeightsAs::Source:
      text =
          "extern const uint64_t K_weight_words[];\n"
          "#define K_weights ((const unsigned char*)K_weight_words)\n";
      break;
    case WeightsAs::Linked:
      if (any) text = "extern const unsigned char K_weights[];\n";
      break;
  }
  if (any) text += "#define K_FLOATS(byte) ((const float*)(const void*)(K_weights + (byte)))\n";
  if (program.module.half_bytes > 0)
    text += "#define K_HALF_FLOATS(at) ((const uint16_t*)(const void*)(K_weights + (at)))\n";
  return with_prefix(text, program.options.name);
}

std::string weights_macros(const Program& program) {
  if (program.options.weights != WeightsAs::Blob) return {};
  return fmt::format(
      "#define {0}_WEIGHTS_ALIGN 64\n"
      "#define {0}_WEIGHTS_SUM UINT64_C(0x{1:016x}) /* of the bytes of {2}_weights.bin, {0}_load_weights "
      "*/\n",
      program.options.name, program.weights.sum(), program.options.file_stem);
}

std::string weights_definition(const Program& program) {
  return program.weights.blob().empty() ? std::string() : "\n" + weights_array(program);
}

std::vector<std::pair<std::string, std::string>> weights_files(Program& program) {
  const std::string stem = program.options.file_stem + "_weights";
  std::vector<std::pair<std::string, std::string>> files;
  if (program.options.weights == WeightsAs::Source) {
    files.emplace_back(stem + ".c", weights_array(program));
    return files;
  }
  if (program.options.weights == WeightsAs::Linked)
    files.emplace_back(stem + ".S", weights_assembly(program));
  files.emplace_back(stem + ".bin", program.weights.take_blob());
  return files;
}

}  // namespace mrvlc::chost
