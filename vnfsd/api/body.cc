#include "vnfsd/api/body.h"

#include <optional>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/names/base64.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

enum class Need { kRequired, kOptional };

// Takes members out of an object; remembers the first error and which members were asked for.
class Reader {
 public:
  Reader(const json& body, std::string what) : body_(body), what_(std::move(what)) {}

  Reader& text(const char* key, std::string& into, Need need = Need::kRequired) {
    if (const json* value = member(key, need)) {
      if (value->is_string()) {
        into = value->get<std::string>();
      } else {
        error(key, "must be a string");
      }
    }
    return *this;
  }
  Reader& number(const char* key, std::uint64_t& into, Need need = Need::kRequired) {
    if (const json* value = member(key, need)) {
      if (value->is_number_unsigned()) {
        into = value->get<std::uint64_t>();
      } else {
        error(key, "must be a whole number");
      }
    }
    return *this;
  }
  Reader& flag(const char* key, bool& into) {
    if (const json* value = member(key, Need::kOptional)) {
      if (value->is_boolean()) {
        into = value->get<bool>();
      } else {
        error(key, "must be true or false");
      }
    }
    return *this;
  }
  Reader& texts(const char* key, std::vector<std::string>& into, Need need = Need::kRequired) {
    const json* value = member(key, need);
    if (value == nullptr) return *this;
    if (!value->is_array()) return error(key, "must be a list of strings");
    for (const json& element : *value) {
      if (!element.is_string()) return error(key, "must be a list of strings");
      into.push_back(element.get<std::string>());
    }
    return *this;
  }
  Reader& array(const char* key, const json*& into) {
    into = member(key, Need::kRequired);
    if (into != nullptr && !into->is_array()) error(key, "must be a list");
    return *this;
  }
  // Ends reading: an unknown member is an error, so that a misspelt one is not lost.
  Status finish() {
    if (!error_ && body_.is_object()) {
      for (const auto& [key, value] : body_.items()) {
        if (!known_.contains(key)) error(key.c_str(), "is not known");
      }
    }
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
  }

 private:
  const json* member(const char* key, Need need) {
    known_.emplace(key);
    if (!body_.is_object()) {
      error(key, "is missing: the request is not an object");
      return nullptr;
    }
    const auto it = body_.find(key);
    if (it != body_.end()) return &*it;
    if (need == Need::kRequired) error(key, "is missing");
    return nullptr;
  }
  Reader& error(const char* key, std::string_view why) {
    if (!error_) {
      error_ = Error{ErrorCode::kInvalidArgument, fmt::format("{}: '{}' {}", what_, key, why)};
    }
    return *this;
  }

  const json& body_;
  std::string what_;
  std::set<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace

Result<NetworkRequest> network_request(const json& body) {
  NetworkRequest r;
  SYMNAS_TRY(Reader(body, "network")
                 .text("name", r.name)
                 .text("device", r.device)
                 .number("mtu", r.mtu, Need::kOptional)
                 .text("gateway", r.gateway, Need::kOptional)
                 .finish());
  return r;
}

Result<std::vector<LunImportRequest>> lun_import_requests(const json& body) {
  const json* luns = nullptr;
  SYMNAS_TRY(Reader(body, "lun").array("luns", luns).finish());
  std::vector<LunImportRequest> requests;
  for (const json& lun : *luns) {
    LunImportRequest r;
    bool force = false;
    SYMNAS_TRY(
        Reader(lun, "lun").text("name", r.name).text("path", r.path).flag("force", force).finish());
    if (force) r.force = LunImportRequest::Force::kYes;
    requests.push_back(std::move(r));
  }
  return requests;
}

Result<std::vector<std::string>> lun_scan_request(const json& body) {
  std::vector<std::string> paths;
  SYMNAS_TRY(Reader(body, "lun scan").texts("paths", paths, Need::kOptional).finish());
  return paths;
}

Result<VolumeRequest> volume_request(const json& body) {
  VolumeRequest r;
  SYMNAS_TRY(Reader(body, "volume")
                 .text("name", r.name)
                 .texts("luns", r.luns)
                 .number("stripe_unit_bytes", r.stripe_unit_bytes)
                 .finish());
  return r;
}

Result<VolumeRequest> grow_request(const json& body) {
  VolumeRequest r;
  SYMNAS_TRY(Reader(body, "volume").texts("luns", r.luns).finish());
  return r;
}

namespace {

Result<AccessTimes> access_times_of(const std::string& word, const std::string& name) {
  if (word.empty()) return AccessTimes::kByLevel;
  if (word == "relatime") return AccessTimes::kRecorded;
  if (word == "off") return AccessTimes::kOff;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("fs {}: atime \"{}\" is neither relatime nor off", name, word));
}

}  // namespace

