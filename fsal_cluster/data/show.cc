#include <algorithm>

#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

void show(const records::Inode& record, Revision mod_revision,
          const std::optional<Overlay>& overlay, std::uint32_t block_bytes,
          Attributes& attributes) {
  const bool dirty = overlay && overlay->dirty;
  attributes.size_bytes = dirty ? overlay->size_bytes : record.size_bytes();
  attributes.mtime_ns = record.mtime_ns();
  attributes.ctime_ns = record.ctime_ns();
  if (dirty) {
    attributes.mtime_ns = overlay->mtime_ns;
    attributes.ctime_ns = std::max(record.ctime_ns(), overlay->mtime_ns);
  }
  const std::uint64_t extra = overlay ? overlay->used_blocks_extra : 0;
  attributes.space_used_bytes = (record.used_blocks() + extra) * block_bytes;
  // Of writes that are not in the record the change attribute may be above the record's content:
  // they were counted from one of the records that differ from it in the access time only.
  const Revision content = content_revision(record, mod_revision);
  const bool is_unrecorded = dirty || (overlay && overlay->change_n > 0);
  const Revision base = is_unrecorded && overlay->change_base != content ? mod_revision : content;
  attributes.change = static_cast<std::uint64_t>(base.value()) << 16;
  if (overlay && overlay->change_base == base) attributes.change |= overlay->change_n;
  if (!overlay || !overlay->foreign) return;
  const Overlay::ForeignWrites& foreign = *overlay->foreign;
  attributes.change = std::max(
      attributes.change, static_cast<std::uint64_t>(foreign.applied.value()) << 16 | foreign.n);
  attributes.mtime_ns = std::max(attributes.mtime_ns, foreign.time_ns);
  attributes.ctime_ns = std::max(attributes.ctime_ns, foreign.time_ns);
}

}  // namespace symnas::fs
