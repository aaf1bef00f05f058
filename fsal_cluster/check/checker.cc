#include "fsal_cluster/check/checker.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/check/acl_rules.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/check/quota_trees.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::check {
namespace {

struct Table {
  char area;
  char letter;
};
// A table comes after those with which it is compared: mounts and inodes first, the reverse map
// last.
constexpr Table kOrder[] = {{'w', 'S'}, {'u', 'N'}, {'u', 'C'}, {'w', 'B'}, {'w', 'I'}, {'w', 'O'},
                            {'w', 'T'}, {'w', 'D'}, {'w', 'M'}, {'w', 'K'}, {'w', 'W'}, {'w', 'H'},
                            {'w', 'R'}, {'w', 'P'}, {'w', 'X'}, {'w', 'Y'}, {'w', 'L'}, {'w', 'V'},
                            {'w', 'Q'}, {'w', 'U'}, {'u', 'E'}, {'u', 'G'}, {'u', 'S'}, {'u', 'L'},
                            {'u', 'A'}, {'u', 'R'}};

std::optional<NameHasher> hasher_of(const Context& context) {
  auto hasher = NameHasher::create(context.filesystem.name_hash_key());
  if (!hasher) return std::nullopt;
  return *hasher;
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

bool known_type(std::uint32_t type) {
  return type >= static_cast<std::uint32_t>(FileType::kRegular) &&
         type <= static_cast<std::uint32_t>(FileType::kSocket);
}

}  // namespace

std::vector<kv::KeyRange> ranges_in_order(FsId fs) {
  std::vector<kv::KeyRange> tables;
  for (const Table& table : kOrder)
    tables.push_back(kv::prefix_range(kv::keys::table(fs, table.area, table.letter)));
  std::vector<kv::KeyRange> sorted = tables;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  const kv::KeyRange whole = kv::prefix_range(kv::keys::filesystem(fs));
  std::string at = whole.key;
  for (const kv::KeyRange& table : sorted) {
    if (at < table.key) tables.push_back({at, table.key});
    at = table.end;
  }
  tables.push_back({at, whole.end});
  return tables;
}

Checker::Checker(Context context, std::size_t findings_max)
    : context_(std::move(context)),
      prefix_(kv::keys::filesystem(context_.fs())),
      findings_(findings_max),
      orphans_(inodes_, findings_),
      names_(inodes_, orphans_, hasher_of(context_), findings_, summary_),
      blocks_(context_, inodes_, orphans_, findings_, summary_),
      holders_(context_, inodes_, findings_),
      xattrs_(inodes_, findings_),
      quota_usage_(context_.fs(), findings_) {
  if (!hasher_of(context_))
    findings_.add(Kind::kRecord, Ino{0}, "the filesystem's record has no key of name hashes");
}

void Checker::wrong_key(const kv::KeyValue& kv) {
  findings_.add(Kind::kKey, Ino{0}, "no table has a key like " + to_hex(kv.key),
                {.fault = Fault::kUnknownKey});
}

void Checker::take(const kv::KeyValue& kv) {
  ++summary_.keys;
  summary_.bytes += kv.key.size() + kv.value.size();
  if (!kv.key.starts_with(prefix_) || kv.key.size() < prefix_.size() + 2) return wrong_key(kv);
  const std::string_view ids = std::string_view(kv.key).substr(prefix_.size() + 2);
  const char area = kv.key[prefix_.size()];
  const char table = kv.key[prefix_.size() + 1];
  if (area == 'w' && table != 'S' && kv.mod_revision > watched_revision_) {
    watched_revision_ = kv.mod_revision;
    watched_newest_ = kv.key;
  }
  if (area == 'w' && table == 'B') return take_mount(kv, ids);
  if (!mounts_judged_ && table == 'I') {
    mounts_judged_ = true;
    holders_.finish_mounts();
  }
  if (area == 'w') return take_watched(table, kv, ids);
  if (area == 'u') return take_unwatched(table, kv, ids);
  wrong_key(kv);
}

void Checker::take_watched(char table, const kv::KeyValue& kv, std::string_view ids) {
  const auto ino = [&] { return Ino{read_be64(ids, 0)}; };
  switch (table) {
    case 'S':
      if (ids.empty()) return take_stamp(kv);
      break;
    case 'I':
      if (ids.size() == 8) return take_inode(ino(), kv);
      break;
    case 'T':
      if (ids.size() == 8) return take_times(ino(), kv);
      break;
    case 'D':
      if (ids.size() == 16) return names_.take_bucket(ino(), read_be64(ids, 8), kv.value);
      break;
    case 'M':
      if (ids.size() == 20)
        return blocks_.take_chunk(ino(), MapGeneration{read_be32(ids, 8)}, read_be64(ids, 12),
                                  kv.value);
      break;
    case 'K':
      if (ids.size() == 16) return holders_.take_token(ino(), MountId{read_be64(ids, 8)}, kv.value);
      break;
    case 'W':
      if (ids.size() == 8) return holders_.take_want(ino());
      break;
    case 'H':
      if (ids.size() == 8) return holders_.take_heartbeat(MountId{read_be64(ids, 0)});
      break;
    case 'O':
      if (ids.size() == 8) return orphans_.take(ino(), kv.value);
      break;
    case 'P':
      if (ids.size() == 16) return holders_.take_hold(ino(), MountId{read_be64(ids, 8)});
      break;
    case 'Y':
      if (ids.size() == 16) return;  // of any inode: records of a removed file go with their mounts
      break;
    case 'Q':  // of any inode: who waited for a removed file is forgotten by its VNFS's next mount
    case 'X':
      if (ids.size() > 8) return;
      break;
    case 'U':
      if (quota_usage_.take(kv)) return;
      break;
    case 'R':
    case 'L':
    case 'V':
      if (ids.empty()) return;
      break;
    default: break;
  }
  wrong_key(kv);
}

void Checker::take_unwatched(char table, const kv::KeyValue& kv, std::string_view ids) {
  switch (table) {
    case 'N':
      if (ids.empty()) return take_next_ino(kv.value);
      break;
    case 'C':
      if (ids.empty()) return take_claim(kv.value);
      break;
    case 'G':
      if (ids.size() != 4) break;
      blocks_.take_group(read_be32(ids, 0));
      return holders_.take_group(read_be32(ids, 0), kv.value);
    case 'S':
      if (ids.size() >= 8)
        return holders_.take_slot(MountId{read_be64(ids, 0)}, ids.substr(8), kv.value);
      break;
    case 'L':
      if (ids.size() > 8)
        return holders_.take_lock(Ino{read_be64(ids, 0)}, ids.substr(8), kv.value);
      break;
    case 'E':
      if (ids.size() > 8) return xattrs_.take(Ino{read_be64(ids, 0)}, ids.substr(8), kv.value);
      break;
    case 'A':
      if (ids.size() == 4 + 16 + 8 + 4) return;
      break;
    case 'R':
      if (ids.size() == 12)
        return blocks_.take_reverse(read_be32(ids, 0), read_be64(ids, 4), kv.value);
      break;
    default: break;
  }
  wrong_key(kv);
}

void Checker::take_stamp(const kv::KeyValue& kv) {
  stamp_revision_ = kv.mod_revision;
  if (kv.value.size() == 8) {
    stamp_ns_ = static_cast<std::int64_t>(read_be64(kv.value, 0));
  } else {
    findings_.add(Kind::kStamp, Ino{0},
                  fmt::format("the stamp has {} bytes, not 8", kv.value.size()),
                  {.fault = Fault::kStamp});
  }
}

void Checker::take_next_ino(std::string_view value) {
  next_ino_ = decimal(value);
  if (!next_ino_)
    findings_.add(Kind::kCounter, Ino{0},
                  "the counter of inode numbers holds '" + printable(value) + "', no number",
                  {.fault = Fault::kInoCounter});
}

void Checker::take_claim(std::string_view value) {
  if (const auto mount = decimal(value)) return holders_.take_claim(*mount);
  findings_.add(Kind::kCounter, Ino{0},
                "the mount claim holds '" + printable(value) + "', no mount's id",
                {.fault = Fault::kMountClaim});
}

void Checker::take_mount(const kv::KeyValue& kv, std::string_view ids) {
  if (ids.size() == 8) return holders_.take_mount(MountId{read_be64(ids, 0)}, kv.value);
  if (ids.size() == 9 && ids[8] == 'E')
    return holders_.take_end(MountId{read_be64(ids, 0)}, kv.value);
  wrong_key(kv);
}

// --- inodes

void Checker::take_inode(Ino ino, const kv::KeyValue& kv) {
  InodeRow& row = inodes_.add(ino);
  records::Inode inode;
  if (!inode.ParseFromArray(kv.value.data(), static_cast<int>(kv.value.size()))) {
    findings_.add(Kind::kRecord, ino, "its record cannot be parsed",
                  {.fault = Fault::kUnreadableInode});
    return;
  }
  if (!known_type(inode.type())) {
    findings_.add(Kind::kRecord, ino, fmt::format("is of the unknown type {}", inode.type()),
                  {.fault = Fault::kUnknownType});
    return;
  }
  row.type = static_cast<std::uint8_t>(inode.type());
  row.size_bytes = inode.size_bytes();
  row.parent = inode.parent();
  row.generation = inode.generation();
  row.nlink = inode.nlink();
  row.map_generation = inode.map_generation();
  row.tree = inode.tree();
  row.blocks_not_met = static_cast<std::int64_t>(inode.used_blocks());
  row.chunked = inode.chunked();
  row.trimming = inode.has_trim_block();
  count(row);
  check_inode(row, inode);
  check_file(row, inode);
  xattrs_.take_inode(ino, inode);
  quota_usage_.take_inode(ino, inode);
}

void Checker::count(const InodeRow& row) {
  if (row.is(FileType::kRegular)) {
    ++summary_.files;
  } else if (row.is(FileType::kDirectory)) {
    ++summary_.directories;
  } else {
    ++summary_.others;
  }
}

void Checker::check_inode(InodeRow& row, const records::Inode& inode) {
  const auto wrong = [&](Kind kind, std::string text, Fault fault = Fault::kOther,
                         std::uint64_t value = 0) {
    findings_.add(kind, Ino{row.ino}, std::move(text), {.fault = fault, .value = value});
  };
  const bool root = Ino{row.ino} == kRootIno;
  if (!root && row.ino < kFirstIno)
    wrong(Kind::kCounter, "has a reserved inode number", Fault::kReservedIno);
  if (!root && next_ino_ && row.ino >= *next_ino_)
    wrong(Kind::kCounter, fmt::format("the next free inode number is {}", *next_ino_),
          Fault::kInoCounter);
  if (row.generation == 0 ||
      (!root && context_.next_mount != 0 && row.generation >= context_.next_mount))
    wrong(Kind::kCounter, fmt::format("its generation {} is the id of no mount", row.generation),
          Fault::kMountCounter, row.generation);
  if ((inode.mode() & ~07777U) != 0)
    wrong(Kind::kRecord, fmt::format("has mode {:o}", inode.mode()), Fault::kMode);
  if (const auto problem = acl_problem(inode)) wrong(Kind::kRecord, *problem, Fault::kAcl);
  if (row.is(FileType::kDirectory)) {
    if (row.nlink != 1)
      wrong(Kind::kLinks, fmt::format("a directory with nlink {}, not 1", row.nlink),
            Fault::kDirectoryLinks);
    if (row.parent == 0) wrong(Kind::kTree, "a directory without parent");
  } else {
    if (row.nlink > kLinkMax) wrong(Kind::kLinks, fmt::format("nlink is {}", row.nlink));
    if (row.parent != 0) wrong(Kind::kTree, "has a parent, but is no directory");
  }
  const std::size_t target = inode.symlink_target().size();
  if (row.is(FileType::kSymlink)) {
    if (target == 0 || target > kSymlinkBytesMax || target != row.size_bytes)
      wrong(Kind::kSize,
            fmt::format("a symlink of {} bytes, its size says {}", target, row.size_bytes),
            Fault::kSymlinkSize);
  } else if (target != 0) {
    wrong(Kind::kRecord, "has a symlink's target, but is no symlink");
  }
  // A living mount's next batch advances the stamp. The text does not say by how much the ctime is
  // ahead: it must be the same at the next look.
  if (stamp_ns_ && inode.ctime_ns() > *stamp_ns_ && inode.ctime_ns() - *stamp_ns_ > kStampLagNs)
    findings_.add(
        Kind::kStamp, Ino{row.ino},
        fmt::format("was changed at {} s since 1970, more than {} s after the filesystem's time",
                    inode.ctime_ns() / 1'000'000'000, kStampLagNs / 1'000'000'000),
        Passing::kYes, {.fault = Fault::kCtimeAhead});
}

void Checker::check_file(InodeRow& row, const records::Inode& inode) {
  const Ino ino{row.ino};
  if (!row.is(FileType::kRegular)) {
    if (inode.extents_size() > 0 || inode.chunked() || inode.used_blocks() > 0 ||
        inode.has_trim_block())
      findings_.add(Kind::kMap, ino, "has a map, but is no regular file",
                    {.fault = Fault::kMapOfNoFile});
    row.blocks_not_met = 0;
    return;
  }
  if (row.size_bytes > kFileBytesMax)
    findings_.add(Kind::kSize, ino,
                  fmt::format("{} bytes long, files end at {}", row.size_bytes, kFileBytesMax));
  if (inode.chunked() && inode.extents_size() > 0)
    findings_.add(Kind::kMap, ino, "has a map in its record and says that it is in map chunks");
  if (row.trimming) {
    blocks_.note_trim(ino, inode.trim_block());
    trimming_.push_back(row.ino);
  }
  blocks_.take_inline(row, inode);
}

void Checker::take_times(Ino ino, const kv::KeyValue& kv) {
  records::DirectoryTimes times;
  if (!times.ParseFromArray(kv.value.data(), static_cast<int>(kv.value.size())))
    findings_.add(Kind::kRecord, ino, "its directory times cannot be parsed",
                  {.fault = Fault::kUnreadableTimes});
  const InodeRow* row = inodes_.find(ino);
  if (row == nullptr) {
    // A create that lost against the rmdir is about to erase them.
    findings_.add(Kind::kLeftover, ino, "has directory times, but does not exist", Passing::kYes,
                  {.fault = Fault::kTimesOfNothing});
  } else if (row->readable() && !row->is(FileType::kDirectory)) {
    findings_.add(Kind::kRecord, ino, "has directory times, but is no directory",
                  {.fault = Fault::kTimesOfNoDirectory});
  }
}

// --- the end

void Checker::finish() {
  if (!mounts_judged_) holders_.finish_mounts();
  quota_usage_.finish();
  if (!next_ino_ && findings_.of(Kind::kCounter) == 0)
    findings_.add(Kind::kCounter, Ino{0}, "there is no counter of inode numbers",
                  {.fault = Fault::kInoCounter});
  if (stamp_revision_ == Revision{}) {
    findings_.add(Kind::kStamp, Ino{0}, "there is no stamp", {.fault = Fault::kStamp});
  } else if (watched_revision_ > stamp_revision_) {
    findings_.add(
        Kind::kStamp, Ino{0},
        fmt::format("a watched key ({}) has changed at revision {}, the stamp only at {}: "
                    "readers may have missed it",
                    to_hex(watched_newest_), watched_revision_.value(), stamp_revision_.value()),
        {.fault = Fault::kStamp});
  }
  names_.finish();
  check_quota_trees(inodes_, quota_usage_.trees(), findings_);
  blocks_.finish();
  holders_.finish();
  xattrs_.finish();
  for (const std::uint64_t ino : trimming_) {
    if (!orphans_.explains_trim(Ino{ino}))
      findings_.add(Kind::kLostSpace, Ino{ino},
                    "has a watermark above which its map is dead, and no orphan record to free it",
                    {.fault = Fault::kWatermark});
  }
}

std::optional<Checker::NameAt> Checker::name_of(Ino ino) {
  const InodeRow* row = inodes_.find(ino);
  if (row == nullptr || row->name_row == InodeRow::kNoRow || ino == kRootIno) return std::nullopt;
  return NameAt{Ino{inodes_.at(row->name_row).ino}, row->name_hash};
}

}  // namespace symnas::fs::check
