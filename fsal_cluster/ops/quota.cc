#include "fsal_cluster/ops/quota.h"

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/nodes.h"

namespace symnas::fs {
namespace {

Quotas::Exempt exempt(const Credentials& who) {
  return is_root(who) ? Quotas::Exempt::kYes : Quotas::Exempt::kNo;
}

constexpr std::uint8_t without(SubjectKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

}  // namespace

Result<Quotas::Charge> charge_new(Context& context, const Credentials& who,
                                  const records::Inode& inode) {
  Quotas::Charge charge;
  if (context.quotas == nullptr || !context.quotas->any()) return charge;
  // A new inode has no blocks, so nothing that is to be recorded bears on the answer.
  SYMNAS_TRY(context.quotas->admit_blocking(charge, subjects_of(inode), {0, 1}, exempt(who),
                                            [](const Subjects&) { return Status(); }));
  return charge;
}

Status charge_new_owner(Context& context, const Credentials& who, const Handle& handle,
                        const SetAttributes& changes, Quotas::Charge& charge) {
  if (!changes.uid && !changes.gid) return {};
  if (context.quotas == nullptr || !context.quotas->any()) return {};
  // Before the record is read: what was acknowledged goes to the new owner, too.
  SYMNAS_TRY(context.data.record_usage());
  SYMNAS_ASSIGN(const Node node, require_node(context, handle));
  Subjects gaining = subjects_of(node.record);
  gaining.without = without(SubjectKind::kFilesystem) | without(SubjectKind::kTree);
  if (!changes.uid || *changes.uid == gaining.uid) gaining.without |= without(SubjectKind::kUser);
  if (!changes.gid || *changes.gid == gaining.gid) gaining.without |= without(SubjectKind::kGroup);
  gaining.uid = changes.uid.value_or(gaining.uid);
  gaining.gid = changes.gid.value_or(gaining.gid);
  return context.quotas->admit_blocking(
      charge, gaining, usage_of(node.record), exempt(who),
      [&](const Subjects&) { return context.data.record_usage(); });
}

Status may_ask(const Credentials& who, const Subject& subject) {
  if (is_root(who)) return {};
  if (subject.kind == SubjectKind::kUser && subject.id == who.uid) return {};
  if (subject.kind == SubjectKind::kGroup && in_group(who, subject.id)) return {};
  return fail(ErrorCode::kPermission, "quota: user " + std::to_string(who.uid) +
                                          " may not ask about " + to_string(subject));
}

Status check_same_tree(const records::Inode& inode, const records::Inode& directory,
                       const std::string& name) {
  if (inode.tree() == directory.tree()) return {};
  return fail(ErrorCode::kCrossDevice,
              name + ": lies in another directory tree with a quota; copy it instead");
}

}  // namespace symnas::fs
