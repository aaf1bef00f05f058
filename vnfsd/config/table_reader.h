// TableReader: reads the keys of one table of vnfsd.toml; for the sources of this folder.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "common/base/result.h"

namespace symnas::vnfsd {

// Reads the keys of one table; remembers the first error and which keys were asked for, so that a
// misspelt key is an error instead of a silent default.
class TableReader {
 public:
  TableReader(const toml::table& root, std::string_view origin, std::string section)
      : origin_(origin), section_(std::move(section)) {
    const toml::node* node = root.get(section_);
    if (node == nullptr) return;
    table_ = node->as_table();
    if (table_ == nullptr) error("", "must be a table");
  }

  void text(std::string_view key, std::string& into) {
    if (const toml::node* node = find(key)) {
      if (const auto value = node->value_exact<std::string>()) {
        into = *value;
      } else {
        error(key, "must be a string");
      }
    }
  }
  void required_text(std::string_view key, std::string& into) {
    text(key, into);
    if (into.empty()) error(key, "is missing");
  }
  void absolute_path(std::string_view key, std::string& into) {
    text(key, into);
    if (into.empty() || into.front() != '/') error(key, "must be an absolute path");
  }
  void number(std::string_view key, std::int64_t min, std::int64_t max, std::int64_t& into) {
    if (const toml::node* node = find(key)) {
      const auto value = node->value_exact<std::int64_t>();
      if (value && *value >= min && *value <= max) {
        into = *value;
      } else {
        error(key, fmt::format("must be a whole number from {} to {}", min, max));
      }
    }
  }
  void flag(std::string_view key, bool& into) {
    if (const toml::node* node = find(key)) {
      const auto value = node->value_exact<bool>();
      if (!value) return error(key, "must be true or false");
      into = *value;
    }
  }
  void texts(std::string_view key, std::vector<std::string>& into) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) return error(key, "must be a list of strings");
    into.clear();
    for (const toml::node& element : *array) {
      const auto value = element.value_exact<std::string>();
      if (!value || value->empty()) return error(key, "must be a list of strings");
      into.push_back(*value);
    }
  }
  // After all keys were asked for.
  Status finish() {
    if (!error_ && table_ != nullptr) {
      for (const auto& [key, value] : *table_) {
        if (!known_.contains(std::string(key.str()))) error(key.str(), "is not a known setting");
      }
    }
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
  }
  void error(std::string_view key, std::string_view why) {
    if (error_) return;
    error_ = Error{ErrorCode::kInvalidArgument,
                   fmt::format("{}: [{}] {}: {}", origin_, section_, key, why)};
  }

 private:
  const toml::node* find(std::string_view key) {
    known_.emplace(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }

  std::string origin_;
  std::string section_;
  const toml::table* table_ = nullptr;
  std::set<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace symnas::vnfsd
