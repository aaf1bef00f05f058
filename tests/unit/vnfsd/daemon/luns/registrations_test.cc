#include "vnfsd/daemon/luns/registrations.h"

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

Config reserving() {
  Config config = config_of("c1n3");
  config.fence.persistent_reservations = true;
  return config;
}

// All LUNs have an identification, and are found by it.
class RegistrationsTest : public HeadWorld {
 protected:
  RegistrationsTest() : HeadWorld(reserving()) {}
  void SetUp() override {
    builder.basics().vnfs1();
    records::HeadRecord record;
    record.set_name("c1n3");
    record.set_incarnation("boot");
    builder.put(kv::keys::kHeads + std::string("c1n3"), record.SerializeAsString());
    for (const char* name : {"LUN0", "LUN1", "LUN2", "LUN3"}) {
      cvm::records::LunRecord lun = builder.view().luns.at(name).record;
      lun.set_identification(std::string("lab.") + name);
      builder.put(kv::keys::kLuns + std::string(name), lun.SerializeAsString());
    }
  }
  ReservationCalls calls() {
    ReservationCalls out;
    out.identify =
        [](const std::vector<std::string>&) -> Result<std::map<std::string, std::string>> {
      return std::map<std::string, std::string>{};
    };
    out.register_boot = [](const std::string&, const std::vector<ha::NamedLun>&) -> Status {
      return {};
    };
    out.preempt = [](const std::string&, const std::string&,
                     const std::vector<ha::NamedLun>&) -> Result<std::string> {
      return std::string("key is gone");
    };
    out.check_capable = [](const std::string&) -> Status { return {}; };
    return out;
  }
  LunSet luns{head.config.cluster_uuid};
};

TEST_F(RegistrationsTest, WithoutReservationsEverythingIsAllowed) {
  const ThisHead plain{builder.store, clock, config_of("c1n3"), "boot"};
  const Registrations none(plain, calls(), luns, [] {});
  EXPECT_EQ(none.reservations(), nullptr);
  EXPECT_TRUE(none.check(builder.view(), "vnfs1"));
  EXPECT_TRUE(none.is_registered_on(builder.view(), "LUN0", "/dev/sda"));
}

TEST_F(RegistrationsTest, WhoHasNotRegisteredStartsNothing) {
  Registrations registrations(head, calls(), luns, [] {});
  const Status refused = registrations.check(builder.view(), "vnfs1");
  EXPECT_EQ(code_of(refused), ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("vnfs vnfs1: not started"), std::string::npos);
  EXPECT_FALSE(registrations.is_registered_on(builder.view(), "LUN0", "/dev/sda"));
}

// Its LUNs are nowhere.
TEST_F(RegistrationsTest, WhatIsNotFoundIsNotRegisteredOn) {
  Registrations registrations(head, calls(), luns, [] {});
  registrations.follow(builder.view(), {});
  EXPECT_FALSE(registrations.reservations()->wait(identified_luns(builder.view()), 0));
  EXPECT_FALSE(registrations.check(builder.view(), "vnfs1"));
}

TEST_F(RegistrationsTest, AnotherBootsRecordIsNotFollowed) {
  records::HeadRecord record = builder.view().heads.at("c1n3").record;
  record.set_incarnation("a later boot");
  builder.put(kv::keys::kHeads + std::string("c1n3"), record.SerializeAsString());
  Registrations registrations(head, calls(), luns, [] {});
  registrations.follow(builder.view(), {});
  EXPECT_EQ(registrations.reservations()->error(), "etcd has not been read yet");
}

TEST_F(RegistrationsTest, NamesTheLunsThatHaveAnIdentification) {
  builder.lun("LUN9");
  const LunNames names = identified_luns(builder.view());
  EXPECT_EQ(names.size(), 4u);
  EXPECT_EQ(names.at("lab.LUN0"), "LUN0");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
