#include "tests/sim/file_model.h"

#include <algorithm>
#include <cstring>

namespace symnas::sim {

namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 29);
}

void forget_up_to(std::vector<FileModel::Number>& may, FileModel::Number number) {
  std::erase_if(may, [number](FileModel::Number n) { return n <= number; });
}

}  // namespace

std::string FileModel::cell_bytes(std::uint64_t cell, Number number) const {
  std::string out(kCell, '\0');
  if (number == 0) return out;
  const std::uint64_t seed = mix(id_ << 48 ^ cell << 32 ^ number);
  std::memcpy(out.data(), &number, sizeof(number));
  for (std::size_t i = sizeof(number); i < kCell; i += sizeof(std::uint32_t)) {
    const auto word = static_cast<std::uint32_t>(mix(seed + i) | 1);
    std::memcpy(out.data() + i, &word, sizeof(word));
  }
  return out;
}

std::optional<FileModel::Number> FileModel::decode(std::uint64_t cell,
                                                   std::string_view bytes) const {
  Number number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  if (bytes != cell_bytes(cell, number)) return std::nullopt;
  return number;
}

std::string FileModel::complaint(std::uint64_t cell, std::string_view bytes) const {
  std::string what = "foreign bytes";
  if (const auto number = decode(cell, bytes)) {
    what = *number == 0 ? "zeros" : "write " + std::to_string(*number);
  } else if (bytes == std::string(kCell, '\xEE')) {
    what = "poison";
  } else if (bytes.find_first_not_of('\x5A') == std::string_view::npos) {
    what = "an unfilled buffer";
  }
  const Cell& now = cell < cells_.size() ? cells_[cell] : Cell{};
  std::string may;
  for (const Number n : now.may) may += " " + std::to_string(n);
  return "file " + std::to_string(id_) + " byte " + std::to_string(base_ + cell * kCell) +
         " holds " + what + "; now " + std::to_string(now.now) + ", durable " +
         std::to_string(now.durable) + ", may be" + may;
}

// --- writes

FileModel::Write FileModel::begin_write(std::uint64_t begin_cell, std::uint64_t end_cell) {
  Write write{begin_cell, end_cell, ++last_, {}};
  if (cells_.size() < end_cell) cells_.resize(end_cell);
  for (std::uint64_t cell = begin_cell; cell < end_cell; ++cell) {
    write.bytes += cell_bytes(cell, write.number);
    cells_[cell].may.push_back(write.number);
  }
  size_most_ = std::max(size_most_, end_cell * kCell);
  ++in_flight_;
  ++activity_;
  return write;
}

void FileModel::acknowledged(const Write& write, bool stable) {
  --in_flight_;
  ++activity_;
  mtimes_set_.clear();
  written_since_ = true;
  for (std::uint64_t cell = write.begin; cell < write.end; ++cell) {
    Cell& c = cells_[cell];
    c.now = write.number;
    c.unsure = false;
    if (!stable) continue;
    c.durable = write.number;
    forget_up_to(c.may, write.number);
  }
  size_ = std::max(size_, write.end * kCell);
  if (stable) size_durable_ = std::max(size_durable_, write.end * kCell);
}

void FileModel::unsure(const Write& write) {
  --in_flight_;
  ++activity_;
  written_since_ = true;
  if (write.number < first_of_instance_) return;  // resolved meanwhile
  for (std::uint64_t cell = write.begin; cell < write.end; ++cell) cells_[cell].unsure = true;
  if (write.end * kCell > size_) size_unsure_ = true;
}

// --- commit

FileModel::Snapshot FileModel::snapshot() const {
  Snapshot out;
  out.size = size_;
  out.now.reserve(cells_.size());
  for (const Cell& cell : cells_) out.now.push_back(cell.now);
  return out;
}

void FileModel::committed(const Snapshot& before) {
  for (std::size_t i = 0; i < before.now.size() && i < cells_.size(); ++i) {
    Cell& c = cells_[i];
    const Number number = before.now[i];
    if (number < first_of_instance_ || c.unsure) continue;
    c.durable = std::max(c.durable, number);
    forget_up_to(c.may, number);
  }
  size_durable_ = std::max(size_durable_, std::min(before.size, size_));
}

// --- size

void FileModel::cut(std::vector<Cell>& cells, std::uint64_t bytes) const {
  for (std::uint64_t cell = bytes / kCell; cell < cells.size(); ++cell) cells[cell] = Cell{};
}

