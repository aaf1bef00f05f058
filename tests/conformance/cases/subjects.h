// The cases by subject, a file each. Confined to one thread.
#pragma once
#include "tests/conformance/cases/case.h"

namespace conformance {

Cases permission_cases();
Cases ownership_cases();
Cases sticky_cases();
Cases creation_cases();
Cases time_cases();
Cases rename_cases();
Cases link_and_special_cases();
Cases name_cases();
Cases data_cases();
Cases mapped_cases();
Cases space_cases();
Cases lock_cases();
Cases client_cases();
Cases xattr_cases();
Cases posix_acl_cases();
Cases nfs4_acl_cases();
Cases program_cases();
Cases random_cases();
// Of the directory `many` at the top of the mount, with 100,000 files, which the harness has made.
Cases many_names_cases();

}  // namespace conformance
