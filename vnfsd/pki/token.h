// Tokens of the API: "symnas.NAME.SECRET", where SECRET is 256 random bits in hex. What is kept of
// one is a salted SHA-256: a secret of 256 random bits cannot be guessed from it, so nothing slower
// is needed (what slows guessing protects passwords, which people choose). Thread-safe: pure
// functions but for the randomness.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd::pki {

struct NewToken {
  std::string text;  // secret: shown once, kept nowhere
  std::string salt;  // 16 bytes
  std::string hash;  // 32 bytes
};

// A fresh token. `name`: as check_name() (vnfsd/names). Errors: kInternal (libcrypto).
Result<NewToken> make_token(const std::string& name);

struct TokenParts {
  std::string name;
  std::string secret;
};
// nullopt: the text has not the form of a token.
std::optional<TokenParts> parse_token(std::string_view text);

// Whether salt and secret give the hash; takes the same time whatever differs.
bool secret_matches(const std::string& secret, const std::string& salt, const std::string& hash);

// Whether a token stands anywhere in the text.
bool holds_token(std::string_view text);

}  // namespace symnas::vnfsd::pki
