// What the contract says of the generated C: it is clean for gcc and clang, free of undefined behaviour,
// gives the same answers on other machines, links for a microcontroller, and several stubs share a program.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "paths.h"
#include "subject.h"

using namespace mrvlc;
using namespace mrvlc::stubtest;

namespace {

// Compilers fuse and reorder sums differently; relative to the greatest magnitude.
constexpr double kSameAnswer = 1e-5;

void check_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected, double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (size_t k = 0; k < actual.size(); ++k) {
    INFO("output " << k);
    CHECK(distance(actual[k], expected[k]) <= tolerance);
  }
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

// The same bytes, but that programs linked with these flags take numbers below the least normal one for 0.
bool same_but_tiny(const Tensor& a, const Tensor& b) {
  if (std::ranges::equal(a.bytes(), b.bytes())) return true;
  if (a.type().elem != ElementType::F32 || a.elements() != b.elements()) return false;
  const std::span<const float> x = a.data<float>(), y = b.data<float>();
  return std::ranges::equal(x, y, [](float p, float q) { return p == q || std::abs(p - q) < 0x1p-126f; });
}

// A program without a file system that refers to the stub as firmware would.
std::string firmware(const Subject& s) {
  return fmt::format(R"(#include "{0}.h"
static {0}_inputs inputs;
static {0}_outputs outputs;
static {0}_device device;
static unsigned char arena[{0}_ARENA_BYTES + {0}_ARENA_ALIGN];
int main(void) {{
  {0}_error error;
  return {0}_run(&inputs, &outputs, arena, &device, 0, 0, &error);
}}
)",
                     s.name);
}

}  // namespace

TEST_CASE("the program of the generated Makefile gives the right answers") {
  for (const Subject& s : subjects()) {
    INFO(s.name);
    if (s.expected.empty()) {
      CHECK(accuracy(s.plain.at(0), s.labels) >= 0.97);
    } else {
      check_same(s.plain, s.expected, s.tolerance);
    }
  }
}

TEST_CASE("digits: accelerator and host agree") {
  check_same(subjects()[0].plain, subjects()[1].plain, 1e-2);
}

TEST_CASE("gcc and clang compile the stub and the example without a warning") {
  for (std::string compiler : {"gcc", "clang"}) {
    if (!have_tool(compiler, "strict warnings")) continue;
    for (const Subject& s : subjects()) {
      for (const char* flags : {"-O2", "-O2 -march=native"}) {
        must_run(s.folder,
                 fmt::format("{} {} {} -Iout -c out/{}.c out/main.c", compiler, flags, kStrict, s.name));
      }
    }
  }
}

TEST_CASE("flags that loosen floats change nothing but what is next to 0") {
  for (std::string compiler : {"gcc", "clang"}) {
    if (!have_tool(compiler, "flags of floats")) continue;
    for (const Subject& s : subjects()) {
      if (!s.host) continue;
      INFO(compiler << " " << s.name);
      const std::vector<Tensor> strict = build_and_run(s, compiler + " -O2");
      // Clang keeps some flags in calls of sqrtf and others.
      if (compiler == "clang")
        must_run(s.folder,
                 fmt::format("! clang -std=c99 -Ofast -Iout -fsyntax-only out/{}.c 2>fast.log && grep -q "
                             "'without -ffast-math' fast.log",
                             s.name));
      for (const char* flags : {"-Ofast", "-O2 -funsafe-math-optimizations -freciprocal-math"}) {
        if (compiler == "clang" && flags == std::string("-Ofast")) continue;
        const std::vector<Tensor> loose = build_and_run(s, compiler + " " + flags);
        for (size_t k = 0; k < strict.size(); ++k) CHECK(same_but_tiny(loose.at(k), strict[k]));
      }
    }
  }
}

TEST_CASE("floats of more bits than they have are refused") {
  if (!have_tool("gcc", "x87")) return;
  const Subject& s = subjects().front();
  must_run(s.folder,
           fmt::format("if gcc -x c -mfpmath=387 -E /dev/null 2>/dev/null; then ! gcc -std=c99 -mfpmath=387 "
                       "-Iout -fsyntax-only out/{}.c 2>387.log && grep -q 'mfpmath=sse' 387.log; fi",
                       s.name));
}

TEST_CASE("sanitizers find nothing and answers stay") {
  struct Build {
    std::string compiler, flags;
  };
  for (const Build& build : {Build{"gcc", "-march=native"}, Build{"clang", "-DMRVL_NO_VECTORS"}}) {
    if (!have_tool(build.compiler, "sanitizers")) continue;
    for (const Subject& s : subjects()) {
      // A sanitized simulator brings the runtime of gcc, which cannot share a program with that of clang.
      if (!s.host && build.compiler == "clang" && !simulator_flags().empty()) continue;
      INFO(build.compiler << " " << build.flags << " " << s.name);
      check_same(
          build_and_run(s, fmt::format("{} -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all {}",
                                       build.compiler, build.flags)),
          s.plain, kSameAnswer);
    }
  }
}

