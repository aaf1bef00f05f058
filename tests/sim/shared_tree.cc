#include "tests/sim/shared_tree.h"

#include <algorithm>
#include <utility>

namespace symnas::sim {

namespace {

using Kind = SharedTree::Kind;
using Node = SharedTree::Node;
using Outcome = SharedTree::Outcome;
using State = SharedTree::State;

constexpr std::size_t kTextBytesMax = 300;

bool is_change(Kind kind) { return kind != Kind::kLookup; }

Outcome refused(ErrorCode code) { return {code, 0}; }

const Node* find(const State& state, Node dir, const std::string& name) {
  const auto& entries = state.at(dir);
  const auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

bool has_name(const State& state, Node node) {
  return std::ranges::any_of(state, [node](const auto& directory) {
    return std::ranges::any_of(directory.second,
                               [node](const auto& entry) { return entry.second == node; });
  });
}

// Whether `dir` is `above` or is below it.
bool lies_in(const State& state, Node dir, Node above) {
  for (std::size_t steps = 0; steps <= state.size(); ++steps) {
    if (dir == above) return true;
    const auto parent = std::ranges::find_if(state, [dir](const auto& directory) {
      return std::ranges::any_of(directory.second,
                                 [dir](const auto& entry) { return entry.second == dir; });
    });
    if (parent == state.end()) return false;
    dir = parent->first;
  }
  return false;
}

std::string text_of(const State& state) {
  std::string out;
  for (const auto& [dir, entries] : state) {
    out += std::to_string(dir) + " {";
    for (const auto& [name, node] : entries) out += " " + name + "=" + std::to_string(node);
    out += " } ";
  }
  return out;
}

}  // namespace

std::string SharedTree::text(const Operation& operation) {
  const std::string place = std::to_string(operation.dir) + "/" + operation.name;
  const std::string other = std::to_string(operation.other);
  switch (operation.kind) {
    case Kind::kCreate: return "create " + place;
    case Kind::kMkdir: return "mkdir " + place;
    case Kind::kLink: return "link " + other + " as " + place;
    case Kind::kUnlink: return "unlink " + place;
    case Kind::kRmdir: return "rmdir " + place;
    case Kind::kRename: return "rename " + place + " to " + other + "/" + operation.to_name;
    case Kind::kLookup: return "lookup " + place;
  }
  return {};
}

// --- what one operation does

Outcome SharedTree::rename(const Operation& operation, State& state) const {
  if (!state.contains(operation.other)) return refused(ErrorCode::kStale);
  const Node* const from = find(state, operation.dir, operation.name);
  if (from == nullptr) return refused(ErrorCode::kNotFound);
  const Node source = *from;
  const bool directory = is_directory(source);
  if (const Node* const target = find(state, operation.other, operation.to_name)) {
    if (*target == source) return {};
    if (directory != is_directory(*target))
      return refused(directory ? ErrorCode::kNotDirectory : ErrorCode::kIsDirectory);
    if (*target == operation.dir) return refused(ErrorCode::kNotEmpty);
    if (directory && operation.dir != operation.other && lies_in(state, operation.other, source))
      return refused(ErrorCode::kInvalidArgument);
    if (directory && !state.at(*target).empty()) return refused(ErrorCode::kNotEmpty);
    if (directory) state.erase(*target);
  } else if (directory && operation.dir != operation.other &&
             lies_in(state, operation.other, source)) {
    return refused(ErrorCode::kInvalidArgument);
  }
  state.at(operation.dir).erase(operation.name);
  state.at(operation.other)[operation.to_name] = source;
  return {};
}

Outcome SharedTree::apply(Node number, const Operation& operation, State& state) const {
  if (operation.kind == Kind::kLink && !has_name(state, operation.other))
    return refused(ErrorCode::kStale);
  if (!state.contains(operation.dir)) return refused(ErrorCode::kStale);
  const Node* const found = find(state, operation.dir, operation.name);
  auto& entries = state.at(operation.dir);
  switch (operation.kind) {
    case Kind::kCreate:
    case Kind::kMkdir:
    case Kind::kLink:
      if (found != nullptr) return refused(ErrorCode::kAlreadyExists);
      entries[operation.name] = operation.kind == Kind::kLink ? operation.other : number;
      if (operation.kind == Kind::kMkdir) state[number];
      return {};
    case Kind::kUnlink:
      if (found == nullptr) return refused(ErrorCode::kNotFound);
      if (is_directory(*found)) return refused(ErrorCode::kIsDirectory);
      entries.erase(operation.name);
      return {};
    case Kind::kRmdir:
      if (found == nullptr) return refused(ErrorCode::kNotFound);
      if (!is_directory(*found)) return refused(ErrorCode::kNotDirectory);
      if (!state.at(*found).empty()) return refused(ErrorCode::kNotEmpty);
      state.erase(*found);
      entries.erase(operation.name);
      return {};
    case Kind::kRename: return rename(operation, state);
    case Kind::kLookup:
      if (found == nullptr) return refused(ErrorCode::kNotFound);
      return {std::nullopt, *found};
  }
  return {};
}

// INV-4 holds for each look alone, and no transaction confirms a refusal.
bool SharedTree::may_be_mixed(const Sent& sent, const Outcome& outcome, const State& state) {
  if (!sent.overlaps || !outcome.error) return false;
  const Operation& operation = sent.operation;
  switch (operation.kind) {
    case Kind::kLink: return *outcome.error == ErrorCode::kAlreadyExists;
    case Kind::kRmdir: return *outcome.error == ErrorCode::kNotEmpty;
    case Kind::kRename:
      // The name is gone, and so is the directory that it was to go to: either may be answered.
      if (*outcome.error == ErrorCode::kNotFound)
        return !state.contains(operation.other) && state.contains(operation.dir) &&
               find(state, operation.dir, operation.name) == nullptr;
      return *outcome.error == ErrorCode::kNotEmpty || *outcome.error == ErrorCode::kIsDirectory ||
             *outcome.error == ErrorCode::kNotDirectory ||
             *outcome.error == ErrorCode::kInvalidArgument;
    default: return false;
  }
}

// --- histories

Node SharedTree::begin(Operation operation) {
  const Node number = ++last_;
  if (operation.kind == Kind::kMkdir) directories_.insert(number);
  Sent sent{std::move(operation), false};
  for (auto& [other, under_way] : under_way_) {
    if (!is_change(under_way.operation.kind)) continue;
    sent.overlaps = true;
    if (is_change(sent.operation.kind)) under_way.overlaps = true;
  }
  under_way_.emplace(number, std::move(sent));
  return number;
}

void SharedTree::happened(Node number, const Outcome* wanted, const World& world,
                          std::set<World>& out) const {
  const auto done = world.done.find(number);
  if (done != world.done.end()) {
    if (wanted != nullptr && done->second != *wanted) return;
    World rest = world;
    rest.done.erase(number);
    out.insert(std::move(rest));
    return;
  }
  for (const auto& [next, sent] : under_way_) {
    if (world.done.contains(next)) continue;
    World after = world;
    const Outcome outcome = apply(next, sent.operation, after.state);
    if (next != number) {
      after.done[next] = outcome;
      happened(number, wanted, after, out);
    } else if (wanted == nullptr || outcome == *wanted) {
      out.insert(std::move(after));
    } else if (may_be_mixed(sent, *wanted, world.state)) {
      out.insert(world);
    }
  }
}

std::string SharedTree::answered(Node number, const Outcome& outcome) {
  std::set<World> possible;
  for (const World& world : worlds_) happened(number, &outcome, world, possible);
  const Sent sent = under_way_.at(number);
  under_way_.erase(number);
  if (possible.empty()) {
    std::string answer = outcome.error ? std::string(to_string(*outcome.error)) : "ok";
    if (outcome.found != 0) answer += " " + std::to_string(outcome.found);
    return "no order explains the answer to " + std::to_string(number) + ", " +
           text(sent.operation) + ": " + answer + "; before it: " + text_of_worlds();
  }
  worlds_ = std::move(possible);
  return {};
}

void SharedTree::unanswered(Node number) {
  std::set<World> possible;
  for (const World& world : worlds_) {
    if (!world.done.contains(number)) possible.insert(world);
    happened(number, nullptr, world, possible);
  }
  under_way_.erase(number);
  worlds_ = std::move(possible);
}

std::string SharedTree::not_done(Node number) {
  std::set<World> possible;
  for (World world : worlds_) {
    const auto done = world.done.find(number);
    if (done != world.done.end()) {
      if (is_change(under_way_.at(number).operation.kind) && !done->second.error) continue;
      world.done.erase(done);
    }
    possible.insert(std::move(world));
  }
  const std::string what = text(under_way_.at(number).operation);
  under_way_.erase(number);
  worlds_ = std::move(possible);
  return worlds_.empty() ? what + ": was refused, and others have seen it done" : "";
}

std::string SharedTree::is(const State& state) {
  const std::string allowed = text_of_worlds();
  std::erase_if(worlds_, [&state](const World& world) { return world.state != state; });
  if (!worlds_.empty()) return {};
  return "no order explains what is there: " + text_of(state) + ", but " + allowed;
}

std::string SharedTree::text_of_worlds() const {
  std::set<State> states;
  for (const World& world : worlds_) states.insert(world.state);
  std::string out;
  for (const State& state : states) {
    if (out.size() > kTextBytesMax) break;
    out += (out.empty() ? "" : "or ") + text_of(state);
  }
  return out;
}

}  // namespace symnas::sim