void FileModel::set_size(std::uint64_t bytes) {
  ++activity_;
  mtimes_set_.clear();
  written_since_ = true;
  cut(cells_, bytes);
  size_ = size_durable_ = size_most_ = bytes;
  size_unsure_ = false;
}

void FileModel::unsure_size(std::uint64_t bytes) {
  ++activity_;
  written_since_ = true;
  pending_size_ = bytes;
  must_resolve_ = true;
}

// --- space

void FileModel::allocated(std::uint64_t end_cell, Before before) {
  ++activity_;
  mtimes_set_.clear();
  written_since_ = true;
  size_ = std::max(size_, end_cell * kCell);
  const bool all = exact() && before == Before::kIsThere;
  size_durable_ = all ? size_ : std::max(size_durable_, end_cell * kCell);
  size_most_ = all ? size_ : std::max(size_most_, end_cell * kCell);
}

void FileModel::deallocated(std::uint64_t begin_cell, std::uint64_t end_cell) {
  ++activity_;
  mtimes_set_.clear();
  written_since_ = true;
  for (std::uint64_t cell = begin_cell; cell < std::min(end_cell, cells_.size()); ++cell)
    cells_[cell] = Cell{};
}

void FileModel::unsure_allocated(std::uint64_t end_cell) {
  ++activity_;
  written_since_ = true;
  size_most_ = std::max(size_most_, end_cell * kCell);
  size_unsure_ = true;
  must_resolve_ = true;
}

void FileModel::unsure_deallocated(std::uint64_t begin_cell, std::uint64_t end_cell) {
  ++activity_;
  written_since_ = true;
  must_resolve_ = true;
  for (std::uint64_t cell = begin_cell; cell < std::min(end_cell, cells_.size()); ++cell) {
    cells_[cell].unsure = true;
    cells_[cell].may.push_back(0);
  }
}

std::string FileModel::check_data_from(std::uint64_t begin_byte, std::uint64_t found_byte) const {
  for (std::uint64_t cell = begin_byte / kCell; cell < std::min(found_byte / kCell, cells_.size());
       ++cell) {
    if (cells_[cell].now == 0 || cells_[cell].unsure) continue;
    return "file " + std::to_string(id_) + ": SEEK from " + std::to_string(base_ + begin_byte) +
           " has passed write " + std::to_string(cells_[cell].now) + " at " +
           std::to_string(base_ + cell * kCell);
  }
  return {};
}

// --- reads

std::string FileModel::check_size(std::uint64_t file_size, const Snapshot& before) const {
  const auto in_file = [this](std::uint64_t size) { return size == 0 ? 0 : base_ + size; };
  const std::uint64_t least = in_file(before.size);
  const std::uint64_t most = in_file(exact() ? size_ : size_most_);
  if (file_size >= least && file_size <= most) return {};
  return "file " + std::to_string(id_) + " has " + std::to_string(file_size) + " bytes, expected " +
         std::to_string(least) + " to " + std::to_string(most);
}

std::string FileModel::check_read(std::uint64_t begin_byte, std::uint64_t asked,
                                  std::string_view got, bool end_of_file,
                                  const Snapshot& before) const {
  const auto part = [&](std::uint64_t size) {
    return begin_byte >= size ? 0 : std::min(asked, size - begin_byte);
  };
  if (got.size() < part(before.size) || got.size() > part(exact() ? size_ : size_most_)) {
    return "file " + std::to_string(id_) + ": a read of " + std::to_string(asked) + " bytes at " +
           std::to_string(base_ + begin_byte) + " gave " + std::to_string(got.size()) + ", size " +
           std::to_string(base_ + before.size);
  }
  if (exact() && before.size == size_ && end_of_file != (begin_byte + asked >= size_)) {
    return "file " + std::to_string(id_) + ": wrong end of file at " +
           std::to_string(base_ + begin_byte);
  }
  for (std::uint64_t at = 0; at + kCell <= got.size(); at += kCell) {
    const std::uint64_t cell = (begin_byte + at) / kCell;
    const std::string_view bytes = got.substr(at, kCell);
    const auto number = decode(cell, bytes);
    if (!number) return complaint(cell, bytes);
    const Number then = cell < before.now.size() ? before.now[cell] : 0;
    if (*number == then) continue;
    // A newer number is right, too: it was written to this cell meanwhile, since the bytes are
    // right.
    if (*number > then && *number <= last_ && *number != 0) continue;
    if (cell < cells_.size() && cells_[cell].unsure && keeps(cells_[cell], *number)) continue;
    return complaint(cell, bytes);
  }
  return {};
}

