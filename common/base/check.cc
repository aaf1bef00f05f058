#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace symnas {

void check_failed(const char* file, int line, const char* condition, std::string_view why) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s %.*s\n", file, line, condition,
               static_cast<int>(why.size()), why.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace symnas
