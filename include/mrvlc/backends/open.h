// The back ends there are, opened by the names of targets.
#pragma once
#include "mrvlc/backend/backend.h"
#include "mrvlc/backends/default_target.h"
#include "mrvlc/backends/settings.h"
#include "mrvlc/isa/header.h"
#include "mrvlc/target/find.h"

namespace mrvlc::backends {

using Opened = std::unique_ptr<backend::Backend>;

// MRV0004: the target does not take a setting; else what is wrong with its text.
Result<Opened> open(std::string_view name, const target::TargetText& text, const Settings& settings);
// Of a machine that was read before.
Result<Opened> open(target::Machine machine, const Settings& settings);
// Found as --target finds it.
Result<Opened> find(std::string_view name, const std::vector<std::filesystem::path>& search,
                    const Settings& settings);
// The built-in one, for who asks without a target, and for tests.
Result<Opened> open_default(const Settings& settings);

// Stages that have a text, in order (docs/stages.md).
std::vector<std::string_view> stage_names();

// Of any binary that one of them made.
Result<std::string> disassembly(std::string_view binary, const std::vector<backend::CodeRange>& ranges);
using isa::Header;
using isa::read_header;

}  // namespace mrvlc::backends
