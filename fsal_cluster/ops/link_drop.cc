#include "fsal_cluster/ops/link_drop.h"

#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/orphan.h"
#include "fsal_cluster/ops/xattrs.h"

namespace symnas::fs {
namespace {

std::string open_orphan(const Node& node, MountId mount) {
  records::Orphan orphan;
  orphan.set_generation(node.record.generation());
  orphan.set_open(true);
  orphan.set_mount(mount.value());
  return orphan.SerializeAsString();
}

}  // namespace

void TxnPart::add_to(kv::Mutation& mutation) const {
  mutation.compares.insert(mutation.compares.end(), compares.begin(), compares.end());
  mutation.writes.insert(mutation.writes.end(), writes.begin(), writes.end());
}

void TxnPart::add_to(TxnPart& part) const {
  part.compares.insert(part.compares.end(), compares.begin(), compares.end());
  part.writes.insert(part.writes.end(), writes.begin(), writes.end());
}

TxnPart plan_link_drop(FsId fs, MountId mount, const Node& node, Fate fate, const TxnPart& removal,
                       std::int64_t now_ns) {
  TxnPart part = removal;
  part.compares.insert(part.compares.begin(), unchanged(fs, node));
  records::Inode inode = node.record;
  inode.set_ctime_ns(now_ns);
  switch (fate) {
    case Fate::kKeepsLinks:
      inode.set_nlink(inode.nlink() - 1);
      part.writes.push_back(put_inode(fs, node.ino, inode));
      break;
    case Fate::kOrphaned:
      inode.set_nlink(0);
      part.writes.push_back(put_inode(fs, node.ino, inode));
      part.writes.push_back(kv::put(kv::keys::orphan(fs, node.ino), open_orphan(node, mount)));
      break;
    case Fate::kRemoved:
      part.writes.push_back(kv::erase(kv::keys::inode(fs, node.ino)));
      erase_xattrs(fs, node, part.writes);
      break;
  }
  return part;
}

Result<LinkDrop> LinkDrop::prepare(Context& context, const Node& node, std::int64_t now_ns) {
  if (node.record.nlink() > 1) {
    LinkDrop drop(context, node.ino, Fate::kKeepsLinks, context.membership.enter());
    drop.part_ = plan_link_drop(context.fs, context.mount, node, drop.fate_, {}, now_ns);
    return drop;
  }
  OpenFiles::Removal open = context.open_files.begin_removal(node.ino);
  Membership::Stay stay = context.membership.enter();
  const bool others_may_have_it = !stay.sole() && node.is_regular();
  const Fate fate = open.open() || others_may_have_it ? Fate::kOrphaned : Fate::kRemoved;
  LinkDrop drop(context, node.ino, fate, std::move(stay));
  drop.open_.emplace(std::move(open));
  TxnPart removal;
  if (drop.fate_ == Fate::kRemoved && node.is_regular()) {
    auto planned = context.data.plan_removal(handle_of(context, node), node.record);
    if (!planned && planned.error().code == ErrorCode::kStale) {
      // The inode was removed since `node` was read, and its name with it. kStale would be no
      // answer to a client that asks for a name.
      return fail(ErrorCode::kConflict, planned.error().message);
    }
    if (!planned) return tl::unexpected<Error>(planned.error());
    drop.data_ = std::move(*planned);
    removal = TxnPart{drop.data_->compares, drop.data_->writes};
  }
  drop.part_ = plan_link_drop(context.fs, context.mount, node, drop.fate_, removal, now_ns);
  return drop;
}

LinkDrop::LinkDrop(LinkDrop&& other) noexcept
    : stay_(std::move(other.stay_)),
      context_(std::exchange(other.context_, nullptr)),
      ino_(other.ino_),
      fate_(other.fate_),
      part_(std::move(other.part_)),
      open_(std::move(other.open_)),
      data_(std::move(other.data_)) {}

LinkDrop::~LinkDrop() {
  if (context_ != nullptr && data_) context_->data.abandoned(std::move(*data_));
}

void LinkDrop::committed() {
  if (data_) context_->data.removed(std::move(*data_));
  Context* const context = std::exchange(context_, nullptr);
  if (!open_ || fate_ != Fate::kOrphaned) return;
  if (open_->open() && open_->orphaned() == OpenFiles::Closed::kStillNeeded) return;
  if (!stay_.sole()) return;  // OrphanWatch removes it when no mount needs it
  const Status ended = end_orphan(*context, ino_);
  if (!ended)  // the orphan record stays: the next mount's sweep finishes it
    log::warn("inode {} of filesystem {}: unlinked, closed, not removed yet: {}", ino_.value(),
              context->fs.value(), ended.error().message);
}

}  // namespace symnas::fs
