// guest_xattr: extended attributes, for which the client VM's busybox has no command.
//
//   guest_xattr set|create|replace FILE NAME VALUE   VALUE "@N": N bytes, abc...zabc...
//   guest_xattr get FILE NAME        the value; "@N" if it is that; "N other bytes" if it is long
//   guest_xattr remove FILE NAME
//   guest_xattr list FILE            the names, sorted, in one line
//   guest_xattr fill FILE COUNT      sets user.n0, user.n1, ... to their number
// NAME is as xattr(7) has it: "user.x". No link is followed. Exit status: 0; 1 the call failed, its
// errno's name is printed ("ENODATA"); 2 usage. Confined to one thread.
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kBytesMax = 1 << 17;
constexpr std::size_t kShownMax = 100;

[[noreturn]] void fail() {
  std::puts(strerrorname_np(errno));
  std::exit(1);
}

std::string pattern(std::size_t bytes) {
  std::string out(bytes, 'a');
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>('a' + i % 26);
  return out;
}

std::string value_of(std::string_view word) {
  if (!word.starts_with('@')) return std::string(word);
  return pattern(std::strtoul(word.data() + 1, nullptr, 10));
}

void set(const char* file, const std::string& name, const std::string& value, int flags) {
  if (lsetxattr(file, name.c_str(), value.data(), value.size(), flags) != 0) fail();
}

void get(const char* file, const char* name) {
  std::vector<char> buffer(kBytesMax);
  const ssize_t size = lgetxattr(file, name, buffer.data(), buffer.size());
  if (size < 0) fail();
  const std::string value(buffer.data(), static_cast<std::size_t>(size));
  if (!value.empty() && value == pattern(value.size())) {
    std::printf("@%zd\n", size);
  } else if (value.size() > kShownMax) {
    std::printf("%zd other bytes\n", size);
  } else {
    std::puts(value.c_str());
  }
}

void list(const char* file) {
  std::vector<char> buffer(kBytesMax);
  const ssize_t size = llistxattr(file, buffer.data(), buffer.size());
  if (size < 0) fail();
  std::vector<std::string> names;
  for (const char* at = buffer.data(); at < buffer.data() + size; at += std::strlen(at) + 1)
    names.emplace_back(at);
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf("%s%s", i == 0 ? "" : " ", names[i].c_str());
  std::puts("");
}

void fill(const char* file, int count) {
  for (int i = 0; i < count; ++i) set(file, "user.n" + std::to_string(i), std::to_string(i), 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv, argv + argc);
  const std::string_view what = argc > 1 ? words[1] : "";
  if (argc == 5 && what == "set") {
    set(argv[2], argv[3], value_of(words[4]), 0);
  } else if (argc == 5 && what == "create") {
    set(argv[2], argv[3], value_of(words[4]), XATTR_CREATE);
  } else if (argc == 5 && what == "replace") {
    set(argv[2], argv[3], value_of(words[4]), XATTR_REPLACE);
  } else if (argc == 4 && what == "get") {
    get(argv[2], argv[3]);
  } else if (argc == 4 && what == "remove") {
    if (lremovexattr(argv[2], argv[3]) != 0) fail();
  } else if (argc == 3 && what == "list") {
    list(argv[2]);
  } else if (argc == 4 && what == "fill") {
    fill(argv[2], std::atoi(argv[3]));
  } else {
    std::fprintf(stderr, "usage: see the head of guest_xattr.cc\n");
    return 2;
  }
  return 0;
}
