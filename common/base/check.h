// CHECK: always-on assertion for bugs. A failed CHECK logs file, line and condition and aborts: a
// process that has proved itself wrong must not write. Thread-safe.
#pragma once

#include <string_view>

namespace symnas {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view why);
}  // namespace symnas

#define SYMNAS_CHECK_2(cond, why) \
  ((cond) ? (void)0 : ::symnas::check_failed(__FILE__, __LINE__, #cond, (why)))
#define SYMNAS_CHECK_1(cond) SYMNAS_CHECK_2(cond, "")
#define SYMNAS_CHECK_PICK(_1, _2, name, ...) name
// CHECK(condition) or CHECK(condition, "why it must hold").
#define CHECK(...) SYMNAS_CHECK_PICK(__VA_ARGS__, SYMNAS_CHECK_2, SYMNAS_CHECK_1)(__VA_ARGS__)
