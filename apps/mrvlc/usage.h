// Errors of the command line, and --help and --version.
#pragma once
#include "commands.h"

namespace mrvlc::app {

// Prints what the parser stopped for and sets the exit code: help and version to stdout, everything else is
// MRV0004.
void report(const CLI::App& app, const CLI::ParseError& error, Context& context);

// The commands `help` and `completion`, behind all others.
void add_help(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

}  // namespace mrvlc::app
