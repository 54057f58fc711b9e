#include "c_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "commands.h"
#include "paths.h"

namespace mrvlc::test {
namespace {

// All pieces of a file, for programs that use all of them.
std::string kernels_of(std::string_view name) {
  std::string text = slurp(fmt::format(MRVLC_KERNELS "/{}.c", name));
  for (size_t at = text.find("//@ unless"); at != std::string::npos; at = text.find("//@ unless", at))
    text.erase(at, text.find("//@ end", at) - at);
  return text;
}

std::string preamble() {
  std::string text;
  for (auto header : {"math", "stddef", "stdint", "string"}) text += fmt::format("#include <{}.h>\n", header);
  for (auto name : {"base", "math", "half", "recurrent", "helpers", "convert", "views", "dynamic",
                    "dynamic_nn", "depthwise", "select", "transform"})
    text += kernels_of(name);
  return text;
}

}  // namespace

CLibrary::CLibrary(const std::string& code) {
  dir_.write("code.c", preamble() + code);
  const char* cc = std::getenv("CC");
  must_run(dir_.path(), fmt::format("{} {} -O1 -Wno-unused-function -fsanitize=undefined "
                                    "-fsanitize-undefined-trap-on-error -fPIC -shared -o code.so code.c -lm",
                                    cc != nullptr ? cc : "cc", kStrict));
  handle_ = ::dlopen((dir_.path() / "code.so").c_str(), RTLD_NOW);
  REQUIRE(handle_ != nullptr);
}

CLibrary::~CLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* CLibrary::symbol(const std::string& name) const {
  void* found = ::dlsym(handle_, name.c_str());
  REQUIRE(found != nullptr);
  return found;
}

}  // namespace mrvlc::test
