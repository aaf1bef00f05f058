#include "vnfsd/plans/keytab.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "vnfsd/plans/limits.h"

namespace symnas::vnfsd {
namespace {

constexpr std::string_view kVersion("\x05\x02", 2);

tl::unexpected<Error> bad(std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("keytab: {} (write one with kadmin: ktadd -k FILE nfs/NAME)", why));
}

// Big-endian numbers and counted texts. After something that was not there ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t number(std::size_t size) {
    std::uint32_t value = 0;
    for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view text() { return take(number(2)); }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  bool ok() const { return ok_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// What stands in a message has to be readable.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

Result<KeytabEntry> parse_entry(std::string_view bytes) {
  Reader reader(bytes);
  KeytabEntry entry;
  entry.bytes = bytes;
  const std::uint32_t components = reader.number(2);
  const std::string_view realm = reader.text();
  for (std::uint32_t i = 0; i < components && reader.ok(); ++i) {
    if (i > 0) entry.principal += '/';
    entry.principal += reader.text();
  }
  entry.principal += '@';
  entry.principal += realm;
  reader.number(4);  // type of the name
  reader.number(4);  // time
  entry.kvno = reader.number(1);
  entry.enctype = static_cast<std::uint16_t>(reader.number(2));
  const std::string_view key = reader.text();
  if (!reader.ok() || key.empty() || components == 0 || !is_plain(entry.principal))
    return bad("the file is damaged");
  // The kvno in full follows where it does not fit into a byte.
  if (reader.left() >= 4) {
    const std::uint32_t kvno = reader.number(4);
    if (kvno != 0) entry.kvno = kvno;
  }
  return entry;
}

std::uint32_t newest_kvno(const std::vector<KeytabEntry>& entries, const std::string& principal) {
  std::uint32_t newest = 0;
  for (const KeytabEntry& entry : entries) {
    if (entry.principal == principal) newest = std::max(newest, entry.kvno);
  }
  return newest;
}

std::set<std::string> principals_of(const std::vector<KeytabEntry>& entries) {
  std::set<std::string> out;
  for (const KeytabEntry& entry : entries) out.insert(entry.principal);
  return out;
}

}  // namespace

Result<std::vector<KeytabEntry>> parse_keytab(std::string_view file) {
  if (file.size() > kKeytabBytesMax)
    return bad(fmt::format("the file has more than {} bytes", kKeytabBytesMax));
  if (!file.starts_with(kVersion)) return bad("the file is none (of version 0x0502)");
  Reader reader(file.substr(kVersion.size()));
  std::vector<KeytabEntry> entries;
  while (reader.left() > 0) {
    const auto size = static_cast<std::int32_t>(reader.number(4));
    if (reader.ok() && size == 0) break;  // nothing follows
    // A negative size: of an entry that was removed.
    const std::string_view bytes =
        reader.take(static_cast<std::size_t>(size < 0 ? -std::int64_t{size} : size));
    if (!reader.ok()) return bad("the file is cut off");
    if (size < 0) continue;
    SYMNAS_ASSIGN(KeytabEntry entry, parse_entry(bytes));
    entries.push_back(std::move(entry));
    if (entries.size() > kKeytabEntriesMax)
      return bad(fmt::format("the file has more than {} keys", kKeytabEntriesMax));
  }
  return entries;
}

std::string keytab_file(const std::vector<KeytabEntry>& entries) {
  std::string file(kVersion);
  for (const KeytabEntry& entry : entries) {
    for (int shift = 24; shift >= 0; shift -= 8)
      file += static_cast<char>(entry.bytes.size() >> shift & 0xff);
    file += entry.bytes;
  }
  return file;
}

std::string enctype_name(std::uint16_t enctype) {
  switch (enctype) {
    case 1: return "des-cbc-crc";
    case 3: return "des-cbc-md5";
    case 16: return "des3-cbc-sha1";
    case 17: return "aes128-cts-hmac-sha1-96";
    case 18: return "aes256-cts-hmac-sha1-96";
    case 19: return "aes128-cts-hmac-sha256-128";
    case 20: return "aes256-cts-hmac-sha384-192";
    case 23: return "arcfour-hmac";
    case 25: return "camellia128-cts-cmac";
    case 26: return "camellia256-cts-cmac";
    default: return fmt::format("enctype {}", enctype);
  }
}

bool is_strong(std::uint16_t enctype) {
  return (enctype >= 17 && enctype <= 20) || enctype == 25 || enctype == 26;
}

std::string realm_of(std::string_view principal) {
  const std::size_t at = principal.rfind('@');
  return at == std::string_view::npos ? "" : std::string(principal.substr(at + 1));
}

Status check_keytab(const std::vector<KeytabEntry>& entries, const std::string& vnfs) {
  if (entries.empty()) return bad("it has no keys");
  const std::set<std::string> principals = principals_of(entries);
  const std::string realm = realm_of(*principals.begin());
  for (const std::string& principal : principals) {
    const std::string name = "nfs/" + vnfs;
    const bool is_ours = principal == name + "@" + realm || principal.starts_with(name + ".");
    if (!is_ours || realm_of(principal) != realm || realm.empty()) {
      return bad(
          fmt::format("it has keys of {}: VNFS {} needs those of {} or {}.DOMAIN, of one "
                      "realm, and nothing else",
                      fmt::join(principals, ", "), vnfs, name, name));
    }
    const std::uint32_t newest = newest_kvno(entries, principal);
    const bool strong = std::any_of(entries.begin(), entries.end(), [&](const KeytabEntry& entry) {
      return entry.principal == principal && entry.kvno == newest && is_strong(entry.enctype);
    });
    if (!strong) {
      return bad(
          fmt::format("the keys of {}, kvno {}, are of DES or RC4 only, which is broken: "
                      "they have to be of AES",
                      principal, newest));
    }
  }
  return {};
}

std::vector<KeytabEntry> with_former_keys(std::vector<KeytabEntry> now,
                                          const std::vector<KeytabEntry>& before) {
  std::vector<KeytabEntry> former;
  for (const std::string& principal : principals_of(now)) {
    const std::uint32_t newest = newest_kvno(now, principal);
    std::uint32_t kvno = 0;
    for (const KeytabEntry& entry : before) {
      if (entry.principal == principal && entry.kvno < newest) kvno = std::max(kvno, entry.kvno);
    }
    const bool is_there = std::any_of(now.begin(), now.end(), [&](const KeytabEntry& entry) {
      return entry.principal == principal && entry.kvno < newest;
    });
    for (const KeytabEntry& entry : before) {
      if (entry.principal == principal && entry.kvno == kvno && kvno != 0 && !is_there)
        former.push_back(entry);
    }
  }
  now.insert(now.end(), former.begin(), former.end());
  return now;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Result<std::string> parse_owner_domain(std::string_view text) {
  const std::string domain = lower_case(std::string(text));
  const bool is_one =
      domain.size() <= kOwnerDomainBytesMax && domain.find("..") == std::string::npos &&
      domain.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos &&
      !domain.starts_with('.') && !domain.ends_with('.');
  if (is_one) return domain;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("keytab: the domain of owners '{}' is none: write it as clients have it "
                          "in idmapd.conf, such as example.com",
                          text));
}

Status check_size(const std::vector<KeytabEntry>& entries) {
  if (entries.size() <= kKeytabEntriesMax && keytab_file(entries).size() <= kKeytabBytesMax)
    return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("keytab: with the former keys, which are kept, it has {} keys in {} bytes, "
                  "and may have {} in {} (symnas vnfs keytab rm gives the former up)",
                  entries.size(), keytab_file(entries).size(), kKeytabEntriesMax, kKeytabBytesMax));
}

}  // namespace symnas::vnfsd
