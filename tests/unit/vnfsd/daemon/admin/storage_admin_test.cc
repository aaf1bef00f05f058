// LUNs, volumes and filesystems, over files.
#include "vnfsd/daemon/admin/storage_admin.h"

#include <nlohmann/json.hpp>

#include "tests/unit/cvm/lun_files.h"
#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class StorageAdminTest : public HeadWorld {
 protected:
  void SetUp() override { builder.head("c1n3", "10.99.0.3"); }
  void import(const std::string& name) {
    const auto done = admin.import_lun({name, files.make(name)}, Mode::kCommit);
    ASSERT_TRUE(done) << done.error().message;
  }
  Result<std::string> create(Mode mode = Mode::kCommit) {
    return admin.create_volume({"v1", {"LUN0"}, 256 << 10, {}}, mode);
  }

  cvm::LunFiles files;
  int found = 0;
  LunKeeper luns{head, {}, [] {}};
  StorageAdmin admin{head, reader, event_writer, luns, [this] { ++found; }};
};

TEST_F(StorageAdminTest, AnImportedLunIsOpenAtOnce) {
  import("LUN0");
  EXPECT_TRUE(builder.view().luns.contains("LUN0"));
  EXPECT_EQ(luns.open_luns().paths().size(), 1u);
  EXPECT_EQ(found, 1);
}

TEST_F(StorageAdminTest, ADryImportWritesNothing) {
  ASSERT_TRUE(admin.import_lun({"LUN0", files.make("LUN0")}, Mode::kDryRun));
  EXPECT_FALSE(builder.view().luns.contains("LUN0"));
  EXPECT_EQ(code_of(admin.import_lun({"LUN0", "relative"}, Mode::kCommit)),
            ErrorCode::kInvalidArgument);
}

TEST_F(StorageAdminTest, AScanTellsLunsFromFreeDevices) {
  import("LUN0");
  files.make("free");
  const auto scanned = admin.scan_luns({files.directory(), files.path("none")});
  ASSERT_TRUE(scanned) << scanned.error().message;
  const nlohmann::json& devices = (*scanned)["devices"];
  ASSERT_EQ(devices.size(), 3u) << *scanned;
  EXPECT_EQ(devices[0]["state"], "imported");
  EXPECT_EQ(devices[0]["lun"], "LUN0");
  EXPECT_EQ(devices[1]["state"], "free");
  EXPECT_EQ(devices[2]["state"], "nothing");
  EXPECT_EQ(code_of(admin.scan_luns({"relative"})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(admin.scan_luns(std::vector<std::string>(1000, "/x"))),
            ErrorCode::kInvalidArgument);
  // Without paths: where heads look for LUNs.
  const auto known = admin.scan_luns({});
  ASSERT_TRUE(known) << known.error().message;
  ASSERT_EQ((*known)["devices"].size(), 1u) << *known;
  EXPECT_EQ((*known)["devices"][0]["path"], files.path("LUN0"));
}

TEST_F(StorageAdminTest, AVolumeUsesItsLunsUntilItIsRemoved) {
  import("LUN0");
  ASSERT_TRUE(create(Mode::kDryRun));
  EXPECT_FALSE(builder.view().volumes.contains("v1"));
  const auto made = create();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(code_of(admin.release_lun("LUN0", api::Label::kErase, Mode::kCommit)),
            ErrorCode::kBusy);
  ASSERT_TRUE(admin.remove_volume("v1", Mode::kCommit));
  const auto released = admin.release_lun("LUN0", api::Label::kErase, Mode::kCommit);
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE(builder.view().luns.empty());
  EXPECT_TRUE(luns.open_luns().paths().empty());
}

TEST_F(StorageAdminTest, AVolumeNeedsLunsThatAreHere) {
  builder.lun("LUN0");  // nowhere
  EXPECT_EQ(code_of(create()), ErrorCode::kNotFound);
  EXPECT_FALSE(builder.view().volumes.contains("v1"));
}

TEST_F(StorageAdminTest, AFilesystemIsMadeOnAVolume) {
  import("LUN0");
  ASSERT_TRUE(create());
  FilesystemRequest request;
  request.format.name = "u04";
  request.format.volume = "v1";
  ASSERT_TRUE(admin.create_filesystem(request, Mode::kDryRun));
  EXPECT_TRUE(builder.view().filesystems.empty());
  const auto made = admin.create_filesystem(request, Mode::kCommit);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(builder.view().filesystems.at("u04").record.volume(), "v1");
  EXPECT_EQ(code_of(admin.remove_volume("v1", Mode::kCommit)), ErrorCode::kBusy);
  ASSERT_TRUE(admin.remove_filesystem("u04", Mode::kCommit));
  EXPECT_TRUE(builder.view().filesystems.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
