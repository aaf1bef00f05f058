// Client: one NFS client of the filesystem. It does one thing after the other and remembers the
// answers. It has a directory and files of its own, where it expects exactly what it has done, and
// it shares a directory and files with the others.
//  - an answer is what the model of the namespace says; without an answer the operation has
//    happened as a whole or not at all, and the next look at the tree decides which;
//  - contents: file_model.h; exact while every instance that has changed the file lives (FileUse);
//  - change and ctime do not go back through one head;
//  - shared_tree.h: names in two directories that all clients change;
//  - registers.h: sectors of one file that all clients write, grow and truncate.
//
// Thread class: for the simulated thread that calls run().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/file_model.h"
#include "tests/sim/heads.h"
#include "tests/sim/registers.h"
#include "tests/sim/shared_tree.h"
#include "tests/unit/fsal_cluster/ops/namespace_model.h"

namespace symnas::sim {

// The instances on which a file's bytes depend: those through which it was changed since all of it
// was known to be recorded. While they live, everything acknowledged is there. The end of any other
// instance does not matter.
struct FileUse {
  std::map<std::size_t, std::uint64_t> epochs;  // by head
  std::uint64_t round = 0;                      // grows when one of them has ended
  std::map<FileModel::Number, std::size_t> head_of;
};

// A file in which every client writes its own cells: the clients take turns in pieces of
// `piece_cells`.
struct SharedFile {
  std::unique_ptr<FileModel> model;
  fs::Handle handle;
  std::uint64_t piece_cells = 1;
  std::uint64_t cells_max = 0;
  bool resolving = false;
};

// Names that every client changes, and the handles that any client has seen.
struct SharedNames {
  SharedTree tree;
  std::map<SharedTree::Node, fs::Handle> directories;
  std::map<SharedTree::Node, fs::Handle> files;
  std::size_t lost_changes = 0;  // changes without an answer: their instance has died
};

struct Shared {
  int clients = 0;
  fs::Handle directory;
  std::vector<SharedFile> files;
  SharedNames names;
  std::uint64_t next_file = 1;  // FileModel ids
  std::map<std::uint64_t, FileUse> uses;
  std::unique_ptr<Registers> registers;  // null: none
};

struct Workload {
  std::uint64_t operations = 30;
  int namespace_weight = 5;
  int data_weight = 5;
  int shared_weight = 3;  // of 12 operations on names: how many on names that all clients change
  std::uint64_t shared_names = 3;
  int shared_moves = 3;  // of 12 operations on shared names: how many on directories
  int register_weight = 0;
  int resize_weight = 1;  // of 12 operations on the registers: how many change the size
  std::uint64_t file_cells_max = 2048;
  std::uint64_t big_write_cells = 600;
};

class Client {
 public:
  Client(Heads& heads, Shared& shared, int index, Workload workload)
      : heads_(heads), shared_(shared), index_(index), workload_(workload) {}

  // Makes its directory. REQUIRES: before any fault.
  void prepare();
  // Does its operations.
  void run();
  // Checks that everything the client knows of is there, and nothing else.
  void check_all();
  // Checks all registers, through every head.
  void check_registers();
  // Checks all shared names, through every head. REQUIRES: no client works.
  void check_shared_names();
  // To be called when the instance has closed cleanly: everything acknowledged is then durable.
  void closed_cleanly();

 private:
  using Id = fs::NamespaceModel::Id;
  using OpError = fs::NamespaceModel::OpError;
  using Reply = MountWorld::Reply;

  // --- one operation
  void one();
  void one_in_tree();
  void one_in_file();
  void open_unlinked();
  void one_register();

  // Chooses the instance of the next operation. A client that has lost an answer waits until it is
  // decided whether that operation has happened.
  void choose_instance();
  // As MountWorld::call, to the chosen instance.
  Reply call(const std::function<void(fs::Mount&)>& request);
  fs::Handle root() { return heads_.first().root(); }

