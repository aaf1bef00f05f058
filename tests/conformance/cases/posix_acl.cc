// POSIX ACLs over NFSv3 (the NFSACL protocol), as getfacl and setfacl ask for them.
#include <sys/xattr.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kCheck = "acl(5) ACCESS CHECK ALGORITHM";
constexpr const char* kModes = "acl(5) CORRESPONDENCE BETWEEN ACL ENTRIES AND FILE PERMISSION BITS";
constexpr const char* kInherit = "acl(5) OBJECT CREATION AND DEFAULT ACLs";
constexpr const char* kValid = "acl(5) VALID ACLs";
constexpr const char* kAccess = "system.posix_acl_access";
constexpr const char* kDefault = "system.posix_acl_default";

// linux/posix_acl_xattr.h
enum Tag : std::uint16_t {
  kUserObj = 1,
  kUser = 2,
  kGroupObj = 4,
  kGroup = 8,
  kMask = 16,
  kOther = 32
};
constexpr std::uint32_t kNobody = 0xffff'ffff;

struct Entry {
  std::uint16_t tag;
  std::uint16_t bits;
  std::uint32_t id = kNobody;
};
static_assert(sizeof(Entry) == 8);
using Acl = std::vector<Entry>;

int set(const std::string& path, const char* kind, const Acl& acl) {
  std::string bytes("\2\0\0\0", 4);
  bytes.append(reinterpret_cast<const char*>(acl.data()), acl.size() * sizeof(Entry));
  return setxattr(path.c_str(), kind, bytes.data(), bytes.size(), 0);
}

Acl get(const std::string& path, const char* kind) {
  char bytes[4096];
  const ssize_t size = getxattr(path.c_str(), kind, bytes, sizeof bytes);
  if (size < 0 && errno == ENODATA) return {};
  if (size < 4) fail(errno_name(errno) + " at getxattr " + kind);
  Acl acl((static_cast<std::size_t>(size) - 4) / sizeof(Entry));
  std::memcpy(static_cast<void*>(acl.data()), bytes + 4, acl.size() * sizeof(Entry));
  return acl;
}

std::string text(const Acl& acl) {
  std::string all;
  for (const Entry& entry : acl) {
    all += std::to_string(entry.tag) + ":";
    if (entry.id != kNobody) all += std::to_string(entry.id);
    all += ":" + std::to_string(entry.bits) + " ";
  }
  return all;
}

// owner rw, user 1001 r, group -, mask r, other -
const Acl kNamedUser = {{kUserObj, 6}, {kUser, 4, 1001}, {kGroupObj, 0}, {kMask, 4}, {kOther, 0}};
const Acl kNamedGroup = {{kUserObj, 6}, {kGroupObj, 0}, {kGroup, 6, 2000}, {kMask, 6}, {kOther, 0}};

void with(const Acl& acl) {
  make("f", 0600, "x");
  MUST(set("f", kAccess, acl));
}

Case v3(const std::string& name, const char* reference, std::function<void()> run) {
  return {"posix_acl." + name, reference, std::move(run), kV3};
}

