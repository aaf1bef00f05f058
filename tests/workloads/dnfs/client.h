// Client: runs a job over the servers of an oranfstab. One loop on one thread: it feeds Paths with
// what happens, does what they say, and asks the issuers for their next operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/workloads/dnfs/connection.h"
#include "tests/workloads/dnfs/issuer.h"
#include "tests/workloads/dnfs/oranfstab.h"

namespace symnas::dnfs {

struct ClientOptions {
  std::string oranfstab;  // its name, for messages
  PathLimits limits;
  int uid = -1;
  int gid = -1;
  bool progress = false;
};

class Client {
 public:
  // Errors: kInvalidArgument: a line of the oranfstab, or a file that lies below no export.
  static Result<std::unique_ptr<Client>> make(const std::vector<OraServer>& servers, const Job& job,
                                              BlockStates& states, const ClientOptions& options);
  ~Client();

  // Reads what earlier runs wrote, then runs the job. `stop` ends it early.
  // Errors: kUnavailable: no path of a server could be used within its mnt_timeout, and why.
  Status run(const std::atomic<bool>& stop);

  bool clean() const;  // no error, nothing corrupt
  nlohmann::json result() const;

 private:
  struct Lane;    // a path to an export, and its connection
  struct Volume;  // an export in use
  struct Request {
    Issuer* issuer = nullptr;
    Operation operation;
    std::size_t volume = 0;
    std::size_t file = 0;  // in the volume
  };
  // What a connection told.
  struct Happened {
    enum class Kind { kReady, kEnded, kIo } kind;
    std::size_t volume = 0;
    std::size_t path = 0;
    std::uint64_t serial = 0;
    RequestId request = 0;
    IoEnd end = IoEnd::kDone;
    std::uint32_t bytes = 0;  // moved
    std::string why;
    bool refused = false;
  };

  Client(const Job& job, BlockStates& states, const ClientOptions& options);
  Status add_volumes(const std::vector<OraServer>& servers);
  Status add_lanes(Volume& volume, const OraServer& server);
  Status connect(const std::atomic<bool>& stop);
  void run_issuers(std::vector<std::unique_ptr<Issuer>>& issuers, std::int64_t until_us,
                   const std::atomic<bool>& stop);
  // One turn: time, new operations if `issuing`, the network.
  void turn(std::vector<std::unique_ptr<Issuer>>& issuers, bool issuing);
  void submit(Issuer& issuer, const Operation& operation);
  void send_again();
  void apply(std::size_t volume, const PathEvent& event);
  void start(std::size_t volume, std::size_t path);
  void tell_drop(std::size_t volume, const Drop& drop);
  void send(std::size_t volume, const Send& send);
  void poll_lanes(std::int64_t wait_ms);
  void work_off();
  void take_io(const Happened& what);
  void finish(RequestId id, const std::string& error);
  void tell_progress();
  nlohmann::json threads_document() const;
  nlohmann::json paths_document() const;

  Job job_;
  BlockStates& states_;
  ClientOptions options_;
  std::vector<std::unique_ptr<Volume>> volumes_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // file -> volume, index in it
  std::vector<std::unique_ptr<Issuer>> verifiers_, issuers_;
  std::unordered_map<RequestId, Request> requests_;
  std::vector<std::pair<std::int64_t, RequestId>> later_;  // when to submit again
  std::vector<Happened> happened_;
  RequestId last_id_ = 0;
  std::uint64_t serial_ = 0;
  std::int64_t ticked_ms_ = 0;
  std::int64_t told_s_ = 0;
  std::int64_t began_s_ = 0, job_began_s_ = 0, ended_s_ = 0;  // time of day
};

}  // namespace symnas::dnfs
