#include "tests/workloads/dnfs/client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::dnfs {
namespace {

constexpr std::int64_t kTickMs = 20;
constexpr std::int64_t kLaterMs = 100;  // the server asked to come again later
constexpr std::int64_t kMaxWaitMs = 20;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t now_ms() { return now_us() / 1000; }
std::int64_t epoch_s() { return static_cast<std::int64_t>(::time(nullptr)); }

const char* word(PathState state) {
  switch (state) {
    case PathState::kDown: return "down";
    case PathState::kConnecting: return "connecting";
    case PathState::kUp: return "up";
  }
  return "?";
}

nlohmann::json second_document(std::int64_t at, const Issuer::Counters& counters) {
  const auto found = counters.seconds.find(at);
  const Issuer::Second second = found == counters.seconds.end() ? Issuer::Second{} : found->second;
  return {{"t", at}, {"ops", second.ops}, {"bytes", second.bytes}, {"max_us", second.max_us}};
}

// Seconds in which nothing ended are there, too, with zeroes.
nlohmann::json thread_document(const Issuer& issuer, std::int64_t from, std::int64_t to) {
  const Issuer::Counters& counters = issuer.counters();
  nlohmann::json seconds = nlohmann::json::array();
  for (std::int64_t at = from; at <= to; ++at) seconds.push_back(second_document(at, counters));
  const Latency& latency = counters.latency;
  return {{"name", issuer.job().name},
          {"file", issuer.job().file},
          {"ops", counters.ops},
          {"bytes", counters.bytes},
          {"errors", counters.errors},
          {"corrupt", counters.corrupt},
          {"read_again", counters.read_again},
          {"findings", counters.texts},
          {"latency_us",
           {{"p50", latency.quantile(0.5)},
            {"p90", latency.quantile(0.9)},
            {"p99", latency.quantile(0.99)},
            {"p999", latency.quantile(0.999)},
            {"max", latency.max()}}},
          {"per_second", std::move(seconds)}};
}

}  // namespace

struct Client::Lane {
  OraPath path;
  LocalAddress local;
  std::unique_ptr<Connection> connection;
  std::uint64_t serial = 0;  // of the connection: what an earlier one did counts no more
  std::string why;           // of the last failure
  bool refused = false;
};

struct Client::Volume {
  std::string server;
  std::string exported;
  int version = 3;
  int mnt_timeout_s = 0;
  std::vector<FileToOpen> files;
  std::vector<Lane> lanes;
  std::unique_ptr<Paths> paths;
};

Client::Client(const Job& job, BlockStates& states, const ClientOptions& options)
    : job_(job), states_(states), options_(options) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(const std::vector<OraServer>& servers, const Job& job,
                                             BlockStates& states, const ClientOptions& options) {
  std::unique_ptr<Client> client(new Client(job, states, options));
  SYMNAS_TRY(client->add_volumes(servers));
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!states.has_past(i)) continue;
    FileBlocks& file = states.file(i);
    ThreadJob all{.name = "verify:" + file.path(), .file = file.path(), .mode = Mode::kVerify};
    all.block_bytes = file.unit_bytes();
    all.size_bytes = file.units() * file.unit_bytes();
    all.depth = 16;
    client->verifiers_.push_back(std::make_unique<Issuer>(all, file));
  }
  for (const ThreadJob& thread : job.threads)
    client->issuers_.push_back(
        std::make_unique<Issuer>(thread, states.file(states.index_of(thread.file))));
  return client;
}

Status Client::add_volumes(const std::vector<OraServer>& servers) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::string& path = states_.file(i).path();
    SYMNAS_ASSIGN(const OraFile place, find_file(servers, path));
    const OraServer& server = servers[place.server];
    const OraExport& exported = server.exports[place.exported];
    auto volume = std::find_if(volumes_.begin(), volumes_.end(), [&](const auto& one) {
      return one->server == server.name && one->exported == exported.exported;
    });
    if (volume == volumes_.end()) {
      volumes_.push_back(std::make_unique<Volume>());
      volume = volumes_.end() - 1;
      (*volume)->exported = exported.exported;
      SYMNAS_TRY(add_lanes(**volume, server));
    }
    const bool writes = std::any_of(
        job_.threads.begin(), job_.threads.end(),
        [&](const ThreadJob& thread) { return thread.file == path && thread.writes(); });
    places_.emplace_back(volume - volumes_.begin(), (*volume)->files.size());
    (*volume)->files.push_back({.path = place.path, .create = writes, .write = writes});
  }
  return {};
}

