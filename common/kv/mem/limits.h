// Bounds of common/kv/mem: those of an etcd member as symnas starts it.
#pragma once

#include <cstdint>

#include "common/kv/store.h"

namespace symnas::kv {

inline constexpr int kMemTxnOpsMax = 2048;                      // --max-txn-ops 2048
inline constexpr std::int64_t kMemRequestBytesMax = 1'572'864;  // --max-request-bytes, 1.5 MiB
inline constexpr std::int64_t kMemOpOverheadBytes = 16;      // protobuf framing of an op, roughly
inline constexpr std::int64_t kMemLatencyNsMax = 2'000'000;  // one way, in a simulation

static_assert(kTxnOpsMax <= kMemTxnOpsMax, "callers stay below what the store accepts");
static_assert(kTxnBytesMax < kMemRequestBytesMax, "callers stay below what the store accepts");

}  // namespace symnas::kv
