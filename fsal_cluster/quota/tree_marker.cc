#include "fsal_cluster/quota/tree_marker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/limits.h"
#include "fsal_cluster/quota/subject.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {
namespace {

bool is_directory(const records::Inode& inode) {
  return inode.type() == static_cast<std::uint32_t>(FileType::kDirectory);
}

tl::unexpected<Error> unparsable(const char* what, std::uint64_t number) {
  return fail(ErrorCode::kCorrupt,
              std::string(what) + " " + std::to_string(number) + ": its record cannot be parsed");
}

}  // namespace

Result<std::optional<TreeMarker::Stored>> TreeMarker::read_tree(std::uint32_t tree) {
  SYMNAS_ASSIGN(const kv::OpResult read,
                session_.range(kv::single_key(kv::keys::quota_tree(fs_, tree)), 1));
  if (read.kvs.empty()) return std::optional<Stored>();
  Stored out{{}, read.kvs.front().mod_revision};
  if (!out.record.ParseFromString(read.kvs.front().value))
    return unparsable("directory tree", tree);
  return std::optional(std::move(out));
}

Result<bool> TreeMarker::put_tree(std::uint32_t tree, const Stored& before,
                                  const records::QuotaTree& after) {
  const std::string key = kv::keys::quota_tree(fs_, tree);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {kv::mod_revision_is(key, before.revision)};
  mutation.writes = {kv::put(key, after.SerializeAsString())};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  return done.succeeded;
}

// Its directory was removed before it was marked.
Status TreeMarker::remove_tree(std::uint32_t tree, const Stored& stored) {
  constexpr auto kKind = static_cast<std::uint8_t>(SubjectKind::kTree);
  const std::string key = kv::keys::quota_tree(fs_, tree);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::mod_revision_is(key, stored.revision)};
  mutation.writes = {kv::erase(key), kv::erase(kv::keys::quota_limit(fs_, kKind, tree)),
                     kv::erase(kv::keys::quota_grace(fs_, kKind, tree))};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  if (done.succeeded) finished_.insert(tree);
  return {};
}

std::optional<std::uint32_t> TreeMarker::next_of(
    const std::map<std::uint32_t, records::QuotaTree>& trees) {
  for (const auto& [id, tree] : trees) {
    if (tree.state() != records::QuotaTree::READY && !finished_.contains(id)) return id;
  }
  return std::nullopt;
}

Status TreeMarker::turn(const std::map<std::uint32_t, records::QuotaTree>& trees,
                        const std::function<bool()>& stopping) {
  busy_ = false;
  if (job_) {
    const auto known = trees.find(job_->tree);
    if (known == trees.end()) {
      job_.reset();  // removed
    } else if (known->second.marker() != self_.value() || !known->second.moved().empty()) {
      SYMNAS_TRY(take_moved());
    }
  }
  for (int pages = 0; pages < kMarkPagesPerTurn && !stopping(); ++pages) {
    if (!job_) {
      const auto next = next_of(trees);
      if (!next) return {};
      SYMNAS_TRY(begin(*next));
      if (!job_ && !finished_.contains(*next)) return {};  // somebody was faster
      continue;
    }
    const Status done = job_->pending.empty() ? end_pass() : page();
    if (!done) {
      job_.reset();
      return done;
    }
  }
  busy_ = true;
  return {};
}

