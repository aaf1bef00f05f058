#include "tests/unit/ha/policy/facts_text.h"

#include <sstream>
#include <vector>

#include <fmt/core.h>

namespace symnas::ha {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text, char separator) {
  Words parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

tl::unexpected<Error> refused(const std::string& line, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("facts: '{}': {}", line, why));
}

Status parse_heads(const std::string& line, Words words, Facts& facts) {
  static const std::map<std::string, HeadState> kStates = {{"settled", HeadState::kServing},
                                                           {"draining", HeadState::kDraining},
                                                           {"lost", HeadState::kLost}};
  HeadState state = HeadState::kServing;
  const std::string last = words.back();
  if (const auto named = kStates.find(last); named != kStates.end()) {
    state = named->second;
    words.pop_back();
  }
  if (words.size() < 2) return refused(line, "no head is named");
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!facts.heads.emplace(words[i], state).second) return refused(line, "a head is named twice");
    if (last == "settled") facts.settled.insert(words[i]);
  }
  return {};
}

Status parse_vnfs(const std::string& line, const Words& words, Facts& facts) {
  if (words.size() < 2) return refused(line, "no VNFS is named");
  VnfsFacts vnfs;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "stopped") {
      vnfs.stopped = true;
      continue;
    }
    if (words[i] == "ailing") {
      vnfs.ailing = true;
      continue;
    }
    if (words[i] == "auto") {
      vnfs.failback = Failback::kAuto;
      continue;
    }
    if (i + 1 == words.size()) return refused(line, "a word is missing at the end");
    const std::string& value = words[i + 1];
    if (words[i] == "on") {
      vnfs.heads = split(value, ',');
    } else if (words[i] == "blind") {
      for (const std::string& head : split(value, ',')) vnfs.blind.insert(head);
    } else if (words[i] == "refused") {
      for (const std::string& head : split(value, ',')) vnfs.refused.insert(head);
    } else if (words[i] == "pinned") {
      vnfs.pinned = value;
    } else if (words[i] == "owner") {
      vnfs.owner = value;
    } else if (words[i] == "decided") {
      vnfs.decided = value;
    } else if (words[i] == "target") {
      vnfs.target = value;
    } else {
      return refused(line, fmt::format("{}: on, blind, refused, owner, target, pinned, decided, "
                                       "ailing, auto and stopped are known",
                                       words[i]));
    }
    ++i;
  }
  if (vnfs.heads.empty()) return refused(line, "it has no heads (on HEAD,...)");
  if (!facts.vnfses.emplace(words[1], std::move(vnfs)).second) {
    return refused(line, "the VNFS is named twice");
  }
  return {};
}

}  // namespace

Result<Facts> parse_facts(const std::string& text) {
  Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Words words = split(line.substr(0, line.find('#')), ' ');
    if (words.empty()) continue;
    if (words[0] == "head") {
      SYMNAS_TRY(parse_heads(line, words, facts));
    } else if (words[0] == "decider") {
      facts.decided = true;
    } else if (words[0] == "vnfs") {
      SYMNAS_TRY(parse_vnfs(line, words, facts));
    } else {
      return refused(line, "it begins with none of head, vnfs and decider");
    }
  }
  return facts;
}

std::string render(const std::map<std::string, Assignment>& assignments) {
  std::string text;
  for (const auto& [vnfs, assignment] : assignments) {
    text += fmt::format("{} {} {}\n", vnfs, assignment.head.empty() ? "-" : assignment.head,
                        name_of(assignment.reason));
  }
  return text;
}

}  // namespace symnas::ha