Result<FilesystemRequest> filesystem_request(const json& body) {
  FilesystemRequest request;
  fs::FormatOptions& r = request.format;
  std::uint64_t uid = 0;
  std::uint64_t gid = 0;
  std::uint64_t mode = r.root_mode;
  std::string atime;
  SYMNAS_TRY(Reader(body, "fs")
                 .text("name", r.name)
                 .text("volume", r.volume)
                 .number("root_uid", uid, Need::kOptional)
                 .number("root_gid", gid, Need::kOptional)
                 .number("root_mode", mode, Need::kOptional)
                 .text("atime", atime, Need::kOptional)
                 .finish());
  SYMNAS_ASSIGN(request.access_times, access_times_of(atime, r.name));
  constexpr std::uint64_t kIdMax = 0xfffffffe;  // -1 means "leave it" in every chown
  if (uid > kIdMax || gid > kIdMax || mode > 07777) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("fs {}: owner {}:{} or mode {:o} is out of range", r.name, uid, gid, mode));
  }
  r.root_uid = static_cast<std::uint32_t>(uid);
  r.root_gid = static_cast<std::uint32_t>(gid);
  r.root_mode = static_cast<std::uint32_t>(mode);
  return request;
}

Result<FilesystemEdit> filesystem_edit(const json& body) {
  FilesystemEdit edit;
  std::string atime;
  std::string acls;
  SYMNAS_TRY(Reader(body, "fs set")
                 .text("atime", atime, Need::kOptional)
                 .text("acls", acls, Need::kOptional)
                 .finish());
  if (!atime.empty()) {
    SYMNAS_ASSIGN(edit.access_times, access_times_of(atime, "set"));
  }
  if (!acls.empty() && acls != "on") {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("fs set: acls \"{}\" is not on (they cannot be switched off: files may "
                            "have some)",
                            acls));
  }
  edit.allow_acls_and_xattrs = !acls.empty();
  if (!edit.access_times && !edit.allow_acls_and_xattrs)
    return fail(ErrorCode::kInvalidArgument, "fs set: nothing is to be changed (atime, acls)");
  return edit;
}

Result<ExportRequest> export_request(const json& body) {
  ExportRequest r;
  SYMNAS_TRY(Reader(body, "export")
                 .text("name", r.name)
                 .text("filesystem", r.filesystem)
                 .text("path", r.path, Need::kOptional)
                 .texts("clients", r.clients, Need::kOptional)
                 .texts("rules", r.rules, Need::kOptional)
                 .text("manage_gids", r.manage_gids, Need::kOptional)
                 .text("access", r.access, Need::kOptional)
                 .text("squash", r.squash, Need::kOptional)
                 .text("anon", r.anon, Need::kOptional)
                 .text("pseudo", r.pseudo, Need::kOptional)
                 .texts("sec", r.sec, Need::kOptional)
                 .finish());
  return r;
}

