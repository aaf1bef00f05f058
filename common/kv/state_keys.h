// Keys of what heads tell of their instances. They are not below "c/": a head that follows the
// cluster's records is not woken by them, and a version that does not know them never reads them.
// docs/formats/keys.md.
#pragma once

#include <string>

namespace symnas::kv::keys {

inline const std::string kHeadStates = "s/";  // + head: HeadStates

}  // namespace symnas::kv::keys
