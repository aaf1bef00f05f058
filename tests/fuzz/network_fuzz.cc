// Datagrams of other heads; answers of devices to SCSI and NVMe commands, and of symnas-fence.
#include <string>

#include "ha/detection/probe.h"
#include "ha/reservation/key.h"
#include "ha/reservation/nvme_wire.h"
#include "ha/reservation/report.h"
#include "ha/reservation/scsi_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace symnas::ha;
  if (size == 0) return 0;
  static const std::string key = make_probe_key();
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 9) {
    case 0: static_cast<void>(parse_probe(bytes, key)); break;
    case 1: static_cast<void>(parse_clock(bytes, key)); break;
    case 2: static_cast<void>(parse_read_keys(bytes)); break;
    case 3: static_cast<void>(parse_read_reservation(bytes)); break;
    case 4: static_cast<void>(parse_report_capabilities(bytes)); break;
    case 5: static_cast<void>(parse_identification(bytes)); break;
    case 6: static_cast<void>(parse_answer(bytes, "/dev/sda")); break;
    case 7: static_cast<void>(parse_key(bytes)); break;
    default: static_cast<void>(parse_reservation_report(bytes, NvmeReport::kExtended)); break;
  }
  return 0;
}
