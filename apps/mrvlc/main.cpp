// Arguments and exit codes of the command line; everything else is in lib/driver.
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "arguments.h"
#include "commands.h"
#include "log.h"
#include "mrvlc/driver/guests.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/diag/general.h"
#include "usage.h"

namespace {

constexpr int kLimit = 4, kInternal = 70;
constexpr const char* kInterruptedText = "mrvlc: interrupted\n";
constexpr const char* kInterruptedJson =
    R"({"file":"mrvlc","node":"","op_type":"","severity":"error","code":"","message":"interrupted"})"
    "\n";
constexpr const char* kLostInputText =
    "mrvlc: error MRV0003: cannot read an input file: it became shorter while it was read\n";
constexpr const char* kLostInputJson =
    R"({"file":"mrvlc","node":"","op_type":"","severity":"error","code":"MRV0003",)"
    R"("message":"cannot read an input file: it became shorter while it was read"})"
    "\n";

constexpr const char* kAbortText =
    "mrvlc: error MRV0007: internal error: a check of the C++ library failed\n";
constexpr const char* kAbortJson =
    R"({"file":"mrvlc","node":"","op_type":"","severity":"error","code":"MRV0007",)"
    R"("message":"internal error: a check of the C++ library failed"})"
    "\n";

// Errors of the command line itself are found before its options are set, and must have the asked form as
// well.
bool json_asked(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view a = argv[i];
    if (a == "--log-format=json") return true;
    if (a == "--log-format" && i + 1 < argc && std::string_view(argv[i + 1]) == "json") return true;
  }
  return false;
}

void parse(CLI::App& app, int argc, char** argv, mrvlc::app::Context& context) {
  auto words = mrvlc::app::arguments(argc, argv, context.sources.files);
  if (!words.ok()) return context.fail("mrvlc", words.error());
  const mrvlc::Status added = mrvlc::app::add_defaults(app, *words, context.sources);
  if (!added.ok()) return context.fail("mrvlc", added.error());
  try {
    app.parse(std::vector<std::string>(words->rbegin(),
                                       words->rend()));  // in the order that CLI11 wants: the last one first
  } catch (const CLI::ParseError& e) {
    mrvlc::app::report(app, e, context);
  }
}

void add_commands(CLI::App& app, mrvlc::app::Context& context) {
  mrvlc::app::add_compile(app, context);
  mrvlc::app::add_run(app, context);
  mrvlc::app::add_verify(app, context);
  mrvlc::app::add_calibrate(app, context);
  mrvlc::app::add_calibrate_host(app, context);
  mrvlc::app::add_tune(app, context);
  mrvlc::app::add_quantize(app, context);
  mrvlc::app::add_profile(app, context);
  mrvlc::app::add_queries(app, context);
  mrvlc::app::add_diff(app, context);
  mrvlc::app::add_graph(app, context);
  mrvlc::app::add_prove(app, context);
  mrvlc::app::add_evidence(app, context);
  mrvlc::app::add_mesh(app, context);
  mrvlc::app::add_batch(app, context);
  mrvlc::app::add_debug(app, context);
  mrvlc::app::add_rules(app, context);
  mrvlc::app::add_targets(app, context);
  mrvlc::app::add_help(app, context);
  mrvlc::app::add_completion(app, context);
}

// What may end the process before its work does.
void handle_ends(mrvlc::app::Context& context) {
  const bool json = context.messages.format == "json";
  mrvlc::driver::handle_interrupts(json ? kInterruptedJson : kInterruptedText);
  mrvlc::driver::handle_abort(json ? kAbortJson : kAbortText);
  mrvlc::driver::handle_lost_input(json ? kLostInputJson : kLostInputText);
  mrvlc::driver::watch_plugins([&context](const mrvlc::Diag& d) { context.fail("mrvlc", d); });
}

