// Subject: whose usage is counted and limited. UsageDelta: what a change of an inode record changes
// of it. Thread class: value types. Pure.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

enum class SubjectKind : std::uint8_t {
  kFilesystem = 0,
  kUser = 1,
  kGroup = 2,
  kTree = 3,
  // Those without a limit of their own. They have limits, but no usage and no grace.
  kEachUser = 4,
  kEachGroup = 5
};

struct Subject {
  SubjectKind kind = SubjectKind::kFilesystem;
  std::uint32_t id = 0;  // of the filesystem, each user and each group: 0
  auto operator<=>(const Subject&) const = default;
};
// "user 1000", "filesystem", for messages.
std::string to_string(const Subject& subject);
// Whose limit holds for a user or a group without one of its own. Root and its group have none.
std::optional<Subject> each_of(const Subject& subject);

struct Usage {
  std::int64_t blocks = 0;
  std::int64_t inodes = 0;
  Usage& operator+=(const Usage& more) {
    blocks += more.blocks;
    inodes += more.inodes;
    return *this;
  }
  Usage operator-() const { return {-blocks, -inodes}; }
  bool none() const { return blocks == 0 && inodes == 0; }
  friend bool operator==(const Usage&, const Usage&) = default;
};

// The subjects of one inode. Tree 0 is no subject.
struct Subjects {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t tree = 0;
  // Kinds that are left out: bit 1 << kind.
  std::uint8_t without = 0;
  friend bool operator==(const Subjects&, const Subjects&) = default;
  // Calls visit(subject) for each.
  template <class Visit>
  void for_each(Visit visit) const {
    const auto has = [this](SubjectKind kind) {
      return (without >> static_cast<unsigned>(kind) & 1U) == 0;
    };
    if (has(SubjectKind::kFilesystem)) visit(Subject{SubjectKind::kFilesystem, 0});
    if (has(SubjectKind::kUser)) visit(Subject{SubjectKind::kUser, uid});
    if (has(SubjectKind::kGroup)) visit(Subject{SubjectKind::kGroup, gid});
    if (has(SubjectKind::kTree) && tree != 0) visit(Subject{SubjectKind::kTree, tree});
  }
};
inline Subjects subjects_of(const records::Inode& inode) {
  return {inode.uid(), inode.gid(), inode.tree(), 0};
}
// What the record of an inode stands for.
inline Usage usage_of(const records::Inode& inode) {
  return {static_cast<std::int64_t>(inode.used_blocks()), 1};
}

using Usages = std::map<Subject, Usage>;
// Adds to each of the subjects; what is zero then is left out.
void add(Usages& to, const Subjects& subjects, const Usage& usage);
void add(Usages& to, const Subject& subject, const Usage& usage);
void add(Usages& to, const Usages& more);

}  // namespace symnas::fs
