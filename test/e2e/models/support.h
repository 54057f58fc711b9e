// What the end-to-end tests share: where models are, temporary folders, compile and read back.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "mrvlc/driver/driver.h"
#include "support/folders.h"

namespace mrvlc::test {

using Json = nlohmann::ordered_json;

std::filesystem::path own_model(const std::string& relative);    // in models/
std::filesystem::path generated_model(const std::string& name);  // made by generate.sh; may not exist

// A fresh folder under the build tree, removed first.
std::filesystem::path scratch(const std::string& name);
Json read_json(const std::filesystem::path& file);

// Compiles; on failure the diagnostics as text in `errors`.
bool compile(driver::CompileOptions options, std::string& errors);
// Worst comparison of a verification; `errors` holds the diagnostics. nullopt when nothing was compared.
std::optional<double> verify(const driver::VerifyOptions& options, std::string& errors);
std::string text_of(const Diagnostics& diagnostics);

}  // namespace mrvlc::test
