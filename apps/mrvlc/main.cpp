// Arguments and exit codes of the command line; everything else is in lib/driver.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "commands.h"

namespace {

constexpr int kUsage = 2, kLimit = 4, kInternal = 70;

// -MD and -MF are spelled as compilers do; CLI11 has no single-dash long options.
std::vector<std::string> normalised(int argc, char** argv) {
  std::vector<std::string> args;
  for (int i = argc - 1; i >= 1; --i) {
    std::string a = argv[i];
    args.push_back(a == "-MD" ? "--MD" : a == "-MF" ? "--MF" : a);
  }
  return args;
}

int run(int argc, char** argv) {
  CLI::App app{"mrvlc compiles ONNX models for an ML accelerator and its host CPU"};
  mrvlc::app::Context context;
  app.set_version_flag("--version", "mrvlc " MRVLC_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--log-format", context.messages.format, "messages as text or JSON lines")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--color", context.messages.color, "auto, always or never; NO_COLOR holds")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("-v,--verbose", context.messages.verbose, "notes too");
  app.add_flag("-q,--quiet", context.messages.quiet, "errors only");
  mrvlc::app::add_compile(app, context);
  mrvlc::app::add_run(app, context);
  mrvlc::app::add_verify(app, context);
  mrvlc::app::add_profile(app, context);
  mrvlc::app::add_queries(app, context);
  mrvlc::app::add_rules(app, context);
  mrvlc::app::add_targets(app, context);
  try {
    app.parse(normalised(argc, argv));
  } catch (const CLI::ParseError& e) {
    int code = app.exit(e);
    return code == 0 ? 0 : kUsage;
  }
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write, reported as one
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("mrvlc: error MRV0008: out of memory\n", stderr);
    return kLimit;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mrvlc: error MRV0007: internal error: %s (this is a bug in mrvlc; please report it)\n", e.what());
    return kInternal;
  }
}
