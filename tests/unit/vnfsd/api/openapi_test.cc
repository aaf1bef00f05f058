#include "vnfsd/api/openapi.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// SYMNAS_WRITE_OPENAPI=1 writes the file anew: make openapi.
TEST(OpenApi, TheCommittedDocumentIsWhatIsGenerated) {
  const std::string path = SYMNAS_SOURCE_DIR "/docs/operations/openapi.json";
  const std::string generated = openapi_document().dump(1) + "\n";
  if (std::getenv("SYMNAS_WRITE_OPENAPI") != nullptr) std::ofstream(path) << generated;
  std::ifstream file(path);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(committed == generated) << path << " is not up to date: make openapi";
}

TEST(OpenApi, EveryParameterAndSchemaThatIsNamedExists) {
  const json document = openapi_document();
  const json& schemas = document["components"]["schemas"];
  for (const Route& route : all_routes()) {
    EXPECT_TRUE(schemas.contains(route.reply)) << route.operation;
    EXPECT_TRUE(route.body.empty() || schemas.contains(route.body)) << route.operation;
    for (const std::string_view name : words_in(route.query))
      EXPECT_NE(find_parameter(name), nullptr) << name;
  }
  const std::string text = document.dump();
  for (std::size_t at = text.find("#/components/schemas/"); at != std::string::npos;
       at = text.find("#/components/schemas/", at + 1)) {
    const std::size_t begin = at + std::string("#/components/schemas/").size();
    const std::string name = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_TRUE(schemas.contains(name)) << name;
  }
}

TEST(OpenApi, EverySchemaIsUsed) {
  const std::string text = openapi_document().dump();
  for (const auto& [name, schema] : written_schemas().items())
    EXPECT_NE(text.find("#/components/schemas/" + name + '"'), std::string::npos) << name;
}

TEST(OpenApi, AnOperationHasItsPathParametersAndItsRole) {
  const json why = openapi_document()["paths"]["/v1/vnfs/{name}/why/{head}"]["get"];
  EXPECT_EQ(why["operationId"], "explainVnfs");
  EXPECT_EQ(why["x-role"], "viewer");
  EXPECT_EQ(why["parameters"][0]["name"], "name");
  EXPECT_EQ(why["parameters"][1]["name"], "head");
  EXPECT_EQ(why["parameters"][1]["required"], true);
}

TEST(OpenApi, BodiesAreClosedAndRepliesAreNot) {
  const json open = openapi_document()["components"]["schemas"];
  EXPECT_EQ(open["LunToImport"]["additionalProperties"], false);
  EXPECT_FALSE(open["LunRecord"].contains("additionalProperties"));
  const json closed = openapi_document(Unknown::kClosed)["components"]["schemas"];
  EXPECT_EQ(closed["LunRecord"]["additionalProperties"], false);
}

TEST(Schemas, AreExpanded) {
  const json schema = expand_schema({{"", "A thing."},
                                     {"name", "text: of it"},
                                     {"size?", "count"},
                                     {"kind", "one of a|b"},
                                     {"parts", "list of Part: all"},
                                     {"by_name", "map of whole"}},
                                    Unknown::kClosed);
  EXPECT_EQ(schema["description"], "A thing.");
  EXPECT_EQ(schema["required"], (json{"by_name", "kind", "name", "parts"}));
  EXPECT_EQ(schema["additionalProperties"], false);
  const json& properties = schema["properties"];
  EXPECT_EQ(properties["name"], (json{{"type", "string"}, {"description", "of it"}}));
  EXPECT_EQ(properties["size"], (json{{"type", "integer"}, {"minimum", 0}}));
  EXPECT_EQ(properties["kind"]["enum"], (json{"a", "b"}));
  EXPECT_EQ(properties["parts"]["items"]["$ref"], "#/components/schemas/Part");
  EXPECT_EQ(properties["by_name"]["additionalProperties"]["type"], "integer");
}

}  // namespace
}  // namespace symnas::vnfsd::api
