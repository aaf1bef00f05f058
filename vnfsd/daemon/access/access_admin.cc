#include "vnfsd/daemon/access/access_admin.h"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/bytes.h"
#include "common/kv/access_keys.h"
#include "vnfsd/config/api_directory.h"
#include "vnfsd/daemon/access/certificate_ends.h"
#include "vnfsd/daemon/access/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/pki/request.h"
#include "vnfsd/pki/token.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;
namespace keys = kv::keys;

constexpr const char* kClientUse = "client";
constexpr const char* kServerUse = "server";
constexpr std::int64_t kNsPerS = 1'000'000'000;

template <class Record>
Result<std::vector<Record>> read_all(kv::Store& store, const std::string& prefix) {
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(store, kv::prefix_range(prefix), 0, kStoreDeadlineMs));
  std::vector<Record> records(read.kvs.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].ParseFromString(read.kvs[i].value))
      return fail(ErrorCode::kCorrupt, fmt::format("{}: cannot be parsed", read.kvs[i].key));
  }
  return records;
}

template <class Record>
bool take_one(const kv::OpResult& read, Record& into) {
  return read.kvs.size() == 1 && into.ParseFromString(read.kvs[0].value);
}

bool is_serial(const std::string& text) {
  return !text.empty() && text.size() <= 40 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

tl::unexpected<Error> refused(std::string_view why) {
  return fail(ErrorCode::kPermission, fmt::format("API: {}", why));
}

Status check_certificate(const kv::OpResult& read, const api::Credential& credential,
                         std::int64_t now_ns, std::string& name) {
  records::CertificateRecord record;
  if (!take_one(read, record) || record.use() != kClientUse ||
      to_hex(record.fingerprint()) != credential.certificate)
    return refused("the certificate is not one that symnas api cert issue made");
  name = record.name();
  if (record.revoked_ns() != 0) return refused("the certificate was revoked");
  if (record.not_after_ns() <= now_ns) return refused("the certificate has expired");
  return {};
}

std::string state_of(const records::CertificateRecord& record, std::int64_t now_ns) {
  if (record.revoked_ns() != 0) return "revoked";
  return record.not_after_ns() <= now_ns ? "expired" : "good";
}

// Host names and addresses: they stand in an extension's text.
Status check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!IpAddress::parse(name)) SYMNAS_TRY(check_name("host", name));
  }
  return {};
}

}  // namespace

AccessAdmin::AccessAdmin(const ThisHead& head, CertificateWatch::Tell tell)
    : head_(head),
      directory_(api_directory(head.config)),
      audit_(head),
      watch_(head, directory_, std::move(tell)) {}

