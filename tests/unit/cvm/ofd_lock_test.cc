#include "cvm/ofd_lock.h"

#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

class OfdLock : public ::testing::Test {
 protected:
  UniqueFd open() { return UniqueFd(::open(path_.c_str(), O_RDWR | O_CLOEXEC)); }
  LunFiles files_;
  std::string path_ = files_.make("disk");
};

TEST_F(OfdLock, ByteIsHeldByOneDescriptionUntilItIsClosed) {
  UniqueFd first = open();
  const UniqueFd second = open();
  ASSERT_TRUE(hold_ofd_byte(first.get(), 5));
  EXPECT_TRUE(hold_ofd_byte(first.get(), 5)) << "holding it already is no conflict";
  EXPECT_EQ(hold_ofd_byte(second.get(), 5).error().code, ErrorCode::kBusy);
  EXPECT_TRUE(hold_ofd_byte(second.get(), 6)) << "another VNFS's byte";
  EXPECT_EQ(hold_all_ofd_bytes(open().get()).error().code, ErrorCode::kBusy);
  first.reset();
  EXPECT_TRUE(hold_ofd_byte(second.get(), 5));
}

TEST_F(OfdLock, ProofIsObtainedThroughAnotherDescriptorOfTheNode) {
  const UniqueFd daemon = open();
  UniqueFd instance = open();
  ASSERT_TRUE(hold_ofd_byte(instance.get(), 5));
  EXPECT_EQ(obtain_ofd_byte(daemon.get(), 5, 0).error().code, ErrorCode::kBusy);
  EXPECT_EQ(obtain_ofd_byte(daemon.get(), 5, 5).error().code, ErrorCode::kBusy);
  EXPECT_TRUE(obtain_ofd_byte(daemon.get(), 6, 0));
  instance.reset();
  EXPECT_TRUE(obtain_ofd_byte(daemon.get(), 5, 0));
  EXPECT_TRUE(hold_ofd_byte(open().get(), 5)) << "the proof does not keep the byte";
}

TEST_F(OfdLock, ProofFollowsTheInodeNotTheName) {
  const UniqueFd daemon = open();
  const UniqueFd instance = open();
  ASSERT_TRUE(hold_ofd_byte(instance.get(), 5));
  std::filesystem::remove(path_);
  files_.make("disk");
  EXPECT_EQ(obtain_ofd_byte(daemon.get(), 5, 0).error().code, ErrorCode::kBusy);
}

TEST_F(OfdLock, ReadOnlyOrClosedDescriptorIsAnErrorNotAProof) {
  const UniqueFd read_only(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(hold_ofd_byte(read_only.get(), 5).error().code, ErrorCode::kInternal);
  EXPECT_EQ(obtain_ofd_byte(-1, 5, 0).error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace symnas::cvm
