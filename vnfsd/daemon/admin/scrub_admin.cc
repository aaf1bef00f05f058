#include "vnfsd/daemon/admin/scrub_admin.h"

#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cvm/limits.h"
#include "vnfsd/daemon/scrub/limits.h"
#include "vnfsd/daemon/scrub/scrub_orders.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

json bad_document(const records::ScrubRecord::Bad& bad) {
  json out = {{"byte", bad.byte()}, {"bytes", bad.bytes()}, {"error", bad.error()}};
  if (bad.ino() == 0) return out;
  out["filesystem"] = bad.filesystem();
  out["ino"] = bad.ino();
  out["file_byte"] = bad.file_byte();
  if (!bad.path().empty()) out["path"] = bad.path();
  return out;
}

const char* word(records::ScrubRecord::State state) {
  if (state == records::ScrubRecord::RUNNING) return "running";
  return state == records::ScrubRecord::STOPPED ? "stopped" : "done";
}

double share_of(const records::ScrubRecord& record) {
  if (record.state() == records::ScrubRecord::DONE) return 1.0;
  if (record.end_byte() <= cvm::kReservedBytes || record.at_byte() <= cvm::kReservedBytes)
    return 0.0;
  return static_cast<double>(record.at_byte() - cvm::kReservedBytes) /
         static_cast<double>(record.end_byte() - cvm::kReservedBytes);
}

json scrub_document(const records::ScrubRecord& record) {
  json bad = json::array();
  for (const auto& one : record.bad()) bad.push_back(bad_document(one));
  return {{"lun", record.lun()},
          {"state", word(record.state())},
          {"head", record.head()},
          {"all", record.all()},
          {"bytes_per_second", record.bytes_per_second()},
          {"at_byte", record.at_byte()},
          {"end_byte", record.end_byte()},
          {"share", share_of(record)},
          {"read_bytes", record.read_bytes()},
          {"bad_bytes", record.bad_bytes()},
          {"bad", std::move(bad)},
          {"label", record.label()},
          {"started_ns", record.started_ns()},
          {"told_ns", record.told_ns()}};
}

}  // namespace

Result<json> ScrubAdmin::scrubs() {
  SYMNAS_ASSIGN(const std::vector<ScrubEntry> entries, list_scrubs(head_.store));
  json scrubs = json::array();
  for (const ScrubEntry& entry : entries) scrubs.push_back(scrub_document(entry.record));
  return json{{"scrubs", std::move(scrubs)}};
}

Result<std::string> ScrubAdmin::begin_scrub(const api::ScrubRequest& request) {
  SYMNAS_ASSIGN(const ClusterView cluster, read_when_ready(head_, reader_));
  SYMNAS_TRY(find(cluster.luns, "lun", request.lun));
  if (request.bytes_per_second != 0 && request.bytes_per_second < kScrubBytesPerSecondMin)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("lun scrub: a rate of {} bytes per second is too low: at least {}",
                            request.bytes_per_second, kScrubBytesPerSecondMin));
  ScrubOrder order;
  order.lun = request.lun;
  order.uuid = cluster.luns.at(request.lun).record.uuid();
  order.end_byte = cluster.luns.at(request.lun).record.size_bytes();
  order.bytes_per_second = request.bytes_per_second;
  order.all = request.all;
  order.anew = request.anew;
  return daemon::begin_scrub(head_.store, head_.clock, order);
}

Result<std::string> ScrubAdmin::stop_scrub(const std::string& lun) {
  SYMNAS_TRY(reader_.wait_ready());
  return daemon::stop_scrub(head_.store, lun);
}

}  // namespace symnas::vnfsd::daemon
