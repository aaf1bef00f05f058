#include "vnfsd/api/load.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

class LoadDocumentTest : public ::testing::Test {
 protected:
  LoadDocumentTest() {
    builder.basics().vnfs1().owner("vnfs1", "c1n1");
    view = builder.view();
    vnfs.set_vnfs("vnfs1");
    vnfs.set_epoch(view.owners.at("vnfs1").record.epoch());
    vnfs.set_span_ms(2000);
    records::LoadClient& client = *vnfs.add_clients();
    client.set_client("10.0.0.7");
    client.set_export_id(view.exports.begin()->second.record.export_id());
    records::LoadOperation& one = *client.add_operations();
    one.set_operation("nfs4.READ");
    one.set_requests(10);
    one.set_errors(1);
    one.set_read_bytes(4096);
    one.set_time_us(1000);
    one.set_worst_us(300);
  }
  void tell(const std::string& head) { *load.told[head].add_vnfses() = vnfs; }

  ViewBuilder builder;
  ClusterView view;
  records::LoadVnfs vnfs;
  ClusterLoad load;
};

TEST_F(LoadDocumentTest, RatesOfTheOwner) {
  tell("c1n1");
  const json document = load_document(view, load);
  EXPECT_EQ(document["vnfses"],
            json::parse(R"([{"vnfs": "vnfs1", "head": "c1n1", "span_ms": 2000}])"));
  EXPECT_EQ(document["missing"], json::array());
  ASSERT_EQ(document["rows"].size(), 1u);
  const json expected = {{"vnfs", "vnfs1"},
                         {"head", "c1n1"},
                         {"client", "10.0.0.7"},
                         {"export", view.exports.begin()->first},
                         {"protocol", "nfs4"},
                         {"operation", "READ"},
                         {"requests_per_s", 5.0},
                         {"errors_per_s", 0.5},
                         {"read_bytes_per_s", 2048.0},
                         {"written_bytes_per_s", 0.0},
                         {"mean_us", 100},
                         {"worst_us", 300}};
  EXPECT_EQ(document["rows"][0], expected);
}

TEST_F(LoadDocumentTest, ClientsWithoutARowAreOthersAndExportsThatAreGoneHaveTheirId) {
  vnfs.mutable_clients(0)->clear_client();
  vnfs.mutable_clients(0)->set_export_id(999);
  tell("c1n1");
  const json row = load_document(view, load)["rows"].at(0);
  EXPECT_EQ(row["client"], "others");
  EXPECT_EQ(row["export"], "id 999");
}

TEST_F(LoadDocumentTest, ThePseudoFilesystemHasNoName) {
  vnfs.mutable_clients(0)->set_export_id(0);
  tell("c1n1");
  EXPECT_EQ(load_document(view, load)["rows"].at(0)["export"], "");
}

TEST_F(LoadDocumentTest, OnlyTheOwnerIsBelieved) {
  tell("c1n2");
  const json document = load_document(view, load);
  EXPECT_EQ(document["rows"], json::array());
  EXPECT_EQ(document["missing"].at(0)["head"], "c1n1");
}

TEST_F(LoadDocumentTest, AFormerInstanceIsNotBelieved) {
  vnfs.set_epoch(vnfs.epoch() + 1);
  tell("c1n1");
  EXPECT_EQ(load_document(view, load)["missing"].at(0)["why"],
            "its instance has not been counted yet");
}

TEST_F(LoadDocumentTest, WhyNothingIsKnownIsSaid) {
  load.silent["c1n1"] = "it has told nothing";
  EXPECT_EQ(load_document(view, load)["missing"],
            json::parse(R"([{"vnfs": "vnfs1", "head": "c1n1", "why": "it has told nothing"}])"));
  load.silent.clear();
  vnfs.set_error("no answer after 1000 ms");
  tell("c1n1");
  EXPECT_EQ(load_document(view, load)["missing"].at(0)["why"], "no answer after 1000 ms");
}

TEST_F(LoadDocumentTest, WithoutTheRecordsWhatIsToldCounts) {
  tell("c1n1");
  load.silent[""] = "etcd: away";
  const json document = load_document(ClusterView(), load);
  EXPECT_EQ(document["rows"].size(), 1u);
  EXPECT_EQ(document["missing"], json::parse(R"([{"vnfs": "", "head": "", "why": "etcd: away"}])"));
}

}  // namespace
}  // namespace symnas::vnfsd::api