  // --- tree
  // Expects the answer that goes with `after`, the tree after the change. `ask` returns the real
  // answer, and the handle of a new node.
  struct Told {
    OpError answer;
    std::optional<fs::Handle> handle;
  };
  void change_tree(const char* what, fs::NamespaceModel after, const OpError& expected,
                   const std::function<Told(fs::Mount&)>& ask);
  void change_acl(fs::NamespaceModel after, Id node);
  static bool same(const std::shared_ptr<const fs::Acl>& one,
                   const std::shared_ptr<const fs::Acl>& other);
  void change_attribute(fs::NamespaceModel after, Id node, const std::string& name);
  static std::map<std::string, std::string> attributes_of(fs::Mount& mount, const fs::Handle& node);
  // Whether the operation has not happened: no space, or a directory is not moved because the root
  // is missing (kConflict until a repair has made it anew).
  bool refuses(const std::optional<ErrorCode>& answer) const;
  void adopt(fs::NamespaceModel after, const std::optional<fs::Handle>& handle);
  bool look_at_tree();
  std::string compare(const fs::NamespaceModel& model, std::map<Id, fs::Handle>& found,
                      fs::Mount& mount) const;
  std::string compare_directory(const fs::NamespaceModel& model, Id dir,
                                std::map<Id, fs::Handle>& found, fs::Mount& mount) const;
  void forget_removed();
  Id pick_node();
  std::string pick_name();
  void read_tree();

  // --- names that all clients change
  void one_shared_name();
  SharedTree::Operation pick_shared_operation();
  SharedTree::Kind pick_shared_kind();
  // Chooses mostly a name that exists, of a directory or of a file.
  void pick_shared_place(SharedTree::Operation& operation, bool directory);
  SharedTree::Node pick_shared_directory();
  std::string pick_shared_name();
  // The answer, and the handle in it.
  struct SharedAnswer {
    SharedTree::Outcome outcome;
    std::optional<fs::Handle> handle;
  };
  SharedAnswer ask(fs::Mount& mount, const SharedTree::Operation& operation,
                   SharedTree::Node number);
  void learn(SharedTree::Node node, const fs::Handle& handle);
  // nullopt: no answer.
  std::optional<SharedTree::State> list_shared_names();

  // --- registers
  struct Sectors {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  Sectors pick_registers();
  void write_registers(Sectors sectors);
  bool read_registers(Sectors sectors);
  void resize_registers();
  void cut_registers(std::uint64_t size);
  void commit_registers();

  // --- files
  struct Target {
    FileModel* model = nullptr;
    fs::Handle handle;
    SharedFile* shared = nullptr;
    std::int64_t* last_mtime_ns = nullptr;  // of one that nobody else changes
  };
  std::optional<Target> pick_file();
  Target shared_target(SharedFile& file);
  FileUse& use_of(const Target& file) { return shared_.uses[file.model->id()]; }
  // To be called when the file is changed through the chosen instance.
  void uses(const Target& file);
  // True when everything acknowledged is there.
  bool sound(const Target& file);
  // True when an answer can be judged: no instance on which it depends has ended since `round`.
  bool sound(const Target& file, std::uint64_t round);
  bool ready(const Target& file);
  FileModel::Snapshot through_head(const Target& file, FileModel::Snapshot all);
  bool resolve(const Target& file);
  bool resolve_shared(const Target& file);
  void write(const Target& file);
  std::pair<std::uint64_t, std::uint64_t> pick_cells(const Target& file) const;
  void read(const Target& file);
  void commit(const Target& file);
  void getattr(const Target& file);
  void set_size(const Target& file);
  void set_mtime(const Target& file);
  void allocate(const Target& file);
  void deallocate(const Target& file);
  void seek(const Target& file);
  // True when the operation has succeeded; else the model is unsure of it.
  bool change_space(const char* what, const Target& file,
                    const std::function<Status(fs::Mount&)>& change);
  std::int64_t pick_mtime_ns(const Target& file);
  // Errors that a look at a file may get, too: when there are other mounts it puts a want or a
  // token.
  bool may_refuse(ErrorCode code) const {
    return code == ErrorCode::kIo || (code == ErrorCode::kNoSpace && heads_.size() > 1);
  }
  void must(const std::string& complaint) const;

  Heads& heads_;
  Shared& shared_;
  const int index_;
  const Workload workload_;
  std::size_t head_ = 0;
  std::uint64_t epoch_ = 0;
  std::optional<std::pair<std::size_t, std::uint64_t>> lost_;  // the instance that owes an answer
  std::optional<SharedTree::Node> lost_name_;                  // the shared name that it is about
  fs::NamespaceModel tree_;
  std::map<Id, fs::Handle> handles_;
  std::optional<fs::NamespaceModel> maybe_;  // the tree if the last operation has happened
  std::string maybe_what_;
  std::map<Id, std::unique_ptr<FileModel>> files_;
  std::set<Id> was_open_;  // unlinked while open: nobody can say when their handles become stale
  // The newest value seen of an inode through one head: an NFS client asks one VNFS.
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> last_change_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> last_ctime_ns_;
  std::map<std::uint64_t, std::int64_t> last_mtime_ns_;  // inode -> seen last
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_of_change_;
};

}  // namespace symnas::sim
