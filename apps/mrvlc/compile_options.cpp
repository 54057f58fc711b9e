// The table of options given to the parser; what is known when all were read; a model on stdin.
#include "compile_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "log.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/target/find.h"

namespace mrvlc::app {
namespace {

using driver::OptionRecord;
using Takes = driver::OptionReader::Takes;
using Words = std::vector<std::string>;

// What the help calls the value; of words the ones there are.
std::string value_name(const OptionRecord& record) {
  std::string name(record.value);
  if (!record.reader.choices.empty() && name.find('|') == std::string::npos)
    name += ":{" + CLI::detail::join(record.reader.choices, ",") + "}";
  return name;
}

CLI::Option* add_by_kind(CLI::App& cmd, const OptionRecord& record, CompileArguments& a) {
  const auto read = [&a, &record](const Words& words) {
    const Status status = record.reader.read(driver::long_name(record), words, a.options);
    if (status.ok()) return;
    // What is wrong with a file is no mistake of the command line.
    if (status.error().exit_class() == ExitClass::Usage) throw CLI::ValidationError(status.error().message);
    if (!a.failed) a.failed = status.error();
  };
  const std::string names(record.names), help(record.help);
  if (record.reader.takes == Takes::Nothing)
    return cmd.add_flag_function(
        names,
        [read](int64_t times) {
          if (times > 0) read({});
        },
        help);
  CLI::Option* option = record.reader.takes == Takes::One
                            ? cmd.add_option_function<std::string>(
                                  names, [read](const std::string& word) { read({word}); }, help)
                            : cmd.add_option_function<Words>(names, read, help)->allow_extra_args(false);
  if (record.reader.plain != nullptr) option->transform(plain_text(record.reader.plain));
  return option->type_name(value_name(record));
}

// make sets it for the commands of its recipes.
bool runs_below_make() {
  const char* level = std::getenv("MAKELEVEL");
  return level != nullptr && *level != '\0';
}

// OUT.d beside OUT, also when OUT ends in a slash.
std::string default_depfile(std::string out) {
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out + ".d";
}

void complete(driver::Depfile& depfile, const std::filesystem::path& out) {
  using Form = driver::Depfile::Form;
  if (depfile.file.empty() && depfile.beside_out) depfile.file = default_depfile(out.string());
  depfile.conditions = depfile.form == Form::Make || (depfile.form == Form::Auto && runs_below_make());
}

// The model of stdin as a file, since models are read where they lie.
Result<std::filesystem::path> model_of_stdin(CompileArguments& a) {
  if (::isatty(STDIN_FILENO) != 0)
    return make_diag<DiagCode::MRV0004>(
        "MODEL is '-', and stdin is a terminal; e.g. 'mrvlc inspect - <model.onnx'");
  MRVLC_ASSIGN(TemporaryDir folder, TemporaryDir::create());
  a.from_stdin = std::make_shared<TemporaryDir>(std::move(folder));
  std::filesystem::path file = a.from_stdin->path() / "model.onnx";
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(file));
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return make_diag<DiagCode::MRV0003>("stdin", std::strerror(errno));
    if (n == 0) break;
    MRVLC_TRY(writer.append({buffer.data(), static_cast<size_t>(n)}));
  }
  MRVLC_TRY(writer.commit());
  return file;
}

void note_typed(const CLI::App& cmd, driver::CompileOptions& o) {
  using Typed = driver::CompileOptions::Typed;
  for (const CLI::Option* option : cmd.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    const OptionRecord* record = driver::find_option(name);
    o.given.insert(name);
    if (record == nullptr || (record->facts & driver::option::kNotInManifest) != 0) continue;
    const bool path = record->value == "FILE" || record->value == "DIR" || record->value == "OUT";
    o.typed.push_back({option->get_lnames()[0],
                       record->value.empty() ? Typed::Kind::Flag
                       : path                ? Typed::Kind::Path
                                             : Typed::Kind::Text,
                       record->reader.takes == Takes::Any, option->results()});
  }
}

}  // namespace

