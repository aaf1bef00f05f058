// The sanitizers' options of every program in a sanitizer build, where no environment overrides
// them. Compiled in: vnfsd gives what it starts an environment of its own. A report goes into
// reports/report.PROGRAM.PID of the build folder: a daemon's output is lost with its lab.
#define SYMNAS_REPORT "log_path=" SYMNAS_REPORTS "/report:log_exe_name=1"

extern "C" {

const char* __asan_default_options();
const char* __lsan_default_options();
const char* __ubsan_default_options();
const char* __tsan_default_options();

const char* __asan_default_options() { return SYMNAS_REPORT; }
const char* __lsan_default_options() {
  return "print_suppressions=0:suppressions=" SYMNAS_SUPPRESSIONS;
}
const char* __ubsan_default_options() { return SYMNAS_REPORT ":print_stacktrace=1"; }
// gRPC and protobuf are not instrumented: what only they touch is not looked at.
const char* __tsan_default_options() { return SYMNAS_REPORT ":ignore_noninstrumented_modules=1"; }
}
