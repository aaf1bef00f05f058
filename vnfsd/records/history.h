// The history of a VNFS: its instances, one after the other, and how its clients fared in between.
// Pure functions; nothing is decided by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd {

// Steps, in the order in which they are taken. The source of a move:
namespace step {
inline constexpr std::string_view kRetiring = "retiring";  // begins no request any more
inline constexpr std::string_view kFinished = "requests finished";
inline constexpr std::string_view kAcknowledged = "replies acknowledged";
inline constexpr std::string_view kClosed = "mounts closed";
inline constexpr std::string_view kSilenced = "VIPs removed";
// Steps of every instance that ends:
inline constexpr std::string_view kEnded = "ended";
inline constexpr std::string_view kReaped = "reaped";
inline constexpr std::string_view kProved = "end proved";
// Steps of an instance that ends with its head:
inline constexpr std::string_view kSilent = "head silent";
inline constexpr std::string_view kFencing = "fence begun";
inline constexpr std::string_view kFenced = "fence proved";
// Steps of every instance that comes:
inline constexpr std::string_view kPrepared = "prepared";  // started up to the claim
inline constexpr std::string_view kClaimed = "claimed";
inline constexpr std::string_view kLaunched = "launched";
inline constexpr std::string_view kListening = "listening";
inline constexpr std::string_view kServing = "serving";
// Then steps of its clients, as the instance saw them; kLastReclaim is the last reclaim so far:
inline constexpr std::string_view kFirstRequest = "first request";
inline constexpr std::string_view kLastReclaim = "last reclaim";
}  // namespace step

void add_step(google::protobuf::RepeatedPtrField<records::Step>& steps, std::string_view name,
              std::int64_t at_ns);

// From one instance to the next.
struct Transition {
  enum class Cause { kStart, kRestart, kMove, kFailover };
  Cause cause = Cause::kStart;
  std::string from;  // head, "" = none
  std::string to;
  std::uint64_t epoch = 0;        // of the later one
  std::int64_t began_ns = 0;      // wall clock, the first step
  std::int64_t blackout_ms = -1;  // from the last answer of one to the first of the other; -1: not
                                  // known, or the VNFS was stopped in between
  std::vector<records::Step> steps;  // of both, by time
  std::uint64_t kept = 0;
  std::string error;
};
const char* name_of(Transition::Cause cause);

// `tenures`: of one VNFS, by epoch. The times of two heads are compared, which is as right as their
// clocks are.
std::vector<Transition> transitions(const std::vector<records::TenureRecord>& tenures);
nlohmann::json history_document(const std::vector<records::TenureRecord>& tenures);

// Errors: those of the store, kCorrupt.
Result<std::vector<records::TenureRecord>> read_history(kv::Store& store, const std::string& vnfs,
                                                        std::int64_t deadline_ms);

}  // namespace symnas::vnfsd
