// NFSv4 ACLs (RFC 8881 6) as nfs4_getfacl and nfs4_setfacl ask for them.
#include <arpa/inet.h>
#include <sys/xattr.h>

#include <cstdint>
#include <cstring>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kCheck = "RFC 8881 6.2.1 Attribute 12: acl";
constexpr const char* kModes = "RFC 8881 6.4.1 Setting the Mode and/or ACL Attributes";
constexpr const char* kInherit = "RFC 8881 6.4.3.2 Inheritance";
constexpr const char* kName = "system.nfs4_acl";

enum Type : std::uint32_t { kAllow = 0, kDeny = 1 };
enum Flag : std::uint32_t {
  kFileInherit = 1,
  kDirectoryInherit = 2,
  kNoPropagate = 4,
  kInheritOnly = 8,
  kGroupFlag = 0x40
};
enum Right : std::uint32_t {
  kRead = 1,
  kWrite = 2,
  kAppend = 4,
  kReadNamed = 8,
  kWriteNamed = 0x10,
  kExecute = 0x20,
  kDeleteChild = 0x40,
  kReadAttributes = 0x80,
  kWriteAttributes = 0x100,
  kDelete = 0x10000,
  kReadAcl = 0x20000,
  kWriteAcl = 0x40000,
  kWriteOwner = 0x80000,
  kSynchronize = 0x100000
};
constexpr std::uint32_t kLook = kReadAttributes | kReadAcl | kSynchronize;
constexpr std::uint32_t kReadAll = kRead | kReadNamed | kLook;
constexpr std::uint32_t kWriteAll = kWrite | kAppend | kWriteNamed;
constexpr std::uint32_t kOwnAll = kReadAll | kWriteAll | kWriteAttributes | kWriteAcl | kWriteOwner;

struct Ace {
  std::uint32_t type;
  std::uint32_t flags;
  std::uint32_t rights;
  std::string who;
};
using Acl = std::vector<Ace>;

void put32(std::string& bytes, std::uint32_t value) {
  const std::uint32_t big = htonl(value);
  bytes.append(reinterpret_cast<const char*>(&big), sizeof big);
}

int set(const std::string& path, const Acl& acl) {
  std::string bytes;
  put32(bytes, static_cast<std::uint32_t>(acl.size()));
  for (const Ace& ace : acl) {
    put32(bytes, ace.type);
    put32(bytes, ace.flags);
    put32(bytes, ace.rights);
    put32(bytes, static_cast<std::uint32_t>(ace.who.size()));
    bytes += ace.who + std::string((4 - ace.who.size() % 4) % 4, '\0');
  }
  return setxattr(path.c_str(), kName, bytes.data(), bytes.size(), 0);
}