Result<ExportEdit> export_edit(const json& body) {
  std::vector<std::string> clients, rules, sec;
  std::string access, squash, anon, manage_gids, pseudo;
  SYMNAS_TRY(Reader(body, "export set")
                 .texts("clients", clients, Need::kOptional)
                 .texts("rules", rules, Need::kOptional)
                 .text("manage_gids", manage_gids, Need::kOptional)
                 .text("access", access, Need::kOptional)
                 .text("squash", squash, Need::kOptional)
                 .text("anon", anon, Need::kOptional)
                 .text("pseudo", pseudo, Need::kOptional)
                 .texts("sec", sec, Need::kOptional)
                 .finish());
  ExportEdit edit;
  if (body.contains("clients")) edit.clients = std::move(clients);
  if (body.contains("rules")) edit.rules = std::move(rules);
  if (body.contains("manage_gids")) edit.manage_gids = std::move(manage_gids);
  if (body.contains("access")) edit.access = std::move(access);
  if (body.contains("squash")) edit.squash = std::move(squash);
  if (body.contains("anon")) edit.anon = std::move(anon);
  if (body.contains("pseudo")) edit.pseudo = std::move(pseudo);
  if (body.contains("sec")) edit.sec = std::move(sec);
  return edit;
}

Result<KeytabRequest> keytab_request(const json& body) {
  std::string text, domain;
  SYMNAS_TRY(Reader(body, "vnfs keytab")
                 .text("keytab", text)
                 .text("owner_domain", domain, Need::kOptional)
                 .finish());
  auto file = from_base64(text);
  if (!file) return fail(file.error().code, "vnfs keytab: keytab: " + file.error().message);
  KeytabRequest request;
  request.file = std::move(*file);
  if (body.contains("owner_domain")) request.owner_domain = std::move(domain);
  return request;
}

Result<std::vector<std::string>> vnfses_request(const json& body) {
  std::vector<std::string> vnfses;
  SYMNAS_TRY(Reader(body, "export").texts("vnfs", vnfses).finish());
  if (vnfses.empty()) return fail(ErrorCode::kInvalidArgument, "export: no VNFS is named");
  return vnfses;
}

Result<VnfsRequest> vnfs_request(const json& body) {
  VnfsRequest r;
  SYMNAS_TRY(Reader(body, "vnfs")
                 .text("name", r.name)
                 .texts("vips", r.vips)
                 .texts("networks", r.networks)
                 .texts("exports", r.exports)
                 .texts("heads", r.heads)
                 .text("failback", r.failback, Need::kOptional)
                 .finish());
  return r;
}

Result<VnfsSetRequest> vnfs_set_request(const json& body) {
  VnfsSetRequest r;
  SYMNAS_TRY(Reader(body, "vnfs set")
                 .text("prefix", r.prefix)
                 .texts("vip_ranges", r.vip_ranges)
                 .texts("exports", r.exports)
                 .texts("heads", r.heads, Need::kOptional)
                 .text("failback", r.failback, Need::kOptional)
                 .finish());
  return r;
}

Result<records::Decider> decider_request(const json& body) {
  std::string name;
  SYMNAS_TRY(Reader(body, "ha decider").text("decider", name).finish());
  return parse_decider(name);
}

Result<DeciderOrder> decider_order(const json& body, const std::string& what) {
  DeciderOrder order;
  std::string by;
  SYMNAS_TRY(Reader(body, what).text("decider", by).text("head", order.head).finish());
  SYMNAS_ASSIGN(order.by, parse_decider(by));
  return order;
}

Result<RehostRequest> rehost_request(const json& body) {
  RehostRequest r;
  bool pin = true;
  SYMNAS_TRY(Reader(body, "vnfs rehost").text("head", r.head).flag("pin", pin).finish());
  if (!pin) r.pin = Pin::kNo;
  return r;
}

Result<std::optional<Epoch>> restart_request(const json& body) {
  std::uint64_t epoch = 0;
  SYMNAS_TRY(Reader(body, "vnfs restart").number("epoch", epoch, Need::kOptional).finish());
  return epoch == 0 ? std::nullopt : std::optional(Epoch(epoch));
}

