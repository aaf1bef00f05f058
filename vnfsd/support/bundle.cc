#include "vnfsd/support/bundle.h"

#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "fsal_cluster/pulse/pulse.h"
#include "vnfsd/config/config.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/support/limits.h"
#include "vnfsd/support/sources.h"

namespace symnas::vnfsd::support {
namespace {

using nlohmann::json;
namespace files = std::filesystem;

// Names in a directory in their order, at most `count_max`; those that are left out are noted.
std::vector<std::string> names_in(const std::string& path, std::size_t count_max,
                                  Collector& collector, const std::string& what) {
  std::vector<std::string> names;
  std::error_code error;
  for (files::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) collector.missing(what, fmt::format("directory {}: {}", path, error.message()));
  std::ranges::sort(names);
  if (names.size() > count_max) {
    collector.missing(what, fmt::format("{} more in {}", names.size() - count_max, path));
    names.resize(count_max);
  }
  return names;
}

// Where things are: what a vnfsd.toml that cannot be read would not say are the defaults.
struct Head {
  Config config;
  SafeConfig safe;
  std::string why_missing;  // vnfsd.toml; "": it is there
};

Head read_head(const std::string& path) {
  Head head;
  const Result<std::string> text = instance::read_file(path);
  if (!text) {
    head.why_missing = text.error().message;
    return head;
  }
  head.safe = safe_config(*text);
  const Result<Config> config = parse_config(*text, path);
  if (config) {
    head.config = *config;
  } else {
    head.why_missing = config.error().message + " (defaults are taken for directories)";
  }
  return head;
}

Status take_configuration(Collector& collector, const BundleRequest& request, const Head& head) {
  if (!head.safe.text.empty())
    SYMNAS_TRY(collector.text("configuration/vnfsd.toml", head.safe.text));
  if (!head.why_missing.empty()) collector.missing("configuration/vnfsd.toml", head.why_missing);
  const auto etcd = files::path(request.config).parent_path() / "etcd.yml";
  const Result<std::string> text = instance::read_file(etcd.string());
  if (!text) {
    collector.missing("configuration/etcd.yml", text.error().message);
    return {};
  }
  return collector.text("configuration/etcd.yml", safe_etcd_config(*text, head.safe.secrets));
}

// What vnfsd answers. Its status needs no etcd: if it does not tell that, it is asked nothing more.
class Answers {
 public:
  Answers(Collector& collector, const Agent& agent) : collector_(collector), agent_(agent) {}

  Status take() {
    json vnfses = json::array();
    for (const std::string_view name : collections()) {
      const Result<json> answer = get("/v1/" + std::string(name));
      if (answer && name == "vnfs") vnfses = answer->value("vnfs", json::array());
      if (!answer && name == "status" && answer.error().code == ErrorCode::kShutdown)
        why_not_ = "vnfsd does not answer";
      SYMNAS_TRY(collector_.document(fmt::format("records/{}.json", name), answer));
      if (name == "status") SYMNAS_TRY(take_metrics());
    }
    if (vnfses.size() > kInstancesMax) vnfses.erase(vnfses.begin() + kInstancesMax, vnfses.end());
    for (const json& vnfs : vnfses) {
      const std::string name = vnfs.value("name", "");
      SYMNAS_TRY(collector_.document(fmt::format("records/history/{}.json", name),
                                     get("/v1/vnfs/" + name + "/history")));
    }
    // Last, for it may take longer than is waited for.
    return collector_.document("records/capacity.json", get("/v1/capacity"));
  }

 private:
  Status take_metrics() {
    const int seconds = left_s();
    const Result<std::string> metrics =
        seconds <= 0 ? unasked() : agent_.get_text("/metrics", seconds);
    if (metrics) return collector_.text("records/metrics", *metrics);
    collector_.missing("records/metrics", metrics.error().message);
    return {};
  }
  Result<json> get(const std::string& path) const {
    const int seconds = left_s();
    return seconds <= 0 ? unasked() : agent_.get(path, seconds);
  }
  // Of this answer; 0: nothing more is asked.
  int left_s() const {
    if (!why_not_.empty()) return 0;
    const std::int64_t left = std::min(kAnswerMs, kAnswersMs - collector_.spent_ms());
    return static_cast<int>(std::max<std::int64_t>(left, 0) / 1000);
  }
  tl::unexpected<Error> unasked() const {
    return fail(ErrorCode::kUnavailable, why_not_.empty() ? "vnfsd took too long" : why_not_);
  }

