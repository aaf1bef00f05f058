// Sealed boxes: a secret that certain heads can open, and nobody else, wherever it is kept.
//
// The secret is encrypted once, with a key of its own (AES-256-GCM). That key is wrapped for each
// head: X25519 with a key pair made for this purpose, HKDF-SHA256, AES-256-GCM. `about` is
// authenticated with both: a box cannot be passed off as one about something else.
// Format: docs/formats/control_records.md. Thread-safe: pure functions but for the randomness.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd::pki {

inline constexpr std::size_t kBoxKeyBytes = 32;

// A head's key pair.
struct BoxKey {
  std::string secret;      // kBoxKeyBytes; only ever in a file of mode 0600
  std::string public_key;  // kBoxKeyBytes
};
// Errors: kInternal (libcrypto).
Result<BoxKey> make_box_key();
// The pair of this secret. Errors: kInvalidArgument (not kBoxKeyBytes of them), kInternal.
Result<BoxKey> box_key_of(const std::string& secret);

struct SealedBox {
  std::string box;                           // nonce, ciphertext, tag
  std::map<std::string, std::string> wraps;  // by the head's name: its key, wrapped
};

// heads: public keys by name. One that cannot be used has no wrap. Errors: kInvalidArgument (none
// of them can be used), kInternal.
Result<SealedBox> seal(std::string_view secret, const std::string& about,
                       const std::map<std::string, std::string>& heads);
// Errors: kPermission (there is no wrap for `head`, or it is not for this key), kCorrupt (the box
// was changed, or is about something else).
Result<std::string> unseal(const SealedBox& sealed, const std::string& about,
                           const std::string& head, const BoxKey& key);

}  // namespace symnas::vnfsd::pki
