// CommandLine: "--name value" pairs after a mode word, for the test clients.
// Thread class: immutable after parse().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace symnas::nfs3 {

class CommandLine {
 public:
  // Returns nothing when a name does not begin with "--" or has no value.
  static std::optional<CommandLine> parse(int argc, char** argv) {
    CommandLine line;
    int next = 1;
    if (argc > 1 && argv[1][0] != '-') line.mode_ = argv[next++];
    for (; next < argc; next += 2) {
      const std::string name = argv[next];
      if (!name.starts_with("--") || next + 1 == argc) return std::nullopt;
      line.values_[name.substr(2)] = argv[next + 1];
    }
    return line;
  }

  const std::string& mode() const { return mode_; }
  std::string text(const std::string& name, const std::string& otherwise = "") const {
    const auto it = values_.find(name);
    return it == values_.end() ? otherwise : it->second;
  }
  // A number with an optional K, M or G (powers of 1024).
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const {
    const auto it = values_.find(name);
    if (it == values_.end()) return otherwise;
    std::size_t end = 0;
    const std::uint64_t value = std::stoull(it->second, &end);
    switch (end < it->second.size() ? it->second[end] : ' ') {
      case 'K': return value << 10;
      case 'M': return value << 20;
      case 'G': return value << 30;
      default: return value;
    }
  }

 private:
  std::string mode_;
  std::map<std::string, std::string> values_;
};

}  // namespace symnas::nfs3