Cases access_cases() {
  return {
      v3("set_and_get", "setxattr(2)",
         [] {
           with(kNamedUser);
           EQUAL(text(kNamedUser), text(get("f", kAccess)));
         }),
      v3("of_a_plain_file_is_none", "acl(5) minimal ACL",
         [] {
           make("f", 0640);
           // An ACL of three entries may be told, or none.
           const Acl acl = get("f", kAccess);
           TRUE(acl.empty() || text(acl) == text({{kUserObj, 6}, {kGroupObj, 4}, {kOther, 0}}));
         }),
      v3("named_user_may", kCheck,
         [] {
           with(kNamedUser);
           as(1001, 1001, {}, [] {
             EQUAL("x", content("f"));
             REFUSED(EACCES, open("f", O_WRONLY));
           });
         }),
      v3("another_user_may_not", kCheck,
         [] {
           with(kNamedUser);
           as(1002, 1002, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v3("named_user_is_not_also_other", kCheck,
         [] {
           with({{kUserObj, 6}, {kUser, 0, 1001}, {kGroupObj, 6}, {kMask, 7}, {kOther, 6}});
           as(1001, 1001, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
           as(1002, 1002, {}, [] { EQUAL("x", content("f")); });
         }),
      v3("mask_limits_a_named_user", kCheck,
         [] {
           with({{kUserObj, 6}, {kUser, 6, 1001}, {kGroupObj, 0}, {kMask, 4}, {kOther, 0}});
           as(1001, 1001, {}, [] {
             EQUAL("x", content("f"));
             REFUSED(EACCES, open("f", O_WRONLY));
           });
         }),
      v3("mask_limits_the_group", kCheck,
         [] {
           with({{kUserObj, 6}, {kUser, 4, 1001}, {kGroupObj, 6}, {kMask, 4}, {kOther, 0}});
           give("f", 0, 2000);
           as(1002, 2000, {}, [] {
             EQUAL("x", content("f"));
             REFUSED(EACCES, open("f", O_WRONLY));
           });
         }),
      v3("mask_does_not_limit_the_owner", kCheck,
         [] {
           with({{kUserObj, 6}, {kUser, 4, 1001}, {kGroupObj, 0}, {kMask, 0}, {kOther, 0}});
           give("f", 1000, 1000);
           as_user([] { File file("f", O_RDWR); });
         }),
      v3("named_group_may", kCheck,
         [] {
           with(kNamedGroup);
           as(1002, 2000, {}, [] { File file("f", O_RDWR); });
           as(1002, 1002, {2000}, [] { File file("f", O_RDWR); });
           as(1002, 1002, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v3("one_group_that_grants_is_enough", kCheck,
         [] {
           with({{kUserObj, 6},
                 {kGroupObj, 0},
                 {kGroup, 0, 2000},
                 {kGroup, 4, 3000},
                 {kMask, 7},
                 {kOther, 0}});
           as(1002, 2000, {3000}, [] { EQUAL("x", content("f")); });
         }),
      v3("rights_of_two_groups_do_not_add", kCheck,
         [] {
           with({{kUserObj, 6},
                 {kGroupObj, 0},
                 {kGroup, 4, 2000},
                 {kGroup, 2, 3000},
                 {kMask, 7},
                 {kOther, 0}});
           as(1002, 2000, {3000}, [] { REFUSED(EACCES, open("f", O_RDWR)); });
         }),
      v3("member_of_a_named_group_is_not_other", kCheck,
         [] {
           with({{kUserObj, 6}, {kGroupObj, 0}, {kGroup, 0, 2000}, {kMask, 7}, {kOther, 6}});
           as(1002, 2000, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v3("root_may", kCheck,
         [] {
           with({{kUserObj, 0}, {kUser, 0, 0}, {kGroupObj, 0}, {kMask, 0}, {kOther, 0}});
           EQUAL("x", content("f"));
         }),
      v3("search_of_a_directory", kCheck,
         [] {
           make_directory("d", 0700);
           make("d/f", 0644, "x");
           MUST(set("d", kAccess,
                    {{kUserObj, 7}, {kUser, 1, 1001}, {kGroupObj, 0}, {kMask, 1}, {kOther, 0}}));
           as(1001, 1001, {}, [] { EQUAL("x", content("d/f")); });
           as(1002, 1002, {}, [] { REFUSED(EACCES, open("d/f", O_RDONLY)); });
         }),
      v3("create_and_remove_in_a_directory", kCheck,
         [] {
           make_directory("d", 0700);
           MUST(set("d", kAccess,
                    {{kUserObj, 7}, {kUser, 7, 1001}, {kGroupObj, 0}, {kMask, 7}, {kOther, 0}}));
           as(1001, 1001, {}, [] {
             make("d/f");
             MUST(unlink("d/f"));
           });
         }),
  };
}

Cases mode_cases() {
  return {
      v3("group_bits_of_the_mode_are_the_mask", kModes,
         [] {
           with(kNamedUser);
           EQUAL(0640, mode_of("f"));
         }),
      v3("chmod_sets_the_mask", kModes,
         [] {
           with(kNamedUser);
           MUST(chmod("f", 0600));
           EQUAL(text({{kUserObj, 6}, {kUser, 4, 1001}, {kGroupObj, 0}, {kMask, 0}, {kOther, 0}}),
                 text(get("f", kAccess)));
           as(1001, 1001, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v3("chmod_sets_owner_and_other", kModes,
         [] {
           with(kNamedUser);
           MUST(chmod("f", 0745));
           EQUAL(text({{kUserObj, 7}, {kUser, 4, 1001}, {kGroupObj, 0}, {kMask, 4}, {kOther, 5}}),
                 text(get("f", kAccess)));
         }),
      v3("minimal_one_sets_the_mode", kModes,
         [] {
           with({{kUserObj, 7}, {kGroupObj, 5}, {kOther, 1}});
           EQUAL(0751, mode_of("f"));
         }),
      v3("removed_leaves_the_mode", "removexattr(2)",
         [] {
           with({{kUserObj, 6}, {kGroupObj, 4}, {kOther, 0}});
           MUST(set("f", kAccess, kNamedUser));
           MUST(removexattr("f", kAccess));
           as(1001, 1001, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v3("setting_moves_ctime", "acl_set_file(3)",
         [] {
           make("f", 0600);
           const struct stat before = stat_of("f");
           usleep(20'000);
           MUST(set("f", kAccess, kNamedUser));
           TRUE(before.st_ctim.tv_nsec != stat_of("f").st_ctim.tv_nsec);
         }),
      v3("kept_by_rename", kModes,
         [] {
           with(kNamedUser);
           MUST(rename("f", "g"));
           EQUAL(text(kNamedUser), text(get("g", kAccess)));
         }),
      v3("without_mask_is_refused", kValid,
         [] {
           make("f");
           REFUSED(EINVAL, set("f", kAccess,
                               {{kUserObj, 6}, {kUser, 4, 1001}, {kGroupObj, 0}, {kOther, 0}}));
         }),
      v3("without_owner_is_refused", kValid,
         [] {
           make("f");
           REFUSED(EINVAL, set("f", kAccess, {{kGroupObj, 0}, {kOther, 0}}));
         }),
      v3("one_user_twice_is_refused", kValid,
         [] {
           make("f");
           REFUSED(EINVAL, set("f", kAccess,
                               {{kUserObj, 6},
                                {kUser, 4, 1001},
                                {kUser, 6, 1001},
                                {kGroupObj, 0},
                                {kMask, 4},
                                {kOther, 0}}));
         }),
      v3("set_by_others_is_refused", "acl_set_file(3) EPERM",
         [] {
           make("f", 0666);
           as_user([] { REFUSED(EPERM, set("f", kAccess, kNamedUser)); });
         }),
      v3("set_by_the_owner", "acl_set_file(3)",
         [] {
           make("f", 0600);
           give("f", 1000, 1000);
           as_user([] { MUST(set("f", kAccess, kNamedUser)); });
         }),
      v3("of_32_entries", "setxattr(2)",
         [] {
           make("f", 0600);
           Acl acl = {{kUserObj, 6}};
           for (std::uint32_t id = 2001; id <= 2028; ++id) acl.push_back({kUser, 4, id});
           acl.insert(acl.end(), {{kGroupObj, 0}, {kMask, 4}, {kOther, 0}});
           MUST(set("f", kAccess, acl));
           EQUAL(text(acl), text(get("f", kAccess)));
         }),
      v3("seen_by_the_other_client", kCheck,
         [] {
           with(kNamedUser);
           as(1001, 1001, {}, [] { EQUAL("x", content(there("f"))); });
         }),
  };
}

Cases inherit_cases() {
  const auto folder = [] {
    make_directory("d", 0777);
    MUST(set("d", kDefault,
             {{kUserObj, 7}, {kUser, 6, 1001}, {kGroupObj, 5}, {kMask, 7}, {kOther, 0}}));
  };
  return {
      v3("default_set_and_get", kInherit,
         [=] {
           folder();
           EQUAL(5, get("d", kDefault).size());
         }),
      v3("default_of_a_file_is_refused", "acl_set_file(3) EACCES",
         [] {
           make("f");
           if (set("f", kDefault, {{kUserObj, 7}, {kGroupObj, 5}, {kOther, 0}}) != -1) {
             fail("no error");
           }
           TRUE(errno == EACCES || errno == EINVAL || errno == ENOTDIR);
         }),
      v3("default_does_not_grant", kInherit,
         [=] {
           folder();
           set_mode("d", 0700);
           as(1001, 1001, {}, [] { REFUSED(EACCES, open("d", O_RDONLY)); });
         }),
      v3("file_inherits", kInherit,
         [=] {
           folder();
           make("d/f", 0666);
           EQUAL(text({{kUserObj, 6}, {kUser, 6, 1001}, {kGroupObj, 5}, {kMask, 6}, {kOther, 0}}),
                 text(get("d/f", kAccess)));
           EQUAL(0660, mode_of("d/f"));
           as(1001, 1001, {}, [] { File file("d/f", O_RDWR); });
         }),
      v3("mode_of_the_create_limits", kInherit,
         [=] {
           folder();
           make("d/f", 0600);
           as(1001, 1001, {}, [] { REFUSED(EACCES, open("d/f", O_RDONLY)); });
         }),
      v3("umask_does_not_count_beside_a_default", kInherit,
         [=] {
           folder();
           umask(0077);
           make("d/f", 0666);
           EQUAL(0660, mode_of("d/f"));
         }),
      v3("directory_inherits_both", kInherit,
         [=] {
           folder();
           make_directory("d/e", 0777);
           EQUAL(text(get("d", kDefault)), text(get("d/e", kDefault)));
           EQUAL(5, get("d/e", kAccess).size());
         }),
      v3("removed_default_is_not_inherited", kInherit,
         [=] {
           folder();
           MUST(removexattr("d", kDefault));
           make("d/f", 0640);
           EQUAL(0640, mode_of("d/f"));
           TRUE(get("d/f", kAccess).size() <= 3);
         }),
      v3("symlink_in_such_a_directory", kInherit,
         [=] {
           folder();
           MUST(symlink("x", "d/s"));
           TRUE(S_ISLNK(stat_of("d/s").st_mode));
         }),
  };
}

}  // namespace

Cases posix_acl_cases() {
  Cases cases = access_cases();
  for (const auto& more : {mode_cases(), inherit_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace conformance
