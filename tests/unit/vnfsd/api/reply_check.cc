#include "tests/unit/vnfsd/api/reply_check.h"

#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "vnfsd/api/openapi.h"

namespace symnas::vnfsd::api {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

const valijson::Schema& parsed(const std::string& name) {
  static const nlohmann::json document = openapi_document(Unknown::kClosed);
  static std::map<std::string, std::unique_ptr<valijson::Schema>> schemas;
  std::unique_ptr<valijson::Schema>& schema = schemas[name];
  if (schema == nullptr) {
    nlohmann::json text = document["components"]["schemas"].at(name);
    text["components"] = document["components"];
    schema = std::make_unique<valijson::Schema>();
    valijson::SchemaParser().populateSchema(NlohmannJsonAdapter(text), *schema);
  }
  return *schema;
}

}  // namespace

std::string why_invalid(const std::string& schema, const nlohmann::json& document) {
  valijson::ValidationResults results;
  valijson::Validator().validate(parsed(schema), NlohmannJsonAdapter(document), &results);
  std::string why;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& part : error.context) why += part;
    why += ": " + error.description + "\n";
  }
  return why;
}

}  // namespace symnas::vnfsd::api