Status Client::add_lanes(Volume& volume, const OraServer& server) {
  volume.server = server.name;
  volume.mnt_timeout_s = server.mnt_timeout_s;
  if (server.nfs_version != "nfsv3" && server.nfs_version != "nfsv4")
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} line {}: nfs_version {}: this client speaks nfsv3 and nfsv4; write "
                            "one of these",
                            options_.oranfstab, server.version_line, server.nfs_version));
  volume.version = server.nfs_version == "nfsv4" ? 4 : 3;
  for (const ThreadJob& thread : job_.threads)
    if (volume.version == 4 && thread.writes() && thread.block_bytes > kMaxWriteBytesV4)
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{} line {}: nfs_version nfsv4, and thread {} writes blocks of {} bytes: "
                      "libnfs writes {} at most with NFSv4; take nfsv3, or smaller blocks",
                      options_.oranfstab, server.version_line, thread.name, thread.block_bytes,
                      kMaxWriteBytesV4));
  for (const OraPath& path : server.paths) {
    auto local = LocalAddress::resolve(path.local, server.dontroute);
    if (!local)
      return fail(ErrorCode::kInvalidArgument, fmt::format("{} line {}: {}", options_.oranfstab,
                                                           path.local_line, local.error().message));
    volume.lanes.push_back({});
    volume.lanes.back().path = path;
    volume.lanes.back().local = *local;
  }
  volume.paths = std::make_unique<Paths>(server.paths.size(), options_.limits);
  return {};
}

Status Client::run(const std::atomic<bool>& stop) {
  SYMNAS_TRY(connect(stop));
  began_s_ = told_s_ = epoch_s();
  run_issuers(verifiers_, INT64_MAX, stop);
  job_began_s_ = epoch_s();
  run_issuers(issuers_, now_us() + job_.seconds * 1'000'000, stop);
  ended_s_ = epoch_s();
  return {};
}

Status Client::connect(const std::atomic<bool>& stop) {
  const std::int64_t began = now_ms();
  std::vector<std::unique_ptr<Issuer>> nobody;
  while (true) {
    turn(nobody, false);
    bool all = true;
    for (const auto& volume : volumes_) {
      if (volume->paths->any_up()) continue;
      all = false;
      bool tried = true;
      bool refused = false;
      std::string why;
      for (std::size_t i = 0; i < volume->lanes.size(); ++i) {
        const Lane& lane = volume->lanes[i];
        tried &= volume->paths->counters(i).failures > 0;
        refused |= lane.refused;
        why += fmt::format("\n  line {}: path {}: {}", lane.path.line, lane.path.remote,
                           lane.why.empty() ? "no answer" : lane.why);
      }
      const bool late = now_ms() - began >= volume->mnt_timeout_s * std::int64_t{1000};
      if (!late && !stop && !(tried && refused)) continue;
      return fail(ErrorCode::kUnavailable,
                  fmt::format("server {}, export {}: no path can be used; look at these lines of "
                              "{}:{}",
                              volume->server, volume->exported, options_.oranfstab, why));
    }
    if (all) return {};
  }
}

void Client::run_issuers(std::vector<std::unique_ptr<Issuer>>& issuers, std::int64_t until_us,
                         const std::atomic<bool>& stop) {
  while (!stop && now_us() < until_us &&
         !std::all_of(issuers.begin(), issuers.end(), [](const auto& one) { return one->over(); }))
    turn(issuers, true);
  // What was begun ends; with no path it ends at wait_ms, and a second wish to stop is SIGKILL.
  while (!requests_.empty()) turn(issuers, false);
}

void Client::turn(std::vector<std::unique_ptr<Issuer>>& issuers, bool issuing) {
  if (now_ms() - ticked_ms_ >= kTickMs) {
    ticked_ms_ = now_ms();
    for (std::size_t i = 0; i < volumes_.size(); ++i) apply(i, Tick{});
    send_again();
    tell_progress();
  }
  std::int64_t wake_us = INT64_MAX;
  if (issuing) {
    for (auto& issuer : issuers) {
      while (const auto operation = issuer->next(now_us())) submit(*issuer, *operation);
      wake_us = std::min(wake_us, issuer->wake_us());
    }
  }
  work_off();
  const std::int64_t wait_ms =
      wake_us == INT64_MAX ? kMaxWaitMs : (wake_us - now_us() + 999) / 1000;
  poll_lanes(std::clamp<std::int64_t>(wait_ms, 0, kMaxWaitMs));
  work_off();
}

void Client::submit(Issuer& issuer, const Operation& operation) {
  const auto [volume, file] = places_[states_.index_of(issuer.job().file)];
  const RequestId id = ++last_id_;
  requests_[id] = Request{&issuer, operation, volume, file};
  apply(volume, Submitted{id, operation.bytes});
}

