#include "common/kv/etcd/errors.h"

#include <string>
#include <string_view>

#include "common/base/check.h"

namespace symnas::kv {

namespace {

ErrorCode code_of(const grpc::Status& status, Request request) {
  const std::string text = status.error_message();
  const auto says = [&text](std::string_view part) { return text.find(part) != std::string::npos; };
  const ErrorCode ambiguous =
      request == Request::kMayWrite ? ErrorCode::kUnknownOutcome : ErrorCode::kUnavailable;
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return says("too many operations") || says("request is too large")
                 ? ErrorCode::kTooLarge
                 : ErrorCode::kInvalidArgument;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      if (says("database space exceeded")) return ErrorCode::kNoSpace;
      if (says("larger than max")) return ErrorCode::kTooLarge;
      return says("too many requests") ? ErrorCode::kUnavailable : ambiguous;
    case grpc::StatusCode::OUT_OF_RANGE:
      return says("compacted") ? ErrorCode::kCompacted : ErrorCode::kOutOfRange;
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED: return ErrorCode::kPermission;
    case grpc::StatusCode::UNAVAILABLE:
      // The first text is etcd's refusal of a request that demands a leader; the second is gRPC's
      // refusal before any send. All other texts ("request timed out", "server stopped", a reset)
      // can follow an execution.
      return says("etcdserver: no leader") || says("failed to connect to all addresses")
                 ? ErrorCode::kUnavailable
                 : ambiguous;
    default: return ambiguous;
  }
}

}  // namespace

Error error_of(const grpc::Status& status, Request request) {
  CHECK(!status.ok());
  return Error{code_of(status, request), "etcd: " + status.error_message()};
}

bool blames_member(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kUnknownOutcome;
}

}  // namespace symnas::kv
