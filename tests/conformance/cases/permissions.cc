// Who may do what by the mode bits: owner, group, supplementary groups, others, root.
#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kAccess = "POSIX 4.7 File Access Permissions";
constexpr const char* kOpen = "POSIX open() ERRORS";

struct Person {
  const char* name;
  uid_t uid;
  gid_t gid;
  std::vector<gid_t> groups;
  int shift;  // of the bits that decide for him
};

// The file belongs to 1000:2000.
const std::vector<Person> kPeople = {{"owner", 1000, 1000, {}, 6},
                                     {"owner_of_the_group", 1000, 2000, {}, 6},
                                     {"group", 1001, 2000, {}, 3},
                                     {"supplementary_group", 1001, 1001, {3000, 2000}, 3},
                                     {"other", 1001, 1001, {3000}, 0}};

struct Right {
  const char* name;
  unsigned bit;
  int flags;
};
const std::vector<Right> kRights = {
    {"read", 4, O_RDONLY}, {"write", 2, O_WRONLY}, {"read_and_write", 6, O_RDWR}};

// Only the class that a person is in decides: with its bits alone he may, with all others not.
void add_matrix(Cases& cases) {
  for (const Person& person : kPeople) {
    for (const Right& right : kRights) {
      const std::string rule = std::string(person.name) + "_" + right.name;
      const mode_t bits = right.bit << person.shift;
      cases.push_back({"permissions." + rule, kAccess, [=] {
                         make("f", bits, "x");
                         give("f", 1000, 2000);
                         set_mode("f", bits);
                         as(person.uid, person.gid, person.groups,
                            [&] { File file("f", right.flags); });
                       }});
      cases.push_back({"permissions." + rule + "_denied", kAccess, [=] {
                         make("f", 0644, "x");
                         give("f", 1000, 2000);
                         set_mode("f", 0777 & ~bits);
                         as(person.uid, person.gid, person.groups,
                            [&] { REFUSED(EACCES, open("f", right.flags)); });
                       }});
    }
    const std::string name = person.name;
    const int shift = person.shift;
    cases.push_back({"permissions." + name + "_search", kAccess, [=] {
                       make_directory("d");
                       make("d/f");
                       give("d", 1000, 2000);
                       set_mode("d", 1u << shift);
                       as(person.uid, person.gid, person.groups, [&] {
                         stat_of("d/f");
                         REFUSED(EACCES, open("d", O_RDONLY | O_DIRECTORY));
                         REFUSED(EACCES, open("d/new", O_CREAT | O_WRONLY, 0644));
                       });
                     }});
    cases.push_back({"permissions." + name + "_search_denied", kAccess, [=] {
                       make_directory("d");
                       make("d/f");
                       give("d", 1000, 2000);
                       set_mode("d", 0777 & ~(1u << shift));
                       as(person.uid, person.gid, person.groups, [&] {
                         struct stat found;
                         REFUSED(EACCES, lstat("d/f", &found));
                       });
                     }});
    cases.push_back({"permissions." + name + "_create_needs_write_and_search", kAccess, [=] {
                       make_directory("d");
                       give("d", 1000, 2000);
                       set_mode("d", 3u << shift);
                       as(person.uid, person.gid, person.groups, [&] {
                         make("d/f");
                         MUST(unlink("d/f"));
                       });
                       set_mode("d", 2u << shift);
                       as(person.uid, person.gid, person.groups,
                          [&] { REFUSED(EACCES, open("d/f", O_CREAT | O_WRONLY, 0644)); });
                     }});
  }
}

}  // namespace

Cases permission_cases() {
  Cases cases = {
      {"permissions.root_reads_mode_0", kAccess,
       [] {
         make("f", 0, "x");
         give("f", 1000, 1000);
         EQUAL("x", content("f"));
       }},
      {"permissions.root_writes_mode_0", kAccess,
       [] {
         make("f", 0);
         give("f", 1000, 1000);
         File file("f", O_WRONLY);
         put(file, "x", 0);
       }},
      {"permissions.creator_of_a_read_only_file_may_write", kOpen,
       [] {
         as_user([] {
           File file("f", O_CREAT | O_EXCL | O_RDWR, 0400);
           put(file, "x", 0);
           MUST(fsync(file));
           EQUAL("x", content("f"));
         });
       }},
      {"permissions.open_file_stays_readable_after_chmod", "POSIX open()",
       [] {
         as_user([] {
           make("f", 0600, "x");
           File file("f", O_RDWR);
           MUST(chmod("f", 0));
           EQUAL("x", content(file, 0, 1));
           put(file, "y", 0);
           MUST(fsync(file));
         });
       }},
  };
  add_matrix(cases);
  return cases;
}

}  // namespace conformance
