#include "vnfsd/ctl/cib.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include <fmt/core.h>

namespace symnas::vnfsd::ctl {
namespace {

struct Element {
  std::string name;
  Texts attributes;
  bool closes = false;    // </name>
  bool is_empty = false;  // <name/>

  std::string operator[](const char* attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? "" : found->second;
  }
};

// &lt; and the like; a number that is no ASCII becomes '?'.
std::string decoded(std::string_view text) {
  static const std::map<std::string_view, char> kNamed = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = text.find('&');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find(';', begin);
    if (end == std::string_view::npos) break;
    const auto named = kNamed.find(text.substr(begin + 1, end - begin - 1));
    out += named == kNamed.end() ? '?' : named->second;
    text.remove_prefix(end + 1);
  }
  return out;
}

// The tags of a document, one after the other: no more of XML than libxml2 writes for a CIB.
class Tags {
 public:
  explicit Tags(std::string_view text) : rest_(text) {}

  // nullopt at the end, also of a document that breaks off.
  std::optional<Element> next() {
    for (;;) {
      const std::size_t begin = rest_.find('<');
      if (begin == std::string_view::npos) return std::nullopt;
      rest_.remove_prefix(begin + 1);
      if (rest_.starts_with("!--")) {
        if (!skip_past("-->")) return std::nullopt;
      } else if (rest_.starts_with("?") || rest_.starts_with("!")) {
        if (!skip_past(">")) return std::nullopt;
      } else {
        return element();
      }
    }
  }

 private:
  bool skip_past(std::string_view what) {
    const std::size_t at = rest_.find(what);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + what.size());
    return true;
  }
  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string word() {
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n=/>"), rest_.size());
    std::string out(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return out;
  }
  std::optional<Element> element() {
    Element out;
    out.closes = take('/');
    out.name = word();
    for (;;) {
      skip_space();
      if (take('>')) return out;
      if (take('/')) {
        out.is_empty = true;
        continue;
      }
      const std::string name = word();
      if (name.empty() || !take('=')) return std::nullopt;
      const char quote = rest_.empty() ? ' ' : rest_.front();
      if (!take('"') && !take('\'')) return std::nullopt;
      const std::size_t end = rest_.find(quote);
      if (end == std::string_view::npos) return std::nullopt;
      out.attributes[name] = decoded(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
    }
  }

  std::string_view rest_;
};

std::string agent_of(const Element& primitive) {
  const std::string provider = primitive["provider"];
  return primitive["class"] + (provider.empty() ? "" : ":" + provider) + ":" + primitive["type"];
}

class Reader {
 public:
  void open(const Element& element) {
    path_.push_back(element.name);
    if (is_in("configuration") && !is_in("template")) take(element);
    if (element.name == "clone" || element.name == "master") clone_ = element["id"];
  }
  // Whether it was open.
  bool close(const std::string& name) {
    if (path_.empty() || path_.back() != name) return false;
    path_.pop_back();
    if (name == "clone" || name == "master") clone_.clear();
    if (name == "primitive") in_primitive_ = false;
    return true;
  }
  bool is_done() const { return path_.empty(); }
  Cib cib;

 private:
  bool is_in(const char* name) const {
    return std::find(path_.begin(), path_.end(), name) != path_.end();
  }
  void take(const Element& element) {
    if (element.name == "node" && is_in("nodes")) {
      cib.nodes.push_back(element["uname"]);
    } else if (element.name == "primitive") {
      in_primitive_ = true;
      cib.resources.push_back({element["id"], agent_of(element), clone_, {}, {}, {}});
    } else if (element.name == "rsc_location") {
      cib.locations.push_back({element["id"], element["rsc"], element["node"], element["score"]});
    } else if (element.name == "op" && in_primitive_) {
      cib.resources.back().operations[element["name"]] = element.attributes;
    } else if (element.name == "nvpair") {
      take_pair(element);
    }
  }
  void take_pair(const Element& pair) {
    if (is_in("crm_config")) {
      cib.properties[pair["name"]] = pair["value"];
    } else if (in_primitive_ && !is_in("op")) {
      CibResource& resource = cib.resources.back();
      Texts& texts = is_in("meta_attributes") ? resource.meta : resource.parameters;
      texts[pair["name"]] = pair["value"];
    }
  }

  std::vector<std::string> path_;
  std::string clone_;
  bool in_primitive_ = false;
};

}  // namespace

Result<Cib> parse_cib(const std::string& xml) {
  const auto bad = [] {
    return fail(ErrorCode::kCorrupt, "cibadmin --query: its answer is no configuration");
  };
  Tags tags(xml);
  Reader reader;
  bool is_cib = false;
  while (const auto element = tags.next()) {
    if (!is_cib && element->name != "cib") return bad();
    is_cib = true;
    if (!element->closes) reader.open(*element);
    if ((element->closes || element->is_empty) && !reader.close(element->name)) return bad();
    if (reader.is_done()) return std::move(reader.cib);
  }
  return bad();
}

}  // namespace symnas::vnfsd::ctl
