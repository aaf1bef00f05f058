#include "vnfsd/pki/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>

#include <fmt/format.h>

namespace symnas::vnfsd::pki {
namespace {

constexpr std::string_view kPrefix = "symnas.";
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kSecretBytes = 32;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1)
    return fail(ErrorCode::kInternal, "token: no randomness from libcrypto");
  return bytes;
}

// "" when libcrypto fails.
std::string hash_of(const std::string& secret, const std::string& salt) {
  const std::string text = salt + secret;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) != 1) return "";
  return {reinterpret_cast<const char*>(digest), size};
}

}  // namespace

Result<NewToken> make_token(const std::string& name) {
  SYMNAS_ASSIGN(const std::string bytes, random_bytes(kSecretBytes));
  NewToken token;
  SYMNAS_ASSIGN(token.salt, random_bytes(kSaltBytes));
  std::string secret;
  for (const char c : bytes) secret += fmt::format("{:02x}", static_cast<unsigned char>(c));
  token.hash = hash_of(secret, token.salt);
  if (token.hash.empty()) return fail(ErrorCode::kInternal, "token: libcrypto has no SHA-256");
  token.text = fmt::format("{}{}.{}", kPrefix, name, secret);
  return token;
}

std::optional<TokenParts> parse_token(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (!text.starts_with(kPrefix) || dot <= kPrefix.size() || dot == std::string_view::npos)
    return std::nullopt;
  const std::string_view secret = text.substr(dot + 1);
  if (secret.size() != 2 * kSecretBytes || !std::all_of(secret.begin(), secret.end(), is_hex))
    return std::nullopt;
  return TokenParts{std::string(text.substr(kPrefix.size(), dot - kPrefix.size())),
                    std::string(secret)};
}

bool secret_matches(const std::string& secret, const std::string& salt, const std::string& hash) {
  const std::string given = hash_of(secret, salt);
  return !given.empty() && given.size() == hash.size() &&
         CRYPTO_memcmp(given.data(), hash.data(), given.size()) == 0;
}

// Hex digits enough for a secret, somewhere behind the prefix.
bool holds_token(std::string_view text) {
  const std::size_t begin = text.find(kPrefix);
  if (begin == std::string_view::npos) return false;
  std::size_t run = 0;
  for (const char c : text.substr(begin)) {
    run = is_hex(c) ? run + 1 : 0;
    if (run >= 2 * kSecretBytes) return true;
  }
  return false;
}

}  // namespace symnas::vnfsd::pki
