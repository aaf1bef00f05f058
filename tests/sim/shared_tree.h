// SharedTree: a few names in two directories that all clients change at the same time, through any
// mount: files and directories are made, linked, renamed onto each other and from one directory
// into another, removed and looked up.
//
// What clients are told must have happened in one order: one operation after the other, each at
// some moment between its sending and its answer, with the answer that POSIX gives at that moment.
// An operation without an answer has happened before its instance was fenced, or never happens. All
// states that this allows are kept; if none is left, that is a failure.
//
// An operation is known by its number, which the node it makes has as its owner: an operation that
// was carried out twice makes two nodes with one number.
//
// Thread class: for simulated threads. Never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::sim {

class SharedTree {
 public:
  using Node = std::uint32_t;  // the number of the operation that made it
  static constexpr Node kFirst = 1;
  static constexpr Node kSecond = 2;  // the two directories that always exist

  enum class Kind { kCreate, kMkdir, kLink, kUnlink, kRmdir, kRename, kLookup };
  struct Operation {
    Kind kind = Kind::kLookup;
    Node dir = kFirst;
    std::string name;
    Node other = kFirst;  // link: the file; rename: the directory of `to_name`
    std::string to_name;
  };
  struct Outcome {
    std::optional<ErrorCode> error;
    Node found = 0;  // result of kLookup
    friend auto operator<=>(const Outcome&, const Outcome&) = default;
  };
  // For each directory the nodes that its names mean. A file without a name is gone.
  using State = std::map<Node, std::map<std::string, Node>>;

  // To be called before an operation is sent. Returns its number.
  Node begin(Operation operation);
  // Returns "" or what no order explains.
  std::string answered(Node number, const Outcome& outcome);
  // The operation has happened before now, or never happens.
  void unanswered(Node number);
  // The operation was not sent, or its answer says that nothing was done. Returns "" or what is
  // wrong.
  std::string not_done(Node number);
  // `state` is what exists now. Returns "" or what is wrong. REQUIRES: nothing is under way.
  std::string is(const State& state);

  bool is_directory(Node node) const { return directories_.contains(node); }
  // One of the possible states.
  const State& a_state() const { return worlds_.begin()->state; }
  static std::string text(const Operation& operation);

 private:
  struct World {
    State state;
    std::map<Node, Outcome> done;  // of operations without an answer yet
    friend auto operator<=>(const World&, const World&) = default;
  };
  struct Sent {
    Operation operation;
    bool overlaps = false;  // another change was under way at the same time
  };

  Outcome apply(Node number, const Operation& operation, State& state) const;
  Outcome rename(const Operation& operation, State& state) const;
  // Whether a refusal may come from two looks at different moments. Nothing was changed.
  static bool may_be_mixed(const Sent& sent, const Outcome& outcome, const State& state);
  // Adds all worlds in which `number` has happened, with the outcome `wanted` (nullptr: any).
  void happened(Node number, const Outcome* wanted, const World& world, std::set<World>& out) const;
  std::string text_of_worlds() const;

  std::set<World> worlds_{World{{{kFirst, {}}, {kSecond, {}}}, {}}};
  std::map<Node, Sent> under_way_;
  std::set<Node> directories_{kFirst, kSecond};
  Node last_ = kSecond;
};

}  // namespace symnas::sim