  Collector& collector_;
  const Agent& agent_;
  std::string why_not_;
};

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Only of a process that has a pulse: then the pid is an instance's, not a later process's.
Status take_process(Collector& collector, const std::string& folder, const std::string& state) {
  const json document = json::parse(instance::read_file(state).value_or(""), nullptr, false);
  const int pid =
      document.is_object() && document.contains("pid") && document["pid"].is_number_integer()
          ? document["pid"].get<int>()
          : 0;
  const auto pulse = fs::PulseReader::open(pid);
  if (!pulse) {
    collector.missing(folder + "pulse.json", pulse.error().message);
    return {};
  }
  const fs::Pulse seen = pulse->read();
  SYMNAS_TRY(
      collector.document(folder + "pulse.json", json{{"pid", pid},
                                                     {"now_ns", monotonic_ns()},
                                                     {"beat_ns", seen.beat_ns},
                                                     {"open_until_ns", seen.open_until_ns},
                                                     {"first_request_ns", seen.first_request_ns},
                                                     {"last_reclaim_ns", seen.last_reclaim_ns}}));
  for (const std::string_view name : instance_network_files())
    SYMNAS_TRY(collector.file(fmt::format("{}net/{}", folder, name),
                              fmt::format("/proc/{}/net/{}", pid, name)));
  for (const char* name : {"status", "limits", "cgroup"})
    SYMNAS_TRY(collector.file(folder + name, fmt::format("/proc/{}/{}", pid, name)));
  return {};
}

Status take_instances(Collector& collector, const std::string& run_dir) {
  const std::string top = run_dir + "/vnfs";
  for (const std::string& vnfs : names_in(top, kInstancesMax, collector, "instances")) {
    const std::string folder = "instances/" + vnfs + "/";
    for (const std::string_view name : instance_files()) {
      const std::string path = fmt::format("{}/{}/{}", top, vnfs, name);
      std::error_code error;
      const bool is_usual = name == "state.json" || name == "instance.json";
      if (!is_usual && !files::exists(path, error)) continue;
      SYMNAS_TRY(name.ends_with(".json") ? collector.json_file(folder + std::string(name), path)
                                         : collector.file(folder + std::string(name), path));
    }
    SYMNAS_TRY(take_process(collector, folder, fmt::format("{}/{}/state.json", top, vnfs)));
  }
  return {};
}

Status take_logs(Collector& collector, const std::string& log_dir) {
  for (const std::string& name : names_in(log_dir, kLogFilesMax, collector, "logs")) {
    if (name.find(".log") == std::string::npos) continue;
    SYMNAS_TRY(collector.file("logs/" + name, log_dir + "/" + name));
  }
  return {};
}

// The first of two programs that is there.
std::string either(const std::string& one, const std::string& other) {
  std::error_code error;
  return files::exists(one, error) ? one : other;
}

ProgramPlaces places_of(const Config& config) {
  std::error_code error;
  const files::path self = files::read_symlink("/proc/self/exe", error);
  return {either((self.parent_path() / "vnfsd").string(), "/usr/sbin/vnfsd"),
          config.ganesha.prefix + "/bin/ganesha.nfsd",
          either("/usr/lib/symnas/etcd/etcd", "/usr/bin/etcd")};
}

Status take_versions(Collector& collector) {
  utsname kernel{};
  ::uname(&kernel);
  SYMNAS_TRY(collector.text("versions/kernel",
                            fmt::format("{} {} {} {} {}\n", kernel.sysname, kernel.nodename,
                                        kernel.release, kernel.version, kernel.machine)));
  // /etc/os-release is a link to it.
  SYMNAS_TRY(collector.file("versions/distribution", "/usr/lib/os-release"));
  return {};
}

Status take_machine(Collector& collector) {
  std::string values;
  for (const std::string_view name : sysctls()) {
    const Result<std::string> value = read_end(fmt::format("/proc/sys/{}", name));
    values += fmt::format("{} = {}", name, value ? *value : "(" + value.error().message + ")\n");
  }
  SYMNAS_TRY(collector.text("system/sysctl", values));
  for (const std::string_view path : kernel_files()) {
    std::string name(path.substr(1));
    std::ranges::replace(name, '/', '_');
    SYMNAS_TRY(collector.file("system/" + name, std::string(path)));
  }
  std::string links;
  constexpr const char* kById = "/dev/disk/by-id";
  for (const std::string& name : names_in(kById, 4096, collector, "luns/by-id")) {
    std::error_code error;
    links += name + " -> " + files::read_symlink(files::path(kById) / name, error).string() + "\n";
  }
  return links.empty() ? Status() : collector.text("luns/by-id", links);
}

}  // namespace

std::string default_bundle_name(const std::string& host, std::int64_t now_s) {
  const std::time_t seconds = now_s;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return fmt::format("symnas-support-{}-{}.tar.gz", host, text);
}

Result<Taken> make_bundle(const BundleRequest& request, const Agent& agent) {
  SYMNAS_ASSIGN(Archive archive, Archive::create(request.out));
  const Head head = read_head(request.config);
  Collector collector(archive, head.safe.secrets);
  SYMNAS_TRY(take_configuration(collector, request, head));
  SYMNAS_TRY(Answers(collector, agent).take());
  SYMNAS_TRY(take_instances(collector, head.config.daemon.run_dir));
  SYMNAS_TRY(take_logs(collector, head.config.daemon.log_dir));
  SYMNAS_TRY(take_versions(collector));
  SYMNAS_TRY(take_machine(collector));
  if (request.programs == Programs::kRun) {
    for (const Program& program : programs(places_of(head.config)))
      SYMNAS_TRY(collector.program(program.name, program.path, program.arguments));
  }
  return collector.finish();
}

}  // namespace symnas::vnfsd::support