void Client::send_again() {
  std::vector<RequestId> due;
  std::erase_if(later_, [&](const auto& one) {
    if (one.first > now_ms()) return false;
    due.push_back(one.second);
    return true;
  });
  for (const RequestId id : due)
    apply(requests_.at(id).volume, Submitted{id, requests_.at(id).operation.bytes});
}

void Client::apply(std::size_t index, const PathEvent& event) {
  Volume& volume = *volumes_[index];
  for (const PathAction& action : volume.paths->step(now_ms(), event)) {
    if (const auto* connect = std::get_if<Connect>(&action)) start(index, connect->path);
    if (const auto* drop = std::get_if<Drop>(&action)) {
      tell_drop(index, *drop);
      Lane& lane = volume.lanes[drop->path];
      lane.why = drop->why;
      lane.serial = 0;
      lane.connection.reset();
    }
    if (const auto* one = std::get_if<Send>(&action)) send(index, *one);
    if (const auto* gone = std::get_if<GiveUp>(&action))
      finish(gone->request, fmt::format("no path to server {} for {} s", volume.server,
                                        options_.limits.wait_ms / 1000));
  }
}

void Client::start(std::size_t index, std::size_t path) {
  Volume& volume = *volumes_[index];
  Lane& lane = volume.lanes[path];
  const std::uint64_t serial = lane.serial = ++serial_;
  ConnectionTarget target{.server = lane.path.remote,
                          .exported = volume.exported,
                          .local = lane.local,
                          .version = volume.version,
                          .uid = options_.uid,
                          .gid = options_.gid,
                          .owner = fmt::format("dnfs {} {} {}", ::getpid(), epoch_s(), serial)};
  const auto happen = [this, index, path, serial](Happened what) {
    what.volume = index;
    what.path = path;
    what.serial = serial;
    happened_.push_back(std::move(what));
  };
  ConnectionEvents events;
  events.ready = [happen] { happen({.kind = Happened::Kind::kReady}); };
  events.ended = [happen](const std::string& why, bool refused) {
    happen({.kind = Happened::Kind::kEnded, .why = why, .refused = refused});
  };
  events.io = [this, happen](RequestId id, IoEnd end, const std::string& why,
                             std::span<const char> data) {
    Happened what{.kind = Happened::Kind::kIo, .request = id, .end = end, .why = why};
    const auto at = requests_.find(id);
    if (end == IoEnd::kDone && at != requests_.end()) {
      const Operation& operation = at->second.operation;
      what.bytes = operation.write ? operation.bytes : static_cast<std::uint32_t>(data.size());
      if (!operation.write) at->second.issuer->take(operation.slot, data);
    }
    happen(std::move(what));
  };
  lane.connection = std::make_unique<Connection>(target, volume.files, events);
  lane.connection->begin();
}

void Client::tell_drop(std::size_t index, const Drop& drop) {
  const Volume& volume = *volumes_[index];
  const Lane& lane = volume.lanes[drop.path];
  if (!drop.outage && drop.why == lane.why) return;
  const PathCounters& counters = volume.paths->counters(drop.path);
  std::string text = drop.why;
  if (counters.silent_data > 0)
    text +=
        "; it connects and mounts, but answers no request with data: do large packets pass? "
        "Compare the MTU of both ends, and of what is between them";
  fmt::print(stderr, "{} line {}: path {}{}: {}\n", options_.oranfstab, lane.path.line,
             lane.path.remote, lane.path.local.empty() ? "" : " from " + lane.path.local, text);
}

void Client::send(std::size_t index, const Send& what) {
  const Request& request = requests_.at(what.request);
  Connection& connection = *volumes_[index]->lanes[what.path].connection;
  const Operation& operation = request.operation;
  if (operation.write)
    connection.write(what.request, request.file, operation.offset, operation.data);
  else
    connection.read(what.request, request.file, operation.offset, operation.bytes);
}

void Client::poll_lanes(std::int64_t wait_ms) {
  std::vector<pollfd> polled;
  std::vector<Connection*> connections;
  for (const auto& volume : volumes_) {
    for (const Lane& lane : volume->lanes) {
      if (!lane.connection || lane.connection->fd() < 0) continue;
      polled.push_back({lane.connection->fd(), lane.connection->wanted(), 0});
      connections.push_back(lane.connection.get());
    }
  }
  if (::poll(polled.data(), polled.size(), static_cast<int>(wait_ms)) <= 0) return;
  for (std::size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0) connections[i]->service(polled[i].revents);
}