int run(int argc, char** argv) {
  CLI::App app{"mrvlc compiles ONNX models for an ML accelerator and its host CPU", "mrvlc"};
  mrvlc::app::Context context;
  context.messages.format = json_asked(argc, argv) ? "json" : "text";
  handle_ends(context);
  app.set_version_flag("--version", "mrvlc " MRVLC_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--log-format", context.messages.format, "messages as text or JSON lines")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--color", context.messages.color, "auto, always or never; NO_COLOR holds")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option(
         "--log-level", context.messages.log_level,
         "what compile and verify do, with times and reasons, to stderr: off, info, debug or trace (also "
         "$MRVLC_LOG_LEVEL)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"off", "info", "debug", "trace"}));
  app.add_flag("-v,--verbose", context.messages.verbose,
               "notes too, and six lines about what a compile made");
  app.add_flag("-q,--quiet", context.messages.quiet, "errors only");
  app.add_option("--project", context.project,
                 "file of options, mrvlc.json of this folder by default; empty: none (docs/command-line.md)")
      ->type_name("FILE");
  add_commands(app, context);
  app.footer(
      "'mrvlc help COMMAND' lists the options of a command, 'mrvlc explain MRV0131' says what a code means.\n"
      "Example: mrvlc compile model.onnx -o out && mrvlc run out --input x=x.npy --output-dir results\n"
      "Exit codes: 0 done, 1 model rejected, 2 usage, 3 input/output, 4 a limit exceeded, 5 a comparison or "
      "gate failed,\n"
      "70 internal error, 130 interrupted");
  parse(app, argc, argv, context);
  mrvlc::app::clear_progress();
  if (int code = mrvlc::driver::interrupted(); code != 0) {
    std::fputs(context.messages.format == "json" ? kInterruptedJson : kInterruptedText, stderr);
    return code;
  }
  return context.exit_code;
}

// The last word before the end: allocates as little as it can.
void fail(bool json, const char* code, const char* message) {
  const char* form = json ? "{\"file\":\"mrvlc\",\"node\":\"\",\"op_type\":\"\",\"severity\":\"error\","
                            "\"code\":\"%s\",\"message\":\"%s\"}\n"
                          : "mrvlc: error %s: %s\n";
  std::fprintf(stderr, form, code, message);
}

int unexpected(int argc, char** argv, const std::exception& e) {
  auto diag = mrvlc::make_diag<mrvlc::DiagCode::MRV0007>(e.what());
  fail(json_asked(argc, argv), "MRV0007", mrvlc::printable(diag.message, 4096).c_str());
  return kInternal;
}

// A graph is made of millions of small pieces that come and go in between each other. glibc keeps freed ones
// in lists of their own at first and joins them all whenever something large is asked for or given back,
// again and again: a sixth of the time of a model of many nodes. Without these lists they are joined when
// they are freed.
void set_up_allocation() {
#ifdef __GLIBC__
  mallopt(M_MXFAST, 0);
#endif
}

int run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    fail(json_asked(argc, argv), "MRV0008", "out of memory");
    return kLimit;
  } catch (const std::system_error& e) {
    // A thread that could not be started for want of memory (ulimit -v) or of threads (ulimit -u).
    const bool limit =
        e.code() == std::errc::resource_unavailable_try_again || e.code() == std::errc::not_enough_memory;
    if (limit) fail(json_asked(argc, argv), "MRV0008", "out of memory, or of threads");
    return limit ? kLimit : unexpected(argc, argv, e);
  } catch (const std::exception& e) {
    return unexpected(argc, argv, e);
  }
}

// What the work may take; a usual limit.
constexpr size_t kStackBytes = size_t{8} << 20;

struct Work {
  int argc;
  char** argv;
  int exit_code = kLimit;
};

void* work(void* of) {
  auto* w = static_cast<Work*>(of);
  w->exit_code = run_guarded(w->argc, w->argv);
  return nullptr;
}

// Whether the stack that `ulimit -s` leaves is enough, once it is as large as it may be.
bool has_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) return true;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kStackBytes);
  return ::setrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= kStackBytes;
}

// The work on a stack of its own; threads that it starts have as much.
int run_on_own_stack(int argc, char** argv) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
#ifdef __GLIBC__
  pthread_setattr_default_np(&attributes);
#endif
  Work w{argc, argv};
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, work, &w);
  pthread_attr_destroy(&attributes);
  if (error != 0)
    fail(json_asked(argc, argv), "MRV0008", "no memory for a stack, and that of this process is too small");
  else
    pthread_join(thread, nullptr);
  return w.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  set_up_allocation();
  // A closed pipe and a file beyond the limit of `ulimit -f` are failed writes, reported as such.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return mrvlc::driver::work_done(has_stack() ? run_guarded(argc, argv) : run_on_own_stack(argc, argv));
}
