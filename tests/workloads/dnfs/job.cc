#include "tests/workloads/dnfs/job.h"

#include <map>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::dnfs {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMinBlockBytes = 512;
constexpr std::int64_t kMaxBlockBytes = 1 << 20;
constexpr std::int64_t kMaxDepth = 1024;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;

const std::map<std::string, Mode> kModes = {
    {"read", Mode::kRead},       {"write", Mode::kWrite},       {"mix", Mode::kMix},
    {"seqread", Mode::kSeqRead}, {"seqwrite", Mode::kSeqWrite}, {"create", Mode::kCreate}};

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "job: " + what);
}

// Reads members of one object; remembers the first thing that is wrong.
class Members {
 public:
  Members(const Json& object, std::string what) : object_(object), what_(std::move(what)) {}

  std::int64_t number(const char* name, std::int64_t otherwise, std::int64_t least,
                      std::int64_t most) {
    known_.insert(name);
    const auto at = object_.find(name);
    if (at == object_.end()) return otherwise;
    if (at->is_number_integer() && at->get<std::int64_t>() >= least &&
        at->get<std::int64_t>() <= most)
      return at->get<std::int64_t>();
    note(fmt::format("{} is {}; it is a number from {} to {}", name, at->dump(), least, most));
    return otherwise;
  }

  std::string text(const char* name, const std::string& otherwise) {
    known_.insert(name);
    const auto at = object_.find(name);
    if (at == object_.end()) return otherwise;
    if (at->is_string()) return at->get<std::string>();
    note(fmt::format("{} is {}; it is a text", name, at->dump()));
    return otherwise;
  }

  bool flag(const char* name, bool otherwise) {
    known_.insert(name);
    const auto at = object_.find(name);
    if (at == object_.end()) return otherwise;
    if (at->is_boolean()) return at->get<bool>();
    note(fmt::format("{} is {}; it is true or false", name, at->dump()));
    return otherwise;
  }

  void known(const char* name) { known_.insert(name); }

  void note(const std::string& problem) {
    if (problem_.empty()) problem_ = fmt::format("{}: {}", what_, problem);
  }

  // The first problem; a member that nobody asked for is one.
  const std::string& problem() {
    for (const auto& [name, value] : object_.items())
      if (!known_.contains(name)) note(fmt::format("unknown member \"{}\"", name));
    return problem_;
  }

 private:
  const Json& object_;
  std::string what_;
  std::set<std::string> known_;
  std::string problem_;
};

Result<ThreadJob> parse_thread(const Json& object, std::size_t index,
                               const std::string& default_file) {
  const std::string place = fmt::format("thread {}", index);
  if (!object.is_object()) return wrong(place + " is no object");
  Members in(object, place);
  ThreadJob out;
  out.name = in.text("name", fmt::format("t{}", index));
  out.file = in.text("file", default_file);
  if (out.file.empty()) in.note("no file, and no --file");
  const std::string mode = in.text("mode", "read");
  const auto known = kModes.find(mode);
  if (known == kModes.end())
    in.note(
        fmt::format("mode is \"{}\"; it is read, write, mix, seqread, seqwrite or create", mode));
  else
    out.mode = known->second;
  out.block_bytes =
      static_cast<std::uint32_t>(in.number("block_bytes", 8192, kMinBlockBytes, kMaxBlockBytes));
  if (out.block_bytes % kMinBlockBytes != 0) in.note("block_bytes is no multiple of 512");
  out.depth = static_cast<int>(in.number("depth", 1, 1, kMaxDepth));
  out.read_percent = static_cast<int>(in.number("read_percent", 60, 0, 100));
  out.size_bytes = static_cast<std::uint64_t>(in.number("size_bytes", 0, 1, kMaxBytes));
  out.offset_bytes = static_cast<std::uint64_t>(in.number("offset_bytes", 0, 0, kMaxBytes));
  out.rate_bytes_s = static_cast<std::uint64_t>(in.number("rate_bytes_s", 0, 0, kMaxBytes));
  out.think_ms = in.number("think_ms", 0, 0, 3'600'000);
  out.seed = static_cast<std::uint32_t>(in.number("seed", 1, 0, UINT32_MAX));
  out.verify = in.flag("verify", true);
  out.writers = static_cast<std::uint32_t>(in.number("writers", 1, 1, 1024));
  out.writer = static_cast<std::uint32_t>(in.number("writer", 0, 0, 1023));
  if (out.writer >= out.writers) in.note("writer is not below writers");
  if (out.size_bytes < out.block_bytes) in.note("size_bytes is less than block_bytes");
  if (out.offset_bytes % out.block_bytes != 0)
    in.note("offset_bytes is no multiple of block_bytes");
  if (out.writes() && out.blocks() < out.writers) in.note("fewer blocks than writers");
  if (const std::string& problem = in.problem(); !problem.empty()) return wrong(problem);
  return out;
}

}  // namespace

Result<Job> parse_job(std::string_view text, const std::string& default_file) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) return wrong("it is no JSON object");
  Members in(document, "the job");
  Job job;
  job.seconds = in.number("seconds", 10, 1, 31'536'000);
  const Json threads = document.value("threads", Json());
  if (!threads.is_array() || threads.empty()) return wrong("\"threads\" is no list with a thread");
  std::set<std::string> names;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    SYMNAS_ASSIGN(ThreadJob thread, parse_thread(threads[i], i, default_file));
    if (!names.insert(thread.name).second)
      return wrong(fmt::format("two threads are called {}", thread.name));
    job.threads.push_back(std::move(thread));
  }
  in.known("threads");
  if (const std::string& problem = in.problem(); !problem.empty()) return wrong(problem);
  return job;
}

}  // namespace symnas::dnfs