void add_table_options(CLI::App& cmd, uint32_t command, CompileArguments& a) {
  const bool grouped = (command & driver::command::kCodes) != 0;
  std::vector<std::pair<CLI::Option*, const OptionRecord*>> added;
  for (const OptionRecord& record : driver::option_table()) {
    if ((record.commands & command) == 0) continue;
    CLI::Option* option = add_by_kind(cmd, record, a);
    if (record.reader.shown) option->default_str(record.reader.shown(a.options));
    option->required((record.facts & driver::option::kRequired) != 0);
    if (grouped) option->group(std::string(driver::title(record.group)));
    added.emplace_back(option, &record);
  }
  for (const auto& [option, record] : added) {
    if (!record->excludes.empty()) option->excludes(std::string(record->excludes));
    if (!record->needs.empty()) option->needs(std::string(record->needs));
  }
}

void add_model_and_options(CLI::App& cmd, uint32_t command, CompileArguments& a) {
  cmd.add_option("MODEL", a.model, "the ONNX model; - for stdin")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  add_table_options(cmd, command, a);
}

void add_samples_options(CLI::App& cmd, std::filesystem::path& data, std::filesystem::path& out,
                         const std::string& what) {
  cmd.add_option("--data", data,
                 "folder of samples: a folder each, or one .npy an input (docs/calibration.md)")
      ->required()
      ->type_name("DIR")
      ->check(not_empty());
  cmd.add_option("-o,--output", out, what)->required()->type_name("FILE")->check(not_empty());
}

void add_compile_examples(CLI::App& cmd) {
  cmd.footer(
      "Examples:\n"
      "  mrvlc compile model.onnx -o out                                  for the accelerator and its host\n"
      "  mrvlc compile model.onnx -o out --target host --emit single      one .c, one .h\n"
      "  mrvlc compile model.onnx -o out --input-dim batch=1              an open dimension, by its name\n"
      "  mrvlc compile model.onnx -o out --precision int8 --data samples  a network of integers\n"
      "  mrvlc compile model.onnx -o out --cpu 'head*' --max-arena 64K    nodes on the CPU, a gate\n"
      "'mrvlc explain MRV0131' says what a code means; docs/command-line.md, docs/generated-c.md.");
}

std::vector<std::pair<std::string, std::vector<std::string>>> typed_options(
    const CLI::App& cmd, std::span<const std::string_view> left_out) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const CLI::Option* option : cmd.get_options()) {
    if (option->count() == 0 || option->get_positional()) continue;
    if (std::ranges::find(left_out, option->get_name()) == left_out.end())
      out.emplace_back(option->get_name(), option->results());
  }
  return out;
}

Result<driver::CompileOptions> checked(const CLI::App& cmd, CompileArguments& a,
                                       const MessageOptions& messages) {
  driver::CompileOptions o = a.options;
  MRVLC_ASSIGN(o.log, make_log(messages));
  if (a.failed) return *a.failed;
  note_typed(cmd, o);
  MRVLC_TRY(driver::check_together(o));
  o.model = a.model;
  if (a.model == "-") {
    MRVLC_ASSIGN(o.model, model_of_stdin(a));
    o.from_stdin = true;
  }
  MRVLC_ASSIGN(o.target_dirs, target_search(o.target_dirs));
  complete(o.depfile, o.out);
  return o;
}

Result<std::vector<std::filesystem::path>> target_search(const std::vector<std::filesystem::path>& dirs) {
  std::vector<std::filesystem::path> all;
  for (const std::filesystem::path& dir : dirs) {
    std::error_code ec;
    if (!std::filesystem::is_directory(dir, ec)) {
      return make_diag<DiagCode::MRV0001>(printable(dir.string(), 4096), "--target-dir takes a folder");
    }
    all.push_back(dir);
  }
  for (auto& dir : target::path_of_environment()) all.push_back(std::move(dir));
  return all;
}

}  // namespace mrvlc::app
