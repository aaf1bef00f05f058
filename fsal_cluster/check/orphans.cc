#include "fsal_cluster/check/orphans.h"

#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {

void Orphans::take(Ino ino, std::string_view value) {
  records::Orphan orphan;
  if (!orphan.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    findings_.add(Kind::kRecord, ino, "its orphan record cannot be parsed",
                  {.fault = Fault::kUnreadableOrphan});
    return;
  }
  // A record of generation 2^32 - 1 (the one "before" the first) has only a watermark to be swept.
  const std::uint32_t live = orphan.map_generation() + 1;
  of_[ino.value()] = {live, orphan.open()};
  const InodeRow* row = inodes_.find(ino);
  if (row == nullptr) {
    if (orphan.open())
      findings_.add(Kind::kOrphan, ino, "its orphan record says that it is open, but it is gone",
                    {.fault = Fault::kOrphanOpenGone});
    if (orphan.truncated())
      findings_.add(Kind::kOrphan, ino, "its orphan record says truncated, but it is gone",
                    {.fault = Fault::kOrphanTruncatedGone});
    return;
  }
  if (!row->readable()) return;
  if (row->generation != orphan.generation())
    findings_.add(Kind::kOrphan, ino,
                  "its orphan record is of generation " + std::to_string(orphan.generation()) +
                      ", it is of " + std::to_string(row->generation),
                  {.fault = Fault::kOrphanGeneration});
  if (orphan.open() && row->nlink > 0)
    findings_.add(
        Kind::kOrphan, ino,
        "its orphan record says unlinked and open, but nlink is " + std::to_string(row->nlink),
        {.fault = Fault::kOrphanLinked});
  if (!orphan.open() && !orphan.truncated())
    findings_.add(Kind::kOrphan, ino, "its orphan record says removed, but the inode is there",
                  {.fault = Fault::kOrphanLinked});
  if (orphan.truncated() && live != 0 && live > row->map_generation)
    findings_.add(Kind::kOrphan, ino,
                  "its orphan record takes map generation " + std::to_string(live - 1) +
                      " for dead, the inode uses " + std::to_string(row->map_generation),
                  {.fault = Fault::kOrphanTakesLive});
}

bool Orphans::explains_dead_map(Ino ino, MapGeneration generation) const {
  const auto it = of_.find(ino.value());
  if (it == of_.end()) return false;
  // The removal of an open one sweeps every generation.
  return it->second.open || generation.value() < it->second.dead_generations;
}

bool Orphans::is_open(Ino ino) const {
  const auto it = of_.find(ino.value());
  return it != of_.end() && it->second.open;
}

}  // namespace symnas::fs::check
