#include "vnfsd/preflight/judge.h"

#include <gtest/gtest.h>

#include "vnfsd/preflight/limits.h"

namespace symnas::vnfsd::preflight {
namespace {

TEST(Judge, Clock) {
  EXPECT_EQ(judge_clock(std::nullopt).verdict, Verdict::kUnknown);
  EXPECT_EQ(judge_clock(ClockSeen{false, 0}).verdict, Verdict::kDoubt);
  EXPECT_EQ(judge_clock(ClockSeen{true, kClockErrorMaxNs + 1}).verdict, Verdict::kDoubt);
  const Finding fine = judge_clock(ClockSeen{true, 2'000'000});
  EXPECT_EQ(fine.verdict, Verdict::kFine);
  EXPECT_EQ(fine.what, "synchronised, within 2.0 ms");
  EXPECT_EQ(fine.next, "");
}

TEST(Judge, Kernel) {
  KernelSeen seen{"6.1.0-18-amd64", true, true, ""};
  EXPECT_EQ(judge_kernel(seen).verdict, Verdict::kFine);
  seen.io_uring = false;
  EXPECT_EQ(judge_kernel(seen).verdict, Verdict::kDoubt);
  seen.macvlan.reset();
  EXPECT_EQ(judge_kernel(seen).verdict, Verdict::kUnknown);
  seen.macvlan = false;
  EXPECT_EQ(judge_kernel(seen).verdict, Verdict::kProblem);
  EXPECT_EQ(judge_kernel({"5.10.0", true, true, ""}).verdict, Verdict::kProblem);
  EXPECT_EQ(judge_kernel({"5.15", true, true, ""}).verdict, Verdict::kFine);
  EXPECT_EQ(judge_kernel({"x", true, true, ""}).verdict, Verdict::kUnknown);
}

TEST(Judge, Neighbours) {
  EXPECT_EQ(judge_neighbours(std::nullopt).verdict, Verdict::kUnknown);
  EXPECT_EQ(judge_neighbours(kNeighboursMin).verdict, Verdict::kFine);
  const Finding few = judge_neighbours(1024);  // Linux' default
  EXPECT_EQ(few.verdict, Verdict::kDoubt);
  EXPECT_NE(few.next.find("60-symnas.conf"), std::string::npos);
}

TEST(Judge, WhatAsksPacemaker) {
  EXPECT_EQ(judge_stonith("/x/symnas-stonith", true).verdict, Verdict::kFine);
  const Finding missing = judge_stonith("/x/symnas-stonith", false);
  EXPECT_EQ(missing.verdict, Verdict::kProblem);
  EXPECT_EQ(missing.next, "apt-get install symnas-pacemaker");
}

TEST(Judge, Port) {
  EXPECT_EQ(judge_port({2379, false, false, false}, "etcd").verdict, Verdict::kFine);
  EXPECT_EQ(judge_port({2379, false, true, true}, "etcd").verdict, Verdict::kFine);
  const Finding taken = judge_port({2379, false, true, false}, "etcd");
  EXPECT_EQ(taken.verdict, Verdict::kProblem);
  EXPECT_EQ(taken.subject, "port 2379/tcp");
}

TEST(Judge, EtcdDiskByTheSlowestOfAHundred) {
  EXPECT_EQ(judge_etcd_disk("/d", {}).verdict, Verdict::kUnknown);
  std::vector<std::int64_t> times(200, 800);
  times[0] = 90'000;  // one of 200
  EXPECT_EQ(judge_etcd_disk("/d", times).verdict, Verdict::kFine);
  times[1] = times[2] = 90'000;
  EXPECT_EQ(judge_etcd_disk("/d", times).verdict, Verdict::kDoubt);
  times[0] = times[1] = times[2] = 300'000;
  EXPECT_EQ(judge_etcd_disk("/d", times).verdict, Verdict::kProblem);
}

TEST(Judge, Path) {
  PathSeen seen;
  seen.address = "10.99.0.2";
  seen.mtu = 9000;
  EXPECT_EQ(judge_path(seen).verdict, Verdict::kProblem);  // nothing answers
  seen.client = seen.peer = PathSeen::Port::kRefused;
  EXPECT_EQ(judge_path(seen).verdict, Verdict::kDoubt);  // only ICMP is filtered
  seen.answers = true;
  const Finding cut = judge_path(seen);
  EXPECT_EQ(cut.verdict, Verdict::kProblem);
  EXPECT_NE(cut.what.find("9000"), std::string::npos);
  seen.answers_full = true;
  EXPECT_EQ(judge_path(seen).verdict, Verdict::kFine);
  seen.peer = PathSeen::Port::kSilent;
  EXPECT_EQ(judge_path(seen).verdict, Verdict::kProblem);
  seen.error = "Operation not permitted";
  EXPECT_EQ(judge_path(seen).verdict, Verdict::kUnknown);
}

cvm::SurveyedDevice device(const std::string& path, cvm::Content content,
                           const std::string& wwid = "") {
  cvm::SurveyedDevice out;
  out.path = path;
  out.content = content;
  out.wwid = wwid;
  return out;
}

TEST(Judge, Lun) {
  EXPECT_EQ(judge_lun(device("/dev/sda", cvm::Content::kNothing)).verdict, Verdict::kFine);
  EXPECT_EQ(judge_lun(device("/dev/sda", cvm::Content::kLabel)).verdict, Verdict::kFine);
  EXPECT_EQ(judge_lun(device("/dev/sda", cvm::Content::kData)).verdict, Verdict::kDoubt);
  EXPECT_EQ(judge_lun(device("/dev/sda", cvm::Content::kUnreadable)).verdict, Verdict::kProblem);
}

TEST(Judge, OneLunUnderTwoNames) {
  const auto kNothing = cvm::Content::kNothing;
  EXPECT_TRUE(
      judge_multipath({device("/dev/sda", kNothing, "naa.1"), device("/dev/sdb", kNothing, "naa.2"),
                       device("/f", kNothing), device("/g", kNothing)})
          .empty());
  const auto found = judge_multipath(
      {device("/dev/sda", kNothing, "naa.1"), device("/dev/sdb", kNothing, "naa.1")});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, Verdict::kProblem);
  EXPECT_EQ(found[0].what, "/dev/sda and /dev/sdb are one LUN, naa.1");
  // Under a multipath device they are in use.
  EXPECT_TRUE(judge_multipath({device("/dev/sda", cvm::Content::kInUse, "naa.1"),
                               device("/dev/sdb", cvm::Content::kInUse, "naa.1"),
                               device("/dev/dm-0", kNothing, "naa.1")})
                  .empty());
}

}  // namespace
}  // namespace symnas::vnfsd::preflight
