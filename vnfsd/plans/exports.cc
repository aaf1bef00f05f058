#include "vnfsd/plans/exports.h"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd {
namespace {

// FNV-1a; the length of each part is part of it.
class Digest {
 public:
  void add(const std::string& part) {
    for (int shift = 0; shift < 64; shift += 8) byte(part.size() >> shift & 0xff);
    for (const char c : part) byte(static_cast<unsigned char>(c));
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  void byte(std::uint64_t b) { value_ = (value_ ^ b) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

template <class Record>
void apply(const kv::Op& op, const std::string& prefix, Table<Record>& table) {
  if (!op.range.key.starts_with(prefix)) return;
  const std::string name = op.range.key.substr(prefix.size());
  if (op.kind == kv::Op::Kind::kPut) {
    table[name].record.ParseFromString(op.value);
  } else {
    table.erase(name);
  }
}

}  // namespace

std::string pseudo_of(const records::ExportRecord& exported) {
  return exported.pseudo().empty() ? "/" + exported.name() : exported.pseudo();
}

AnonymousIds anonymous_ids(const records::ExportRecord& exported) {
  return {exported.has_anon_uid() ? exported.anon_uid() : kNobody,
          exported.has_anon_gid() ? exported.anon_gid() : kNobody};
}

namespace {

template <class Message>
std::vector<records::Security> security_of(const Message& message,
                                           std::vector<records::Security> otherwise) {
  if (message.sec().empty()) return otherwise;
  std::vector<records::Security> flavors;
  for (const int one : message.sec()) flavors.push_back(static_cast<records::Security>(one));
  return flavors;
}

}  // namespace

std::vector<records::Security> security_of(const records::ExportRecord& exported) {
  return security_of(exported, {records::SECURITY_SYS});
}

std::vector<EffectiveRule> effective_rules(const records::ExportRecord& exported) {
  const AnonymousIds anon = anonymous_ids(exported);
  const auto security = security_of(exported);
  std::vector<EffectiveRule> rules;
  for (const std::string& client : exported.clients())
    rules.push_back({client, exported.access(), exported.squash(), anon, security});
  for (const records::ClientRule& rule : exported.rules()) {
    rules.push_back({rule.who(),
                     rule.has_access() ? rule.access() : exported.access(),
                     rule.has_squash() ? rule.squash() : exported.squash(),
                     {rule.has_anon_uid() ? rule.anon_uid() : anon.uid,
                      rule.has_anon_gid() ? rule.anon_gid() : anon.gid},
                     security_of(rule, security)});
  }
  std::stable_sort(rules.begin(), rules.end(), [](const auto& a, const auto& b) {
    const Who one = classify_who(a.who);
    const Who other = classify_who(b.who);
    if (one.kind != other.kind) return one.kind < other.kind;
    return one.kind == WhoKind::kNetwork && one.prefix_length > other.prefix_length;
  });
  return rules;
}

std::vector<std::string> names_in_rules(const records::ExportRecord& exported) {
  std::vector<std::string> names;
  for (const EffectiveRule& rule : effective_rules(exported)) {
    if (classify_who(rule.who).is_name) names.push_back(rule.who);
  }
  return names;
}

bool overlap(std::string_view pseudo, std::string_view other) {
  if (other.size() < pseudo.size()) std::swap(pseudo, other);
  return other.starts_with(pseudo) &&
         (other.size() == pseudo.size() || pseudo == "/" || other[pseudo.size()] == '/');
}

bool nested(const records::ExportRecord& inner, const records::ExportRecord& outer) {
  const std::string path = pseudo_of(inner);
  const std::string around = pseudo_of(outer);
  if (inner.filesystem() != outer.filesystem() || !path.starts_with(around + "/")) return false;
  const std::string below = path.substr(around.size());
  return inner.path() == (outer.path() == "/" ? below : outer.path() + below);
}

std::vector<std::string> nested_with(const ClusterView& view, const records::VnfsRecord& vnfs,
                                     const records::ExportRecord& outer) {
  std::vector<std::string> found;
  for (const std::string& name : vnfs.exports()) {
    const auto other = view.exports.find(name);
    if (other == view.exports.end() || name == outer.name()) continue;
    if (nested(other->second.record, outer) || nested(outer, other->second.record))
      found.push_back(name);
  }
  return found;
}

Status check_pseudo_paths(const ClusterView& view, const records::VnfsRecord& vnfs) {
  for (int i = 0; i < vnfs.exports_size(); ++i) {
    SYMNAS_ASSIGN(const auto* one, find(view.exports, "export", vnfs.exports(i)));
    for (int j = 0; j < i; ++j) {
      SYMNAS_ASSIGN(const auto* other, find(view.exports, "export", vnfs.exports(j)));
      const std::string path = pseudo_of(one->record);
      const std::string there = pseudo_of(other->record);
      if (!overlap(path, there) || nested(one->record, other->record) ||
          nested(other->record, one->record))
        continue;
      return fail(ErrorCode::kBusy,
                  fmt::format("vnfs {}: export {} as {} and export {} as {}: one would hide the "
                              "other (symnas export set --pseudo; of one filesystem, the inner "
                              "one's path has to be the same in both)",
                              vnfs.name(), one->record.name(), path, other->record.name(), there));
    }
  }
  return {};
}

std::string exports_digest(const ClusterView& view, const records::VnfsRecord& vnfs,
                           const std::string& head) {
  Digest digest;
  for (const std::string& name : vnfs.exports()) {
    const auto exported = view.exports.find(name);
    digest.add(exported == view.exports.end() ? "" : exported->second.record.SerializeAsString());
  }
  // Without one nothing is added: a digest of an earlier version holds on.
  if (const auto keytab = view.keytabs.find(vnfs.name()); keytab != view.keytabs.end()) {
    for (const records::KeytabKey& key : keytab->second.record.keys())
      digest.add(fmt::format("{} {} {}", key.principal(), key.kvno(), key.enctype()));
    digest.add(std::to_string(keytab->second.record.set_ns()));
    // A head for which it is sealed later has to be told then; the others need not.
    digest.add(can_open(view, keytab->second.record, head) ? "open" : "sealed");
  }
  return digest.text();
}

std::string exports_digest(const ClusterView& view, const records::VnfsRecord& vnfs) {
  const auto owner = view.owners.find(vnfs.name());
  return exports_digest(view, vnfs, owner == view.owners.end() ? "" : owner->second.record.head());
}

bool exports_pending(const ClusterView& view, const std::string& vnfs) {
  const auto record = view.vnfses.find(vnfs);
  const auto owner = view.owners.find(vnfs);
  if (record == view.vnfses.end() || owner == view.owners.end()) return false;
  const auto served = view.served.find(vnfs);
  if (served == view.served.end()) return true;
  const records::ServedRecord& told = served->second.record;
  const std::string wanted = exports_digest(view, record->second.record);
  return told.epoch() != owner->second.record.epoch() ||
         (told.exports() != wanted && told.refused() != wanted);
}

std::string exports_problem(const ClusterView& view, const std::string& vnfs) {
  const auto owner = view.owners.find(vnfs);
  const auto served = view.served.find(vnfs);
  if (owner == view.owners.end() || served == view.served.end()) return "";
  const records::ServedRecord& told = served->second.record;
  if (told.epoch() != owner->second.record.epoch()) return "";
  if (exports_pending(view, vnfs)) {
    return fmt::format("head {} has not said yet that it serves its exports as they are recorded",
                       owner->second.record.head());
  }
  if (told.refused().empty()) return "";
  return fmt::format(
      "its exports are not served as they are recorded: {} (symnas export set or rm)", told.why());
}

ClusterView after(const ClusterView& view, const Change& change) {
  ClusterView then = view;
  for (const kv::Op& op : change.txn.success) {
    apply(op, kv::keys::kExports, then.exports);
    apply(op, kv::keys::kVnfs, then.vnfses);
    apply(op, kv::keys::kKeytabs, then.keytabs);
  }
  return then;
}

}  // namespace symnas::vnfsd
