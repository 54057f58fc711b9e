// Runs the compiler in a temporary folder, and reads its object files and what it says of stacks.
#include "size/code_size.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStackUsage = "-fstack-usage";

// Its own words last: of two that contradict each other compilers heed the last.
std::vector<std::string> compiler_words(const std::string& text, const std::vector<std::string>& standard) {
  std::vector<std::string> words = split_words(text);
  const auto says = [&](std::string_view begin) {
    return std::any_of(words.begin() + 1, words.end(),
                       [&](const std::string& word) { return word.starts_with(begin); });
  };
  std::vector<std::string> own;
  if (!says("-O")) own.emplace_back("-Os");
  if (!says("-std=")) own.insert(own.end(), standard.begin(), standard.end());
  words.insert(words.begin() + 1, own.begin(), own.end());
  words.emplace_back("-c");
  return words;
}

// No report has a folder of a machine in it.
std::string shown(const std::vector<std::string>& words) {
  std::vector<std::string> out = {fs::path(words[0]).filename().string()};
  for (size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i].find('/') == std::string::npos) out.push_back(words[i]);
  return fmt::format("{}", fmt::join(out, " "));
}

class Measuring {
 public:
  Measuring(const ProgramText& program, std::vector<std::string> words, fs::path folder)
      : program_(program), words_(std::move(words)), folder_(std::move(folder)) {}

  Result<CodeSize> run() {
    MRVLC_TRY(write_files());
    CodeSize size{shown(words_), {}, std::vector<Frame>()};
    for (const std::string& source : program_.compiled) MRVLC_TRY(compile(source, size));
    if (size.frames) std::ranges::stable_sort(*size.frames, std::greater(), &Frame::bytes);
    return size;
  }

 private:
  Status write_files() const {
    for (const auto* files : program_.files) {
      for (const auto& [name, bytes] : *files) {
        if (name.ends_with(".bin")) continue;
        std::error_code ec;
        fs::create_directories((folder_ / name).parent_path(), ec);
        MRVLC_TRY(write_file_atomic(folder_ / name, bytes));
      }
    }
    return {};
  }

  Result<ProcessResult> call(const std::string& source, const std::string& object, bool frames) const {
    std::vector<std::string> argv = words_;
    if (frames) argv.emplace_back(kStackUsage);
    argv.insert(argv.end(), {"-o", object, "-I" + folder_.string(), (folder_ / source).string()});
    return run_process(argv);
  }

  Status compile(const std::string& source, CodeSize& size) {
    const fs::path stem = folder_ / fmt::format("object{}", size.files.size());
    const std::string object = stem.string() + ".o";
    MRVLC_ASSIGN(ProcessResult built, call(source, object, true));
    if (built.exit_code != 0) {
      MRVLC_ASSIGN(built, call(source, object, false));
    }
    if (built.exit_code != 0) return make_diag<DiagCode::MRV0708>(words_[0], built.exit_code, built.output);
    MRVLC_ASSIGN(const std::string bytes, read_file(object));
    const auto sections = elf_sections(bytes);
    if (!sections) return make_diag<DiagCode::MRV0642>(printable(size.compiler), printable(source));
    size.files.emplace_back(source, *sections);
    const auto usage = read_file(stem.string() + ".su");
    if (!usage.ok()) size.frames.reset();
    if (size.frames)
      for (Frame& f : read_frames(*usage)) size.frames->push_back(std::move(f));
    return {};
  }

  const ProgramText& program_;
  std::vector<std::string> words_;
  fs::path folder_;
};

}  // namespace

Sections CodeSize::all() const {
  Sections sum;
  for (const auto& [name, sections] : files) sum += sections;
  return sum;
}

// "m.c:12:5:m_run<TAB>48<TAB>static"
std::vector<Frame> read_frames(std::string_view text) {
  std::vector<Frame> frames;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view place = line.substr(0, first), number = line.substr(first + 1, second - first - 1);
    Frame f{std::string(place.substr(place.rfind(':') + 1)), 0, line.substr(second + 1) == "static"};
    const auto end = std::from_chars(number.data(), number.data() + number.size(), f.bytes);
    if (end.ec == std::errc()) frames.push_back(std::move(f));
  }
  return frames;
}

std::string shown_compiler(const std::string& text) {
  return split_words(text).empty() ? "" : shown(compiler_words(text, ProgramText().standard));
}

Result<std::optional<CodeSize>> measure_size(const std::string& compiler, const ProgramText& program) {
  if (compiler.empty()) return std::optional<CodeSize>();
  if (split_words(compiler).empty()) return make_diag<DiagCode::MRV0004>("--measure-size: names no compiler");
  InterruptGuard guard;
  MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
  MRVLC_ASSIGN(CodeSize size,
               Measuring(program, compiler_words(compiler, program.standard), temporary.path()).run());
  return std::optional(std::move(size));
}

}  // namespace mrvlc::driver
