// A keytab as its file holds it (MIT Kerberos, "Keytab file format", version 0x0502), and whether a
// VNFS can use it. Thread-safe: pure functions. What holds a key is secret; messages never do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd {

struct KeytabEntry {
  std::string principal;  // "nfs/vnfs1.example.com@EXAMPLE.COM"
  std::uint32_t kvno = 0;
  std::uint16_t enctype = 0;  // RFC 3961, 8
  std::string bytes;          // secret: the entry as the file has it
};

// Errors: kInvalidArgument (what is wrong with the file).
Result<std::vector<KeytabEntry>> parse_keytab(std::string_view file);
// The file of these entries.
std::string keytab_file(const std::vector<KeytabEntry>& entries);

// "aes256-cts-hmac-sha1-96"; "enctype 99".
std::string enctype_name(std::uint16_t enctype);
// Whether it is an enctype of AES or Camellia: others are broken (RFC 6649, RFC 8429).
bool is_strong(std::uint16_t enctype);

// The part of a principal behind "@".
std::string realm_of(std::string_view principal);

// With the letters of ASCII in lower case.
std::string lower_case(std::string text);
// A domain of owners (RFC 8881, 5.9) in lower case. Errors: kInvalidArgument (it is none).
Result<std::string> parse_owner_domain(std::string_view text);

// Whether an instance of the VNFS can be asked with these keys: all of them are of
// nfs/NAME@REALM of one realm, NAME is the VNFS's name or begins with it and a dot, and the newest
// ones are strong. Errors: kInvalidArgument (what to do).
Status check_keytab(const std::vector<KeytabEntry>& entries, const std::string& vnfs);

// The entries of `now` and, of the same principals, those of the newest earlier kvno in `before`:
// clients have tickets for that until they end.
std::vector<KeytabEntry> with_former_keys(std::vector<KeytabEntry> now,
                                          const std::vector<KeytabEntry>& before);

// Whether parse_keytab() takes them. Errors: kInvalidArgument (how many there may be).
Status check_size(const std::vector<KeytabEntry>& entries);

}  // namespace symnas::vnfsd