// --- a new instance

bool FileModel::keeps(const Cell& cell, Number number) {
  return number == cell.durable ||
         std::find(cell.may.begin(), cell.may.end(), number) != cell.may.end();
}

void FileModel::instance_changed(Others others) {
  first_of_instance_ = last_ + 1;
  // A stamp that was sent again may be below a newer one, and the next clock starts from it.
  mtime_set_at_ns_ = 0;
  must_resolve_ = true;
  new_instance_ = others == Others::kNone;
  ++activity_;
}

std::string FileModel::resolve_world(std::vector<Cell>& cells, std::string_view got) const {
  for (std::uint64_t cell = 0; (cell + 1) * kCell <= got.size(); ++cell) {
    if (cell >= cells.size()) cells.resize(cell + 1);
    const std::string_view bytes = got.substr(cell * kCell, kCell);
    const auto number = decode(cell, bytes);
    if (!number || !keeps(cells[cell], *number)) return complaint(cell, bytes);
    cells[cell].now = *number;
    cells[cell].unsure = false;
  }
  cut(cells, got.size());
  return {};
}

void FileModel::adopt(std::vector<Cell> cells, std::uint64_t size) {
  cells_ = std::move(cells);
  size_ = size;
  // A new instance shows what is recorded; another one may have the size only in memory.
  size_durable_ = new_instance_ ? size : std::min(size_durable_, size);
  size_most_ = new_instance_ ? size : std::max(size_most_, size);
  new_instance_ = false;
  size_unsure_ = false;
  must_resolve_ = false;
  pending_size_.reset();
  ++activity_;
}

std::string FileModel::resolve(std::string_view got, std::uint64_t file_size) {
  const std::uint64_t size = file_size == 0 ? 0 : file_size - base_;
  if (file_size != 0 && (file_size < base_ || got.size() != size)) {
    return "file " + std::to_string(id_) + ": " + std::to_string(got.size()) + " bytes read of " +
           std::to_string(file_size) + " from " + std::to_string(base_) + " on";
  }
  std::vector<Cell> as_it_was = cells_;
  std::string wrong;
  if (size < size_durable_ || size > size_most_) {
    wrong = "file " + std::to_string(id_) + " has " + std::to_string(file_size) +
            " bytes, of which " + std::to_string(base_ + size_durable_) + " were durable and " +
            std::to_string(base_ + size_most_) + " have ever been written";
  } else {
    wrong = resolve_world(as_it_was, got);
  }
  if (pending_size_ && size == *pending_size_) {
    std::vector<Cell> resized = cells_;
    cut(resized, size);
    if (resolve_world(resized, got).empty()) {
      if (!wrong.empty()) as_it_was = std::move(resized);
      wrong.clear();
    }
  }
  if (wrong.empty()) adopt(std::move(as_it_was), size);
  return wrong;
}

// --- mtime

void FileModel::set_mtime(std::int64_t mtime_ns, std::int64_t ctime_ns) {
  mtimes_set_ = {mtime_ns};
  written_since_ = false;
  mtime_set_at_ns_ = ctime_ns;
}

void FileModel::unsure_mtime(std::int64_t mtime_ns) { mtimes_set_.push_back(mtime_ns); }

std::string FileModel::check_mtime(std::int64_t mtime_ns) const {
  const bool set = std::find(mtimes_set_.begin(), mtimes_set_.end(), mtime_ns) != mtimes_set_.end();
  if (set || (written_since_ && mtime_ns > mtime_set_at_ns_)) return {};
  std::string may;
  for (const std::int64_t one : mtimes_set_) may += " " + std::to_string(one);
  if (written_since_) may += " or later than " + std::to_string(mtime_set_at_ns_);
  return "file " + std::to_string(id_) + " has mtime " + std::to_string(mtime_ns) + ", expected" +
         may;
}

// --- change attribute

std::string FileModel::note_change(std::size_t head, std::uint64_t change) {
  if (!exact() || must_resolve_) return {};
  std::uint64_t hash = mix(size_);
  for (std::uint64_t cell = 0; cell < cells_.size(); ++cell) {
    if (cells_[cell].unsure) return {};
    if (cells_[cell].now != 0) hash ^= mix(cell << 32 ^ cells_[cell].now);
  }
  const auto [it, fresh] = contents_of_change_.emplace(std::pair(head, change), hash);
  if (it->second == hash) return {};
  return "file " + std::to_string(id_) + ": change " + std::to_string(change) +
         " stands for two contents";
}

}  // namespace symnas::sim
