#include "ha/reservation/block_device.h"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <linux/pr.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include <fmt/core.h>

#include "ha/reservation/limits.h"
#include "ha/reservation/nvme_wire.h"

namespace symnas::ha {
namespace {

// SCSI: SAM-5 5.3, SPC-4 4.5.
constexpr int kCheckCondition = 0x02;
constexpr int kBusy = 0x08;
constexpr int kReservationConflict = 0x18;
constexpr int kTaskSetFull = 0x28;
constexpr unsigned kUnitAttention = 0x6;
constexpr unsigned char kInquiry = 0x12;
constexpr unsigned char kPersistentReserveIn = 0x5e;
constexpr int kNoEscalation = 0x100;  // SG_SCSI_RESET_NO_ESCALATE, which glibc's header lacks
enum ServiceAction : unsigned char { kReadKeys = 0, kReadReservation = 1, kReportCapabilities = 2 };
// NVMe: status codes as the kernel passes them on, and the command.
constexpr int kNvmeStatusType = 0x700;
constexpr int kNvmePathRelated = 0x300;
constexpr unsigned char kReservationReport = 0x0e;

unsigned sense_key(const unsigned char* sense, unsigned length) {
  if (length < 3) return 0;
  const bool descriptors = (sense[0] & 0x7f) >= 0x72;
  return descriptors ? sense[1] & 0xfu : sense[2] & 0xfu;
}

class BlockDevice : public Device {
 public:
  BlockDevice(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Change enroll(ReservationKey key) override {
    pr_registration request{.new_key = key.value(), .flags = PR_FL_IGNORE_KEY};
    return change(IOC_PR_REGISTER, &request);
  }
  Change withdraw(ReservationKey key) override {
    pr_registration request{.old_key = key.value()};
    return change(IOC_PR_REGISTER, &request);
  }
  Change reserve(ReservationKey key) override {
    pr_reservation request{.key = key.value(), .type = PR_EXCLUSIVE_ACCESS_REG_ONLY};
    return change(IOC_PR_RESERVE, &request);
  }
  // The caller's key comes first.
  Change preempt_and_abort(ReservationKey own, ReservationKey victim) override {
    pr_preempt request{
        .old_key = own.value(), .new_key = victim.value(), .type = PR_EXCLUSIVE_ACCESS_REG_ONLY};
    return change(IOC_PR_PREEMPT_ABORT, &request);
  }

 protected:
  virtual Transport transport() const = 0;
  Change change(unsigned long request, void* argument) {
    const int returned = ::ioctl(fd_.get(), request, argument);
    return judge_ioctl(returned, errno, transport());
  }
  tl::unexpected<Error> io_error(std::string_view what, std::string_view why) const {
    return fail(ErrorCode::kIo, fmt::format("{}: {}: {}", path_, what, why));
  }

  const UniqueFd fd_;
  const std::string path_;
};

class ScsiDevice : public BlockDevice {
 public:
  using BlockDevice::BlockDevice;

  Result<std::string> identity() override {
    const unsigned char length = kVpdBytesMax >> 8;
    const unsigned char cdb[6] = {kInquiry, 1, 0x83, length, kVpdBytesMax & 0xff, 0};
    SYMNAS_ASSIGN(const std::string page, read("INQUIRY", cdb, sizeof cdb, kVpdBytesMax));
    return parse_identification(page);
  }
  Result<Registrations> registrations() override {
    return read_all_keys([this](std::size_t room) { return reserve_in(kReadKeys, room); });
  }
  Result<ReservationAnswer> reservation() override {
    SYMNAS_ASSIGN(const std::string answer, reserve_in(kReadReservation, 256));
    return parse_read_reservation(answer);
  }
  Result<Capabilities> capabilities() override {
    SYMNAS_ASSIGN(const std::string answer, reserve_in(kReportCapabilities, 256));
    return parse_report_capabilities(answer);
  }
  // Resets only this LUN: without the flag the kernel goes on to the target, the bus and the
  // adapter. An adapter does one reset at a time: while it resets another LUN, this one gets
  // EAGAIN, or EIO if both began at once.
  Change reset() override {
    int error = 0;
    int failures = 0;
    for (int attempt = 0; attempt < kResetWaitsMax && failures < kResetTriesMax; ++attempt) {
      if (attempt > 0) ::usleep(kResetPauseUs / 2 + random_() % kResetPauseUs);
      int what = SG_SCSI_RESET_DEVICE | kNoEscalation;
      if (::ioctl(fd_.get(), SG_SCSI_RESET, &what) == 0) return {Outcome::kDone, "done"};
      error = errno;
      if (error == EAGAIN) continue;
      if (error != EIO) break;
      ++failures;
    }
    return {Outcome::kUnknown, std::strerror(error)};
  }

