#include "vnfsd/support/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "vnfsd/support/limits.h"

namespace symnas::vnfsd::support {
namespace {

using nlohmann::json;

// In lower case, with '_' for '-'; any name that contains one of them is a secret's.
constexpr std::array<std::string_view, 14> kSecretWords = {
    "passw",     "passphrase", "secret",      "credential",   "community",
    "probe_key", "probekey",   "private_key", "privatekey",   "access_key",
    "auth_key",  "authkey",    "bindpw",      "authorization"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  return out;  // without padding: found with it and without
}

std::string hex(std::string_view bytes, std::string_view digits) {
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

void strike_value(std::string& text, std::string_view value) {
  for (std::size_t at = 0; (at = text.find(value, at)) != std::string::npos;) {
    text.replace(at, value.size(), kLeftOut);
    at += kLeftOut.size();
  }
}

// From each BEGIN to its END. Of a key of which only a part is there, all that may belong to it.
void strike_private_keys(std::string& text) {
  constexpr std::string_view kTail = "PRIVATE KEY-----";
  constexpr std::string_view kEnd = "-----END ";
  for (std::size_t at = 0; (at = text.find(kTail, at)) != std::string::npos;) {
    const std::size_t marker = at >= 5 ? text.rfind("-----", at - 1) : std::string::npos;
    std::size_t begin = 0;
    std::size_t end = at + kTail.size();
    if (marker != std::string::npos && text.compare(marker, kEnd.size(), kEnd) != 0) {
      begin = marker;
      const std::size_t closing = text.find(kEnd, end);
      const std::size_t rest =
          closing == std::string::npos ? closing : text.find("-----", closing + kEnd.size());
      end = rest == std::string::npos ? text.size() : rest + 5;
    }
    text.replace(begin, end - begin, kLeftOut);
    at = begin + kLeftOut.size();
  }
}

// https://user:password@host
void strike_logins_in_urls(std::string& text) {
  for (std::size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
    at += 3;
    const std::size_t end = text.find_first_of("/ \t\n\"'<>", at);
    const std::size_t login = text.rfind('@', end);
    if (login == std::string::npos || login < at) continue;
    text.replace(at, login - at, kLeftOut);
  }
}

// Where the value begins whose name ends at `at`; npos: no value follows.
std::size_t value_after(const std::string& text, std::size_t name, std::size_t at) {
  const std::size_t name_end = at;
  if (at < text.size() && text[at] == '\\') ++at;  // JSON in a text of JSON
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  if (at < text.size() && (text[at] == '=' || text[at] == ':')) {
    ++at;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    return at;
  }
  const bool is_option = text.compare(name, 2, "--") == 0;  // --password VALUE
  return is_option && at > name_end ? at : std::string::npos;
}

// Where the value ends that begins at `at`. `around`: what stands before its name.
std::size_t value_end(const std::string& text, std::size_t at, char around) {
  const auto closing = [&](char quote, std::size_t from) {
    for (; from < text.size() && text[from] != '\n'; ++from) {
      if (text[from] == '\\') {
        ++from;
      } else if (text[from] == quote) {
        return from;
      }
    }
    return std::min(from, text.size());
  };
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) return closing(text[at], at + 1);
  const bool is_list = at < text.size() && (text[at] == '[' || text[at] == '{');
  if (!is_list && (around == '"' || around == '\'')) return closing(around, at);  // "passwd=..."
  return std::min(text.find('\n', at), text.size());
}

// name=value, name: value, "name": "value", --name value: the value. Without quotes it is the rest
// of the line, for it may hold blanks.
void strike_named_values(std::string& text) {
  for (const std::string_view word : kSecretWords) {
    std::string seen = lower(text);
    if (seen.find(word) == std::string::npos) continue;
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = seen.find(word, at)) != std::string::npos;) {
      std::size_t name = at;
      while (name > done && in_name(text[name - 1])) --name;
      for (at += word.size(); at < text.size() && in_name(text[at]);) ++at;
      std::size_t begin = value_after(text, name, at);
      if (begin == std::string::npos || begin >= text.size()) continue;
      const std::size_t end = value_end(text, begin, name > 0 ? text[name - 1] : ' ');
      if (text[begin] == '"' || text[begin] == '\'') ++begin;
      if (begin >= end) continue;
      out.append(text, done, begin - done).append(kLeftOut);
      done = end;
      at = end;
    }
    text = out.append(text, done, std::string::npos);
  }
}

}  // namespace

bool is_secret_name(std::string_view name) {
  const std::string seen = lower(name);
  return std::ranges::any_of(
      kSecretWords, [&](std::string_view word) { return seen.find(word) != std::string::npos; });
}

bool must_stay(std::string_view path) {
  const std::string seen = lower(path);
  const std::string name = seen.substr(seen.rfind('/') + 1);
  if (seen.find("/tls/") != std::string::npos || seen.starts_with("tls/")) return true;
  if (name.find("keytab") != std::string::npos || name.find("bundle") != std::string::npos)
    return true;
  constexpr std::array<std::string_view, 5> kEnds = {".key", ".pem", ".p12", ".pfx", ".crt"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

void Secrets::add(std::string_view value) {
  if (value.size() < kSecretBytesMin) return;
  const std::string quoted = json(value).dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::string form : {std::string(value), quoted.substr(1, quoted.size() - 2), base64(value),
                           hex(value, "0123456789abcdef"), hex(value, "0123456789ABCDEF")}) {
    if (std::ranges::find(forms_, form) == forms_.end()) forms_.push_back(std::move(form));
  }
  std::ranges::stable_sort(forms_,
                           [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string Secrets::strike(std::string text) const {
  for (const std::string& form : forms_) strike_value(text, form);
  strike_private_keys(text);
  strike_logins_in_urls(text);
  strike_named_values(text);
  return text;
}

json Secrets::strike_document(const json& document) const {
  if (document.is_string()) return strike(document.get<std::string>());
  json out = document;
  if (document.is_object()) {
    out = json::object();
    for (const auto& [key, value] : document.items()) {
      out[strike(key)] = is_secret_name(key) ? json(kLeftOut) : strike_document(value);
    }
  } else if (document.is_array()) {
    for (json& element : out) element = strike_document(element);
  }
  return out;
}

}  // namespace symnas::vnfsd::support
