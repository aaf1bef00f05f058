// Directories with the sticky bit: who may remove and rename what is in them.
#include <cstdio>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kSticky = "POSIX 4.3 Directory Protection, unlink() EPERM";

// d is sticky and everybody's, of owner `folder_of`; d/f is of `file_of`.
void sticky_folder(uid_t folder_of, uid_t file_of) {
  make_directory("d");
  make("d/f", 0666, "x");
  make_directory("d/sub", 0777);
  give("d/f", file_of, 0);
  give("d/sub", file_of, 0);
  give("d", folder_of, 0);
  set_mode("d", 01777);
}

void add_actor(Cases& cases, const char* who, uid_t uid, bool may) {
  const auto add = [&](const char* what, std::function<int()> call) {
    cases.push_back({std::string("sticky.") + who + "_" + what, kSticky, [=] {
                       sticky_folder(1000, 1001);
                       as(uid, uid, {}, [=] {
                         if (may) {
                           MUST(call());
                         } else if (call() != -1) {
                           fail("no error");
                         } else {
                           TRUE(errno == EPERM || errno == EACCES);
                         }
                       });
                     }});
  };
  add("unlinks", [] { return unlink("d/f"); });
  add("removes_directory", [] { return rmdir("d/sub"); });
  add("renames_inside", [] { return rename("d/f", "d/g"); });
  add("renames_out", [] { return rename("d/f", "g"); });
  add("renames_onto", [] {
    make("mine", 0644);
    return rename("mine", "d/f");
  });
}

}  // namespace

Cases sticky_cases() {
  Cases cases = {
      {"sticky.everybody_creates", kSticky,
       [] {
         sticky_folder(0, 0);
         as_user([] { make("d/mine"); });
       }},
      {"sticky.link_to_own_file_of_others_may_be_made", kSticky,
       [] {
         sticky_folder(0, 1000);
         as_user([] { MUST(link("d/f", "d/g")); });
       }},
      {"sticky.write_is_not_affected", kSticky,
       [] {
         sticky_folder(0, 0);
         as_user([] {
           File file("d/f", O_WRONLY | O_TRUNC);
           put(file, "y", 0);
         });
       }},
      {"sticky.without_it_everybody_unlinks", "POSIX unlink()",
       [] {
         sticky_folder(0, 0);
         set_mode("d", 0777);
         as_user([] { MUST(unlink("d/f")); });
       }},
      {"sticky.owner_of_directory_needs_write", kSticky,
       [] {
         sticky_folder(1000, 1000);
         set_mode("d", 01555);
         as_user([] { REFUSED(EACCES, unlink("d/f")); });
       }},
  };
  add_actor(cases, "owner_of_file", 1001, true);
  add_actor(cases, "owner_of_directory", 1000, true);
  add_actor(cases, "root", 0, true);
  add_actor(cases, "stranger", 1002, false);
  return cases;
}

}  // namespace conformance
