// Translation of gRPC statuses from etcd into errors of the Store. Thread-safe: pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include "common/base/result.h"

namespace symnas::kv {

enum class Request { kReadOnly, kMayWrite };

// Only refusals by etcd or gRPC before execution are definite. Everything else is kUnknownOutcome
// for a request that may write, and kUnavailable for one that does not. REQUIRES: !status.ok().
// Source: etcd 3.5 api/v3rpc/rpctypes/error.go.
Error error_of(const grpc::Status& status, Request request);

// True when another member may be able to answer where this one did not.
bool blames_member(const Error& error);

}  // namespace symnas::kv
