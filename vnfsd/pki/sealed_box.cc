#include "vnfsd/pki/sealed_box.h"

#include <openssl/kdf.h>
#include <openssl/rand.h>

#include <memory>

#include <fmt/core.h>

#include "vnfsd/pki/handles.h"

namespace symnas::vnfsd::pki {
namespace {

using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freer<EVP_PKEY_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Freer<EVP_CIPHER_CTX_free>>;

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::string_view kPurpose = "symnas sealed box 1";

unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Result<std::string> random_bytes(std::size_t count) {
  std::string out(count, '\0');
  if (RAND_bytes(bytes(out), static_cast<int>(count)) != 1) return crypto_error("drawing a key");
  return out;
}

// Nonce, ciphertext, tag.
Result<std::string> encrypt(const std::string& key, std::string_view text, std::string_view about) {
  SYMNAS_ASSIGN(std::string out, random_bytes(kNonceBytes));
  const CipherContext context(EVP_CIPHER_CTX_new());
  std::string cipher(text.size(), '\0');
  std::string tag(kTagBytes, '\0');
  int size = 0;
  if (!context ||
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(std::string_view(key)),
                         bytes(out)) != 1 ||
      EVP_EncryptUpdate(context.get(), nullptr, &size, bytes(about),
                        static_cast<int>(about.size())) != 1 ||
      EVP_EncryptUpdate(context.get(), bytes(cipher), &size, bytes(text),
                        static_cast<int>(text.size())) != 1 ||
      EVP_EncryptFinal_ex(context.get(), bytes(tag), &size) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) != 1) {
    return crypto_error("sealing");
  }
  return out + cipher + tag;
}

Result<std::string> decrypt(const std::string& key, std::string_view box, std::string_view about) {
  const auto damaged = [] {
    return fail(ErrorCode::kCorrupt, "it does not open: was it changed?");
  };
  if (box.size() < kNonceBytes + kTagBytes) return damaged();
  std::string tag(box.substr(box.size() - kTagBytes));
  const std::string_view cipher = box.substr(kNonceBytes, box.size() - kNonceBytes - kTagBytes);
  std::string text(cipher.size(), '\0');
  std::string rest(kTagBytes, '\0');
  const CipherContext context(EVP_CIPHER_CTX_new());
  int size = 0;
  if (!context ||
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(std::string_view(key)),
                         bytes(box)) != 1 ||
      EVP_DecryptUpdate(context.get(), nullptr, &size, bytes(about),
                        static_cast<int>(about.size())) != 1 ||
      EVP_DecryptUpdate(context.get(), bytes(text), &size, bytes(cipher),
                        static_cast<int>(cipher.size())) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) != 1) {
    return crypto_error("unsealing");
  }
  if (EVP_DecryptFinal_ex(context.get(), bytes(rest), &size) != 1) return damaged();
  return text;
}

Key private_key(const std::string& secret) {
  return Key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes(std::string_view(secret)),
                                          secret.size()));
}

// What both sides of an exchange know, as a key for one wrap.
Result<std::string> shared_key(EVP_PKEY* own, const std::string& other, std::string_view salt) {
  const Key peer(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr,
                                             bytes(std::string_view(other)), other.size()));
  const KeyContext exchange(EVP_PKEY_CTX_new(own, nullptr));
  std::string shared(kBoxKeyBytes, '\0');
  std::size_t size = shared.size();
  if (!peer || !exchange || EVP_PKEY_derive_init(exchange.get()) != 1 ||
      EVP_PKEY_derive_set_peer(exchange.get(), peer.get()) != 1 ||
      EVP_PKEY_derive(exchange.get(), bytes(shared), &size) != 1) {
    return fail(ErrorCode::kInvalidArgument, "a head's public key cannot be used");
  }
  const KeyContext kdf(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
  std::string key(kBoxKeyBytes, '\0');
  std::size_t length = key.size();
  if (!kdf || EVP_PKEY_derive_init(kdf.get()) != 1 ||
      EVP_PKEY_CTX_set_hkdf_md(kdf.get(), EVP_sha256()) != 1 ||
      EVP_PKEY_CTX_set1_hkdf_salt(kdf.get(), bytes(salt), static_cast<int>(salt.size())) != 1 ||
      EVP_PKEY_CTX_set1_hkdf_key(kdf.get(), bytes(std::string_view(shared)),
                                 static_cast<int>(shared.size())) != 1 ||
      EVP_PKEY_CTX_add1_hkdf_info(kdf.get(), bytes(kPurpose), static_cast<int>(kPurpose.size())) !=
          1 ||
      EVP_PKEY_derive(kdf.get(), bytes(key), &length) != 1) {
    return crypto_error("deriving a key");
  }
  return key;
}

