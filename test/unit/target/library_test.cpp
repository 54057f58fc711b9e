// Packages of kind `call`: what target.json may say.
#include "mrvlc/target/library.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "mrvlc/target/find.h"

using namespace mrvlc;

namespace {

std::string package(const std::string& more) {
  return R"({"name": "lib", "description": "d", "kind": "call")" + (more.empty() ? "" : ", " + more) + "}";
}

std::string fault(const std::string& text) {
  const auto p = target::parse_library(text, "lib/target.json");
  return p.ok() ? "" : std::string(diag_info(p.error().code).name) + " " + p.error().message;
}

}  // namespace

TEST_CASE("a library is built in, with its rules") {
  const auto text = target::find_target("cmsis-nn", {});
  REQUIRE(text.ok());
  CHECK(text->files.empty());
  CHECK(target::is_library(text->json));
  CHECK(target::parse_library(text->json, "cmsis-nn")->system_headers ==
        std::vector<std::string>{"arm_nnfunctions.h"});
  CHECK(text->rules.find("call arm_convolve_wrapper_s8(") != std::string::npos);
  CHECK(target::find_target("cn10ka", {})->rules.empty());
}

TEST_CASE("a library that is built in brings the headers and sources that it names") {
  const auto text = target::find_target("gemmini", {});
  REQUIRE(text.ok());
  const auto package = target::parse_library(text->json, "gemmini");
  REQUIRE(package.ok());
  CHECK(package->steps == 1);
  std::vector<std::string> named = package->headers, brought;
  named.insert(named.end(), package->sources.begin(), package->sources.end());
  for (const target::BuiltinFile& f : text->builtin_files) {
    brought.emplace_back(f.name);
    CHECK(f.text.starts_with("/* SPDX-License-Identifier"));
  }
  std::ranges::sort(named);
  CHECK(named == brought);
  CHECK(target::find_target("cmsis-nn", {})->builtin_files.empty());
}

TEST_CASE("of several libraries the standard is that which suits all") {
  CHECK(target::both_standards("c99", "c99") == "c99");
  CHECK(target::both_standards("c17", "c11") == "c17");
  CHECK(target::both_standards("gnu99", "c11") == "gnu11");
  CHECK(target::both_standards("c11", "gnu11") == "gnu11");
  CHECK(target::standard_flags("c11") == std::vector<std::string>{"-std=c11"});
  CHECK(target::standard_flags("gnu17") == std::vector<std::string>{"-std=gnu17", "-ffp-contract=off"});
  CHECK(target::parse_library(package(R"("standard": "c11")"), "lib")->standard == "c11");
  CHECK(target::parse_library(package(""), "lib")->standard == "c99");
  for (const char* wrong : {R"("standard": "c89")", R"("standard": 11)", R"("standard": "c11 -O3")"})
    CHECK(fault(package(wrong)).find("'standard'") != std::string::npos);
}

TEST_CASE("a package names its files, and has rules by its name") {
  const auto least = target::parse_library(package(""), "lib");
  REQUIRE(least.ok());
  CHECK(least->rules == std::vector<std::string>{"lib.rules"});
  CHECK_FALSE(least->split_bias);
  const auto all = target::parse_library(
      package(R"("rules": ["a.rules", "b.rules"], "headers": ["a.h"], "sources": ["a.c"], "system_headers":
        ["sub/nn.h"], "libraries": ["m", "stdc++"], "split_bias": true, "integers": true)"),
      "lib");
  REQUIRE(all.ok());
  CHECK(all->rules.size() == 2);
  CHECK(all->system_headers == std::vector<std::string>{"sub/nn.h"});
  CHECK(all->libraries.size() == 2);
  CHECK(all->split_bias);
  CHECK(all->integers);
  CHECK(target::is_library(package("")));
  CHECK_FALSE(target::is_library(R"({"name": "lib"})"));
  CHECK_FALSE(target::is_library("nonsense"));
}

TEST_CASE("what a package may not say") {
  for (const char* more : {R"("extends": "cn10ka")",
                           R"("fields": {})",
                           R"("headers": "a.h")",
                           R"("headers": ["a.c"])",
                           R"("headers": ["../a.h"])",
                           R"("headers": ["sub/a.h"])",
                           R"("headers": ["/a.h"])",
                           R"("headers": [1])",
                           R"("headers": ["a.h", "a.h"])",
                           R"("headers": ["a\".h"])",
                           R"("steps": -1)",
                           R"("steps": 17)",
                           R"("steps": 0.5)",
                           R"("sources": ["-fplugin=x.c"])",
                           R"("sources": [".hidden.c"])",
                           R"("sources": ["a b.c"])",
                           R"("sources": ["$(x).c"])",
                           R"("system_headers": ["/etc/a.h"])",
                           R"("system_headers": ["a/../b.h"])",
                           R"("libraries": ["-lm"])",
                           R"("libraries": [""])",
                           R"("libraries": ["a;b"])",
                           R"("split_bias": 1)",
                           R"("integers": "yes")",
                           R"("name": "again")"}) {
    CAPTURE(more);
    CHECK(fault(package(more)).starts_with("MRV035"));
  }
  CHECK(fault(R"({"name": "lib", "kind": "call"})").find("'description' is missing") != std::string::npos);
  CHECK(fault(R"({"name": "", "description": "d", "kind": "call"})").find("'name'") != std::string::npos);
  CHECK(fault("[]").starts_with("MRV0350"));
}

TEST_CASE("a new package is sound as it is written") {
  const auto files = target::new_library("mine");
  REQUIRE(files.ok());
  REQUIRE(files->size() == 4);
  CHECK(files->front().name == "target.json");
  const auto p = target::parse_library(files->front().text, "mine");
  REQUIRE(p.ok());
  CHECK(p->headers == std::vector<std::string>{(*files)[2].name});
  CHECK(p->sources == std::vector<std::string>{(*files)[3].name});
  for (const char* name : {"", "host", "9x", "a-b", "a/b", "a,b"})
    CHECK_FALSE(target::new_library(name).ok());
}
