// ModelRun: seeded random NFSv3 operations on a server, each compared with TreeModel.
//
// One seed and one list of clients give one sequence of operations. With several clients (several
// addresses of one filesystem) each operation goes through a random one: what one server has
// acknowledged must be visible through the next.
//
// Outages: with ride_outages() an operation without an answer is repeated until it gets one, and
// after each reconnect everything that the server has acknowledged as stable since the last one is
// compared at once (outage.cc). UNSTABLE data may then be missing, but only if the write verifier
// has changed; it is sent again.
//
// Thread class: confined to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/client/model/tree_model.h"

namespace symnas::model {

// The server's answer differs from what the model allows.
struct Difference : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ModelRun {
 public:
  using Clients = std::vector<std::unique_ptr<nfs3::Nfs3Client>>;

  // Works in a new directory `name` below the clients' root. Throws Difference when that fails.
  ModelRun(Clients clients, std::uint64_t seed, const std::string& name);

  // From now on the server may stop and come back. REQUIRES: one client.
  void ride_outages(int patience_ms);
  std::uint64_t outages() const { return clients_.front()->outages(); }
  std::uint64_t bytes_resent() const { return bytes_resent_; }

  void step();        // one operation; throws Difference
  void verify_all();  // walks the whole tree and compares names, attributes, bytes
  void remove_all();  // empties and removes the directory, through the same comparisons

  const std::deque<std::string>& recent() const { return recent_; }
  std::uint64_t differences_checked() const { return checks_; }

 private:
  using Handle = nfs3::Handle;

  // Choices.
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  nfs3::Nfs3Client& client() { return *clients_[below(clients_.size())]; }
  Node& any_node();
  Node& any_directory();  // sometimes a dead one, or no directory at all
  Node& any_file();
  std::string any_name(const Node& directory);
  std::uint64_t any_offset(const Node& file);
  std::uint32_t any_length();
  std::string any_bytes(std::uint32_t length);

  // Comparisons.
  void note(std::string text);
  void check(bool good, const std::string& what);
  bool check_status(int got, const Statuses& allowed);  // true: it succeeded
  void check_attributes(Node& node, const fattr3& got);
  void check_attributes(Node& node, const nfs3::Attributes& got);
  void learn(Node& node, const nfs3::ObjectReply& reply);
  // Whether this status is the answer to an operation whose first copy was executed but not
  // answered.
  bool executed_before(int status, int symptom, const Statuses& allowed);

  // Outages.
  bool after_outage();
  void check_recent_writes();
  void recover_file(Node& file);
  void check_leftover(const Node& file, const Uncommitted& lossy);
  void send_again(Node& file);
  bool is_busy(const Node& node) const;

  // Operations, one each.
  void op_lookup();
  void op_getattr();
  void op_setattr();
  void op_truncate();
  void op_create();
  void op_create_exclusive();
  void op_mkdir();
  void op_symlink();
  void op_mknod();
  void op_remove();
  void op_rmdir();
  void op_link();
  void op_rename();
  void op_read();
  void op_write();
  void op_commit();
  void op_readdir();
  void op_readdir_while_changing();
  void op_access();
  void op_filesystem();
  void op_dead_handle();

  nfs3::NewAttributes new_attributes(Node& as_made);
  void compare_page(Node& directory, const nfs3::DirectoryPage& page, bool plus,
                    std::map<std::string, int>& seen);
  void list_all(Node& directory, bool plus);
  void check_read(Node& file, std::uint64_t offset, std::uint32_t count,
                  const nfs3::ReadReply& got);
  void verify_bytes(Node& file, std::uint64_t offset, std::uint32_t count);
  void verify_below(Node& directory);
  void remove_below(Node& directory);

  Clients clients_;
  std::mt19937_64 random_;
  TreeModel model_;
  Handle top_;
  std::string name_;
  std::uint64_t max_offset_ = 0;
  std::uint32_t max_read_ = 0;
  std::uint32_t max_write_ = 0;
  std::uint64_t write_verifier_ = 0;
  bool verifier_known_ = false;
  std::deque<std::string> recent_;
  std::uint64_t checks_ = 0;

  bool rides_outages_ = false;
  // Files that the operation under way may have changed or removed without an answer.
  std::vector<const Node*> busy_;
  struct WriteUnderWay {
    const Node* file;
    std::uint64_t offset;
    std::string_view data;
  };
  std::optional<WriteUnderWay> writing_;
  struct RecentWrite {
    Node* file;
    std::uint64_t offset;
    std::uint64_t length;
  };
  std::vector<RecentWrite> recent_writes_;  // since the last outage: the server may have lost them
  std::uint64_t bytes_resent_ = 0;
};

}  // namespace symnas::model