Status TreeMarker::begin(std::uint32_t tree) {
  SYMNAS_ASSIGN(const std::optional<Stored> stored, read_tree(tree));
  if (!stored || stored->record.state() == records::QuotaTree::READY) {
    finished_.insert(tree);
    return {};
  }
  const Ino root{stored->record.root()};
  const std::string key = kv::keys::inode(fs_, root);
  SYMNAS_ASSIGN(const kv::OpResult read, session_.range(kv::single_key(key), 1));
  if (read.kvs.empty()) return remove_tree(tree, *stored);
  records::Inode inode;
  if (!inode.ParseFromString(read.kvs.front().value)) return unparsable("inode", root.value());
  records::QuotaTree mine = stored->record;
  mine.set_marker(self_.value());
  mine.clear_moved();
  const std::string record_key = kv::keys::quota_tree(fs_, tree);
  const Revision revision = read.kvs.front().mod_revision;
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {kv::mod_revision_is(record_key, stored->revision),
                       kv::mod_revision_is(key, revision)};
  mutation.writes = {kv::put(record_key, mine.SerializeAsString())};
  if (inode.tree() != tree) {
    inode.set_content_revision(content_revision(inode, revision).value());
    inode.set_tree(tree);
    mutation.writes.push_back(kv::put(key, inode.SerializeAsString()));
  }
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  if (!done.succeeded) return session_.barrier();
  job_ = Job{tree, {root}, "", false};
  return {};
}

Status TreeMarker::page() {
  Job& job = *job_;
  const Ino directory = job.pending.back();
  const kv::KeyRange all = kv::prefix_range(kv::keys::dirent_prefix(fs_, directory));
  SYMNAS_ASSIGN(const kv::OpResult read,
                session_.range({job.from.empty() ? all.key : job.from, all.end}, kMarkPage));
  const bool last = !read.more || read.kvs.empty();
  if (last) {
    job.pending.pop_back();
    job.from.clear();
  } else {
    job.from = read.kvs.back().key + '\0';
  }
  // What follows in this directory must stay on top of the directories that are found in it.
  std::vector<Ino> below;
  std::swap(below, job.pending);
  std::vector<Named> names;
  for (const kv::KeyValue& kv : read.kvs) {
    records::DirentBucket bucket;
    if (!bucket.ParseFromString(kv.value)) continue;
    for (const records::Dirent& entry : bucket.entries())
      names.push_back({Ino{entry.ino()}, kv.key, kv.mod_revision});
  }
  const Status status = mark(names);
  const std::vector<Ino> found = std::exchange(job.pending, std::move(below));
  const auto at = last ? job.pending.end() : job.pending.end() - 1;
  job.pending.insert(at, found.begin(), found.end());
  return status;
}

Status TreeMarker::mark(const std::vector<Named>& names) {
  std::vector<std::string> keys;
  keys.reserve(names.size());
  for (const Named& name : names) keys.push_back(kv::keys::inode(fs_, name.ino));
  SYMNAS_TRY(session_.read(keys));  // loads them together
  for (std::size_t at = 0; at < names.size(); at += kMarkPerTransaction) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end =
        begin + static_cast<std::ptrdiff_t>(std::min(kMarkPerTransaction, names.size() - at));
    const std::vector<Named> some(begin, end);
    SYMNAS_ASSIGN(const Marked together, mark_some(some));
    if (together != Marked::kConflict) continue;
    for (const Named& name : some) {
      SYMNAS_ASSIGN(const Marked one, mark_one(name));
      if (one == Marked::kConflict) job_->left = true;
    }
  }
  return {};
}

Result<TreeMarker::Marked> TreeMarker::mark_one(const Named& name) {
  Marked done = Marked::kConflict;
  Named now = name;
  for (int tries = 0; tries < kMarkTriesMax && done == Marked::kConflict; ++tries) {
    SYMNAS_TRY(session_.barrier());
    const kv::KeyRange key = kv::single_key(name.bucket);
    SYMNAS_ASSIGN(const kv::OpResult read, session_.range(key, 1));
    records::DirentBucket bucket;
    if (read.kvs.empty() || !bucket.ParseFromString(read.kvs.front().value)) return Marked::kGone;
    const auto& entries = bucket.entries();
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const records::Dirent& entry) { return Ino{entry.ino()} == name.ino; }))
      return Marked::kGone;
    now.revision = read.kvs.front().mod_revision;
    SYMNAS_ASSIGN(done, mark_some({now}));
  }
  return done;
}

