// Keys of load: who asks how much of which VNFS. They are not in keys.h, because its readers do not
// need them. docs/formats/keys.md.
#pragma once

#include <string>

namespace symnas::kv::keys {

// Not below "c/": it is there only while somebody looks, and no reader of the records needs it.
inline const std::string kLoad = "l/";
inline const std::string kLoadWanted = "l/wanted";  // the head that was asked
inline const std::string kLoadTables = "l/head/";   // + head: LoadRecord

}  // namespace symnas::kv::keys