// The public half of a key pair made for this wrap, then the wrapped key.
Result<std::string> wrap(const std::string& key, const std::string& about,
                         const std::string& public_key) {
  SYMNAS_ASSIGN(const BoxKey once, make_box_key());
  const Key own = private_key(once.secret);
  SYMNAS_ASSIGN(const std::string shared,
                shared_key(own.get(), public_key, once.public_key + public_key));
  SYMNAS_ASSIGN(const std::string wrapped, encrypt(shared, key, about));
  return once.public_key + wrapped;
}

}  // namespace

Result<BoxKey> box_key_of(const std::string& secret) {
  if (secret.size() != kBoxKeyBytes)
    return fail(ErrorCode::kInvalidArgument, fmt::format("not {} bytes", kBoxKeyBytes));
  const Key key = private_key(secret);
  BoxKey pair{secret, std::string(kBoxKeyBytes, '\0')};
  std::size_t size = kBoxKeyBytes;
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), bytes(pair.public_key), &size) != 1)
    return crypto_error("making a key");
  return pair;
}

Result<BoxKey> make_box_key() {
  SYMNAS_ASSIGN(const std::string secret, random_bytes(kBoxKeyBytes));
  return box_key_of(secret);
}

Result<SealedBox> seal(std::string_view secret, const std::string& about,
                       const std::map<std::string, std::string>& heads) {
  SYMNAS_ASSIGN(const std::string key, random_bytes(kBoxKeyBytes));
  SealedBox sealed;
  SYMNAS_ASSIGN(sealed.box, encrypt(key, secret, about));
  for (const auto& [head, public_key] : heads) {
    auto wrapped = wrap(key, about, public_key);
    if (wrapped) sealed.wraps[head] = std::move(*wrapped);
    // One head that says nonsense does not keep the others from it.
    const bool is_unusable = !wrapped && wrapped.error().code == ErrorCode::kInvalidArgument;
    if (!wrapped && !is_unusable) return tl::unexpected<Error>(wrapped.error());
  }
  if (sealed.wraps.empty())
    return fail(ErrorCode::kInvalidArgument, "no head has a public key that can be used");
  return sealed;
}

Result<std::string> unseal(const SealedBox& sealed, const std::string& about,
                           const std::string& head, const BoxKey& key) {
  const auto found = sealed.wraps.find(head);
  if (found == sealed.wraps.end() || found->second.size() <= kBoxKeyBytes)
    return fail(ErrorCode::kPermission, "it is not sealed for this head yet");
  const std::string once = found->second.substr(0, kBoxKeyBytes);
  const Key own = private_key(key.secret);
  const auto shared = shared_key(own.get(), once, once + key.public_key);
  if (!shared) return fail(ErrorCode::kCorrupt, "its wrap for this head is damaged");
  const auto unwrapped =
      decrypt(*shared, std::string_view(found->second).substr(kBoxKeyBytes), about);
  if (!unwrapped) return fail(ErrorCode::kPermission, "it is sealed for another key of this head");
  return decrypt(*unwrapped, sealed.box, about);
}

}  // namespace symnas::vnfsd::pki
