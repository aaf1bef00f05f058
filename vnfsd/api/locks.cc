#include "vnfsd/api/locks.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/bytes.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/state/nfs4_client.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

bool is_printable(const std::string& bytes) {
  return !bytes.empty() &&
         std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Client ids and owners are bytes of the client's choice; most are text.
std::string text_of(const std::string& bytes) {
  return is_printable(bytes) ? bytes : "0x" + to_hex(bytes);
}

// With Kerberos: also as which principal it has introduced itself.
std::string client_text(const fs::Nfs4Client& client) {
  if (client.principal.empty()) return text_of(client.owner);
  return fmt::format("{} ({})", text_of(client.owner), text_of(client.principal));
}

// NLM: "svid/oh", the process as the client counts it.
std::string owner_text(const fs::LockOwner& owner) {
  if (owner.protocol == fs::LockProtocol::kNlm && owner.owner.size() >= 4)
    return fmt::format("{}/{}", read_be32(owner.owner, 0), text_of(owner.owner.substr(4)));
  return text_of(owner.owner);
}

json ranges_document(const std::vector<fs::LockRange>& ranges) {
  json out = json::array();
  for (const fs::LockRange& range : ranges) {
    json one = {{"start", range.start},
                {"type", range.mode == fs::LockMode::kExclusive ? "write" : "read"}};
    if (range.end != UINT64_MAX) one["length"] = range.end - range.start + 1;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Result<LockFilter> lock_filter(const std::map<std::string, std::string>& query) {
  LockFilter filter;
  for (const auto& [name, value] : query) {
    if (name == "dry_run") continue;  // is no filter
    if (value.empty())
      return fail(ErrorCode::kInvalidArgument, fmt::format("lock: {}: is empty", name));
    if (name == "filesystem") {
      filter.filesystem = value;
    } else if (name == "vnfs") {
      filter.vnfs = value;
    } else if (name == "client") {
      filter.client = value;
    } else if (name == "path") {
      filter.path = value;
    } else if (name == "ino") {
      std::uint64_t ino = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), ino);
      if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || ino == 0)
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("lock: ino '{}': not an inode number", value));
      filter.ino = Ino{ino};
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("lock: {}: no such filter (filesystem, vnfs, client, path, ino)",
                              fs::check::printable(name)));
    }
  }
  const bool one_file = !filter.path.empty() || filter.ino != Ino{};
  if (one_file && filter.filesystem.empty())
    return fail(ErrorCode::kInvalidArgument,
                "lock: a path or inode number says nothing without its filesystem");
  if (!filter.path.empty() && filter.ino != Ino{})
    return fail(ErrorCode::kInvalidArgument, "lock: give a path or an inode number, not both");
  return filter;
}

bool matches(const LockFilter& filter, const fs::LockEntry& lock) {
  if (!filter.vnfs.empty() && filter.vnfs != lock.vnfs) return false;
  if (filter.ino != Ino{} && filter.ino != lock.ino) return false;
  if (filter.client.empty()) return true;
  const auto nlm = lock.owner.protocol == fs::LockProtocol::kNlm
                       ? fs::parse_nlm_client(lock.owner.client)
                       : std::nullopt;
  if (nlm) return filter.client == nlm->address || filter.client == text_of(nlm->name);
  const fs::Nfs4Client client = fs::parse_nfs4_client(lock.owner.client);
  return filter.client == text_of(client.owner) || filter.client == client_text(client);
}

json lock_document(const std::string& filesystem, const std::string& path,
                   const fs::LockEntry& lock, std::int64_t now_ns) {
  const bool is_nlm = lock.owner.protocol == fs::LockProtocol::kNlm;
  json out = {{"filesystem", filesystem},
              {"ino", lock.ino.value()},
              {"vnfs", lock.vnfs},
              {"protocol", is_nlm ? "nlm" : "nfs4"},
              {"owner", owner_text(lock.owner)},
              {"ranges", ranges_document(lock.lock.ranges)},
              {"revocable", !is_nlm && lock.is_older_than_mount ? "if_away" : "no"}};
  if (!path.empty()) out["path"] = path;
  const auto nlm = is_nlm ? fs::parse_nlm_client(lock.owner.client) : std::nullopt;
  out["client"] = nlm ? text_of(nlm->name) : client_text(fs::parse_nfs4_client(lock.owner.client));
  if (nlm) {
    out["address"] = nlm->address;
    out["vip"] = nlm->server;
  }
  if (lock.lock.since_ns != 0) {
    out["since_ns"] = lock.lock.since_ns;
    out["age_s"] = std::max<std::int64_t>(now_ns - lock.lock.since_ns, 0) / 1'000'000'000;
  }
  return out;
}

}  // namespace symnas::vnfsd::api
