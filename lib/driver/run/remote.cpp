// ssh and scp: the place parsed, a private folder there, its command ended when this process goes.
#include "run/remote.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/shell.h"

extern char** environ;

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kScheme = "ssh://";
// ssh(1): an error of its own; any other code is that of the command.
constexpr int kSshFailed = 255;
constexpr const char* kPidFile = ".pid";  // of the command that runs

// A word that begins with '-' would be an option of ssh, and blanks would be a command.
bool good_host(std::string_view host) {
  return !host.empty() && host[0] != '-' && std::ranges::all_of(host, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("@.-_:[]%").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// Ends though this process was interrupted, and is not interrupted with it.
void run_to_the_end(const std::vector<std::string>& argv) {
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  if (::posix_spawnp(&pid, args[0], nullptr, &attributes, args.data(), environ) == 0)
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  posix_spawnattr_destroy(&attributes);
}

}  // namespace

Result<Remote> Remote::open(const std::string& place, const fs::path& config) {
  const auto refused = [&] {
    return make_diag<DiagCode::MRV0004>("--on takes ssh://[USER@]HOST[:PORT], not '" + printable(place) +
                                        "'");
  };
  if (!place.starts_with(kScheme)) return refused();
  std::string host = place.substr(kScheme.size()), port;
  while (host.ends_with('/')) host.pop_back();
  if (const size_t colon = host.rfind(':'); colon != host.npos && host.find(']', colon) == host.npos) {
    port = host.substr(colon + 1);
    host.resize(colon);
    if (port.empty() || port.find_first_not_of("0123456789") != port.npos) return refused();
  }
  if (!good_host(host)) return refused();
  Remote remote;
  remote.host_ = host;
  // A question about a password would wait for nobody.
  remote.options_ = {"-o", "BatchMode=yes", "-o", "ConnectTimeout=20"};
  if (!port.empty()) remote.options_.insert(remote.options_.end(), {"-o", "Port=" + port});
  if (!config.empty()) remote.options_.insert(remote.options_.end(), {"-F", config.string()});
  // stderr comes along: a greeting, a warning about keys. The folder's name is the last line.
  MRVLC_ASSIGN(const ProcessResult made,
               run_process(remote.ssh("umask 077 && mktemp -d \"${TMPDIR:-/tmp}/mrvlc-XXXXXXXX\"")));
  std::string said = made.output;
  std::erase(said, '\r');  // ssh ends its lines so
  while (said.ends_with('\n')) said.pop_back();
  const std::string folder = said.substr(said.rfind('\n') == said.npos ? 0 : said.rfind('\n') + 1);
  if (made.exit_code != 0 || !folder.starts_with('/'))
    return make_diag<DiagCode::MRV1020>(printable(host), made.exit_code, printable(said, 1000));
  remote.folder_ = folder;
  return remote;
}

Remote::~Remote() {
  if (folder_.empty()) return;
  // What still runs there does not end with the connection.
  const std::string pid = shell_quoted(folder_ + "/" + kPidFile);
  run_to_the_end(ssh("kill \"$(cat " + pid + " 2>/dev/null)\" 2>/dev/null; rm -rf " + shell_quoted(folder_)));
}

std::vector<std::string> Remote::ssh(const std::string& command) const {
  std::vector<std::string> argv = {"ssh", "-n"};
  argv.insert(argv.end(), options_.begin(), options_.end());
  argv.insert(argv.end(), {"--", host_, command});
  return argv;
}

Status Remote::copy(std::vector<std::string> files, const std::string& to) const {
  std::vector<std::string> argv = {"scp", "-q", "-r"};
  argv.insert(argv.end(), options_.begin(), options_.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), files.begin(), files.end());
  argv.push_back(to);
  MRVLC_ASSIGN(const ProcessResult copied, run_process(argv));
  if (copied.exit_code == 0) return {};
  return make_diag<DiagCode::MRV1020>(printable(host_), copied.exit_code, printable(copied.output, 1000));
}

Status Remote::send(const std::vector<fs::path>& files, const std::string& below) const {
  if (files.empty()) return {};
  if (!below.empty()) {
    MRVLC_ASSIGN(const ProcessResult made, run({"mkdir", "-p", below}));
    if (made.exit_code != 0)
      return make_diag<DiagCode::MRV1020>(printable(host_), made.exit_code, printable(made.output, 1000));
  }
  std::vector<std::string> names;  // absolute: "host:file" would be a file there
  for (const fs::path& file : files) names.push_back(fs::absolute(file).string());
  return copy(std::move(names), host_ + ":" + folder_ + "/" + below);
}

Status Remote::fetch(const std::string& below, const fs::path& to) const {
  return copy({host_ + ":" + folder_ + "/" + below}, fs::absolute(to).string());
}

Result<ProcessResult> Remote::run(const std::vector<std::string>& argv) const {
  std::vector<std::string> words =
      ssh("cd " + shell_quoted(folder_) + " && echo $$ >" + kPidFile + " && exec " + shell_words(argv));
  // A connection that is shared does not let an interrupt through.
  words.insert(words.begin() + 1, {"-o", "ControlPath=none"});
  MRVLC_ASSIGN(ProcessResult ran, run_process(words));
  if (ran.exit_code == kSshFailed)
    return make_diag<DiagCode::MRV1020>(printable(host_), ran.exit_code, printable(ran.output, 1000));
  return ran;
}

}  // namespace mrvlc::driver
