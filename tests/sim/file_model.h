// FileModel: what a file may contain, byte by byte, as its clients know it. A file consists of
// cells of 64 bytes. Every write has a number; each cell that it covers carries the number, with a
// hash of file, cell and number. So the bytes of another file, block or time cannot pass for it.
//
// Its mtime is the one set by SETATTR, or a later one once a write has come (one client only).
//
// Thread class: for simulated threads. Invariant: a cell has one writer at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace symnas::sim {

class FileModel {
 public:
  static constexpr std::uint64_t kCell = 64;
  using Number = std::uint32_t;  // number of a write; 0 = zeros

  // `base`: offset of the first cell in the file; below it is a hole.
  FileModel(std::uint64_t id, std::uint64_t base) : id_(id), base_(base) {}

  std::uint64_t id() const { return id_; }
  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }  // size after the acknowledged changes, without base
  // The size of the file, base included.
  std::uint64_t file_size() const { return size_ == 0 ? 0 : base_ + size_; }

  // --- writes: begin, send bytes(), then report one of the outcomes
  struct Write {
    std::uint64_t begin = 0;  // cells
    std::uint64_t end = 0;
    Number number = 0;
    std::string bytes;
  };
  Write begin_write(std::uint64_t begin_cell, std::uint64_t end_cell);
  void acknowledged(const Write& write, bool stable);
  void unsure(const Write& write);  // an error, or no answer: each cell is old or new
  std::uint64_t in_flight() const { return in_flight_; }
  std::uint64_t activity() const { return activity_; }  // grows with every change of the model

  // --- commit
  struct Snapshot {
    std::uint64_t size = 0;
    std::vector<Number> now;
  };
  Snapshot snapshot() const;
  void committed(const Snapshot& before);

  // --- size
  void set_size(std::uint64_t bytes);  // acknowledged
  // No answer: the size may have been set or not; the next resolve() finds out.
  void unsure_size(std::uint64_t bytes);

  // --- space, in cells. REQUIRES: nothing in flight. Acknowledged: all of it is recorded.
  // `before`: whether every instance lives on which what was there before depends. If not, only the
  // new bytes are known to be there.
  enum class Before : std::uint8_t { kIsThere, kMayBeLost };
  void allocated(std::uint64_t end_cell, Before before);
  void deallocated(std::uint64_t begin_cell, std::uint64_t end_cell);
  // An error, or no answer: the next resolve() finds out.
  void unsure_allocated(std::uint64_t end_cell);
  void unsure_deallocated(std::uint64_t begin_cell, std::uint64_t end_cell);
  // What SEEK from `begin_byte` may find (both without base). Returns "" or what is wrong.
  std::string check_data_from(std::uint64_t begin_byte, std::uint64_t found_byte) const;

  // --- reads. `before` was taken before the read was sent. Return "" or what is wrong.
  std::string check_read(std::uint64_t begin_byte, std::uint64_t asked, std::string_view got,
                         bool end_of_file, const Snapshot& before) const;
  std::string check_size(std::uint64_t file_size, const Snapshot& before) const;

  // --- a new instance
  // What was not durable may be lost. Writes from now on belong to the new instance. kLive: other
  // instances still have some of the data only in memory.
  enum class Others { kNone, kLive };
  void instance_changed(Others others = Others::kNone);
  bool must_resolve() const { return must_resolve_; }
  // `got`: everything from base on; `file_size` as in GETATTR. From now on this is the content.
  std::string resolve(std::string_view got, std::uint64_t file_size);

  // To be called when SETATTR was acknowledged, with the ctime of its answer: every later write is
  // shown with a later mtime.
  void set_mtime(std::int64_t mtime_ns, std::int64_t ctime_ns);
  void unsure_mtime(std::int64_t mtime_ns);  // an error, or no answer
  // Returns "" or what is wrong. REQUIRES: nothing in flight.
  std::string check_mtime(std::int64_t mtime_ns) const;

  // --- change attribute: one value of one head never stands for two contents
  std::string note_change(std::size_t head, std::uint64_t change);

 private:
  struct Cell {
    Number now = 0;
    Number durable = 0;
    bool unsure = false;      // a write failed: `now` or one of `may`
    std::vector<Number> may;  // written since `durable`: the disk may keep any of them
  };
  static bool keeps(const Cell& cell, Number number);
  std::string cell_bytes(std::uint64_t cell, Number number) const;
  // nullopt: these bytes were never the content of this cell.
  std::optional<Number> decode(std::uint64_t cell, std::string_view bytes) const;
  std::string complaint(std::uint64_t cell, std::string_view bytes) const;
  std::string resolve_world(std::vector<Cell>& cells, std::string_view got) const;
  void cut(std::vector<Cell>& cells, std::uint64_t bytes) const;
  void adopt(std::vector<Cell> cells, std::uint64_t size);
  bool exact() const { return in_flight_ == 0 && !size_unsure_; }

  const std::uint64_t id_;
  const std::uint64_t base_;
  std::vector<Cell> cells_;
  std::uint64_t size_ = 0;
  std::uint64_t size_durable_ = 0;
  std::uint64_t size_most_ = 0;
  Number last_ = 0;
  Number first_of_instance_ = 1;
  std::uint64_t in_flight_ = 0;
  std::uint64_t activity_ = 0;
  bool size_unsure_ = false;
  bool must_resolve_ = false;
  bool new_instance_ = false;  // not resolved since the new instance
  std::optional<std::uint64_t> pending_size_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> contents_of_change_;
  std::vector<std::int64_t> mtimes_set_;  // the values it may have
  bool written_since_ = true;             // or a value after mtime_set_at_ns_
  std::int64_t mtime_set_at_ns_ = 0;
};

}  // namespace symnas::sim
