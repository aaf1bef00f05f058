#include "fsal_cluster/plugin/load.h"

#include <exception>

#include <nlohmann/json.hpp>

#include "common/env/clock.h"
#include "fsal_cluster/load/load_table.h"
#include "fsal_cluster/plugin/client_address.h"
#include "fsal_cluster/plugin/ganesha.h"

namespace symnas::plugin {
namespace {

// Never destroyed: workers count until the process ends.
fs::LoadTable& table() {
  static auto* const the_table = new fs::LoadTable;
  return *the_table;
}

// Every result but NLM's begins with its status; 0 is OK in all of them.
bool is_ok(const fs::NfsOperation& operation, const void* result) {
  if (result == nullptr) return false;
  if (operation.protocol == fs::NfsProtocol::kNlm4) return true;
  if (operation.protocol == fs::NfsProtocol::kNfs4)
    return static_cast<const nfs_resop4*>(result)->nfs_resop4_u.opaccess.status == NFS4_OK;
  return static_cast<const nfs_res_t*>(result)->res_getattr3.status == NFS3_OK;
}

// The data of a result that is OK.
void add_data(const fs::NfsOperation& operation, const void* result, fs::LoadCounters& counted) {
  if (operation.protocol == fs::NfsProtocol::kNfs3) {
    const auto& of = *static_cast<const nfs_res_t*>(result);
    if (operation.number == NFSPROC3_READ) counted.bytes_read = of.res_read3.READ3res_u.resok.count;
    if (operation.number == NFSPROC3_WRITE)
      counted.bytes_written = of.res_write3.WRITE3res_u.resok.count;
  }
  if (operation.protocol == fs::NfsProtocol::kNfs4) {
    const auto& of = static_cast<const nfs_resop4*>(result)->nfs_resop4_u;
    if (operation.number == NFS4_OP_READ)
      counted.bytes_read = of.opread.READ4res_u.resok4.data.data_len;
    if (operation.number == NFS4_OP_WRITE)
      counted.bytes_written = of.opwrite.WRITE4res_u.resok4.count;
    const contents& plus = of.opread_plus.rpr_resok4.rpr_contents;
    if (operation.number == NFS4_OP_READ_PLUS && plus.what == NFS4_CONTENT_DATA)
      counted.bytes_read = plus.data.d_data.data_len;
  }
}

void after_op(std::uint32_t program, std::uint32_t version, std::uint32_t op, const timespec* begun,
              const void* result) noexcept {
  const auto operation = fs::nfs_operation(program, version, op);
  if (!operation || op_ctx == nullptr || op_ctx->caller_addr == nullptr) return;
  const std::int64_t begun_ns = std::int64_t{begun->tv_sec} * 1'000'000'000 + begun->tv_nsec;
  fs::LoadCounters counted;
  counted.requests = 1;
  counted.time_ns = static_cast<std::uint64_t>(env::system_clock().mono_ns() - begun_ns);
  counted.worst_ns = counted.time_ns;
  if (is_ok(*operation, result)) {
    add_data(*operation, result, counted);
  } else {
    counted.errors = 1;
  }
  const std::uint16_t export_id = op_ctx->ctx_export == nullptr ? 0 : op_ctx->ctx_export->export_id;
  try {
    table().count({client_address(*op_ctx->caller_addr), export_id, *operation}, counted);
  } catch (const std::exception& e) {
    LogCrit(COMPONENT_FSAL, "CLUSTER: load is not counted: %s", e.what());
  }
}

}  // namespace

void count_load() { nfs_after_op = after_op; }

nlohmann::json load_so_far() { return fs::load_document(table().report()); }

}  // namespace symnas::plugin
