// The repairs, by what they are about. Each takes the draft of one finding and makes a step of it.
// Errors: kCorrupt (a record that the step needs is unreadable: a refusal), as Snapshot::get.
// Thread-safe: functions without state.
#pragma once

#include "common/base/result.h"
#include "fsal_cluster/repair/draft.h"

namespace symnas::fs::repair {

// Directory entries.
Result<Step> repair_name(Draft draft);
// Directories, their parents, and link counts.
Result<Step> repair_tree(Draft draft);
// Fields of inodes, extended attributes, counters, the stamp.
Result<Step> repair_record(Draft draft);
// Maps of files.
Result<Step> repair_map(Draft draft);
// The reverse map: which blocks are in use.
Result<Step> repair_space(Draft draft);
Result<Step> repair_orphan(Draft draft);
// Tokens, groups, locks: what mounts and clients hold, or have left.
Result<Step> repair_holder(Draft draft);

// Gives an inode to which no name leads the name "#<inode>" in /lost+found. When there is no such
// directory, the step makes it, and the next plan goes on. `inode` was relied on.
Result<Step> move_to_lost_found(Draft draft, Ino ino, records::Inode inode);

}  // namespace symnas::fs::repair
