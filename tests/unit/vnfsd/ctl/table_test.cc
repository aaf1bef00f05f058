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

TEST(Table, CharactersAreCountedByTheColumnsThatTheyTake) {
  const nlohmann::json rows = {{{"a", "\xe6\x97\xa5"}, {"b", "x"}}, {{"a", "1234"}, {"b", "y"}}};
  EXPECT_EQ(render_table({plain("A", "a"), plain("B", "b")}, rows),
            "A     B\n\xe6\x97\xa5    x\n1234  y\n");
}

TEST(Table, ARowIsALine) {
  EXPECT_EQ(render_table({plain("A", "a")}, {{{"a", "x\ny\tz"}}}), "A\nx\\ny\\tz\n");
}

TEST(Table, StatesHaveColoursWhereTheyAreWanted) {
  const nlohmann::json rows = {{{"n", "v1"}, {"s", "serving"}, {"e", "-"}},
                               {{"n", "v2"}, {"s", "moving to b"}, {"e", "-"}},
                               {{"n", "v3"}, {"s", "held"}, {"e", "held"}},
                               {{"n", "v4"}, {"s", "odd"}, {"e", ""}}};
  const std::vector<Column> columns = {plain("N", "n"), state("STATE", "s"), plain("E", "e")};
  EXPECT_EQ(render_table(columns, rows, Paint::kColours),
            "N   STATE        E\n"
            "v1  \x1b[32mserving\x1b[0m      -\n"
            "v2  \x1b[33mmoving to b\x1b[0m  -\n"
            "v3  \x1b[31mheld\x1b[0m         held\n"
            "v4  odd          -\n");
  EXPECT_EQ(render_table(columns, rows).find('\x1b'), std::string::npos);
}

TEST(Table, EmptyIsItsTitles) {
  EXPECT_EQ(render_table({plain("A", "a"), exact_size("B", "b")}, nlohmann::json::array()),
            "A  B\n");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