Result<VnfsEdit> vnfs_edit(const json& body) {
  std::string failback;
  std::vector<std::string> heads;
  SYMNAS_TRY(Reader(body, "vnfs set")
                 .text("failback", failback, Need::kOptional)
                 .texts("heads", heads, Need::kOptional)
                 .finish());
  VnfsEdit edit;
  if (body.contains("failback")) edit.failback = std::move(failback);
  if (body.contains("heads")) edit.heads = std::move(heads);
  return edit;
}

Result<DumpRequest> dump_request(const json& body) {
  DumpRequest r;
  std::uint64_t ino = 0;
  SYMNAS_TRY(Reader(body, "fs dump")
                 .text("path", r.path, Need::kOptional)
                 .number("ino", ino, Need::kOptional)
                 .finish());
  if (r.path.empty() == (ino == 0))
    return fail(ErrorCode::kInvalidArgument, "fs dump: give a path or an inode number");
  r.ino = Ino{ino};
  return r;
}

Result<ScrubRequest> scrub_request(const json& body) {
  ScrubRequest r;
  SYMNAS_TRY(Reader(body, "lun scrub")
                 .number("bytes_per_second", r.bytes_per_second, Need::kOptional)
                 .flag("all", r.all)
                 .flag("anew", r.anew)
                 .finish());
  return r;
}

Result<std::string> repair_request(const json& body) {
  std::string plan;
  SYMNAS_TRY(Reader(body, "fs repair").text("plan", plan, Need::kRequired).finish());
  return plan;
}

Result<InviteRequest> invite_request(const json& body) {
  InviteRequest r;
  bool member = false;
  SYMNAS_TRY(Reader(body, "head")
                 .text("name", r.name)
                 .text("address", r.address)
                 .flag("etcd_member", member)
                 .finish());
  if (member) r.etcd = EtcdRole::kMember;
  return r;
}

Result<TokenRequest> token_request(const json& body) {
  TokenRequest r;
  std::string role;
  std::uint64_t lifetime_s = 0;
  SYMNAS_TRY(Reader(body, "api token")
                 .text("name", r.name)
                 .text("role", role)
                 .number("lifetime_s", lifetime_s, Need::kOptional)
                 .finish());
  const auto parsed = parse_role(role);
  if (!parsed || lifetime_s > kTokenLifetimeMaxS) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("api token {}: 'role' is viewer, operator or admin, 'lifetime_s' at "
                            "most {}",
                            r.name, kTokenLifetimeMaxS));
  }
  r.role = *parsed;
  r.lifetime_s = static_cast<std::int64_t>(lifetime_s);
  return r;
}

Result<std::vector<std::string>> listener_request(const json& body) {
  std::vector<std::string> names;
  SYMNAS_TRY(Reader(body, "api listener").texts("names", names, Need::kOptional).finish());
  if (names.size() <= kCertificateNamesMax) return names;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("api listener: 'names' are {} at most", kCertificateNamesMax));
}

Result<CertificateRequest> certificate_request(const json& body) {
  CertificateRequest r;
  std::uint64_t days = kClientDays;
  SYMNAS_TRY(Reader(body, "api certificate")
                 .text("name", r.name)
                 .text("request", r.request_pem)
                 .flag("for_listener", r.for_listener)
                 .texts("names", r.names, Need::kOptional)
                 .number("days", days, Need::kOptional)
                 .finish());
  if (days < 1 || days > kCertificateDaysMax || r.names.size() > kCertificateNamesMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("api certificate {}: 'days' is 1 to {}, 'names' are {} at most", r.name,
                            kCertificateDaysMax, kCertificateNamesMax));
  }
  r.days = static_cast<int>(days);
  return r;
}

}  // namespace symnas::vnfsd::api
