#include "vnfsd/ctl/table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

TEST(Table, AlignsAndLeavesNoBlankAtTheEnd) {
  const nlohmann::json rows = {{{"name", "LUN0"}, {"size", 1024}, {"on", {"a", "b"}}},
                               {{"name", "x"}, {"size", 1610612736}}};
  EXPECT_EQ(render_table({plain("NAME", "name"), size("SIZE", "size"), plain("ON", "on")}, rows),
            "NAME  SIZE   ON\n"
            "LUN0  1.00K  a,b\n"
            "x     1.50G  -\n");
}

TEST(Table, EmptyIsItsTitles) {
  EXPECT_EQ(render_table({plain("A", "a"), exact_size("B", "b")}, nlohmann::json::array()),
            "A  B\n");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