Result<api::Caller> AccessAdmin::authenticate(const api::Credential& credential) {
  const auto token = pki::parse_token(credential.token);
  if (!token || !check_name("token", token->name))
    return refused("the token has not the form of one (symnas.NAME.SECRET)");
  if (!is_serial(credential.serial)) return refused("symnas-apid names no certificate");
  kv::Txn txn;
  txn.success.push_back(kv::get(keys::kTokens + token->name));
  txn.success.push_back(kv::get(keys::kCertificates + credential.serial));
  SYMNAS_ASSIGN(const kv::TxnResult read,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  const std::int64_t now_ns = head_.clock.wall_ns();
  api::Caller caller;
  SYMNAS_TRY(check_certificate(read.results.at(1), credential, now_ns, caller.certificate));
  records::TokenRecord record;
  const bool known = take_one(read.results.at(0), record);
  // Compared also where there is none: how long it takes tells nothing.
  const bool matches = pki::secret_matches(token->secret, record.salt(), record.hash());
  const auto role = api::parse_role(record.role());
  if (!known || !matches || !role) return refused("the token is not known, or was revoked");
  if (record.expires_ns() != 0 && record.expires_ns() <= now_ns)
    return refused("the token has expired (symnas api token create makes another)");
  caller.name = record.name();
  caller.role = *role;
  return caller;
}

Status AccessAdmin::commit(kv::Txn txn, const std::string& what) {
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  if (done.succeeded) return {};
  return fail(
      ErrorCode::kConflict,
      fmt::format("{}: somebody else has changed this meanwhile (look, and try again)", what));
}

// --- tokens

Result<json> AccessAdmin::tokens() {
  SYMNAS_ASSIGN(const auto records, read_all<records::TokenRecord>(head_.store, keys::kTokens));
  json list = json::array();
  for (const records::TokenRecord& token : records) {
    const bool over = token.expires_ns() != 0 && token.expires_ns() <= head_.clock.wall_ns();
    list.push_back({{"name", token.name()},
                    {"role", token.role()},
                    {"state", over ? "expired" : "good"},
                    {"made_ns", token.made_ns()},
                    {"expires_ns", token.expires_ns()},
                    {"made_by", token.made_by()}});
  }
  return json{{"tokens", list}};
}

Result<json> AccessAdmin::create_token(const api::TokenRequest& request, const api::Caller& by,
                                       Mode mode) {
  SYMNAS_TRY(check_name("api token", request.name));
  SYMNAS_ASSIGN(const auto all, read_all<records::TokenRecord>(head_.store, keys::kTokens));
  if (all.size() >= kTokensMax) {
    return fail(ErrorCode::kBusy, fmt::format("api token {}: there are {} already (revoke some)",
                                              request.name, all.size()));
  }
  if (std::any_of(all.begin(), all.end(),
                  [&](const auto& one) { return one.name() == request.name; })) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("api token {}: exists (symnas api token revoke {} first)", request.name,
                            request.name));
  }
  const std::string what =
      fmt::format("api token {}: {} with the role {}", request.name,
                  mode == Mode::kDryRun ? "would be made" : "made", api::name_of(request.role));
  if (mode == Mode::kDryRun) return json{{"done", {what}}};
  SYMNAS_ASSIGN(const pki::NewToken token, pki::make_token(request.name));
  const std::int64_t now_ns = head_.clock.wall_ns();
  records::TokenRecord record;
  record.set_name(request.name);
  record.set_role(std::string(api::name_of(request.role)));
  record.set_made_ns(now_ns);
  if (request.lifetime_s != 0) record.set_expires_ns(now_ns + request.lifetime_s * kNsPerS);
  record.set_salt(token.salt);
  record.set_hash(token.hash);
  record.set_made_by(by.name);
  kv::Txn txn;
  txn.compares.push_back(kv::key_absent(keys::kTokens + request.name));
  txn.success.push_back(kv::put(keys::kTokens + request.name, record.SerializeAsString()));
  SYMNAS_TRY(commit(std::move(txn), what));
  return json{{"done", {what}}, {"token", token.text}};
}

Result<std::string> AccessAdmin::revoke_token(const std::string& name, Mode mode) {
  SYMNAS_TRY(check_name("api token", name));
  const std::string key = keys::kTokens + name;
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(head_.store, kv::single_key(key), 0, kStoreDeadlineMs));
  if (read.kvs.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("api token {}: does not exist (symnas api token ls)", name));
  if (mode == Mode::kDryRun) return fmt::format("api token {}: would be revoked", name);
  std::string what = fmt::format("api token {}: revoked", name);
  kv::Txn txn;
  txn.compares.push_back(kv::key_exists(key));
  txn.success.push_back(kv::erase(key));
  SYMNAS_TRY(commit(std::move(txn), what));
  return what;
}

// --- certificates

Result<std::string> AccessAdmin::authority_pem() {
  SYMNAS_ASSIGN(
      const kv::OpResult read,
      kv::range_blocking(head_.store, kv::single_key(keys::kAuthority), 0, kStoreDeadlineMs));
  records::AuthorityRecord record;
  if (take_one(read, record)) return record.certificate_pem();
  return fail(ErrorCode::kNotFound,
              "api authority: there is none yet (symnas api on makes it, on one head)");
}

Result<pki::Authority> AccessAdmin::load_authority() const {
  SYMNAS_ASSIGN(
      const kv::OpResult read,
      kv::range_blocking(head_.store, kv::single_key(keys::kAuthority), 0, kStoreDeadlineMs));
  records::AuthorityRecord record;
  if (!take_one(read, record)) {
    return fail(ErrorCode::kNotFound,
                "api authority: there is none yet (symnas api on makes it, on one head)");
  }
  // A key of another authority is left where another head was quicker with `api on`.
  if (const auto key = instance::read_file(file("ca.key"))) {
    if (auto authority = pki::Authority::load(record.certificate_pem(), *key)) return authority;
  }
  return fail(
      ErrorCode::kNotFound,
      fmt::format("api authority: its key is on head {}: issue certificates there", record.head()));
}

// The one whose key an earlier try has left here: its record may be on its way still.
Result<pki::Authority> AccessAdmin::make_authority() const {
  const auto certificate = instance::read_file(file("ca.crt"));
  const auto key = instance::read_file(file("ca.key"));
  if (certificate && key) {
    if (auto left = pki::Authority::load(*certificate, *key)) return left;
  }
  SYMNAS_ASSIGN(pki::Authority made,
                pki::Authority::create("symnas API of " + head_.config.cluster_name));
  // The key before its record, which would be of no use without it.
  SYMNAS_TRY(instance::write_file_atomically(file("ca.key"), made.key_pem(), 0600));
  SYMNAS_TRY(instance::write_file_atomically(file("ca.crt"), made.certificate_pem(), 0644));
  return made;
}

