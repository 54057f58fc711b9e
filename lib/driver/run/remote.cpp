// ssh and scp: the place parsed, a private folder there, its command ended when this process goes.
#include "run/remote.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <random>

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
// A connection that says nothing for half a minute is over, whichever side it is that is gone.
const std::vector<std::string> kPatience = {"-o", "ConnectTimeout=20",    "-o", "ServerAliveInterval=10",
                                            "-o", "ServerAliveCountMax=2"};
// To clean up: the connection may be the one that was lost.
const std::vector<std::string> kHurry = {"-o", "ConnectTimeout=10",    "-o", "ServerAliveInterval=5",
                                         "-o", "ServerAliveCountMax=2"};

// "[USER@]HOST[:PORT]"; HOST may be an IPv6 address in brackets.
struct Place {
  std::string user, host, port;
  bool ipv6 = false;
};

// A word that begins with '-' would be an option of ssh, and blanks would be a command.
bool is_word(std::string_view word, std::string_view more) {
  return !word.empty() && word[0] != '-' && std::ranges::all_of(word, [&](unsigned char c) {
    return std::isalnum(c) != 0 || more.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::optional<Place> parse_place(std::string_view text) {
  if (!text.starts_with(kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  while (text.ends_with('/')) text.remove_suffix(1);
  Place place;
  if (const size_t at = text.rfind('@'); at != text.npos) {
    place.user = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (!is_word(place.user, "@.-_")) return std::nullopt;
  }
  place.ipv6 = text.starts_with('[');
  const size_t end = place.ipv6 ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == text.npos) return std::nullopt;
  place.host = text.substr(place.ipv6 ? 1 : 0, place.ipv6 ? end - 1 : end);
  text.remove_prefix(end + (place.ipv6 ? 1 : 0));
  // A zone of an address stands behind '%'.
  if (!is_word(place.host, place.ipv6 ? ".:%-_" : ".-_%")) return std::nullopt;
  if (text.empty()) return place;
  place.port = text.substr(1);
  const bool number = !place.port.empty() && place.port.find_first_not_of("0123456789") == std::string::npos;
  return text[0] == ':' && number ? std::optional(place) : std::nullopt;
}

// Nobody else's: made here, so that the folder's name is known even if its making is interrupted.
std::string new_name() {
  std::random_device random;
  return fmt::format("mrvlc-{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
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
  const std::optional<Place> parsed = parse_place(place);
  if (!parsed)
    return make_diag<DiagCode::MRV0004>(
        "--on takes ssh://[USER@]HOST[:PORT], an IPv6 address as [ADDRESS], not '" + printable(place) + "'");
  Remote remote;
  const std::string user = parsed->user.empty() ? "" : parsed->user + "@";
  remote.host_ = user + parsed->host;  // as ssh takes it
  remote.copy_host_ = parsed->ipv6 ? user + "[" + parsed->host + "]" : remote.host_;
  // A question about a password would wait for nobody.
  remote.options_ = {"-o", "BatchMode=yes"};
  if (!parsed->port.empty()) remote.options_.insert(remote.options_.end(), {"-o", "Port=" + parsed->port});
  if (!config.empty()) remote.options_.insert(remote.options_.end(), {"-F", config.string()});
  MRVLC_TRY(remote.make_folder());
  return remote;
}

Status Remote::make_folder() {
  name_ = new_name();  // from here on the destructor cleans up
  MRVLC_ASSIGN(const ProcessResult made,
               run_process_apart(ssh("umask 077 && cd \"${TMPDIR:-/tmp}\" && mkdir " + name_ + " && cd " +
                                     name_ + " && pwd")));
  std::string said = made.output;
  std::erase(said, '\r');
  while (said.ends_with('\n')) said.pop_back();
  // A shell's own greeting may stand before it.
  const std::string folder = said.substr(said.rfind('\n') == said.npos ? 0 : said.rfind('\n') + 1);
  if (made.exit_code != 0 || !folder.starts_with('/') || !folder.ends_with("/" + name_)) return failed(made);
  folder_ = folder;
  return {};
}

Diag Remote::failed(const ProcessResult& ran) const {
  std::string said = ran.errors + ran.output;
  std::erase(said, '\r');  // ssh ends its lines so
  while (said.ends_with('\n')) said.pop_back();
  return make_diag<DiagCode::MRV1020>(printable(host_), ran.exit_code, printable(said, 1000));
}

Remote::~Remote() {
  if (name_.empty()) return;
  const std::string folder = folder_.empty() ? "\"${TMPDIR:-/tmp}\"/" + name_ : shell_quoted(folder_);
  // What still runs there does not end with the connection: all of it, as it might write behind rm's back.
  run_to_the_end(ssh("p=$(cat " + folder + "/" + kPidFile +
                         " 2>/dev/null) && { kill -KILL -- -$p || kill -KILL $p; } 2>/dev/null; rm -rf " +
                         folder + " 2>/dev/null || { sleep 1; rm -rf " + folder + "; }",
                     kHurry));
}

std::vector<std::string> Remote::ssh(const std::string& command) const {
  return ssh(command, kPatience);
}

std::vector<std::string> Remote::ssh(const std::string& command,
                                     const std::vector<std::string>& patience) const {
  std::vector<std::string> argv = {"ssh", "-n"};
  argv.insert(argv.end(), options_.begin(), options_.end());
  argv.insert(argv.end(), patience.begin(), patience.end());
  argv.insert(argv.end(), {"--", host_, command});
  return argv;
}

Status Remote::copy(std::vector<std::string> files, const std::string& to) const {
  std::vector<std::string> argv = {"scp", "-q", "-r"};
  argv.insert(argv.end(), options_.begin(), options_.end());
  argv.insert(argv.end(), kPatience.begin(), kPatience.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), files.begin(), files.end());
  argv.push_back(to);
  MRVLC_ASSIGN(const ProcessResult copied, run_process_apart(argv));
  if (copied.exit_code == 0) return {};
  return failed(copied);
}

Status Remote::send(const std::vector<fs::path>& files, const std::string& below) const {
  if (files.empty()) return {};
  if (!below.empty()) {
    MRVLC_ASSIGN(const ProcessResult made, run({"mkdir", "-p", below}));
    if (made.exit_code != 0) return failed(made);
  }
  std::vector<std::string> names;  // absolute: "host:file" would be a file there
  for (const fs::path& file : files) names.push_back(fs::absolute(file).string());
  return copy(std::move(names), copy_host_ + ":" + folder_ + "/" + below);
}

Status Remote::fetch(const std::string& below, const fs::path& to) const {
  return copy({copy_host_ + ":" + folder_ + "/" + below}, fs::absolute(to).string());
}

Result<ProcessResult> Remote::run(const std::vector<std::string>& argv) const {
  std::vector<std::string> words =
      ssh("cd " + shell_quoted(folder_) + " && echo $$ >" + kPidFile + " && exec " + shell_words(argv));
  // A connection that is shared does not let an interrupt through.
  words.insert(words.begin() + 1, {"-o", "ControlPath=none"});
  MRVLC_ASSIGN(ProcessResult ran, run_process_apart(words));
  if (ran.exit_code == kSshFailed) return failed(ran);
  return ran;
}

}  // namespace mrvlc::driver
