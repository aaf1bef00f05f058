#include "fsal_cluster/ops/readdir.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/schema/name_hash.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

struct Listed {
  std::string name;
  std::uint64_t cookie;
  Ino ino;
  FileType type;
};
struct Listing {
  std::vector<Listed> entries;
  bool complete = false;  // nothing follows the last entry
};

// [bucket of the cookie, end of the directory).
kv::KeyRange buckets_from(FsId fs, Ino directory, std::uint64_t hash) {
  kv::KeyRange range = kv::prefix_range(kv::keys::dirent_prefix(fs, directory));
  range.key = kv::keys::dirent_bucket(fs, directory, hash);
  return range;
}

Status append_bucket(const kv::KeyValue& kv, std::size_t prefix, std::uint64_t cookie,
                     Listing& listing) {
  SYMNAS_ASSIGN(const records::DirentBucket bucket,
                parse_record<records::DirentBucket>(kv.value, "directory entries"));
  const std::uint64_t hash = read_be64(kv.key, prefix);
  for (const records::Dirent& entry : bucket.entries()) {
    const std::uint64_t at = Cookie{hash, entry.slot()}.value();
    if (at <= cookie) continue;
    listing.entries.push_back(
        Listed{entry.name(), at, Ino{entry.ino()}, static_cast<FileType>(entry.type())});
  }
  return {};
}

Result<Listing> list(Context& context, Ino directory, std::uint64_t cookie, std::size_t wanted) {
  Listing listing;
  const std::size_t prefix = kv::keys::dirent_prefix(context.fs, directory).size();
  // One bucket more than wanted: the first may hold only entries up to the cookie.
  SYMNAS_ASSIGN(const kv::OpResult page,
                context.session.range(buckets_from(context.fs, directory, cookie >> 8),
                                      static_cast<std::int64_t>(wanted + 1)));
  for (const kv::KeyValue& kv : page.kvs) SYMNAS_TRY(append_bucket(kv, prefix, cookie, listing));
  listing.complete = !page.more && listing.entries.size() <= wanted;
  if (listing.entries.size() > wanted) listing.entries.resize(wanted);
  return listing;
}

// Brings the inodes of a page into the cache with few reads.
Status load_inodes(Context& context, const std::vector<Listed>& entries) {
  std::vector<std::string> keys;
  for (const Listed& entry : entries) {
    keys.push_back(kv::keys::inode(context.fs, entry.ino));
    if (entry.type == FileType::kDirectory)
      keys.push_back(kv::keys::directory_times(context.fs, entry.ino));
  }
  for (std::size_t begin = 0; begin < keys.size(); begin += kReadKeysMax) {
    const std::size_t end = std::min(begin + kReadKeysMax, keys.size());
    const std::vector<std::string> part(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                        keys.begin() + static_cast<std::ptrdiff_t>(end));
    SYMNAS_TRY(context.session.read(part));
  }
  return {};
}

// nullopt: the entry's inode is gone.
Result<std::optional<Attributes>> attributes_or_gone(Context& context, Ino ino) {
  SYMNAS_ASSIGN(const std::optional<Node> node, find_node(context, ino));
  if (!node) return std::optional<Attributes>();
  auto attributes = current_attributes(context, *node);
  if (attributes) return std::optional<Attributes>(*attributes);
  if (attributes.error().code == ErrorCode::kStale) return std::optional<Attributes>();
  return tl::unexpected<Error>(std::move(attributes.error()));
}

}  // namespace

Result<DirectoryPage> readdir(Context& context, const Handle& directory, std::uint64_t cookie,
                              std::size_t entries_max) {
  if (cookie != 0) SYMNAS_TRY(parse_cookie(cookie));
  SYMNAS_ASSIGN(const Membership::Stay stay, before_strict_read(context));
  SYMNAS_TRY(require_directory(context, directory));
  const std::size_t wanted = std::clamp<std::size_t>(entries_max, 1, kDirectoryPageMax);
  DirectoryPage page;
  while (page.entries.empty() && !page.end_of_directory) {
    SYMNAS_ASSIGN(Listing listing, list(context, directory.ino, cookie, wanted));
    SYMNAS_TRY(load_inodes(context, listing.entries));
    for (Listed& entry : listing.entries) {
      cookie = entry.cookie;
      SYMNAS_ASSIGN(std::optional<Attributes> attributes, attributes_or_gone(context, entry.ino));
      if (!attributes) continue;
      page.entries.push_back(DirectoryEntry{std::move(entry.name), entry.cookie, *attributes});
    }
    page.end_of_directory = listing.complete;
  }
  return page;
}

}  // namespace symnas::fs