 private:
  std::minstd_rand random_{std::random_device{}()};

  Transport transport() const override { return Transport::kScsi; }

  Result<std::string> reserve_in(ServiceAction action, std::size_t room) {
    unsigned char cdb[10] = {kPersistentReserveIn, action};
    cdb[7] = static_cast<unsigned char>(room >> 8);
    cdb[8] = static_cast<unsigned char>(room & 0xff);
    return read("PERSISTENT RESERVE IN", cdb, sizeof cdb, room);
  }

  // Sends a command that reads at most `room` bytes; repeats it after a unit attention.
  Result<std::string> read(std::string_view name, const unsigned char* cdb, std::size_t cdb_bytes,
                           std::size_t room) {
    std::string why;
    for (int attempt = 0; attempt < kCommandTriesMax; ++attempt) {
      std::string data(room, '\0');
      unsigned char sense[64] = {};
      unsigned char command[16];
      std::memcpy(command, cdb, cdb_bytes);
      sg_io_hdr_t io{};
      io.interface_id = 'S';
      io.dxfer_direction = SG_DXFER_FROM_DEV;
      io.cmd_len = static_cast<unsigned char>(cdb_bytes);
      io.cmdp = command;
      io.mx_sb_len = sizeof sense;
      io.sbp = sense;
      io.dxfer_len = static_cast<unsigned>(room);
      io.dxferp = data.data();
      io.timeout = kCommandTimeoutMs;
      if (::ioctl(fd_.get(), SG_IO, &io) != 0) {
        const bool unknown = errno == ENOTTY || errno == EINVAL;
        if (!unknown) return io_error(name, std::strerror(errno));
        return fail(ErrorCode::kNotSupported,
                    fmt::format("{}: takes no SCSI commands: it has no reservations", path_));
      }
      if ((io.info & SG_INFO_OK_MASK) == SG_INFO_OK) {
        const int missing = io.resid < 0 ? 0 : io.resid;
        if (static_cast<std::size_t>(missing) > room) return io_error(name, "impossible residue");
        data.resize(room - static_cast<std::size_t>(missing));
        return data;
      }
      const unsigned sensed = sense_key(sense, io.sb_len_wr);
      why = fmt::format("status {:#x}, host {:#x}, driver {:#x}, sense key {:#x}", io.status,
                        io.host_status, io.driver_status, sensed);
      if (io.status != kCheckCondition || sensed != kUnitAttention) break;
    }
    return io_error(name, why);
  }
};

class NvmeDevice : public BlockDevice {
 public:
  NvmeDevice(UniqueFd fd, std::string path, std::string name)
      : BlockDevice(std::move(fd), std::move(path)), name_(std::move(name)) {}

