// `mrvlc batch` and `mrvlc cache` on the command line.
#include "mrvlc/driver/batch.h"

#include <fmt/format.h>

#include <array>

#include "commands.h"
#include "compile_options.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

// What is the batch's own: the results of models do not depend on it.
constexpr std::array<std::string_view, 7> kOwn = {"--output", "--jobs",  "--shard", "--timeout",
                                                  "--memory", "--cache", "--again"};

// I/N, I from 1.
Status read_shard(const std::string& text, driver::BatchOptions& o) {
  const size_t slash = text.find('/');
  const bool good = slash != text.npos && CLI::detail::lexical_cast(text.substr(0, slash), o.shard) &&
                    CLI::detail::lexical_cast(text.substr(slash + 1), o.shards) && o.shard >= 1 &&
                    o.shard <= o.shards;
  if (good) return {};
  return make_diag<DiagCode::MRV0004>("--shard takes I/N with I from 1 to N, e.g. 1/8, not '" +
                                      printable(text) + "'");
}

struct Arguments {
  CompileArguments compile;
  driver::BatchOptions batch;
  std::string shard = "1/1";
};

void add_options(CLI::App& cmd, Arguments& a) {
  driver::BatchOptions& o = a.batch;
  cmd.add_option("MODELS", o.models, "ONNX models; of a folder all *.onnx in and below it")
      ->required()
      ->type_name("");
  cmd.add_option("-o,--output", o.out, "folder for a folder a model, and batch.json")
      ->required()
      ->type_name("DIR")
      ->check(not_empty());
  cmd.add_option("-j,--jobs", o.jobs, "models at a time, one for each processor by default")->type_name("N");
  cmd.add_option("--shard", a.shard, "of the models every Nth from the Ith on: N machines share a batch")
      ->type_name("I/N");
  cmd.add_option("--timeout", o.timeout,
                 "the most that one model may take, e.g. 90s or 10m (600; 0: no limit)")
      ->type_name("TIME")
      ->transform(duration_check());
  cmd.add_option("--memory", o.memory, "the most memory that one model may take, e.g. 4G (no limit)")
      ->type_name("SIZE")
      ->transform(size_check());
  cmd.add_option("--cache", o.cache,
                 "folder of results by what they come from; any number may use it at a time")
      ->type_name("DIR")
      ->check(not_empty());
  cmd.add_flag("--again", o.again, "try failures again whose files and options are as they were");
  add_table_options(cmd, driver::command::kBatch, a.compile);
}

void print_progress(const driver::BatchModel& m, size_t done, size_t of) {
  constexpr const char* kFrom[] = {"", " (cache)", " (as before)"};
  std::fprintf(stderr, "%zu of %zu: %s%s%s\n", done, of, m.name.c_str(), m.exit_code == 0 ? "" : " failed",
               kFrom[static_cast<size_t>(m.from)]);
}

void batch(const CLI::App& cmd, Arguments& a, Context& context) {
  driver::BatchOptions& o = a.batch;
  auto options = checked(cmd, a.compile, context.messages);
  if (!options.ok()) return context.fail("mrvlc batch", options.error());
  options->log = Log();  // that of a terminal has a thread, which must not be there when processes are made
  o.compile = *options;
  for (const auto& [name, words] : typed_options(cmd, kOwn)) {
    o.options += name;
    for (const std::string& word : words) o.options += '\x1f' + word;
    o.options += '\n';
  }
  if (Status s = read_shard(a.shard, o); !s.ok()) return context.fail("mrvlc batch", s.error());
  if (context.shows_progress() || (context.messages.verbose && context.messages.format == "text"))
    o.progress = print_progress;
  Diagnostics diagnostics;
  const auto result = driver::batch(o, diagnostics);
  print_diagnostics(o.out.string(), diagnostics, context.messages);
  if (!result) {
    context.exit_code = diagnostics.exit_code();
    return;
  }
  context.finish(o.out.string(), driver::batch_text(*result));
  if (context.exit_code == 0) context.exit_code = driver::exit_code(*result);
}

}  // namespace

void add_batch(CLI::App& app, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* cmd = app.add_subcommand("batch", "compile many models, a process each");
  add_options(*cmd, *a);
  cmd->callback([a, cmd, &context] { batch(*cmd, *a, context); });

  auto o = std::make_shared<driver::CacheOptions>();
  CLI::App* cache = app.add_subcommand("cache", "what a cache of batch holds; make it smaller");
  cache->add_option("DIR", o->cache, "the folder of batch --cache")->required()->type_name("");
  cache->add_option("--max-age", o->max_age, "remove what was not used for so long, e.g. 30d")
      ->type_name("TIME")
      ->transform(duration_check());
  cache->add_option("--max-size", o->max_size, "remove the least recently used beyond this size, e.g. 10G")
      ->type_name("SIZE")
      ->transform(size_check());
  cache->add_flag("--json", o->json, "JSON instead of text");
  cache->callback([o, &context] { context.finish(o->cache.string(), driver::cache(*o)); });
}

}  // namespace mrvlc::app
