// Keys about who waits for a lock (docs/formats/keys.md).
#pragma once

#include <string>

#include "common/base/ids.h"
#include "common/kv/keys.h"

namespace symnas::kv::keys {

// The rest of the key is as in the owner's lock record, then the first and the last byte.
inline std::string lock_waits(FsId fs) { return table(fs, 'w', 'Q'); }
inline std::string lock_waits_of(FsId fs, Ino ino) { return table64(fs, 'w', 'Q', ino.value()); }

}  // namespace symnas::kv::keys
