// Mode: whether a command does what it says or only checks and says it.
#pragma once

namespace symnas::vnfsd {

enum class Mode { kCommit, kDryRun };

}  // namespace symnas::vnfsd