TEST_CASE("an aarch64 program gives the same answers") {
  if (!have_tool("aarch64-linux-gnu-gcc", "aarch64") || !have_tool("qemu-aarch64", "aarch64")) return;
  for (const Subject& s : subjects()) {
    if (!s.host) continue;  // the simulator is a library of this machine
    INFO(s.name);
    check_same(build_and_run(s, "aarch64-linux-gnu-gcc -O2 -static", "qemu-aarch64"), s.plain, kSameAnswer);
  }
}

TEST_CASE("the stub links for Cortex-M3 and needs no heap, files or processes") {
  if (!have_tool("arm-none-eabi-gcc", "Cortex-M3")) return;
  for (const Subject& s : subjects()) {
    INFO(s.name);
    write(s.folder / "firmware.c", firmware(s));
    std::string cc = fmt::format("arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -Os {} -Iout", kStrict);
    must_run(s.folder, fmt::format("{} -c -o stub.o out/{}.c", cc, s.name));
    must_run(s.folder,
             "! arm-none-eabi-nm -u stub.o | grep -wE 'malloc|calloc|free|[a-z]*printf|fopen|exit|abort'");
    must_run(s.folder,
             fmt::format("{} -o firmware.elf firmware.c stub.o out/{}_weights.S --specs=nosys.specs -lm", cc,
                         s.name));
    must_run(s.folder, fmt::format("arm-none-eabi-nm firmware.elf | grep -w {}_run", s.name));
  }
}

TEST_CASE("two models in one program do not disturb each other") {
  const Subject &a = subjects()[1], &b = subjects().size() > 2 ? subjects()[2] : subjects()[0];
  // Every output of the first model must be the same bytes before and after the second has run.
  std::string text = fmt::format(R"(#include <stdlib.h>
#include <string.h>
#include "{0}.h"
#include "{1}.h"
static float zeros[{1}_INPUT0_ELEMENTS + {0}_INPUT0_ELEMENTS];
static float first[{0}_OUTPUT0_ELEMENTS], again[{0}_OUTPUT0_ELEMENTS], other[{1}_OUTPUT0_ELEMENTS];
static int fake_run(void* context, void* model, const mrvl_input* inputs, size_t input_count,
                    const mrvl_output* outputs, size_t output_count) {{
  (void)context, (void)model, (void)inputs, (void)outputs, (void)input_count, (void)output_count;
  return 0;
}}
int main(void) {{
  static mrvl_device driver = MRVL_DEVICE_INIT;
  static {1}_device device;
  {0}_inputs in0;
  {0}_outputs out0;
  {1}_inputs in1;
  {1}_outputs out1;
  unsigned char* raw = (unsigned char*)malloc({0}_ARENA_BYTES + {1}_ARENA_BYTES + 128);
  if (!raw) return 9;
  void* arena = raw + (64 - (size_t)raw % 64);
  driver.run = fake_run;
  device.device = &driver;
  for (size_t i = 0; i < sizeof device.models / sizeof device.models[0]; ++i) device.models[i] = &driver;
  memcpy(&in0, &(const float*){{zeros}}, sizeof in0);
  memcpy(&in1, &(const float*){{zeros}}, sizeof in1);
  memcpy(&out0, &(float*){{first}}, sizeof out0);
  if ({0}_run(&in0, &out0, arena, NULL, NULL, NULL, NULL) != 0) return 1;
  memcpy(&out1, &(float*){{other}}, sizeof out1);
  if ({1}_run(&in1, &out1, arena, &device, NULL, NULL, NULL) != 0) return 2;
  memcpy(&out0, &(float*){{again}}, sizeof out0);
  if ({0}_run(&in0, &out0, arena, NULL, NULL, NULL, NULL) != 0) return 3;
  free(raw);
  return memcmp(first, again, sizeof first) == 0 ? 0 : 4;
}}
)",
                                 a.name, b.name);
  write(a.folder / "both.c", text);
  std::string files;
  for (const Subject* s : {&a, &b}) {
    files += fmt::format(" -I'{0}' '{0}/{1}.c' '{0}/{1}_weights.S'", s->out().string(), s->name);
  }
  must_run(a.folder, fmt::format("gcc -O1 {} -o both both.c {} -lm && ./both", kStrict, files));
}
