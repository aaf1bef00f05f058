#include "cvm/lun_survey.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/core.h>

#include "cvm/label_io.h"
#include "cvm/lun_claim.h"
#include "cvm/lun_device.h"
#include "cvm/signature.h"

namespace symnas::cvm {
namespace {

std::string number_of(const LunNode& node) {
  return fmt::format("{}:{}", major(node.device_number), minor(node.device_number));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Where sysfs has it depends on the driver (scsi: device/wwid, nvme: wwid, multipath: dm/uuid).
std::string wwid_of(const std::string& sysfs) {
  for (const char* name : {"/device/wwid", "/wwid", "/dm/uuid"}) {
    std::string found = first_line(sysfs + name);
    while (!found.empty() && found.back() == ' ') found.pop_back();
    if (found.starts_with("mpath-3")) return "naa." + found.substr(7);  // as SCSI writes it
    if (!found.empty()) return found;
  }
  return "";
}

// "" = nowhere in this mount namespace.
std::string mount_point_of(const LunNode& node) {
  const std::string wanted = number_of(node);
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    // proc(5): id parent major:minor root mount-point ...
    std::vector<std::string> words;
    for (std::size_t at = 0; words.size() < 5 && at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (words.size() == 5 && words[2] == wanted) return words[4];
  }
  return "";
}

// Its message without the device's name, which stands beside it.
std::string plain(const LunNode& node, const Error& error) {
  const std::string prefix = fmt::format("lun device {}: ", node.path);
  return error.message.starts_with(prefix) ? error.message.substr(prefix.size()) : error.message;
}

Result<bool> is_blank(const LunDevice& device) {
  std::vector<std::byte> bytes(kReservedBytes);
  const std::uint64_t end = device.size_bytes() / kLabelBytes * kLabelBytes;
  for (const std::uint64_t offset : {std::uint64_t{0}, end - kReservedBytes}) {
    SYMNAS_TRY(device.read(offset, bytes));
    if (std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; }))
      return false;
  }
  return true;
}

// Why the label cannot be read is what matters: nobody knows what the device holds.
Content content_without_label(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotSupported
             ? Content::kDamagedLabel
             : Content::kUnreadable;
}

// In the order in which import_lun() asks, but for the label: a LUN is named although it is in use.
void look(const LunDevice& device, SurveyedDevice& seen) {
  const LunNode& node = device.node();
  const auto is = [&](Content content, std::string what) {
    seen.content = content;
    seen.what = std::move(what);
  };
  if (const Status alone = check_no_alias(node); !alone)
    return is(Content::kInUse, plain(node, alone.error()));
  if (const Result<LabelCopies> copies = read_label(device)) {
    seen.label = copies->label;
    return is(Content::kLabel, "");
  } else if (copies.error().code != ErrorCode::kNotFound) {
    return is(content_without_label(copies.error()), plain(node, copies.error()));
  }
  const Result<std::string> signature = find_signature(node);
  if (const Result<Claim> claimed = claim_device(device, Access::kRead); !claimed) {
    const std::string mounted = mount_point_of(node);
    std::string what = mounted.empty() ? plain(node, claimed.error()) : "mounted on " + mounted;
    if (signature && !signature->empty()) what += fmt::format(" ({})", *signature);
    const bool busy = claimed.error().code == ErrorCode::kBusy;
    return is(busy ? Content::kInUse : Content::kUnreadable, what);
  }
  if (!signature) return is(Content::kUnreadable, plain(node, signature.error()));
  if (!signature->empty()) return is(Content::kData, *signature);
  if (const Status fits = check_lun_size(device); !fits)
    return is(Content::kTooSmall, plain(node, fits.error()));
  const Result<bool> blank = is_blank(device);
  if (!blank) return is(Content::kUnreadable, plain(node, blank.error()));
  seen.blank = *blank;
  is(Content::kNothing, "");
}

}  // namespace

SurveyedDevice survey_device(const LunNode& node) {
  SurveyedDevice seen{.path = node.path, .kind = node.kind};
  if (node.kind == LunKind::kBlockDevice) {
    const std::string sysfs = "/sys/dev/block/" + number_of(node);
    std::error_code error;
    seen.is_partition = std::filesystem::exists(sysfs + "/partition", error);
    seen.wwid = wwid_of(sysfs);
  }
  const Result<LunDevice> device = LunDevice::open_node(node, Access::kRead);
  if (!device) {
    const bool empty = device.error().code == ErrorCode::kNotFound;
    seen.content = empty ? Content::kNoMedium : Content::kUnreadable;
    seen.what = plain(node, device.error());
    return seen;
  }
  seen.size_bytes = device->size_bytes();
  seen.logical_block_bytes = device->logical_block_bytes();
  if (seen.size_bytes == 0 && node.kind == LunKind::kBlockDevice) {
    seen.content = Content::kNoMedium;
    seen.what = "no medium";
    return seen;
  }
  look(*device, seen);
  return seen;
}

}  // namespace symnas::cvm
