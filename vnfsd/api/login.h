// Who logged in, as the kernel remembers it over su and sudo. SUDO_USER is only what a process says
// of itself. Thread-safe: functions without state.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace symnas::vnfsd::api {

// The decimal login uid in the text of /proc/PID/loginuid; "": nobody logged in (a service), or the
// text is none.
std::string parse_login_uid(std::string_view text);
// Of a process; "" also when it is gone.
std::string login_uid_of(pid_t pid);

}  // namespace symnas::vnfsd::api
