// Bounds of a support bundle, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::support {

// Of one file, journal or answer the end is taken: days of a log, and what can be sent by mail.
inline constexpr std::size_t kMemberBytesMax = 10 << 20;
// Of all of them, before they are compressed (ten to one for logs).
inline constexpr std::uint64_t kBundleBytesMax = 512ull << 20;
inline constexpr int kJournalLines = 40'000;  // about kMemberBytesMax
inline constexpr std::size_t kLogFilesMax = 64;
inline constexpr std::size_t kInstancesMax = 64;

// One program; a path of a LUN that is gone keeps some of them waiting.
inline constexpr std::int64_t kProgramMs = 10'000;
// One answer of vnfsd, and all of them: most wait for etcd, which may be away.
inline constexpr std::int64_t kAnswerMs = 15'000;
inline constexpr std::int64_t kAnswersMs = 60'000;
// After that nothing more is begun: somebody waits at the terminal.
inline constexpr std::int64_t kBundleMs = 180'000;

// Shorter values are in every text by chance. They are left out of where they are known to stand.
inline constexpr std::size_t kSecretBytesMin = 4;

static_assert(kAnswerMs < kAnswersMs && kAnswersMs < kBundleMs && kProgramMs < kBundleMs);

}  // namespace symnas::vnfsd::support