  Result<std::string> identity() override {
    std::ifstream file("/sys/block/" + name_ + "/wwid");
    std::string text;
    if (std::getline(file, text) && !text.empty()) return text;
    return fail(ErrorCode::kNotFound, fmt::format("{}: the namespace has no wwid", path_));
  }
  Result<Registrations> registrations() override {
    SYMNAS_ASSIGN(NvmeReservations report, this->report());
    return std::move(report.registrations);
  }
  Result<ReservationAnswer> reservation() override {
    SYMNAS_ASSIGN(const NvmeReservations report, this->report());
    return ReservationAnswer{report.registrations.generation, report.reservation};
  }
  // A namespace without these capabilities refuses the registration, which asks for persistence
  // (CPTPL).
  Result<Capabilities> capabilities() override { return Capabilities{true, true}; }
  Change reset() override { return {Outcome::kRefused, "NVMe has no reset of a namespace"}; }

 private:
  Transport transport() const override { return Transport::kNvme; }

  Result<NvmeReservations> report() {
    auto extended = report(NvmeReport::kExtended);
    if (extended || extended.error().code != ErrorCode::kIo) return extended;
    return report(NvmeReport::kPlain);
  }
  Result<NvmeReservations> report(NvmeReport kind) {
    const int namespace_id = ::ioctl(fd_.get(), NVME_IOCTL_ID);
    if (namespace_id <= 0) return io_error("NVME_IOCTL_ID", std::strerror(errno));
    std::string data(kNvmeReportBytesMax, '\0');
    nvme_passthru_cmd command{};
    command.opcode = kReservationReport;
    command.nsid = static_cast<std::uint32_t>(namespace_id);
    command.addr = reinterpret_cast<std::uintptr_t>(data.data());
    command.data_len = static_cast<std::uint32_t>(data.size());
    command.cdw10 = static_cast<std::uint32_t>(data.size() / 4 - 1);
    command.cdw11 = kind == NvmeReport::kExtended ? 1 : 0;
    command.timeout_ms = kCommandTimeoutMs;
    const int status = ::ioctl(fd_.get(), NVME_IOCTL_IO_CMD, &command);
    if (status < 0) return io_error("Reservation Report", std::strerror(errno));
    if (status != 0) return io_error("Reservation Report", fmt::format("status {:#x}", status));
    return parse_reservation_report(data, kind);
  }

  const std::string name_;
};

// The kernel's name of a whole disk ("sda"); an error for anything else.
Result<std::string> kernel_name(const std::string& path, dev_t device) {
  const std::string node = fmt::format("/sys/dev/block/{}:{}", ::major(device), ::minor(device));
  if (std::ifstream(node + "/partition").good()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: is a partition: name the whole disk", path));
  }
  std::ifstream file(node + "/uevent");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("DEVNAME=")) return line.substr(8);
  }
  return fail(ErrorCode::kNotFound, fmt::format("{}: sysfs does not know it", path));
}

}  // namespace

Change judge_ioctl(int returned, int error_number, Transport transport) {
  if (returned == 0) return {Outcome::kDone, "done"};
  if (returned < 0) return {Outcome::kUnknown, std::strerror(error_number)};
  if (transport == Transport::kNvme) {
    const bool path = (returned & kNvmeStatusType) == kNvmePathRelated;
    return {path ? Outcome::kUnknown : Outcome::kRefused,
            fmt::format("NVMe status {:#x}", returned)};
  }
  if (returned == kReservationConflict) return {Outcome::kRefused, "reservation conflict"};
  const bool from_lun =
      returned == kCheckCondition || returned == kBusy || returned == kTaskSetFull;
  return {from_lun ? Outcome::kRefused : Outcome::kUnknown,
          fmt::format("SCSI result {:#x}", returned)};
}

Result<std::unique_ptr<Device>> open_block_device(const std::string& path) {
  // O_RDONLY is enough for the ioctls, and closing such a descriptor does not make udev probe the
  // disk.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    return fail(code, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0 || !S_ISBLK(found.st_mode)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: is no block device: only those have reservations", path));
  }
  SYMNAS_ASSIGN(const std::string name, kernel_name(path, found.st_rdev));
  if (name.starts_with("nvme")) return std::make_unique<NvmeDevice>(std::move(fd), path, name);
  return std::make_unique<ScsiDevice>(std::move(fd), path);
}

}  // namespace symnas::ha
