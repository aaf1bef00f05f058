// Bounds of telling load, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

// How often instances are read while somebody looks: what a person can follow.
inline constexpr std::int64_t kLoadLookMs = 1'000;
// Load is told over about this time: long enough for shares to be steady.
inline constexpr std::int64_t kLoadSpanMs = 3'000;
// Two looks that are closer than this say little.
inline constexpr std::int64_t kLoadSpanMinMs = 500;
// For so long after the last question load is told: whoever looks once a second asks anew in time.
inline constexpr std::int64_t kLoadWantedMs = 6'000;
// How often a head that is asked says so in etcd.
inline constexpr std::int64_t kLoadAskMs = 2'000;
// A table that was written earlier than this is its head's no more.
inline constexpr std::int64_t kLoadFreshMs = 4'000;
// How long the first answer waits for tables: two looks, and time for etcd.
inline constexpr std::int64_t kLoadAnswerMs = 3'000;
inline constexpr std::int64_t kLoadPollMs = 100;
// Per head and second in etcd, while somebody looks: with 16 heads 30 MiB a minute of history.
inline constexpr std::size_t kLoadTableBytes = 32 << 10;
inline constexpr std::int64_t kLoadStoreMs = 1'000;  // the next look is then due

static_assert(kLoadWantedMs > 2 * kLoadAskMs);
static_assert(kLoadFreshMs > 2 * kLoadLookMs + kLoadStoreMs);

}  // namespace symnas::vnfsd::daemon
