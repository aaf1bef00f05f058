// dnfs_client: does what Oracle's Direct NFS Client does, with I/O that verifies itself. README.md
// has the job, the result and the exit status.
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tests/workloads/dnfs/client.h"

namespace {

using namespace symnas;
using namespace symnas::dnfs;

constexpr int kUnclean = 1;
constexpr int kUsage = 2;
constexpr int kNoPath = 3;

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { stop = true; }

struct Options {
  std::string oranfstab, file, job, out, state;
  std::int64_t seconds = 0;
  ClientOptions client;
};

void add_options(CLI::App& app, Options& options) {
  PathLimits& limits = options.client.limits;
  app.add_option("--oranfstab", options.oranfstab, "servers, paths and exports")->required();
  app.add_option("--job", options.job, "JSON: what the threads do")->required();
  app.add_option("--out", options.out, "result, JSON; - is standard output")->required();
  app.add_option("--file", options.file, "file of threads that name none: its path on the server");
  app.add_option("--seconds", options.seconds, "instead of the job's")
      ->check(CLI::Range(1, 31'536'000));
  app.add_flag("--progress", options.client.progress, "a line of JSON each second");
  app.add_option("--state", options.state, "keeps what was acknowledged, for the next run");
  app.add_option("--io-timeout-ms", limits.io_ms, "a path without an answer so long has failed")
      ->check(CLI::Range(50, 600'000))
      ->capture_default_str();
  app.add_option("--connect-timeout-ms", limits.connect_ms, "connection, mount and opens")
      ->check(CLI::Range(50, 600'000))
      ->capture_default_str();
  app.add_option("--retry-max-ms", limits.retry_max_ms,
                 "longest pause before a path is tried again")
      ->check(CLI::Range(250, 600'000))
      ->capture_default_str();
  app.add_option("--wait-limit-ms", limits.wait_ms,
                 "without any path an operation waits so long, then it is an error; 0: for ever")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--uid", options.client.uid, "user of the requests");
  app.add_option("--gid", options.client.gid, "group of the requests");
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    return fail(ErrorCode::kInvalidArgument, path + ": cannot be read, or is empty");
  return text.str();
}

Status write_result(const std::string& path, const nlohmann::json& result) {
  const std::string text = result.dump() + "\n";
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return {};
  }
  std::ofstream out(path, std::ios::trunc);
  if (!(out << text) || !out.flush()) return fail(ErrorCode::kIo, path + ": cannot be written");
  return {};
}

int exit_with(int status, const Error& error) {
  fmt::print(stderr, "dnfs_client: {}\n", error.message);
  return status;
}

struct Prepared {
  Job job;
  std::unique_ptr<BlockStates> states;
  std::unique_ptr<Client> client;
};

Result<Prepared> prepare(const Options& options) {
  Prepared out;
  SYMNAS_ASSIGN(const std::string table, read_text(options.oranfstab));
  SYMNAS_ASSIGN(const auto servers, parse_oranfstab(table, options.oranfstab));
  SYMNAS_ASSIGN(const std::string job_text, read_text(options.job));
  SYMNAS_ASSIGN(out.job, parse_job(job_text, options.file));
  if (options.seconds > 0) out.job.seconds = options.seconds;
  SYMNAS_ASSIGN(out.states, BlockStates::open(out.job, options.state));
  SYMNAS_ASSIGN(out.client, Client::make(servers, out.job, *out.states, options.client));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("what Oracle's Direct NFS Client does, with I/O that verifies itself");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  options.client.oranfstab = options.oranfstab;
  struct sigaction action {};
  action.sa_handler = &on_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  auto prepared = prepare(options);
  if (!prepared) return exit_with(kUsage, prepared.error());
  if (const Status ran = prepared->client->run(stop); !ran) return exit_with(kNoPath, ran.error());
  if (const Status written = write_result(options.out, prepared->client->result()); !written)
    return exit_with(kUsage, written.error());
  return prepared->client->clean() ? 0 : kUnclean;
}
