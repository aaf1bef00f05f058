#include "vnfsd/instance/keytab_writer.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/plans/keytab.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::instance {
namespace {

// The file is not cut off by a crash: a new head gets its key once.
std::string key_file(const Config& config) {
  return std::filesystem::path(config.etcd.key).replace_filename("seal.key").string();
}

// A file that is there and cannot be read now is not replaced by another key.
bool is_missing(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

}  // namespace

Result<pki::BoxKey> make_box_key_once(const Config& config) {
  if (!config.etcd.key.empty() && is_missing(key_file(config))) {
    SYMNAS_ASSIGN(const pki::BoxKey made, pki::make_box_key());
    SYMNAS_TRY(write_file_atomically(key_file(config), made.secret, 0600));
  }
  return own_box_key(config);
}

Result<pki::BoxKey> own_box_key(const Config& config) {
  const std::string path = key_file(config);
  if (config.etcd.key.empty())
    return fail(ErrorCode::kInvalidArgument, "vnfsd.toml names no key for etcd");
  if (is_missing(path)) {
    return fail(ErrorCode::kPermission,
                fmt::format("file {} is not there (systemctl restart vnfsd makes another one, and "
                            "other heads seal the keytabs for it)",
                            path));
  }
  SYMNAS_ASSIGN(const std::string secret, read_file(path));
  auto key = pki::box_key_of(secret);
  if (!key) {
    return fail(key.error().code, fmt::format("file {}: {} (remove it and restart vnfsd: another "
                                              "one is made, and other heads seal the keytabs for "
                                              "it)",
                                              path, key.error().message));
  }
  return key;
}

Result<std::string> open_keytab(const Config& config, const records::KeytabRecord& keytab,
                                const std::string& subject) {
  SYMNAS_ASSIGN(const pki::BoxKey own, own_box_key(config));
  pki::SealedBox sealed;
  sealed.box = keytab.box();
  sealed.wraps = {keytab.wraps().begin(), keytab.wraps().end()};
  return pki::unseal(sealed, subject, config.head_name, own);
}

Result<records::KeytabRecord> seal_keytab(const ClusterView& view, const std::string& vnfs,
                                          const std::vector<KeytabEntry>& entries,
                                          std::int64_t set_ns) {
  records::KeytabRecord record;
  record.set_set_ns(set_ns);
  for (const KeytabEntry& entry : entries) {
    records::KeytabKey& key = *record.add_keys();
    key.set_principal(entry.principal);
    key.set_kvno(entry.kvno);
    key.set_enctype(entry.enctype);
  }
  const auto heads = seal_keys(view);
  SYMNAS_ASSIGN(const pki::SealedBox sealed,
                pki::seal(keytab_file(entries), keytab_subject(view, vnfs), heads));
  record.set_box(sealed.box);
  for (const auto& [head, wrap] : sealed.wraps) (*record.mutable_wraps())[head] = wrap;
  for (const auto& [head, key] : heads) {
    (*record.mutable_wrapped_for())[head] = key;
    if (!sealed.wraps.contains(head))
      log::error("vnfs {}: its keytab is not sealed for head {}, whose public key cannot be used",
                 vnfs, head);
  }
  return record;
}

std::string render_krb5_conf(const std::string& realm) {
  return fmt::format(R"(# Written by vnfsd; changes are lost.
[libdefaults]
  default_realm = {}
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
)",
                     realm);
}

Status write_keytab(const InstancePlan& plan) {
  if (!plan.keytab) {
    remove_keytab(plan.paths);
    return {};
  }
  const auto file = open_keytab(plan.config, *plan.keytab, plan.keytab_subject);
  const bool is_closed = !file && (file.error().code == ErrorCode::kPermission ||
                                   file.error().code == ErrorCode::kCorrupt);
  if (!file && !is_closed) return tl::unexpected<Error>(file.error());
  if (is_closed) {
    log::error(
        "vnfs {}: its keytab cannot be opened on this head: {}; clients with Kerberos are "
        "refused here (another head seals it for this one within a minute, or: symnas vnfs "
        "keytab set {} --file F)",
        plan.vnfs, file.error().message, plan.vnfs);
    remove_keytab(plan.paths);
    return {};
  }
  SYMNAS_TRY(write_file_atomically(plan.paths.krb5_conf, render_krb5_conf(plan.realm()), 0600));
  return write_file_atomically(plan.paths.keytab, *file, 0600);
}

void remove_keytab(const InstancePaths& paths) {
  ::unlink(paths.keytab.c_str());
  ::unlink(paths.krb5_conf.c_str());
}

}  // namespace symnas::vnfsd::instance
