#include "tests/workloads/dnfs/oranfstab.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/core.h>

namespace symnas::dnfs {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view trim(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

// "key: value" pairs of a line; `dontroute` stands alone. A word that ends in ':' opens a pair.
struct Pair {
  std::string key;  // lower case
  std::string value;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trim(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

class Parser {
 public:
  explicit Parser(std::string_view file) : file_(file) {}

  Status take(std::string_view line, int number) {
    number_ = number;
    SYMNAS_ASSIGN(const std::vector<Pair> pairs, pairs_of(line));
    for (const Pair& pair : pairs) SYMNAS_TRY(apply(pair));
    return {};
  }

  // Ends the last server.
  Status end() {
    if (servers_.empty()) return {};
    const OraServer& last = servers_.back();
    number_ = last.line;
    if (last.paths.empty())
      return wrong(fmt::format("server {} has no path", last.name),
                   "add \"path: ADDRESS\", an address at which it serves NFS");
    if (last.exports.empty())
      return wrong(fmt::format("server {} has no export", last.name),
                   "add \"export: /PATH mount: /DIR\"");
    if (local_) {
      number_ = local_line_;
      return wrong(fmt::format("local {} has no path after it", *local_),
                   "each \"local:\" belongs to the \"path:\" that follows it");
    }
    return {};
  }

  std::vector<OraServer> servers() && { return std::move(servers_); }

 private:
  tl::unexpected<Error> wrong(const std::string& what, const std::string& advice) const {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} line {}: {}; {}", file_, number_, what, advice));
  }

  Result<std::vector<Pair>> pairs_of(std::string_view line) const {
    std::vector<Pair> pairs;
    bool open = false;
    for (const std::string_view word : words_of(line)) {
      if (word.front() == '#') break;
      // "key:value" without a blank; an IPv6 address or a path is never a key.
      const std::size_t colon = word.find(':');
      if (!open && colon != std::string_view::npos) {
        pairs.push_back({lower(word.substr(0, colon)), std::string(word.substr(colon + 1))});
        open = pairs.back().value.empty();
      } else if (open) {
        pairs.back().value = word;
        open = false;
      } else if (lower(word) == "dontroute") {
        pairs.push_back({"dontroute", ""});
      } else {
        return wrong(fmt::format("\"{}\" is no attribute", word), "write \"attribute: value\"");
      }
    }
    if (open && pairs.back().key != "dontroute")
      return wrong(fmt::format("{} has no value", pairs.back().key), "write one after the colon");
    return pairs;
  }

  Status apply(const Pair& pair) {
    if (pair.key == "server") return begin_server(pair.value);
    if (servers_.empty())
      return wrong(fmt::format("{} before any server", pair.key), "begin with \"server: NAME\"");
    OraServer& server = servers_.back();
    if (pair.key == "local") return take_local(pair.value);
    if (pair.key == "path") return take_path(server, pair.value);
    if (pair.key == "export") return take_export(server, pair.value);
    if (pair.key == "mount") return take_mount(server, pair.value);
    if (pair.key == "nfs_version") return take_version(server, pair.value);
    if (pair.key == "mnt_timeout") return take_timeout(server, pair.value);
    if (pair.key == "dontroute") {
      server.dontroute = true;
      return {};
    }
    constexpr std::array kIgnored = {"management", "community", "security", "security_default"};
    if (std::find(kIgnored.begin(), kIgnored.end(), pair.key) != kIgnored.end()) {
      const bool security = pair.key.starts_with("security");
      if (security && lower(pair.value) != "sys")
        return wrong(fmt::format("{} {}", pair.key, pair.value),
                     "symnas serves sys; take the line out");
      return {};
    }
    return wrong(fmt::format("unknown attribute \"{}\"", pair.key),
                 "known are server, local, path, export, mount, nfs_version, dontroute, "
                 "mnt_timeout, security, security_default, management, community");
  }

  Status begin_server(const std::string& name) {
    const int line = number_;
    SYMNAS_TRY(end());
    number_ = line;
    for (const OraServer& other : servers_)
      if (other.name == name)
        return wrong(fmt::format("server {} again, it is in line {}", name, other.line),
                     "give each server a name of its own");
    servers_.push_back({});
    servers_.back().name = name;
    servers_.back().line = line;
    return {};
  }

  Status take_local(const std::string& value) {
    if (local_)
      return wrong(fmt::format("local {} after local {} of line {}", value, *local_, local_line_),
                   "write the \"path:\" that belongs to it in between");
    local_ = value;
    local_line_ = number_;
    return {};
  }

  Status take_path(OraServer& server, const std::string& value) {
    if (server.paths.size() == kMaxPaths)
      return wrong(fmt::format("server {} has more than {} paths", server.name, kMaxPaths),
                   "take this one out: Direct NFS uses four");
    for (const OraPath& other : server.paths)
      if (other.remote == value && other.local == local_.value_or(""))
        return wrong(fmt::format("path {} again, it is in line {}", value, other.line),
                     "two paths differ in an address, or nothing is gained by the second");
    server.paths.push_back({value, local_.value_or(""), number_, local_ ? local_line_ : 0});
    local_.reset();
    return {};
  }

  Status take_export(OraServer& server, const std::string& value) {
    if (!value.starts_with('/'))
      return wrong(fmt::format("export {} is no absolute path", value),
                   "write it as \"symnas export list\" shows it");
    server.exports.push_back({value, "", number_});
    return {};
  }

  Status take_mount(OraServer& server, const std::string& value) {
    if (server.exports.empty() || !server.exports.back().mount.empty())
      return wrong(fmt::format("mount {} without an export before it", value),
                   "write \"export: /PATH mount: /DIR\"");
    if (!value.starts_with('/'))
      return wrong(fmt::format("mount {} is no absolute path", value), "begin it with a slash");
    const auto [at, fresh] = mounts_.emplace(value, number_);
    if (!fresh)
      return wrong(fmt::format("mount {} again, it is in line {}", value, at->second),
                   "give each export a mount point of its own: the first one would be used");
    server.exports.back().mount = value;
    return {};
  }

  Status take_version(OraServer& server, const std::string& value) {
    const std::string version = lower(value);
    constexpr std::array kKnown = {"nfsv3", "nfsv4", "nfsv4.1", "pnfs"};
    if (std::find(kKnown.begin(), kKnown.end(), version) == kKnown.end())
      return wrong(fmt::format("nfs_version {}", value),
                   "known are nfsv3, nfsv4, nfsv4.1 and pnfs");
    server.nfs_version = version;
    server.version_line = number_;
    return {};
  }

  Status take_timeout(OraServer& server, const std::string& value) {
    int seconds = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (error != std::errc() || end != value.data() + value.size() || seconds <= 0)
      return wrong(fmt::format("mnt_timeout {}", value), "write a number of seconds above 0");
    server.mnt_timeout_s = seconds;
    return {};
  }

  std::string_view file_;
  int number_ = 0;
  std::vector<OraServer> servers_;
  std::map<std::string, int> mounts_;
  std::optional<std::string> local_;  // waits for its path
  int local_line_ = 0;
};

// What is left of `path` below `dir`, if it lies there.
std::optional<std::string> below(std::string_view path, std::string_view dir) {
  while (dir.ends_with('/')) dir.remove_suffix(1);
  if (!path.starts_with(dir) || path.size() <= dir.size() + 1 || path[dir.size()] != '/')
    return std::nullopt;
  return std::string(path.substr(dir.size()));
}

}  // namespace

Result<std::vector<OraServer>> parse_oranfstab(std::string_view text, std::string_view file) {
  Parser parser(file);
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    SYMNAS_TRY(parser.take(text.substr(0, end), number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  SYMNAS_TRY(parser.end());
  std::vector<OraServer> servers = std::move(parser).servers();
  if (servers.empty())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} line 1: no server in it; begin with \"server: NAME\"", file));
  return servers;
}

Result<OraFile> find_file(const std::vector<OraServer>& servers, std::string_view path) {
  std::optional<OraFile> best;
  std::string there;
  for (std::size_t s = 0; s < servers.size(); ++s) {
    for (std::size_t e = 0; e < servers[s].exports.size(); ++e) {
      const OraExport& one = servers[s].exports[e];
      there += (there.empty() ? "" : ", ") + one.exported;
      auto rest = below(path, one.exported);
      if (!rest && !one.mount.empty()) rest = below(path, one.mount);
      if (rest && (!best || rest->size() < best->path.size())) best = OraFile{s, e, *rest};
    }
  }
  if (best) return *best;
  return fail(ErrorCode::kNotFound,
              fmt::format("{} lies below no export of the oranfstab; these are: {}", path, there));
}

}  // namespace symnas::dnfs
