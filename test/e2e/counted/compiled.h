// A model compiled by the driver, and everything it wrote.
#pragma once
#include <nlohmann/json.hpp>
#include <set>

#include "models.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::test {

using Json = nlohmann::ordered_json;

struct Compiled {
  std::filesystem::path out;
  Diagnostics diagnostics;
  std::vector<std::string> summary;

  Json json(const std::string& file) const;
  std::string text(const std::string& file) const;
  Json profile() const;  // mrvlc profile --json
  size_t count(DiagId code) const;
  std::string messages() const;
};

// Compiles for one tile unless `change` says otherwise; must succeed. `name` is of the model and the folder.
Compiled compile_model(const pb::ModelProto& model, const std::string& name,
                       const std::function<void(driver::CompileOptions&)>& change = {});

const Json& with(const Json& list, const std::string& key, const Json& value);

}  // namespace mrvlc::test
