#include "common/base/version.h"

namespace symnas {

const char* const kVersion = SYMNAS_VERSION;

}  // namespace symnas
