// Client: names in directories that all clients change.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "fsal_cluster/ops/rename.h"
#include "tests/sim/client.h"

namespace symnas::sim {

namespace {

using fs::Mount;
using Kind = SharedTree::Kind;
using Node = SharedTree::Node;

const fs::Credentials kRoot{};
constexpr std::size_t kNewest = 4;

fs::NewNode node_of(Kind kind, Node number) {
  fs::NewNode node;
  node.type = kind == Kind::kMkdir ? fs::FileType::kDirectory : fs::FileType::kRegular;
  node.attributes.mode = 0755;
  node.attributes.uid = number;
  return node;
}

template <class T>
std::optional<ErrorCode> error_of(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error().code;
}

}  // namespace

std::string Client::pick_shared_name() {
  return std::string(1, static_cast<char>('a' + below(workload_.shared_names)));
}

// One of the two, or one that was recently moved or removed, or any that exists.
Node Client::pick_shared_directory() {
  const SharedNames& names = shared_.names;
  if (below(12) < static_cast<std::uint64_t>(workload_.shared_moves)) {
    std::vector<Node> there;
    for (const auto& [dir, entries] : names.tree.a_state()) {
      if (names.directories.contains(dir)) there.push_back(dir);
    }
    return there[below(there.size())];
  }
  if (below(3) != 0) return SharedTree::kFirst + static_cast<Node>(below(2));
  const std::size_t newest = std::min(names.directories.size(), kNewest);
  return std::prev(names.directories.end(), 1 + static_cast<std::ptrdiff_t>(below(newest)))->first;
}

Kind Client::pick_shared_kind() {
  constexpr Kind kOfFiles[] = {Kind::kCreate, Kind::kCreate, Kind::kCreate, Kind::kUnlink,
                               Kind::kUnlink, Kind::kRename, Kind::kRename, Kind::kRename,
                               Kind::kLink,   Kind::kLookup, Kind::kLookup};
  constexpr Kind kOfDirectories[] = {Kind::kMkdir,  Kind::kMkdir,  Kind::kRename,
                                     Kind::kRename, Kind::kRename, Kind::kRename,
                                     Kind::kRename, Kind::kRmdir,  Kind::kLookup};
  if (below(12) < static_cast<std::uint64_t>(workload_.shared_moves))
    return kOfDirectories[below(std::size(kOfDirectories))];
  return kOfFiles[below(std::size(kOfFiles))];
}

void Client::pick_shared_place(SharedTree::Operation& operation, bool directory) {
  operation.dir = pick_shared_directory();
  operation.name = pick_shared_name();
  if (below(4) == 0) return;
  std::vector<std::pair<Node, std::string>> places;
  for (const auto& [dir, entries] : shared_.names.tree.a_state()) {
    for (const auto& [name, node] : entries) {
      if (!shared_.names.directories.contains(dir)) continue;
      if (shared_.names.tree.is_directory(node) == directory) places.emplace_back(dir, name);
    }
  }
  if (places.empty()) return;
  std::tie(operation.dir, operation.name) = places[below(places.size())];
}

SharedTree::Operation Client::pick_shared_operation() {
  SharedTree::Operation operation;
  operation.kind = pick_shared_kind();
  operation.dir = pick_shared_directory();
  operation.name = pick_shared_name();
  operation.other = pick_shared_directory();
  operation.to_name = pick_shared_name();
  switch (operation.kind) {
    case Kind::kCreate:
    case Kind::kMkdir: break;
    case Kind::kLink: {
      const auto& files = shared_.names.files;
      const std::size_t newest = std::min(files.size(), kNewest);
      operation.kind = newest == 0 ? Kind::kCreate : Kind::kLink;
      if (newest > 0)
        operation.other =
            std::prev(files.end(), 1 + static_cast<std::ptrdiff_t>(below(newest)))->first;
      break;
    }
    case Kind::kUnlink: pick_shared_place(operation, false); break;
    case Kind::kRmdir: pick_shared_place(operation, true); break;
    case Kind::kRename:
    case Kind::kLookup:
      pick_shared_place(operation, below(12) < static_cast<std::uint64_t>(workload_.shared_moves));
      break;
  }
  return operation;
}

Client::SharedAnswer Client::ask(Mount& mount, const SharedTree::Operation& operation,
                                 Node number) {
  const SharedNames& names = shared_.names;
  const fs::Handle dir = names.directories.at(operation.dir);
  const std::string& name = operation.name;
  const auto made = [&](const Result<fs::Created>& created) -> SharedAnswer {
    if (!created) return {{created.error().code, 0}, std::nullopt};
    return {{}, created->attributes.handle};
  };
  switch (operation.kind) {
    case Kind::kCreate:
      return made(mount.create(kRoot, dir, name, fs::CreateMode::kGuarded, 0,
                               node_of(operation.kind, number)));
    case Kind::kMkdir: return made(mount.mkdir(kRoot, dir, name, node_of(operation.kind, number)));
    case Kind::kLink:
      return {{error_of(mount.link(kRoot, names.files.at(operation.other), dir, name)), 0}, {}};
    case Kind::kUnlink: return {{error_of(mount.unlink(kRoot, dir, name)), 0}, {}};
    case Kind::kRmdir: return {{error_of(mount.rmdir(kRoot, dir, name)), 0}, {}};
    case Kind::kRename: {
      const fs::Handle to = names.directories.at(operation.other);
      return {{error_of(mount.rename(kRoot, dir, name, to, operation.to_name)), 0}, {}};
    }
    case Kind::kLookup: break;
  }
  const auto found = mount.lookup(dir, name);
  if (!found) return {{found.error().code, 0}, std::nullopt};
  return {{std::nullopt, found->uid}, found->handle};
}

void Client::learn(Node node, const fs::Handle& handle) {
  SharedNames& names = shared_.names;
  auto& known = names.tree.is_directory(node) ? names.directories : names.files;
  const auto [it, fresh] = known.emplace(node, handle);
  if (!(it->second == handle)) must("two inodes were made by operation " + std::to_string(node));
}

void Client::one_shared_name() {
  SharedTree& tree = shared_.names.tree;
  const SharedTree::Operation operation = pick_shared_operation();
  const Node number = tree.begin(operation);
  trace("client %d: %u, %s", index_, number, SharedTree::text(operation).c_str());
  SharedAnswer told;
  const Reply reply = call([&](Mount& mount) { told = ask(mount, operation, number); });
  const std::optional<ErrorCode>& error = told.outcome.error;
  trace("client %d: %u: %s", index_, number,
        reply != Reply::kAnswered ? "no answer"
        : error                   ? to_string(*error).data()
                                  : "ok");
  if (reply == Reply::kLost) {
    lost_name_ = number;
    if (operation.kind != Kind::kLookup) ++shared_.names.lost_changes;
  } else if (reply == Reply::kMoved || refuses(error)) {
    must(tree.not_done(number));
  } else if (error == ErrorCode::kIo) {
    tree.unanswered(number);
  } else {
    must(tree.answered(number, told.outcome));
    if (told.handle)
      learn(operation.kind == Kind::kLookup ? told.outcome.found : number, *told.handle);
  }
}

// --- everything

std::optional<SharedTree::State> Client::list_shared_names() {
  SharedTree::State state{{SharedTree::kFirst, {}}, {SharedTree::kSecond, {}}};
  std::optional<Error> error;
  const Reply reply = call([&](Mount& mount) {
    std::vector<Node> look{SharedTree::kFirst, SharedTree::kSecond};
    for (std::size_t i = 0; i < look.size() && !error; ++i) {
      std::uint64_t cookie = 0;
      for (bool more = true; more && !error;) {
        const auto page = mount.readdir(shared_.names.directories.at(look[i]), cookie, 3);
        if (!page) {
          error = page.error();
          break;
        }
        more = !page->end_of_directory;
        for (const fs::DirectoryEntry& entry : page->entries) {
          const Node node = entry.attributes.uid;
          cookie = entry.cookie;
          state[look[i]][entry.name] = node;
          learn(node, entry.attributes.handle);
          if (!shared_.names.tree.is_directory(node)) continue;
          if (!state.emplace(node, std::map<std::string, Node>{}).second)
            must("directory " + std::to_string(node) + " has two names");
          look.push_back(node);
        }
      }
    }
  });
  if (reply != Reply::kAnswered) return std::nullopt;
  if (error && may_refuse(error->code)) return std::nullopt;
  if (error) must("shared names: " + error->message);
  return state;
}

void Client::check_shared_names() {
  for (std::size_t head = 0; head < heads_.size(); ++head) {
    std::optional<SharedTree::State> state;
    while (!state) {
      choose_instance();
      head_ = head;
      epoch_ = heads_[head_].epoch();
      state = list_shared_names();
    }
    must(shared_.names.tree.is(*state));
  }
}

}  // namespace symnas::sim