Status AccessAdmin::put_certificate(const std::string& pem, const std::string& use,
                                    const api::Caller& by) {
  SYMNAS_ASSIGN(const pki::CertificateFacts facts, pki::certificate_facts(pem));
  records::CertificateRecord record;
  record.set_name(facts.name);
  record.set_serial(facts.serial);
  record.set_fingerprint(facts.fingerprint);
  record.set_use(use);
  record.set_made_ns(head_.clock.wall_ns());
  record.set_not_after_ns(facts.not_after_ns);
  record.set_made_by(by.name);
  kv::Txn txn;
  txn.compares.push_back(kv::key_absent(keys::kCertificates + facts.serial));
  txn.success.push_back(kv::put(keys::kCertificates + facts.serial, record.SerializeAsString()));
  return commit(std::move(txn), fmt::format("api certificate {}: issued ({})", facts.name, use));
}

Result<std::string> AccessAdmin::switch_on(const std::vector<std::string>& more,
                                           const api::Caller& by, Mode mode) {
  SYMNAS_TRY(check_names(more));
  const MutexLock one_at_a_time(switch_on_mutex_);
  const std::string& name = head_.config.head_name;
  SYMNAS_ASSIGN(
      const kv::OpResult read,
      kv::range_blocking(head_.store, kv::single_key(keys::kAuthority), 0, kStoreDeadlineMs));
  const bool is_new = read.kvs.empty();
  if (mode == Mode::kDryRun) {
    return fmt::format("api: {}a certificate for the listener of head {} would be made",
                       is_new ? "an authority and " : "", name);
  }
  SYMNAS_TRY(instance::make_directories(directory_));
  if (is_new) {
    SYMNAS_ASSIGN(const pki::Authority made, make_authority());
    records::AuthorityRecord record;
    record.set_certificate_pem(made.certificate_pem());
    record.set_head(name);
    record.set_made_ns(head_.clock.wall_ns());
    kv::Txn txn;
    txn.compares.push_back(kv::key_absent(keys::kAuthority));
    txn.success.push_back(kv::put(keys::kAuthority, record.SerializeAsString()));
    SYMNAS_TRY(commit(std::move(txn), fmt::format("api: authority made on head {}", name)));
  }
  SYMNAS_ASSIGN(const pki::Authority authority, load_authority());
  SYMNAS_ASSIGN(const pki::KeyAndRequest made, pki::make_request(name));
  std::vector<std::string> names = more;
  for (const std::string& own : {name, head_.config.head_address}) {
    if (std::find(names.begin(), names.end(), own) == names.end()) names.push_back(own);
  }
  SYMNAS_ASSIGN(const std::string pem,
                authority.sign(made.request_pem, {name, names, "serverAuth",
                                                  static_cast<int>(api::kCertificateDaysMax)}));
  SYMNAS_TRY(put_certificate(pem, kServerUse, by));
  SYMNAS_TRY(instance::write_file_atomically(file("server.key"), made.key_pem, 0600));
  SYMNAS_TRY(instance::write_file_atomically(file("server.crt"), pem, 0644));
  return fmt::format("{}api: certificate of the listener of head {} made in {}",
                     is_new ? "api: authority made: its key is on this head only\n" : "", name,
                     directory_);
}

Result<json> AccessAdmin::certificates() {
  SYMNAS_ASSIGN(auto records,
                read_all<records::CertificateRecord>(head_.store, keys::kCertificates));
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.name(), a.made_ns()) < std::tuple(b.name(), b.made_ns());
  });
  json list = json::array();
  for (const records::CertificateRecord& one : records) {
    list.push_back({{"name", one.name()},
                    {"serial", one.serial()},
                    {"use", one.use()},
                    {"state", state_of(one, head_.clock.wall_ns())},
                    {"made_ns", one.made_ns()},
                    {"not_after_ns", one.not_after_ns()},
                    {"made_by", one.made_by()},
                    {"revoked_ns", one.revoked_ns()},
                    {"revoked_by", one.revoked_by()}});
  }
  return json{{"certificates", list}};
}

