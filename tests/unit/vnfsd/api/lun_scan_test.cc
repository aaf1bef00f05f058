#include "vnfsd/api/lun_scan.h"

#include <nlohmann/json.hpp>

#include "cvm/volume.h"
#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

const Uuid kOwn = *cvm::uuid_from_bytes(std::string(16, 'c'));

cvm::SurveyedDevice device(const std::string& path, cvm::Content content) {
  return {.path = path,
          .kind = cvm::LunKind::kBlockDevice,
          .size_bytes = std::uint64_t{1} << 30,
          .logical_block_bytes = 512,
          .content = content};
}

cvm::SurveyedDevice labelled(const std::string& path, const Uuid& cluster, const std::string& name,
                             const std::string& uuid) {
  cvm::SurveyedDevice out = device(path, cvm::Content::kLabel);
  out.label = {.cluster = cluster, .lun = *cvm::uuid_from_bytes(uuid), .name = name};
  return out;
}

class LunScanDocument : public ::testing::Test {
 protected:
  json devices(const std::vector<cvm::SurveyedDevice>& seen) {
    return lun_scan_document(builder.view(), seen)["devices"];
  }
  ViewBuilder builder;
};

TEST_F(LunScanDocument, AFreeDevice) {
  cvm::SurveyedDevice seen = device("/dev/sda", cvm::Content::kNothing);
  seen.blank = true;
  EXPECT_EQ(devices({seen})[0], (json{{"path", "/dev/sda"},
                                      {"kind", "device"},
                                      {"partition", false},
                                      {"wwid", ""},
                                      {"size_bytes", 1 << 30},
                                      {"logical_block_bytes", 512},
                                      {"state", "free"},
                                      {"what", ""},
                                      {"blank", true}}));
  seen.blank = false;
  EXPECT_EQ(devices({seen})[0]["what"], "bytes of no known kind");
}

TEST_F(LunScanDocument, ALunOfThisClusterAndWhoSeesIt) {
  builder.basics();
  records::HeadRecord head = builder.view().heads.at("c1n1").record;
  head.add_luns("LUN0............");
  builder.put(kv::keys::kHeads + std::string("c1n1"), head.SerializeAsString());
  const json seen = devices({labelled("/dev/sda", kOwn, "LUN0", "LUN0............"),
                             labelled("/dev/sdb", kOwn, "LUN3", "LUN3............")});
  EXPECT_EQ(seen[0]["state"], "imported");
  EXPECT_EQ(seen[0]["what"], "LUN LUN0, of volume v1");
  EXPECT_EQ(seen[0]["heads"], json{"c1n1"});
  EXPECT_EQ(seen[1]["what"], "LUN LUN3, of no volume");
  EXPECT_EQ(seen[1]["heads"], json::array());
}

TEST_F(LunScanDocument, LabelsThatNoRecordHas) {
  cvm::SurveyedDevice used = labelled("/dev/sdb", kOwn, "LUN8", "LUN8............");
  used.label->volume = kOwn;
  const json seen = devices({labelled("/dev/sda", kOwn, "LUN7", "LUN7............"), used,
                             labelled("/dev/sdc", Uuid{}, "LUN0", "LUN0............"),
                             labelled("/dev/sdd", Uuid{}, "\x1b[2J", "LUN6............")});
  EXPECT_EQ(seen[0]["state"], "forgotten");
  EXPECT_EQ(seen[0]["import_as"], "LUN7");
  EXPECT_EQ(seen[1]["state"], "forgotten");
  EXPECT_FALSE(seen[1].contains("import_as")) << "a volume of this cluster had it";
  EXPECT_EQ(seen[2]["state"], "foreign");
  EXPECT_FALSE(seen[2].contains("import_as"));
  EXPECT_EQ(seen[3].dump().find("[2J"), std::string::npos) << "it goes to a terminal";
}

TEST_F(LunScanDocument, TwoPathsToOneLun) {
  cvm::SurveyedDevice one = device("/dev/sda", cvm::Content::kNothing);
  one.wwid = "naa.5000";
  cvm::SurveyedDevice other = one;
  other.path = "/dev/sdb";
  cvm::SurveyedDevice part = one;
  part.path = "/dev/sdb1";
  part.is_partition = true;
  const json seen = devices({one, other, part});
  EXPECT_FALSE(seen[0].contains("same_as"));
  EXPECT_EQ(seen[1]["same_as"], "/dev/sda");
  EXPECT_FALSE(seen[2].contains("same_as"));
  const json copies = devices({labelled("/dev/sda", kOwn, "LUN7", "LUN7............"),
                               labelled("/dev/sdb", kOwn, "LUN7", "LUN7............")});
  EXPECT_EQ(copies[1]["same_as"], "/dev/sda");
}

}  // namespace
}  // namespace symnas::vnfsd::api