Acl get(const std::string& path) {
  char bytes[16'384];
  const ssize_t size = getxattr(path.c_str(), kName, bytes, sizeof bytes);
  if (size < 0) fail(errno_name(errno) + " at getxattr of the ACL");
  std::size_t at = 0;
  const auto take = [&] {
    std::uint32_t big;
    if (at + sizeof big > static_cast<std::size_t>(size)) fail("the ACL is cut off");
    std::memcpy(&big, bytes + at, sizeof big);
    at += sizeof big;
    return ntohl(big);
  };
  Acl acl(take());
  for (Ace& ace : acl) {
    ace.type = take();
    ace.flags = take();
    ace.rights = take();
    const std::uint32_t length = take();
    if (at + length > static_cast<std::size_t>(size)) fail("the ACL is cut off");
    ace.who.assign(bytes + at, length);
    at += (length + 3) / 4 * 4;
  }
  return acl;
}

// The entry of that type for somebody; fails without one.
Ace find(const Acl& acl, const std::string& who, std::uint32_t type = kAllow) {
  for (const Ace& ace : acl) {
    if (ace.who == who && ace.type == type) return ace;
  }
  fail("no entry for " + who);
}

bool names(const Acl& acl, const std::string& who) {
  for (const Ace& ace : acl) {
    if (ace.who == who) return true;
  }
  return false;
}

// The owner may everything, 1001 what is asked for, others look.
Acl with_1001(std::uint32_t rights, std::uint32_t type = kAllow, std::uint32_t flags = 0) {
  return {{type, flags, rights, "1001"},
          {kAllow, 0, kOwnAll, "OWNER@"},
          {kAllow, 0, kLook, "GROUP@"},
          {kAllow, 0, kLook, "EVERYONE@"}};
}

void file_with(const Acl& acl) {
  make("f", 0600, "x");
  MUST(set("f", acl));
}

void folder_with(std::uint32_t rights, std::uint32_t flags = 0) {
  make_directory("d", 0700);
  Acl acl = with_1001(rights, kAllow, flags);
  acl[1].rights |= kExecute | kDeleteChild;
  MUST(set("d", acl));
}

void as_1001(const std::function<void()>& body) { as(1001, 1001, {}, body); }

Case v4(const std::string& name, const char* reference, std::function<void()> run) {
  return {"nfs4_acl." + name, reference, std::move(run), kV4};
}

Cases access_cases() {
  return {
      v4("of_a_plain_file_is_its_mode", "RFC 8881 6.4.2 Retrieving the Mode and/or ACL",
         [] {
           make("f", 0640);
           const Acl acl = get("f");
           TRUE(find(acl, "OWNER@").rights & kRead);
           TRUE(find(acl, "OWNER@").rights & kWrite);
           TRUE(find(acl, "GROUP@").rights & kRead);
           for (const Ace& ace : acl) {
             if (ace.who == "EVERYONE@" && ace.type == kAllow) TRUE(!(ace.rights & kRead));
           }
         }),
      v4("set_and_get", kCheck,
         [] {
           file_with(with_1001(kReadAll));
           TRUE((find(get("f"), "1001").rights & kReadAll) == kReadAll);
         }),
      v4("allows_a_user", kCheck,
         [] {
           file_with(with_1001(kReadAll));
           as_1001([] {
             EQUAL("x", content("f"));
             REFUSED(EACCES, open("f", O_WRONLY));
           });
           as(1002, 1002, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v4("allows_a_user_to_write", kCheck,
         [] {
           file_with(with_1001(kReadAll | kWriteAll));
           as_1001([] {
             File file("f", O_RDWR);
             put(file, "y", 0);
             MUST(fsync(file));
           });
           EQUAL("y", content("f"));
         }),
      v4("denies_a_user", kCheck,
         [] {
           file_with({{kDeny, 0, kRead, "1001"},
                      {kAllow, 0, kOwnAll, "OWNER@"},
                      {kAllow, 0, kReadAll, "EVERYONE@"}});
           as_1001([] { REFUSED(EACCES, open("f", O_RDONLY)); });
           as(1002, 1002, {}, [] { EQUAL("x", content("f")); });
         }),
      v4("first_entry_decides_allow", kCheck,
         [] {
           file_with({{kAllow, 0, kReadAll, "1001"},
                      {kDeny, 0, kRead, "1001"},
                      {kAllow, 0, kOwnAll, "OWNER@"}});
           as_1001([] { EQUAL("x", content("f")); });
         }),
      v4("rights_of_several_entries_add", kCheck,
         [] {
           file_with({{kAllow, 0, kReadAll, "1001"},
                      {kAllow, 0, kOwnAll, "OWNER@"},
                      {kAllow, 0, kWriteAll | kLook, "EVERYONE@"}});
           as_1001([] { File file("f", O_RDWR); });
         }),
      v4("what_no_entry_allows_is_denied", kCheck,
         [] {
           file_with({{kAllow, 0, kOwnAll, "OWNER@"}});
           as_1001([] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v4("allows_a_group", kCheck,
         [] {
           file_with({{kAllow, kGroupFlag, kReadAll, "2000"}, {kAllow, 0, kOwnAll, "OWNER@"}});
           as(1002, 2000, {}, [] { EQUAL("x", content("f")); });
           as(1002, 1002, {2000}, [] { EQUAL("x", content("f")); });
           as(2000, 1002, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v4("group_of_the_file", kCheck,
         [] {
           file_with({{kAllow, 0, kOwnAll, "OWNER@"}, {kAllow, kGroupFlag, kReadAll, "GROUP@"}});
           give("f", 0, 2000);
           as(1002, 2000, {}, [] { EQUAL("x", content("f")); });
         }),
      v4("owner_follows_chown", kCheck,
         [] {
           file_with({{kAllow, 0, kOwnAll, "OWNER@"}});
           give("f", 1001, 1001);
           as_1001([] { File file("f", O_RDWR); });
         }),
      v4("everyone_includes_the_owner", kCheck,
         [] {
           file_with({{kAllow, 0, kReadAll | kWriteAll, "EVERYONE@"}});
           give("f", 1001, 1001);
           as_1001([] { File file("f", O_RDWR); });
         }),
      v4("root_may_read_and_write", "RFC 8881 6.3.1.1",
         [] {
           file_with({{kDeny, 0, kReadAll | kWriteAll, "EVERYONE@"}});
           File file("f", O_RDWR);
           EQUAL("x", content(file, 0, 1));
         }),
      v4("owner_may_always_set_it", "RFC 8881 6.2.1.3.2 (as most servers)",
         [] {
           file_with({{kAllow, 0, kReadAll, "EVERYONE@"}});
           give("f", 1001, 1001);
           as_1001([] { MUST(set("f", {{kAllow, 0, kOwnAll, "OWNER@"}})); });
         }),
      v4("write_acl_lets_others_set_it", "RFC 8881 6.2.1.3.1 ACE4_WRITE_ACL",
         [] {
           file_with(with_1001(kReadAll | kWriteAcl));
           as_1001([] { MUST(set("f", with_1001(kReadAll | kWriteAll | kWriteAcl))); });
           as_1001([] { File file("f", O_RDWR); });
         }),
      v4("write_acl_lets_others_chmod", "RFC 8881 6.2.1.3.1 ACE4_WRITE_ACL",
         [] {
           file_with(with_1001(kReadAll | kWriteAcl));
           as_1001([] { MUST(chmod("f", 0644)); });
         }),
      v4("set_by_others_is_refused", "RFC 8881 6.2.1.3.1 ACE4_WRITE_ACL",
         [] {
           make("f", 0666);
           as_1001([] {
             if (set("f", with_1001(kReadAll)) != -1) fail("no error");
             TRUE(errno == EPERM || errno == EACCES);
           });
         }),
      v4("write_owner_lets_others_take_it", "RFC 8881 6.2.1.3.1 ACE4_WRITE_OWNER",
         [] {
           file_with(with_1001(kReadAll | kWriteOwner));
           as_1001([] { MUST(chown("f", 1001, static_cast<gid_t>(-1))); });
           EQUAL(1001, stat_of("f").st_uid);
         }),
      v4("write_attributes_lets_others_set_times", "RFC 8881 6.2.1.3.1 ACE4_WRITE_ATTRIBUTES",
         [] {
           file_with(with_1001(kReadAll | kWriteAttributes));
           as_1001([] {
             const timespec both[2] = {{1'000, 0}, {1'000, 0}};
             MUST(utimensat(AT_FDCWD, "f", both, 0));
           });
         }),
      v4("list_directory", "RFC 8881 6.2.1.3.1 ACE4_LIST_DIRECTORY",
         [] {
           folder_with(kReadAll | kExecute);
           make("d/f");
           as_1001([] { EQUAL(1, names_in("d").size()); });
           as(1002, 1002, {}, [] { REFUSED(EACCES, open("d", O_RDONLY)); });
         }),
      v4("add_file", "RFC 8881 6.2.1.3.1 ACE4_ADD_FILE",
         [] {
           folder_with(kReadAll | kExecute | kWrite);
           as_1001([] {
             make("d/f");
             REFUSED(EACCES, mkdir("d/e", 0755));
           });
         }),
      v4("add_subdirectory", "RFC 8881 6.2.1.3.1 ACE4_ADD_SUBDIRECTORY",
         [] {
           folder_with(kReadAll | kExecute | kAppend);
           as_1001([] {
             make_directory("d/e");
             REFUSED(EACCES, open("d/f", O_CREAT | O_WRONLY, 0644));
           });
         }),
      v4("delete_child", "RFC 8881 6.2.1.3.2 ACE4_DELETE_CHILD",
         [] {
           folder_with(kReadAll | kExecute | kDeleteChild);
           make("d/f", 0600);
           as_1001([] { MUST(unlink("d/f")); });
         }),
      v4("delete", "RFC 8881 6.2.1.3.2 ACE4_DELETE",
         [] {
           folder_with(kReadAll | kExecute);
           make("d/f", 0600);
           MUST(set("d/f", with_1001(kReadAll | kDelete)));
           as_1001([] { MUST(unlink("d/f")); });
         }),
  };
}

Cases mode_cases() {
  return {
      v4("sets_the_mode", kModes,
         [] {
           file_with({{kAllow, 0, kOwnAll | kExecute, "OWNER@"},
                      {kAllow, kGroupFlag, kReadAll | kExecute, "GROUP@"},
                      {kAllow, 0, kReadAll, "EVERYONE@"}});
           EQUAL(0754, mode_of("f"));
         }),
      v4("chmod_replaces_what_the_mode_says", kModes,
         [] {
           file_with(with_1001(kReadAll));
           MUST(chmod("f", 0600));
           EQUAL(0600, mode_of("f"));
           as(1002, 1002, {}, [] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v4("chmod_0_denies_everybody", kModes,
         [] {
           file_with(with_1001(kReadAll));
           MUST(chmod("f", 0));
           as_1001([] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v4("chmod_lets_others_read", kModes,
         [] {
           file_with({{kAllow, 0, kOwnAll, "OWNER@"}});
           MUST(chmod("f", 0644));
           as_1001([] { EQUAL("x", content("f")); });
         }),
      v4("unknown_name_is_refused", "RFC 8881 5.9, NFS4ERR_BADOWNER",
         [] {
           make("f", 0600, "x");
           REFUSED(EINVAL, set("f", {{kAllow, 0, kOwnAll, "OWNER@"},
                                     {kAllow, 0, kReadAll, "nobody.knows@example.invalid"}}));
           EQUAL(0600, mode_of("f"));
         }),
      v4("empty_one_denies_or_is_refused", "RFC 8881 6.4.1.2",
         [] {
           make("f", 0666, "x");
           if (set("f", {}) == 0) as_1001([] { REFUSED(EACCES, open("f", O_RDONLY)); });
         }),
      v4("setting_moves_ctime", "RFC 8881 5.8.1.4 change",
         [] {
           make("f", 0600);
           const struct stat before = stat_of("f");
           usleep(20'000);
           MUST(set("f", with_1001(kReadAll)));
           TRUE(before.st_ctim.tv_nsec != stat_of("f").st_ctim.tv_nsec);
         }),
      v4("kept_by_rename_and_link", kModes,
         [] {
           file_with(with_1001(kReadAll));
           MUST(rename("f", "g"));
           MUST(link("g", "h"));
           as_1001([] { EQUAL("x", content("h")); });
         }),
      v4("of_64_entries", kCheck,
         [] {
           make("f", 0600, "x");
           Acl acl = {{kAllow, 0, kOwnAll, "OWNER@"}};
           for (int id = 3000; id < 3060; ++id) {
             acl.push_back({kAllow, 0, kReadAll, std::to_string(id)});
           }
           MUST(set("f", acl));
           as(3059, 1, {}, [] { EQUAL("x", content("f")); });
         }),
      v4("seen_by_the_other_client", kCheck,
         [] {
           file_with(with_1001(kReadAll));
           as_1001([] { EQUAL("x", content(there("f"))); });
         }),
  };
}

Cases inherit_cases() {
  return {
      v4("file_inherits", kInherit,
         [] {
           folder_with(kReadAll | kExecute, kFileInherit);
           make("d/f", 0640, "x");
           const Ace ace = find(get("d/f"), "1001");
           TRUE(ace.rights & kRead);
           EQUAL(0, ace.flags & (kFileInherit | kDirectoryInherit | kInheritOnly));
         }),
      v4("file_does_not_inherit_a_directorys", kInherit,
         [] {
           folder_with(kReadAll | kExecute, kDirectoryInherit);
           make("d/f", 0600, "x");
           TRUE(!names(get("d/f"), "1001"));
         }),
      v4("directory_inherits", kInherit,
         [] {
           folder_with(kReadAll | kExecute, kDirectoryInherit);
           make_directory("d/e", 0750);
           std::uint32_t flags = 0;  // of what counts there, and of what is to be inherited
           for (const Ace& ace : get("d/e")) flags |= ace.who == "1001" ? ace.flags : 0;
           TRUE(flags & kDirectoryInherit);
         }),
      v4("directory_hands_a_files_on", kInherit,
         [] {
           folder_with(kReadAll | kExecute, kFileInherit);
           make_directory("d/e", 0750);
           make("d/e/f", 0640, "x");
           TRUE(find(get("d/e/f"), "1001").rights & kRead);
         }),
      v4("no_propagate_ends_it", kInherit,
         [] {
           folder_with(kReadAll | kExecute, kDirectoryInherit | kNoPropagate);
           make_directory("d/e", 0700);
           TRUE(names(get("d/e"), "1001"));
           make_directory("d/e/g", 0700);
           TRUE(!names(get("d/e/g"), "1001"));
         }),
      v4("inherit_only_does_not_count_here", kInherit,
         [] {
           folder_with(kReadAll | kExecute, kFileInherit | kInheritOnly);
           as_1001([] { REFUSED(EACCES, open("d", O_RDONLY)); });
           make("d/f", 0640, "x");
           TRUE(find(get("d/f"), "1001").rights & kRead);
         }),
      v4("not_without_the_flag", kInherit,
         [] {
           folder_with(kReadAll | kExecute);
           make("d/f", 0600, "x");
           TRUE(!names(get("d/f"), "1001"));
         }),
  };
}

}  // namespace

Cases nfs4_acl_cases() {
  Cases cases = access_cases();
  for (const auto& more : {mode_cases(), inherit_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace conformance
