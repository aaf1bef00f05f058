#include "vnfsd/plans/exports.h"

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd {
namespace {

TEST(Exports, PathsOverlapWhenOneLeadsToTheOther) {
  EXPECT_TRUE(overlap("/a", "/a"));
  EXPECT_TRUE(overlap("/a", "/a/b"));
  EXPECT_TRUE(overlap("/a/b", "/a"));
  EXPECT_TRUE(overlap("/", "/a"));
  EXPECT_FALSE(overlap("/a", "/ab"));
  EXPECT_FALSE(overlap("/a/b", "/a/c"));
}

records::ExportRecord exported(const char* filesystem, const char* path, const char* pseudo) {
  records::ExportRecord record;
  record.set_filesystem(filesystem);
  record.set_path(path);
  record.set_pseudo(pseudo);
  return record;
}

TEST(Exports, AreNestedWhereClientsFindWhatIsThere) {
  EXPECT_TRUE(nested(exported("f", "/sub", "/u/sub"), exported("f", "/", "/u")));
  EXPECT_TRUE(nested(exported("f", "/a/b/c", "/u/b/c"), exported("f", "/a", "/u")));
  EXPECT_FALSE(nested(exported("f", "/", "/u"), exported("f", "/sub", "/u/sub")));
  EXPECT_FALSE(nested(exported("g", "/sub", "/u/sub"), exported("f", "/", "/u")));
  EXPECT_FALSE(nested(exported("f", "/other", "/u/sub"), exported("f", "/", "/u")));
  EXPECT_FALSE(nested(exported("f", "/sub", "/usub"), exported("f", "/", "/u")));
  EXPECT_FALSE(nested(exported("f", "/", "/u"), exported("f", "/", "/u")));
}

TEST(Exports, ArePendingUntilTheOwnersInstanceHasSaidIt) {
  ViewBuilder builder;
  builder.basics().vnfs1();
  EXPECT_FALSE(exports_pending(builder.view(), "vnfs1"));  // nobody serves it
  builder.owner("vnfs1", "c1n1");                          // epoch 7
  EXPECT_TRUE(exports_pending(builder.view(), "vnfs1"));
  const auto say = [&](std::uint64_t epoch, const std::string& served, const std::string& refused) {
    records::ServedRecord record;
    record.set_epoch(epoch);
    record.set_exports(served);
    record.set_refused(refused);
    builder.put(kv::keys::kServed + "vnfs1", record.SerializeAsString());
    return exports_pending(builder.view(), "vnfs1");
  };
  const ClusterView view = builder.view();
  const std::string digest = exports_digest(view, view.vnfses.at("vnfs1").record);
  EXPECT_EQ(exports_problem(builder.view(), "vnfs1"), "");  // it starts
  EXPECT_FALSE(say(7, digest, ""));
  EXPECT_EQ(exports_problem(builder.view(), "vnfs1"), "");
  EXPECT_FALSE(say(7, "", digest));
  EXPECT_NE(exports_problem(builder.view(), "vnfs1").find("not served as they are recorded"),
            std::string::npos);
  EXPECT_TRUE(say(6, digest, ""));
  EXPECT_TRUE(say(7, "", ""));
  EXPECT_NE(exports_problem(builder.view(), "vnfs1").find("has not said yet"), std::string::npos);
  builder.apply([](const ClusterView& v) {
    ExportEdit edit;
    edit.name = "u04";
    edit.access = "ro";
    return plan_export_set(v, edit);
  });
  EXPECT_TRUE(say(7, digest, ""));
  EXPECT_TRUE(say(7, "", digest));
}

}  // namespace
}  // namespace symnas::vnfsd
