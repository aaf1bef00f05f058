#include "common/kv/etcd/errors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace symnas::kv {
namespace {

struct Case {
  grpc::StatusCode status;
  const char* text;
  ErrorCode write;
  ErrorCode read;
};

// The texts are those of etcd 3.5 api/v3rpc/rpctypes/error.go and of gRPC 1.51.
const std::vector<Case> kCases = {
    {grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: too many operations in txn request",
     ErrorCode::kTooLarge, ErrorCode::kTooLarge},
    {grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: request is too large", ErrorCode::kTooLarge,
     ErrorCode::kTooLarge},
    {grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request",
     ErrorCode::kInvalidArgument, ErrorCode::kInvalidArgument},
    {grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: key is not provided",
     ErrorCode::kInvalidArgument, ErrorCode::kInvalidArgument},
    {grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded",
     ErrorCode::kNoSpace, ErrorCode::kNoSpace},
    {grpc::StatusCode::RESOURCE_EXHAUSTED,
     "grpc: received message larger than max (3000061 vs. 2097152)", ErrorCode::kTooLarge,
     ErrorCode::kTooLarge},
    {grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests", ErrorCode::kUnavailable,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted",
     ErrorCode::kCompacted, ErrorCode::kCompacted},
    {grpc::StatusCode::OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision",
     ErrorCode::kOutOfRange, ErrorCode::kOutOfRange},
    {grpc::StatusCode::PERMISSION_DENIED, "etcdserver: permission denied", ErrorCode::kPermission,
     ErrorCode::kPermission},
    // Certainly not executed.
    {grpc::StatusCode::UNAVAILABLE, "etcdserver: no leader", ErrorCode::kUnavailable,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::UNAVAILABLE,
     "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:1: refused",
     ErrorCode::kUnavailable, ErrorCode::kUnavailable},
    // Proposed, and perhaps executed.
    {grpc::StatusCode::UNAVAILABLE, "etcdserver: request timed out", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::UNAVAILABLE,
     "etcdserver: request timed out, possibly due to previous leader failure",
     ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable},
    {grpc::StatusCode::UNAVAILABLE, "etcdserver: server stopped", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::UNAVAILABLE, "etcdserver: leader changed", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::UNAVAILABLE, "Socket closed", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::UNAVAILABLE, "GOAWAY received", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::UNKNOWN, "raft proposal dropped", ErrorCode::kUnknownOutcome,
     ErrorCode::kUnavailable},
    {grpc::StatusCode::CANCELLED, "CANCELLED", ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable},
};

TEST(EtcdErrors, doubt_is_an_unknown_outcome) {
  for (const Case& c : kCases) {
    const grpc::Status status(c.status, c.text);
    EXPECT_EQ(to_string(error_of(status, Request::kMayWrite).code), to_string(c.write)) << c.text;
    EXPECT_EQ(to_string(error_of(status, Request::kReadOnly).code), to_string(c.read)) << c.text;
  }
}

TEST(EtcdErrors, the_message_names_the_cause) {
  const grpc::Status status(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  EXPECT_EQ(error_of(status, Request::kMayWrite).message, "etcd: Socket closed");
}

TEST(EtcdErrors, only_doubt_and_absence_blame_the_member) {
  EXPECT_TRUE(blames_member(Error{ErrorCode::kUnavailable, ""}));
  EXPECT_TRUE(blames_member(Error{ErrorCode::kUnknownOutcome, ""}));
  EXPECT_FALSE(blames_member(Error{ErrorCode::kNoSpace, ""}));
  EXPECT_FALSE(blames_member(Error{ErrorCode::kInvalidArgument, ""}));
}

}  // namespace
}  // namespace symnas::kv
