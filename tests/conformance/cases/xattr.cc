// Extended attributes of NFSv4.2 (RFC 8276).
#include <sys/xattr.h>

#include <algorithm>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kSet = "RFC 8276 8.4.2 SETXATTR, setxattr(2)";
constexpr const char* kGet = "RFC 8276 8.4.1 GETXATTR, getxattr(2)";
constexpr const char* kList = "RFC 8276 8.4.3 LISTXATTRS, listxattr(2)";
constexpr const char* kRemove = "RFC 8276 8.4.4 REMOVEXATTR, removexattr(2)";
constexpr const char* kRights = "RFC 8276 7, xattr(7)";

int set(const std::string& path, const std::string& name, const std::string& value, int flags = 0) {
  return lsetxattr(path.c_str(), name.c_str(), value.data(), value.size(), flags);
}

std::string get(const std::string& path, const std::string& name) {
  std::string value(65'536, '\0');
  const ssize_t size = lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
  if (size < 0) fail(errno_name(errno) + " at getxattr " + name);
  value.resize(static_cast<std::size_t>(size));
  return value;
}

// Those of "user.", sorted.
std::vector<std::string> list(const std::string& path) {
  std::string names(65'536, '\0');
  const ssize_t size = MUST(llistxattr(path.c_str(), names.data(), names.size()));
  std::vector<std::string> found;
  for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
    const std::string name = names.c_str() + at;
    if (name.rfind("user.", 0) == 0) found.push_back(name);
    at += name.size() + 1;
  }
  std::sort(found.begin(), found.end());
  return found;
}

Case v42(const std::string& name, const char* reference, std::function<void()> run) {
  return {"xattr." + name, reference, std::move(run), kV42};
}

void add_values(Cases& cases) {
  for (const std::size_t size : {0u, 1u, 255u, 1024u, 4096u, 16'384u, 65'536u}) {
    cases.push_back(v42("value_of_" + std::to_string(size) + "_bytes", kSet, [=] {
      make("f");
      const std::string value = pattern(size);
      MUST(set("f", "user.a", value));
      TRUE(get("f", "user.a") == value);
    }));
  }
  cases.push_back(v42("value_of_65537_bytes", "xattr(7) XATTR_SIZE_MAX", [] {
    make("f");
    REFUSED(E2BIG, set("f", "user.a", std::string(65'537, 'x')));
  }));
  for (const std::size_t length : {1u, 250u}) {
    cases.push_back(v42("name_of_" + std::to_string(length + 5) + "_bytes", kSet, [=] {
      make("f");
      const std::string name = "user." + std::string(length, 'n');
      MUST(set("f", name, "x"));
      EQUAL("x", get("f", name));
      EQUAL(name, list("f").at(0));
    }));
  }
  cases.push_back(v42("name_of_256_bytes", "xattr(7) XATTR_NAME_MAX", [] {
    make("f");
    REFUSED(ERANGE, set("f", "user." + std::string(251, 'n'), "x"));
  }));
}

Cases rule_cases() {
  return {
      v42("set_and_get", kSet,
          [] {
            make("f");
            MUST(set("f", "user.a", "one"));
            EQUAL("one", get("f", "user.a"));
          }),
      v42("of_directory", kSet,
          [] {
            make_directory("d");
            MUST(set("d", "user.a", "one"));
            EQUAL("one", get("d", "user.a"));
          }),
      v42("replaced_by_set", kSet,
          [] {
            make("f");
            MUST(set("f", "user.a", "one"));
            MUST(set("f", "user.a", "other value"));
            EQUAL("other value", get("f", "user.a"));
            EQUAL(1, list("f").size());
          }),
      v42("create_of_existing", "RFC 8276 8.4.2.3 SETXATTR4_CREATE",
          [] {
            make("f");
            MUST(set("f", "user.a", "one", XATTR_CREATE));
            REFUSED(EEXIST, set("f", "user.a", "two", XATTR_CREATE));
            EQUAL("one", get("f", "user.a"));
          }),
      v42("replace_of_missing", "RFC 8276 8.4.2.3 SETXATTR4_REPLACE",
          [] {
            make("f");
            REFUSED(ENODATA, set("f", "user.a", "one", XATTR_REPLACE));
            EQUAL(0, list("f").size());
          }),
      v42("replace_of_existing", "RFC 8276 8.4.2.3 SETXATTR4_REPLACE",
          [] {
            make("f");
            MUST(set("f", "user.a", "one"));
            MUST(set("f", "user.a", "two", XATTR_REPLACE));
            EQUAL("two", get("f", "user.a"));
          }),
      v42("get_of_missing", kGet,
          [] {
            make("f");
            char value[10];
            REFUSED(ENODATA, lgetxattr("f", "user.a", value, sizeof value));
          }),
      v42("get_tells_the_size", kGet,
          [] {
            make("f");
            MUST(set("f", "user.a", "12345"));
            EQUAL(5, MUST(lgetxattr("f", "user.a", nullptr, 0)));
          }),
      v42("get_with_a_small_buffer", kGet,
          [] {
            make("f");
            MUST(set("f", "user.a", "12345"));
            char value[3];
            REFUSED(ERANGE, lgetxattr("f", "user.a", value, sizeof value));
          }),
      v42("value_may_have_zero_bytes", kSet,
          [] {
            make("f");
            const std::string value("\0a\0", 3);
            MUST(set("f", "user.a", value));
            EQUAL(value, get("f", "user.a"));
          }),
      v42("names_are_told_apart", kSet,
          [] {
            make("f");
            MUST(set("f", "user.a", "1"));
            MUST(set("f", "user.A", "2"));
            MUST(set("f", "user.a.b", "3"));
            EQUAL("1", get("f", "user.a"));
            EQUAL("2", get("f", "user.A"));
            EQUAL("3", get("f", "user.a.b"));
          }),
      v42("name_of_utf8", kSet,
          [] {
            make("f");
            MUST(set("f", "user.\xc3\xa4\xe2\x82\xac", "x"));
            EQUAL("user.\xc3\xa4\xe2\x82\xac", list("f").at(0));
          }),
      v42("name_without_rest", "xattr(7)",
          [] {
            make("f");
            REFUSED(EINVAL, set("f", "user.", "x"));
          }),
      v42("list_of_none", kList,
          [] {
            make("f");
            EQUAL(0, list("f").size());
          }),
      v42("list_of_several", kList,
          [] {
            make("f");
            for (const char* name : {"user.c", "user.a", "user.b"}) MUST(set("f", name, "x"));
            TRUE((list("f") == std::vector<std::string>{"user.a", "user.b", "user.c"}));
          }),
      v42("list_of_100", kList,
          [] {
            make("f");
            for (int at = 0; at < 100; ++at) MUST(set("f", "user.n" + std::to_string(at), "x"));
            EQUAL(100, list("f").size());
          }),
      v42("list_of_255", kList,
          [] {
            if (!settings().long_form) skip("takes long: not in the short form");
            make("f");
            const std::string stem = "user." + std::string(200, 'n');
            for (int at = 0; at < 255; ++at) MUST(set("f", stem + std::to_string(at), "x"));
            EQUAL(255, list("f").size());
          }),
      v42("list_with_a_small_buffer", kList,
          [] {
            make("f");
            MUST(set("f", "user.abcdef", "x"));
            char names[4];
            REFUSED(ERANGE, llistxattr("f", names, sizeof names));
          }),
      v42("remove", kRemove,
          [] {
            make("f");
            MUST(set("f", "user.a", "x"));
            MUST(set("f", "user.b", "y"));
            MUST(lremovexattr("f", "user.a"));
            TRUE((list("f") == std::vector<std::string>{"user.b"}));
          }),
      v42("remove_of_missing", kRemove,
          [] {
            make("f");
            REFUSED(ENODATA, lremovexattr("f", "user.a"));
          }),
      v42("remove_twice", kRemove,
          [] {
            make("f");
            MUST(set("f", "user.a", "x"));
            MUST(lremovexattr("f", "user.a"));
            REFUSED(ENODATA, lremovexattr("f", "user.a"));
          }),
      v42("kept_by_rename", "RFC 8276 4",
          [] {
            make("f");
            MUST(set("f", "user.a", "x"));
            MUST(rename("f", "g"));
            EQUAL("x", get("g", "user.a"));
          }),
      v42("shared_by_links", "RFC 8276 4",
          [] {
            make("f");
            MUST(link("f", "g"));
            MUST(set("f", "user.a", "x"));
            EQUAL("x", get("g", "user.a"));
          }),
      v42("kept_by_write_and_truncate", "RFC 8276 4",
          [] {
            make("f");
            MUST(set("f", "user.a", "x"));
            make("f", 0644, "text");
            EQUAL("x", get("f", "user.a"));
          }),
      v42("not_inherited", "RFC 8276 4",
          [] {
            make_directory("d");
            MUST(set("d", "user.a", "x"));
            make("d/f");
            EQUAL(0, list("d/f").size());
          }),
      v42("new_file_of_the_name_has_none", "RFC 8276 4",
          [] {
            make("f");
            MUST(set("f", "user.a", "x"));
            MUST(unlink("f"));
            make("f");
            EQUAL(0, list("f").size());
          }),
      v42("moves_ctime_not_mtime", "RFC 8276 8.4.2.3, 8.4.4.3",
          [] {
            make("f");
            const struct stat before = stat_of("f");
            usleep(20'000);
            MUST(set("f", "user.a", "x"));
            const struct stat after = stat_of("f");
            TRUE(before.st_ctim.tv_nsec != after.st_ctim.tv_nsec);
            EQUAL(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
          }),
      v42("of_open_unlinked_file", "fsetxattr(2)",
          [] {
            make("f");
            File file("f", O_RDWR);
            MUST(unlink("f"));
            MUST(fsetxattr(file, "user.a", "x", 1, 0));
            EQUAL(1, MUST(fgetxattr(file, "user.a", nullptr, 0)));
          }),
      v42("of_symlink_is_refused", "xattr(7): user.* of files and directories only",
          [] {
            MUST(symlink("x", "s"));
            REFUSED(EPERM, set("s", "user.a", "x"));
          }),
      v42("of_fifo_is_refused", "xattr(7): user.* of files and directories only",
          [] {
            MUST(mkfifo("p", 0644));
            REFUSED(EPERM, set("p", "user.a", "x"));
          }),
      v42("trusted_is_refused", "RFC 8276 4.1: user attributes only",
          [] {
            make("f");
            REFUSED(EOPNOTSUPP, set("f", "trusted.a", "x"));
          }),
      v42("set_needs_write_permission", kRights,
          [] {
            make("f", 0644);
            as_user([] { REFUSED(EACCES, set("f", "user.a", "x")); });
            set_mode("f", 0666);
            as_user([] { MUST(set("f", "user.a", "x")); });
          }),
      v42("get_needs_read_permission", kRights,
          [] {
            make("f", 0600);
            MUST(set("f", "user.a", "x"));
            as_user([] {
              char value[10];
              REFUSED(EACCES, lgetxattr("f", "user.a", value, sizeof value));
            });
            set_mode("f", 0644);
            as_user([] { EQUAL("x", get("f", "user.a")); });
          }),
      v42("remove_needs_write_permission", kRights,
          [] {
            make("f", 0644);
            MUST(set("f", "user.a", "x"));
            as_user([] { REFUSED(EACCES, lremovexattr("f", "user.a")); });
          }),
      v42("of_sticky_directory_by_other", "xattr(7): owner only where it is sticky",
          [] {
            make_directory("d");
            set_mode("d", 01777);
            as_user([] { REFUSED(EPERM, set("d", "user.a", "x")); });
          }),
      v42("seen_by_the_other_client", "RFC 8276 7",
          [] {
            make("f");
            MUST(set("f", "user.a", "one"));
            EQUAL("one", get(there("f"), "user.a"));
          }),
      {"xattr.not_before_v42", "RFC 8276",
       [] {
         make("f");
         REFUSED(EOPNOTSUPP, set("f", "user.a", "x"));
       },
       kV3 | kV40 | kV41},
  };
}

}  // namespace

Cases xattr_cases() {
  Cases cases = rule_cases();
  add_values(cases);
  return cases;
}

}  // namespace conformance
