// Bounds of ha/reservation, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::ha {

// PERSISTENT RESERVE IN has an allocation length of 16 bits: 8 bytes of header, 8 per key.
inline constexpr std::size_t kReadKeysBytesMax = 65'528;
inline constexpr std::size_t kReadKeysBytesFirst = 2'056;  // 256 keys: 16 heads with 16 paths each
static_assert(kReadKeysBytesFirst < kReadKeysBytesMax);
inline constexpr std::size_t kVpdBytesMax = 1'024;  // of page 83h
// A reservation report of NVMe: the header and 64 bytes per controller.
inline constexpr std::size_t kNvmeReportBytesMax = 65'536;

// One SCSI command. The kernel's own time-out of PR OUT is 30 s; when a path hangs longer, the
// deadline of the whole step gives it up.
inline constexpr std::uint32_t kCommandTimeoutMs = 10'000;
// A unit attention is reported once per event: a few come in a row while other heads register.
inline constexpr int kCommandTriesMax = 8;
// Other heads may register or preempt between two reads of one LUN.
inline constexpr int kLookTriesMax = 8;
// When a preempted key comes back at once, somebody breaks the rules.
inline constexpr int kPreemptTriesMax = 3;
inline constexpr int kReserveTriesMax = 4;
// An adapter resets one LUN at a time, in some milliseconds if nothing hangs: the others try again.
inline constexpr unsigned kResetPauseUs = 50'000;
inline constexpr int kResetWaitsMax = 1'000;
inline constexpr int kResetTriesMax = 5;  // failed tries

inline constexpr std::size_t kLunsMax = 1'024;  // in one command; one short-lived process each
inline constexpr std::int64_t kStepTimeoutMs = 5'000;  // default of both time-outs
inline constexpr std::int64_t kStepTimeoutMsMax = 600'000;
inline constexpr std::size_t kJournalBytesMax = 1u << 20;
inline constexpr std::size_t kIncarnationCharsMax = 512;

}  // namespace symnas::ha
