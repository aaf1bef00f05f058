#include "fsal_cluster/check/xattrs.h"

#include <fmt/core.h>

#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {

void Xattrs::take_inode(Ino ino, const records::Inode& inode) {
  if (inode.xattr_count() != 0 || inode.xattr_bytes() != 0)
    expected_[ino.value()] = {inode.xattr_count(), inode.xattr_bytes()};
}

void Xattrs::take(Ino ino, std::string_view name, std::string_view value) {
  if (ino != at_) {
    judge();
    at_ = ino;
    met_ = {};
  }
  ++met_.count;
  met_.bytes += name.size() + value.size();
  if (name.size() > kXattrNameBytes || value.size() > kXattrValueBytes)
    findings_.add(Kind::kXattr, ino,
                  fmt::format("an extended attribute has a name of {} bytes and a value of {}",
                              name.size(), value.size()));
}

void Xattrs::judge() {
  if (at_ == Ino{0}) return;
  const InodeRow* row = inodes_.find(at_);
  if (row == nullptr) {
    findings_.add(Kind::kLeftover, at_,
                  fmt::format("has {} extended attributes, but does not exist", met_.count),
                  {.fault = Fault::kXattrOfNothing});
    return;
  }
  const auto it = expected_.find(at_.value());
  const Counts expected = it == expected_.end() ? Counts{} : it->second;
  if (it != expected_.end()) expected_.erase(it);
  if (!row->readable()) return;
  if (!row->is(FileType::kRegular) && !row->is(FileType::kDirectory))
    findings_.add(Kind::kXattr, at_, "has extended attributes, but is no file and no directory");
  if (expected.count != met_.count || expected.bytes != met_.bytes)
    findings_.add(Kind::kXattr, at_,
                  fmt::format("has {} extended attributes of {} bytes, its record counts {} of {}",
                              met_.count, met_.bytes, expected.count, expected.bytes),
                  {.fault = Fault::kXattrCount, .value = met_.count << 32 | met_.bytes});
  if (met_.count > kXattrCount || met_.bytes > kXattrBytes)
    findings_.add(Kind::kXattr, at_,
                  fmt::format("has {} extended attributes of {} bytes, above the limits",
                              met_.count, met_.bytes));
}

void Xattrs::finish() {
  judge();
  at_ = Ino{0};
  for (const auto& [ino, counts] : expected_)
    findings_.add(Kind::kXattr, Ino{ino},
                  fmt::format("has no extended attributes, its record counts {} of {} bytes",
                              counts.count, counts.bytes),
                  {.fault = Fault::kXattrCount});
}

}  // namespace symnas::fs::check