Result<TreeMarker::Marked> TreeMarker::mark_some(const std::vector<Named>& names) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  mutation.compares = {kv::key_exists(kv::keys::quota_tree(fs_, job_->tree))};
  std::vector<Ino> directories;
  std::set<std::uint64_t> met;  // two names of one file in one bucket or two
  std::set<std::string> buckets;
  for (const Named& name : names) {
    if (!met.insert(name.ino.value()).second) continue;
    const std::size_t before = mutation.writes.size();
    SYMNAS_ASSIGN(const Marked planned, plan(name, mutation, directories));
    if (planned == Marked::kConflict) return planned;
    if (mutation.writes.size() > before && buckets.insert(name.bucket).second)
      mutation.compares.push_back(kv::mod_revision_is(name.bucket, name.revision));
  }
  if (!mutation.writes.empty()) {
    SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
    if (!done.succeeded) return Marked::kConflict;
  }
  job_->pending.insert(job_->pending.end(), directories.begin(), directories.end());
  return Marked::kYes;
}

Result<TreeMarker::Marked> TreeMarker::plan(const Named& name, kv::Mutation& mutation,
                                            std::vector<Ino>& directories) {
  const std::string key = kv::keys::inode(fs_, name.ino);
  SYMNAS_ASSIGN(const kv::CachedValue read, session_.read(key));
  if (!read.value) {
    // The cache may be older than the names.
    SYMNAS_ASSIGN(const kv::OpResult there, session_.range(kv::single_key(key), 1));
    return there.kvs.empty() ? Marked::kGone : Marked::kConflict;
  }
  records::Inode inode;
  if (!inode.ParseFromString(*read.value)) return unparsable("inode", name.ino.value());
  if (inode.tree() != job_->tree) {
    if (inode.tree() != 0) {
      const std::string other = kv::keys::quota_tree(fs_, inode.tree());
      SYMNAS_ASSIGN(const kv::CachedValue tree, session_.read(other));
      if (tree.value) return Marked::kElsewhere;
      mutation.compares.push_back(kv::key_absent(other));
    }
    inode.set_content_revision(content_revision(inode, read.mod_revision).value());
    inode.set_tree(job_->tree);
    mutation.compares.push_back(kv::mod_revision_is(key, read.mod_revision));
    mutation.writes.push_back(kv::put(key, inode.SerializeAsString()));
  }
  if (is_directory(inode)) directories.push_back(name.ino);
  return Marked::kYes;
}

Status TreeMarker::take_moved() {
  SYMNAS_ASSIGN(const std::optional<Stored> stored, read_tree(job_->tree));
  if (!stored || stored->record.marker() != self_.value()) {
    job_.reset();
    return {};
  }
  if (stored->record.moved().empty()) return {};
  records::QuotaTree next = stored->record;
  next.clear_moved();
  SYMNAS_ASSIGN(const bool done, put_tree(job_->tree, *stored, next));
  if (!done) return session_.barrier();  // the end of the pass looks again
  std::vector<Ino> moved;
  for (const std::uint64_t ino : stored->record.moved()) moved.emplace_back(ino);
  // Below what is being looked at.
  job_->pending.insert(job_->pending.begin(), moved.begin(), moved.end());
  return {};
}

Status TreeMarker::end_pass() {
  SYMNAS_TRY(take_moved());
  if (!job_ || !job_->pending.empty()) return {};
  const std::uint32_t tree = job_->tree;
  if (job_->left) {
    job_.reset();
    return {};
  }
  SYMNAS_ASSIGN(const std::optional<Stored> stored, read_tree(tree));
  if (!stored || stored->record.marker() != self_.value() || !stored->record.moved().empty())
    return {};  // taken up by the next look
  records::QuotaTree next = stored->record;
  next.set_state(records::QuotaTree::READY);
  next.clear_marker();
  SYMNAS_ASSIGN(const bool done, put_tree(tree, *stored, next));
  if (!done) return session_.barrier();
  log::info("filesystem {}: directory tree {} ({}) is marked, its limits hold", fs_.value(), tree,
            next.path());
  finished_.insert(tree);
  job_.reset();
  return {};
}

}  // namespace symnas::fs
