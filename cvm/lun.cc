#include "cvm/lun.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/log.h"
#include "cvm/label_io.h"
#include "cvm/lun_claim.h"
#include "cvm/lun_device.h"
#include "cvm/signature.h"
#include "cvm/volume.h"

namespace symnas::cvm {
namespace {

records::LunRecord record_of(const LunLabel& label) {
  records::LunRecord record;
  record.set_name(label.name);
  record.set_uuid(uuid_to_bytes(label.lun));
  record.set_size_bytes(label.size_bytes);
  record.set_logical_block_bytes(label.logical_block_bytes);
  return record;
}

enum class Occupant { kNone, kReplaceable, kSameFreeLun };

// Decides what to do about the label that is there. kReplaceable: only with force.
Result<Occupant> judge_label(const LunImport& request, const LunDevice& device, LunLabel& present) {
  const Result<LabelCopies> copies = read_label(device);
  const bool forced = !request.force_name.empty();
  if (!copies) {
    if (copies.error().code == ErrorCode::kNotFound) return Occupant::kNone;
    if (copies.error().code == ErrorCode::kCorrupt && forced) return Occupant::kReplaceable;
    return tl::unexpected(copies.error());
  }
  present = copies->label;
  if (present.cluster != request.cluster) {
    if (forced) return Occupant::kReplaceable;
    return fail(
        ErrorCode::kForeign,
        fmt::format("lun device {}: it is LUN {} of another symnas cluster ({}); to take it "
                    "and destroy its data, force import of {}",
                    device.path(), present.name, present.cluster.to_string(), request.name));
  }
  if (present.name == request.name && present.volume.is_nil()) return Occupant::kSameFreeLun;
  const bool forgotten =
      request.recorded && std::find(request.recorded->begin(), request.recorded->end(),
                                    present.lun) == request.recorded->end();
  if (forgotten && forced) return Occupant::kReplaceable;
  return fail(
      ErrorCode::kAlreadyExists,
      fmt::format(
          "lun device {}: already imported as LUN {}{}{}", device.path(), present.name,
          present.volume.is_nil() ? "" : " and used by volume " + present.volume.to_string(),
          forgotten ? "; the cluster has forgotten it: to destroy its data, force import of " +
                          request.name
                    : ""));
}

Status check_request(const LunImport& request) {
  SYMNAS_TRY(check_name("lun", request.name));
  if (request.force_name.empty() || request.force_name == request.name) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("lun {}: force names {}; name the LUN that is to be forced", request.name,
                          request.force_name));
}

// The label at `path`, if it is ours and of the LUN `lun`.
Result<LunLabel> own_label(const LunDevice& device, const Uuid& cluster, const Uuid& lun) {
  SYMNAS_ASSIGN(const LabelCopies copies, read_label(device));
  const LunLabel& label = copies.label;
  if (label.cluster == cluster && label.lun == lun) return label;
  return fail(
      ErrorCode::kForeign,
      fmt::format("lun device {}: it carries LUN {} ({}) of cluster {}, not LUN {}", device.path(),
                  label.name, label.lun.to_string(), label.cluster.to_string(), lun.to_string()));
}

}  // namespace

Result<records::LunRecord> import_lun(const LunImport& request) {
  SYMNAS_TRY(check_request(request));
  SYMNAS_ASSIGN(const LunDevice device, LunDevice::open(request.path, Access::kWrite));
  SYMNAS_TRY(check_lun_size(device));
  SYMNAS_ASSIGN(const Claim claimed, claim_device(device, Access::kWrite));
  LunLabel present;
  SYMNAS_ASSIGN(const Occupant occupant, judge_label(request, device, present));
  if (occupant == Occupant::kSameFreeLun) {
    SYMNAS_TRY(repair_label(device));
    return record_of(present);
  }
  SYMNAS_ASSIGN(const std::string signature, find_signature(device.node()));
  if (!signature.empty() && request.force_name.empty())
    return fail(ErrorCode::kForeign, fmt::format("lun device {}: it carries a {}; to destroy it, "
                                                 "force import of {}",
                                                 device.path(), signature, request.name));
  if (occupant == Occupant::kReplaceable || !signature.empty())
    log::warn("lun device {}: import of {} forced over {}", device.path(), request.name,
              signature.empty() ? "a symnas label" : signature);

  const LunLabel label{.generation = 1,
                       .cluster = request.cluster,
                       .lun = Uuid::generate(),
                       .volume = {},
                       .size_bytes = device.size_bytes() / kLabelBytes * kLabelBytes,
                       .logical_block_bytes = device.logical_block_bytes(),
                       .name = request.name};
  // Old labels and superblocks are at both ends (GPT, md, LVM, btrfs): nobody shall find them
  // again.
  SYMNAS_TRY(device.zero(0, kReservedBytes));
  SYMNAS_TRY(device.zero(label.size_bytes - kReservedBytes, kReservedBytes));
  SYMNAS_TRY(write_label(device, label));
  return record_of(label);
}

Status release_lun(const std::string& path, const Uuid& cluster, const Uuid& lun) {
  SYMNAS_ASSIGN(const LunDevice device, LunDevice::open(path, Access::kWrite));
  SYMNAS_ASSIGN(const Claim claimed, claim_device(device, Access::kWrite));
  SYMNAS_ASSIGN(const LunLabel label, own_label(device, cluster, lun));
  if (!label.volume.is_nil())
    return fail(ErrorCode::kBusy, fmt::format("lun {}: used by volume {}; remove the volume first",
                                              label.name, label.volume.to_string()));
  return wipe_label(device, label);
}

Status assign_lun(const std::string& path, const Uuid& cluster, const Uuid& lun,
                  const Uuid& volume) {
  SYMNAS_ASSIGN(const LunDevice device, LunDevice::open(path, Access::kWrite));
  SYMNAS_ASSIGN(LunLabel label, own_label(device, cluster, lun));
  if (label.volume == volume) return {};
  if (!label.volume.is_nil() && !volume.is_nil())
    return fail(ErrorCode::kBusy,
                fmt::format("lun {}: used by volume {}", label.name, label.volume.to_string()));
  SYMNAS_ASSIGN(const Claim claimed, claim_device(device, Access::kWrite));
  // Read again: another head may have changed the label before we held the claim.
  SYMNAS_ASSIGN(label, own_label(device, cluster, lun));
  label.volume = volume;
  ++label.generation;
  return write_label(device, label);
}

}  // namespace symnas::cvm