Result<json> AccessAdmin::issue(const api::CertificateRequest& request, const api::Caller& by,
                                Mode mode) {
  SYMNAS_TRY(check_name("api certificate", request.name));
  SYMNAS_TRY(check_names(request.names));
  SYMNAS_ASSIGN(const pki::Authority authority, load_authority());
  SYMNAS_ASSIGN(const auto all,
                read_all<records::CertificateRecord>(head_.store, keys::kCertificates));
  if (all.size() >= kCertificatesMax) {
    return fail(ErrorCode::kBusy,
                fmt::format("api certificate {}: there are {} already", request.name, all.size()));
  }
  const std::string what =
      fmt::format("api certificate {}: {} for {} days", request.name,
                  mode == Mode::kDryRun ? "would be issued" : "issued", request.days);
  if (mode == Mode::kDryRun) return json{{"done", {what}}};
  SYMNAS_ASSIGN(const std::string pem,
                authority.sign(request.request_pem,
                               {request.name, request.names,
                                request.for_listener ? "serverAuth" : "clientAuth", request.days}));
  SYMNAS_TRY(put_certificate(pem, request.for_listener ? kServerUse : kClientUse, by));
  return json{{"done", {what}}, {"certificate", pem}, {"authority", authority.certificate_pem()}};
}

Result<std::string> AccessAdmin::revoke_certificate(const std::string& which, const api::Caller& by,
                                                    Mode mode) {
  SYMNAS_ASSIGN(auto all, read_all<records::CertificateRecord>(head_.store, keys::kCertificates));
  std::erase_if(all, [&](const auto& one) {
    return (one.serial() != which && one.name() != which) || one.revoked_ns() != 0;
  });
  if (all.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("api certificate {}: there is none, or it is revoked (symnas api cert "
                            "ls)",
                            which));
  }
  if (mode == Mode::kDryRun)
    return fmt::format("api certificate {}: {} would be revoked", which, all.size());
  std::string what = fmt::format("api certificate {}: revoked", which);
  for (records::CertificateRecord& one : all) {
    one.set_revoked_ns(head_.clock.wall_ns());
    one.set_revoked_by(by.name);
    kv::Txn txn;
    txn.compares.push_back(kv::key_exists(keys::kCertificates + one.serial()));
    txn.success.push_back(kv::put(keys::kCertificates + one.serial(), one.SerializeAsString()));
    SYMNAS_TRY(commit(std::move(txn), what));
  }
  return what;
}

json AccessAdmin::ending() {
  json list = json::array();
  for (const CertificateEnd& one :
       ending_soon(certificate_ends(head_.config, directory_), head_.clock.wall_ns()))
    list.push_back({{"what", one.what}, {"path", one.path}, {"ends_ns", one.ends_ns}});
  return list;
}

// --- audit

Result<json> AccessAdmin::audit(Revision after) {
  kv::Txn txn;
  txn.success.push_back(kv::get_range(kv::prefix_range(keys::kAudit)));
  SYMNAS_ASSIGN(const kv::TxnResult read,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  std::vector<std::tuple<std::int64_t, std::string, std::uint64_t, json>> found;
  for (const kv::KeyValue& kv : read.results.at(0).kvs) {
    if (kv.mod_revision <= after) continue;
    records::AuditRecord entry;
    if (!entry.ParseFromString(kv.value)) continue;  // of a later version
    std::string head = kv.key.substr(keys::kAudit.size());
    head.resize(std::min(head.find('/'), head.size()));
    json one = {{"revision", kv.mod_revision.value()},
                {"head", head},
                {"at_ns", entry.at_ns()},
                {"who", entry.who()},
                {"role", entry.role()},
                {"from", entry.from()},
                {"certificate", entry.certificate()},
                {"login_uid", entry.login_uid()},
                {"method", entry.method()},
                {"path", entry.path()},
                {"outcome", entry.outcome()},
                {"text", entry.text()}};
    found.emplace_back(kv.mod_revision.value(), head, entry.sequence(), std::move(one));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
  });
  json entries = json::array();
  for (auto& one : found) entries.push_back(std::move(std::get<3>(one)));
  return json{{"entries", entries}, {"revision", read.revision.value()}};
}

void AccessAdmin::record(const api::AuditEntry& entry) {
  records::AuditRecord record;
  record.set_who(entry.caller.name);
  record.set_role(std::string(api::name_of(entry.caller.role)));
  record.set_from(entry.caller.from);
  record.set_certificate(entry.caller.certificate);
  record.set_login_uid(entry.caller.login_uid);
  record.set_method(entry.method);
  record.set_path(entry.path);
  record.set_outcome(entry.outcome);
  record.set_text(entry.text);
  audit_.record(std::move(record));
}

}  // namespace symnas::vnfsd::daemon
