// symnas top: who asks how much of the cluster, now.
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <iostream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/top_rows.h"
#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto kRefresh = std::chrono::seconds(1);
constexpr const char* kClearScreen = "\x1b[H\x1b[2J";  // ECMA-48: CUP, ED

struct TopOptions {
  std::vector<std::string> by = {"client", "vnfs", "export"};
  TopOrder order = TopOrder::kRequests;
  std::size_t limit = 20;
  bool once = false;
};

std::string time_text(double us) {
  if (us < 1'000) return fmt::format("{:.0f}us", us);
  if (us < 1'000'000) return fmt::format("{:.1f}ms", us / 1e3);
  return fmt::format("{:.1f}s", us / 1e6);
}

std::string bytes_text(double bytes) {
  return bytes < 1 ? "-" : approximate_byte_size(static_cast<std::uint64_t>(bytes));
}

Column number(std::string title, const std::string& key) {
  return {std::move(title), [key](const json& row) {
            const double value = row.value(key, 0.0);
            return value == 0 ? std::string("-")
                              : fmt::format("{:.{}f}", value, value < 10 ? 1 : 0);
          }};
}

Column bytes(std::string title, const std::string& key) {
  return {std::move(title), [key](const json& row) { return bytes_text(row.value(key, 0.0)); }};
}

Column duration(std::string title, const std::string& key) {
  return {std::move(title), [key](const json& row) { return time_text(row.value(key, 0.0)); }};
}

Column share(std::string title, const std::string& key) {
  return {std::move(title),
          [key](const json& row) { return fmt::format("{:.0f}%", 100 * row.value(key, 0.0)); }};
}

std::vector<Column> columns_of(const TopOptions& o) {
  std::vector<Column> columns;
  for (const std::string& key : o.by) {
    std::string title = key;
    for (char& c : title) c = static_cast<char>(::toupper(c));
    columns.push_back(plain(title, key));
  }
  columns.push_back(number("OPS/S", "requests_per_s"));
  columns.push_back(o.order == TopOrder::kBytes ? share("SHARE", "bytes_share")
                                                : share("SHARE", "requests_share"));
  columns.push_back(number("ERRORS/S", "errors_per_s"));
  columns.push_back(bytes("READ/S", "read_bytes_per_s"));
  columns.push_back(bytes("WRITTEN/S", "written_bytes_per_s"));
  columns.push_back(duration("MEAN", "mean_us"));
  columns.push_back(duration("WORST", "worst_us"));
  return columns;
}

double sum_of(const json& rows, const char* key, std::size_t from = 0) {
  double sum = 0;
  for (std::size_t i = from; i < rows.size(); ++i) sum += rows[i].value(key, 0.0);
  return sum;
}

std::string table_of(const json& load, const json& rows, const TopOptions& o) {
  const std::int64_t now_s = std::time(nullptr);
  std::string out =
      fmt::format("{}  VNFSs: {}  {:.0f} operations/s  {} read/s  {} written/s\n",
                  local_time(now_s * 1'000'000'000), load.value("vnfses", json::array()).size(),
                  sum_of(rows, "requests_per_s"), bytes_text(sum_of(rows, "read_bytes_per_s")),
                  bytes_text(sum_of(rows, "written_bytes_per_s")));
  for (const json& one : load.value("missing", json::array())) {
    const std::string vnfs = one.value("vnfs", "");
    const std::string head = one.value("head", "");
    out += fmt::format("missing: {}{}: {}\n", vnfs.empty() ? "other VNFSs" : "vnfs " + vnfs,
                       head.empty() ? "" : " on head " + head, one.value("why", ""));
  }
  const std::size_t shown = std::min(o.limit, rows.size());
  out += render_table(columns_of(o), json(rows.begin(), rows.begin() + static_cast<long>(shown)));
  if (shown < rows.size())
    out += fmt::format("and {} more with {:.0f} operations/s\n", rows.size() - shown,
                       sum_of(rows, "requests_per_s", shown));
  return out;
}

// Errors: as ApiClient::request().
Status show(Context& context, const TopOptions& o) {
  SYMNAS_ASSIGN(const json load, context.client.request("GET", "/v1/load", {}));
  json rows = top_rows(load, o.by, o.order);
  if (context.output == Output::kTable) {
    const bool to_terminal = &context.out == &std::cout && ::isatty(STDOUT_FILENO) == 1;
    const std::string table = table_of(load, rows, o);
    context.out << (o.once ? "" : to_terminal ? kClearScreen : "\n") << table << std::flush;
    return {};
  }
  const std::size_t all = rows.size();
  if (o.limit < all) rows.erase(rows.begin() + static_cast<long>(o.limit), rows.end());
  const json document = {{"rows", rows},
                         {"left_out", all - rows.size()},
                         {"vnfses", load.value("vnfses", json::array())},
                         {"missing", load.value("missing", json::array())}};
  context.out << document.dump(o.once ? 2 : -1) << "\n" << std::flush;
  return {};
}

// vnfsd may be started anew meanwhile.
Status top(Context& context, const TopOptions& o) {
  SYMNAS_TRY(show(context, o));
  auto next = Clock::now();
  while (!o.once && context.out.good()) {
    next = std::max(next + kRefresh, Clock::now());
    std::this_thread::sleep_until(next);
    if (const Status shown = show(context, o); !shown && context.output == Output::kTable)
      context.out << "no answer: " << shown.error().message << "\n" << std::flush;
  }
  return {};
}

}  // namespace

void add_top(CommandLine& line) {
  auto o = std::make_shared<TopOptions>();
  CLI::App* verb = line.app.add_subcommand("top", "Who asks how much of the VNFSs, every second");
  verb->add_option("--by", o->by, "What has a row: some of client, vnfs, export, operation")
      ->delimiter(',')
      ->check(CLI::IsMember({"client", "vnfs", "export", "operation"}))
      ->capture_default_str();
  const std::map<std::string, TopOrder> orders = {
      {"ops", TopOrder::kRequests}, {"bytes", TopOrder::kBytes}, {"latency", TopOrder::kLatency}};
  verb->add_option("--sort", o->order, "The greatest first; ops if nothing is said")
      ->transform(CLI::CheckedTransformer(orders))
      ->option_text("ops|bytes|latency");
  verb->add_option("--limit", o->limit, "Rows at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_flag("--once", o->once, "Once only");
  verb->callback([&line, o] { line.action = [o](Context& context) { return top(context, *o); }; });
}

}  // namespace symnas::vnfsd::ctl
