#include "fsal_cluster/ops/directory_flights.h"

namespace symnas::fs {

DirectoryFlights::Flight DirectoryFlights::enter(Ino directory) {
  Shard& home = shard(directory);
  const MutexLock lock(home.mutex);
  Directory& state = home.directories[directory];
  const bool alone = state.active == 0;
  ++state.active;
  return Flight(*this, directory, ++state.entries, alone);
}

void DirectoryFlights::leave(Ino directory) {
  Shard& home = shard(directory);
  const MutexLock lock(home.mutex);
  const auto found = home.directories.find(directory);
  if (--found->second.active == 0) home.directories.erase(found);
}

std::uint64_t DirectoryFlights::newest(Ino directory) {
  Shard& home = shard(directory);
  const MutexLock lock(home.mutex);
  return home.directories.find(directory)->second.entries;
}

}  // namespace symnas::fs
