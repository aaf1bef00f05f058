// Bounds of credentials and of the audit log, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

// Entries of the audit log that a head keeps in etcd: with 16 heads 8 MiB at most.
inline constexpr std::uint64_t kAuditPerHead = 512;
// Of them, of one credential, for what it was refused, failed at, or only tried: enough to see what
// it was after. The log has them all.
inline constexpr std::uint64_t kAuditNothingPerWho = 32;
static_assert(kAuditNothingPerWho * 4 <= kAuditPerHead);
inline constexpr std::size_t kAuditTextBytesMax = 400;  // of the path, and of the text
// Entries that wait for etcd: minutes of an administrator's work. The log has them all.
inline constexpr std::size_t kAuditWaitingMax = 256;
inline constexpr std::int64_t kAuditRetryMs = 1'000;
inline constexpr std::int64_t kAuditEndMs = 500;  // a restart of vnfsd does not wait for etcd
// How long before its end a certificate is told of: somebody who is away for three weeks sees it.
inline constexpr std::int64_t kCertificateWarnDays = 30;
inline constexpr std::int64_t kCertificateLookMs = 3'600'000;
inline constexpr std::int64_t kCertificateTellNs = 86'400'000'000'000;  // once a day
// Credentials: all of a kind are one answer.
inline constexpr std::size_t kTokensMax = 256;
inline constexpr std::size_t kCertificatesMax = 1024;

}  // namespace symnas::vnfsd::daemon
