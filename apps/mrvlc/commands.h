// The subcommands: their options, and what they call in lib/driver. Each callback sets the exit code.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>

#include "messages.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::app {

struct Context {
  MessageOptions messages;
  int exit_code = 0;
  std::string project;            // read by add_defaults(), before options are
  driver::OptionSources sources;  // of what was not typed

  // Prints the text to stdout, or the error to stderr, and sets the exit code.
  void finish(const std::string& file, const Result<std::string>& result);
  // The same into a file, whole or not at all.
  void write(const std::string& file, const std::string& text);
  void fail(const std::string& file, const Diag& diag);
  // finish(), and what was collected beside the text: its errors set the exit code, too.
  void finish(const std::string& file, const Result<std::string>& result, const Diagnostics& diagnostics);
  bool shows_progress() const;  // on a terminal
  // To stdout, with what does not show escaped.
  void print(const std::string& text);
  // An error when what was printed to stdout did not arrive.
  void check_stdout(const std::string& file);
};

// Of a step of quantisation, on a terminal.
void show_progress(std::string_view step, size_t done, size_t of);

// --sets and --seed of inputs that are made; how a program is built and run.
void add_made_sets(CLI::App& cmd, std::vector<std::string>& sets, std::vector<uint32_t>& seeds);
void add_program_options(CLI::App& cmd, driver::RunOptions& o);
// --on and what belongs to it.
void add_remote_options(CLI::App& cmd, driver::RunOptions& o);

void add_compile(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_calibrate_host(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_quantize(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_queries(CLI::App& app, Context& context);  // explain, map, disasm, inspect, ops
void add_diff(CLI::App& app, Context& context);
void add_graph(CLI::App& app, Context& context);
void add_prove(CLI::App& app, Context& context);
void add_evidence(CLI::App& app, Context& context);
void add_mesh(CLI::App& app, Context& context);
void add_rules(CLI::App& app, Context& context);
void add_targets(CLI::App& app, Context& context);
void add_debug(CLI::App& app, Context& context);  // reduce, compare, bundle
void add_batch(CLI::App& app, Context& context);  // and cache

}  // namespace mrvlc::app