void Client::work_off() {
  while (!happened_.empty()) {
    std::vector<Happened> now;
    now.swap(happened_);
    for (const Happened& what : now) {
      Lane& lane = volumes_[what.volume]->lanes[what.path];
      if (what.serial != lane.serial) continue;
      switch (what.kind) {
        case Happened::Kind::kReady:
          if (!lane.why.empty())
            fmt::print(stderr, "{} line {}: path {} is back\n", options_.oranfstab, lane.path.line,
                       lane.path.remote);
          lane.refused = false;
          apply(what.volume, Connected{what.path});
          break;
        case Happened::Kind::kEnded:
          lane.refused = what.refused;
          apply(what.volume, ConnectionEnded{what.path, what.why});
          break;
        case Happened::Kind::kIo: take_io(what); break;
      }
    }
  }
}

void Client::take_io(const Happened& what) {
  if (what.end == IoEnd::kTransport)
    return apply(what.volume, ConnectionEnded{what.path, what.why});
  apply(what.volume, Answered{what.request, what.bytes});
  const auto at = requests_.find(what.request);
  if (at == requests_.end()) return;
  if (what.end == IoEnd::kDone) return finish(what.request, "");
  const std::int64_t waited_ms =
      (now_us() - at->second.issuer->begun_us(at->second.operation.slot)) / 1000;
  const bool wait = options_.limits.wait_ms == 0 || waited_ms < options_.limits.wait_ms;
  if (what.end == IoEnd::kLater && wait)
    later_.emplace_back(now_ms() + kLaterMs, what.request);
  else
    finish(what.request, what.why);
}

void Client::finish(RequestId id, const std::string& error) {
  const auto node = requests_.extract(id);
  if (node.empty()) return;
  const Request& request = node.mapped();
  if (const auto again = request.issuer->finish(request.operation.slot, now_us(), epoch_s(), error))
    submit(*request.issuer, *again);
}

bool Client::clean() const {
  const auto good = [](const auto& one) {
    return one->counters().errors == 0 && one->counters().corrupt == 0;
  };
  return std::all_of(issuers_.begin(), issuers_.end(), good) &&
         std::all_of(verifiers_.begin(), verifiers_.end(), good);
}

nlohmann::json Client::threads_document() const {
  nlohmann::json threads = nlohmann::json::array();
  for (const auto& issuer : verifiers_)
    threads.push_back(thread_document(*issuer, began_s_, job_began_s_));
  for (const auto& issuer : issuers_)
    threads.push_back(thread_document(*issuer, job_began_s_, ended_s_));
  return threads;
}

nlohmann::json Client::paths_document() const {
  nlohmann::json paths = nlohmann::json::array();
  for (const auto& volume : volumes_) {
    for (std::size_t i = 0; i < volume->lanes.size(); ++i) {
      const Lane& lane = volume->lanes[i];
      const PathCounters& counters = volume->paths->counters(i);
      paths.push_back({{"path", lane.path.remote},
                       {"local", lane.path.local},
                       {"line", lane.path.line},
                       {"server", volume->server},
                       {"export", volume->exported},
                       {"bytes", counters.bytes},
                       {"requests", counters.requests},
                       {"state", word(counters.state)},
                       {"failures", counters.failures},
                       {"returns", counters.returns},
                       {"reissued", counters.reissued},
                       {"last_failure", lane.why}});
    }
  }
  return paths;
}

nlohmann::json Client::result() const {
  return {{"threads", threads_document()}, {"paths", paths_document()}};
}

void Client::tell_progress() {
  if (!options_.progress || told_s_ == 0 || epoch_s() <= told_s_) return;
  const std::int64_t at = told_s_;  // this second is over
  told_s_ = epoch_s();
  nlohmann::json threads = nlohmann::json::array();
  for (const auto& issuer : issuers_) {
    nlohmann::json one = second_document(at, issuer->counters());
    one["name"] = issuer->job().name;
    one["errors"] = issuer->counters().errors;
    one["corrupt"] = issuer->counters().corrupt;
    threads.push_back(std::move(one));
  }
  nlohmann::json paths = nlohmann::json::array();
  for (const auto& volume : volumes_)
    for (std::size_t i = 0; i < volume->lanes.size(); ++i)
      paths.push_back({{"path", volume->lanes[i].path.remote},
                       {"state", word(volume->paths->counters(i).state)},
                       {"bytes", volume->paths->counters(i).bytes}});
  fmt::print("{}\n", nlohmann::json{{"t", at}, {"threads", threads}, {"paths", paths}}.dump());
  std::fflush(stdout);
}

}  // namespace symnas::dnfs
