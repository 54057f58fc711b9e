// mrvlc-replay TARGET FILE...: what libFuzzer would have done with these files, built with any compiler.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "targets.h"

int main(int argc, char** argv) {
  const auto* target = argc > 1 ? mrvlc::fuzz::find_target(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fputs("usage: mrvlc-replay importer|ir|rules|target|binary FILE...\n", stderr);
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    target->run(bytes);
  }
  std::printf("%s: %d files\n", argv[1], argc - 2);
}
