// A package's sources, and a probe that names all functions its rules call, checked by the C compiler.
#include "packages/package_build.h"

#include <cstdlib>
#include <set>

#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace {

// Names every function that is called; a macro may stand for one.
std::string probe_text(const Libraries& library) {
  std::set<std::string> functions;
  for (const partition::Library& l : library.rules) {
    for (const rules::Rule& r : l.rules->set.rules()) {
      if (r.call) functions.insert(r.call->function);
    }
  }
  std::string text;
  for (const std::string& include : library.linked.includes) text += fmt::format("#include {}\n", include);
  text += "void called_functions(void);\nvoid called_functions(void) {\n";
  for (const std::string& f : functions) text += fmt::format("#ifndef {0}\n  (void){0};\n#endif\n", f);
  return text + "}\n";
}

}  // namespace

namespace {

// The first error with the lines that belong to it; compilers go on to thousands behind a missing header.
std::string first_error(const std::string& output) {
  constexpr size_t kLines = 4;
  size_t begin = output.find("error");
  if (begin == std::string::npos) begin = 0;
  begin = begin == 0 ? 0 : output.rfind('\n', begin) + 1;
  size_t end = begin;
  for (size_t i = 0; i < kLines && end < output.size(); ++i)
    end = std::min(output.find('\n', end), output.size() - 1) + 1;
  return output.substr(begin, end - begin);
}

std::vector<std::string> flags_of(const PackageCompiler& compiler) {
  const char* environment = std::getenv("CFLAGS");
  return split_words(!compiler.cflags.empty() ? compiler.cflags : environment == nullptr ? "" : environment);
}

}  // namespace

Status compile_package(const std::filesystem::path& folder, const Libraries& library,
                       const PackageCompiler& compiler) {
  InterruptGuard guard;
  MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
  const std::filesystem::path probe = temporary.path() / "called.c";
  MRVLC_TRY(write_file_atomic(probe, probe_text(library)));
  MRVLC_ASSIGN(std::vector<std::string> argv, c_compiler(compiler.cc));
  argv.insert(argv.end(), library.linked.standard.begin(), library.linked.standard.end());
  argv.insert(argv.end(), {"-fsyntax-only", "-I" + folder.string(), probe.string()});
  argv.insert(argv.end(), std::begin(chost::kStrictCalls), std::end(chost::kStrictCalls));
  for (std::string& flag : flags_of(compiler)) argv.push_back(std::move(flag));
  for (const std::string& source : library.linked.sources) argv.push_back((folder / source).string());
  MRVLC_ASSIGN(const ProcessResult built, run_process(argv));
  if (built.exit_code == 0) return {};
  return make_diag<DiagCode::MRV0708>(argv[0], built.exit_code, first_error(built.output));
}

}  // namespace mrvlc::driver
