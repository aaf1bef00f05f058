// Keys of extended attributes (docs/formats/keys.md): one per attribute, outside the watched area.
// The cache keeps nothing of them, and no mount has to hear of their changes: the inode's record
// says whether there are any, and changes with them.
#pragma once

#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/kv/keys.h"

namespace symnas::kv::keys {

// Prefix of all attributes of an inode.
inline std::string xattrs_of(FsId fs, Ino ino) { return table64(fs, 'u', 'E', ino.value()); }
// `name`: without "user.".
inline std::string xattr(FsId fs, Ino ino, std::string_view name) {
  std::string key = xattrs_of(fs, ino);
  key.append(name);
  return key;
}

}  // namespace symnas::kv::keys
