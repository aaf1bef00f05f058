// Client: its operations on the contents of files.
#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/sim/client.h"
#include "tests/sim/data_calls.h"

namespace symnas::sim {

namespace {

using fs::Mount;

const fs::Credentials kRoot{};

}  // namespace

Client::Target Client::shared_target(SharedFile& file) {
  return {file.model.get(), file.handle, &file, nullptr};
}

std::optional<Client::Target> Client::pick_file() {
  if (!shared_.files.empty() && below(3) == 0) {
    return shared_target(shared_.files[below(shared_.files.size())]);
  }
  if (files_.empty()) return std::nullopt;
  auto it = files_.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(below(files_.size())));
  const fs::Handle handle = handles_[it->first];
  return Target{it->second.get(), handle, nullptr, &last_mtime_ns_[handle.ino.value()]};
}

void Client::one_in_file() {
  const auto file = pick_file();
  if (!file) {
    one_in_tree();
    return;
  }
  if (!ready(*file)) return;
  switch (below(19)) {
    case 16: allocate(*file); break;
    case 17: deallocate(*file); break;
    case 18: seek(*file); break;
    case 0:
    case 1: commit(*file); break;
    case 2: set_size(*file); break;
    case 3:
    case 4: getattr(*file); break;
    case 5:
    case 6:
    case 7: read(*file); break;
    case 8: open_unlinked(); break;
    case 9: set_mtime(*file); break;
    default: write(*file); break;
  }
}

// --- after the end of an instance

void Client::uses(const Target& file) {
  std::uint64_t& epoch = use_of(file).epochs[head_];
  epoch = std::max(epoch, epoch_);
}

bool Client::sound(const Target& file) {
  const auto& epochs = use_of(file).epochs;
  return std::all_of(epochs.begin(), epochs.end(),
                     [this](const auto& one) { return heads_[one.first].lives(one.second); });
}

bool Client::sound(const Target& file, std::uint64_t round) {
  return use_of(file).round == round && sound(file);
}

bool Client::ready(const Target& file) {
  if (file.shared != nullptr) return resolve_shared(file);
  return (sound(file) && !file.model->must_resolve()) || resolve(file);
}

bool Client::resolve(const Target& file) {
  if (!sound(file)) {
    // What is not recorded is lost. Wait until nothing can follow from the ended instances.
    FileUse& use = use_of(file);
    const auto epochs = use.epochs;
    for (const auto& [head, epoch] : epochs) {
      if (!heads_[head].lives(epoch)) heads_[head].wait_fenced(epoch);
    }
    std::erase_if(use.epochs, [this](const auto& one) {
      return !heads_[one.first].lives(one.second) && heads_[one.first].fenced(one.second);
    });
    ++use.round;
    file.model->instance_changed(use.epochs.empty() ? FileModel::Others::kNone
                                                    : FileModel::Others::kLive);
    if (!sound(file) || !heads_[head_].lives(epoch_)) return false;
  }
  const std::uint64_t round = use_of(file).round;
  std::string wrong;
  bool known = false;
  std::uint64_t change = 0;
  std::int64_t mtime_ns = 0;
  const std::uint64_t bytes = workload_.file_cells_max * FileModel::kCell;
  const Reply reply = call([&](Mount& mount) {
    const auto attributes = mount.getattr(file.handle);
    if (!attributes && may_refuse(attributes.error().code)) return;
    if (!attributes) {
      wrong = "getattr: " + attributes.error().message;
      return;
    }
    change = attributes->change;
    mtime_ns = attributes->mtime_ns;
    const auto got = read_bytes(mount, file.handle, file.model->base(), bytes);
    if (!got && may_refuse(got.error().code)) return;
    if (!got) {
      wrong = "read: " + got.error().message;
      return;
    }
    known = true;
    wrong = file.model->resolve(got->bytes, attributes->size_bytes);
  });
  if (reply != Reply::kAnswered || !sound(file, round)) return false;
  must(wrong);
  // What an instance that has died had shown and not recorded is in no stamp: the next one's clock
  // may be behind it (docs/plan.md).
  for (auto& [head_and_ino, ctime_ns] : last_ctime_ns_)
    if (head_and_ino.second == file.handle.ino.value()) ctime_ns = 0;
  trace("client %d: file %llu resolved, size %llu, change %llu", index_,
        static_cast<unsigned long long>(file.model->id()),
        static_cast<unsigned long long>(file.model->size()),
        static_cast<unsigned long long>(change));
  if (known) must(file.model->note_change(head_, change));
  if (known && file.shared == nullptr) must(file.model->check_mtime(mtime_ns));
  return known;
}

// The first client that comes resolves the file for all.
bool Client::resolve_shared(const Target& file) {
  SharedFile& shared = *file.shared;
  wait_until(&shared, "another client's look", [&shared] { return !shared.resolving; });
  if (sound(file) && !file.model->must_resolve()) return true;
  shared.resolving = true;
  wait_until(&shared, "writes under way", [&file] { return file.model->in_flight() == 0; });
  const bool known = resolve(file);
  shared.resolving = false;
  wake(&shared);
  return known;
}

// --- operations

std::pair<std::uint64_t, std::uint64_t> Client::pick_cells(const Target& file) const {
  if (file.shared != nullptr) {
    const auto clients = static_cast<std::uint64_t>(shared_.clients);
    const std::uint64_t piece = file.shared->piece_cells;
    const std::uint64_t turns = file.shared->cells_max / (piece * clients);
    const std::uint64_t begin =
        (below(turns) * clients + static_cast<std::uint64_t>(index_)) * piece;
    const std::uint64_t skip = below(3) == 0 ? below(piece) : 0;
    const std::uint64_t count = below(3) == 0 ? 1 + below(piece - skip) : piece - skip;
    return {begin + skip, begin + skip + count};
  }
  const std::uint64_t top = file.model->size() / FileModel::kCell;
  std::uint64_t begin = top;
  switch (below(6)) {
    case 0: begin = below(workload_.file_cells_max); break;
    case 1: begin = top + below(100); break;
    case 2: begin = top == 0 ? 0 : below(top); break;
    case 3: begin = top / 64 * 64; break;
    default: break;
  }
  std::uint64_t count = 1 + below(130);
  if (below(4) == 0) count = 1 + below(4);
  if (below(8) == 0) count = 1 + below(workload_.big_write_cells);
  if (below(3) == 0) {  // whole blocks
    begin = begin / 64 * 64;
    count = (count + 63) / 64 * 64;
  }
  begin = std::min(begin, workload_.file_cells_max - 1);
  return {begin, std::min(begin + count, workload_.file_cells_max)};
}

void Client::write(const Target& file) {
  struct One {
    FileModel::Write write;
    fs::WriteStability wanted = fs::WriteStability::kUnstable;
    Waiting<fs::WriteResult> waiting;
    std::optional<Result<fs::WriteResult>> result;
  };
  uses(file);
  std::vector<std::unique_ptr<One>> writes;  // all under way at the same time
  const std::uint64_t count = below(3) == 0 ? 1 + below(4) : 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto [begin, end] = pick_cells(file);
    if (!writes.empty() && file.shared == nullptr && below(2) == 0) {
      begin = writes.back()->write.end;  // the next bytes: often in the same sector
      end = std::min(begin + 1 + below(20), workload_.file_cells_max);
    }
    const bool apart = std::all_of(writes.begin(), writes.end(), [&](const auto& one) {
      return end <= one->write.begin || one->write.end <= begin;
    });
    if (!apart || begin >= end) continue;
    auto one = std::make_unique<One>();
    one->write = file.model->begin_write(begin, end);
    use_of(file).head_of[one->write.number] = head_;
    if (below(4) == 0) one->wanted = fs::WriteStability::kFileSync;
    trace("client %d: file %llu write %u, cells %llu to %llu%s", index_,
          static_cast<unsigned long long>(file.model->id()), one->write.number,
          static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end),
          one->wanted == fs::WriteStability::kFileSync ? ", stable" : "");
    writes.push_back(std::move(one));
  }
  const Reply reply = call([&](Mount& mount) {
    for (auto& one : writes) {
      const FileOffset offset{file.model->base() + one->write.begin * FileModel::kCell};
      mount.write(file.handle, offset, std::as_bytes(std::span(one->write.bytes)), one->wanted,
                  one->waiting.callback());
    }
    for (auto& one : writes) one->result = one->waiting.get();
  });
  for (auto& one : writes) {
    const bool good = reply == Reply::kAnswered && one->result->has_value();
    trace("client %d: file %llu write %u %s", index_,
          static_cast<unsigned long long>(file.model->id()), one->write.number,
          good                        ? "acknowledged"
          : reply == Reply::kAnswered ? to_string(one->result->error().code).data()
                                      : "has no answer");
    if (!good) {
      if (reply == Reply::kAnswered) {
        const ErrorCode code = one->result->error().code;
        if (code != ErrorCode::kNoSpace && code != ErrorCode::kIo) {
          must("write: " + one->result->error().message);
        }
      }
      file.model->unsure(one->write);
    } else {
      file.model->acknowledged(one->write,
                               (*one->result)->achieved != fs::WriteStability::kUnstable);
    }
  }
  // When the instance had moved on nothing was sent, but the model treats this like a lost answer.
  if (file.shared != nullptr) wake(file.shared);
}

void Client::read(const Target& file) {
  const std::uint64_t size = file.model->size();
  const std::uint64_t begin =
      below(2) == 0 ? 0 : below(size / FileModel::kCell + 2) * FileModel::kCell;
  const std::uint64_t bytes = (1 + below(600)) * FileModel::kCell;
  const FileModel::Snapshot before = file.model->snapshot();
  const std::uint64_t round = use_of(file).round;
  std::string wrong;
  call([&](Mount& mount) {
    const auto got = read_bytes(mount, file.handle, file.model->base() + begin, bytes);
    if (got) {
      wrong = file.model->check_read(begin, bytes, got->bytes, got->end_of_file, before);
    } else if (!may_refuse(got.error().code)) {
      wrong = "read: " + got.error().message;
    }
  });
  if (sound(file, round)) must(wrong);
}

// COMMIT applies to what was written through the same instance.
FileModel::Snapshot Client::through_head(const Target& file, FileModel::Snapshot all) {
  const FileUse& use = use_of(file);
  for (FileModel::Number& number : all.now) {
    const auto head = use.head_of.find(number);
    if (head != use.head_of.end() && head->second != head_) number = 0;
  }
  const bool alone = std::all_of(use.epochs.begin(), use.epochs.end(),
                                 [this](const auto& one) { return one.first == head_; });
  if (!alone || file.model->must_resolve()) all.size = 0;
  return all;
}

void Client::commit(const Target& file) {
  FileModel::Snapshot before;
  std::optional<Status> status;
  const Reply reply = call([&](Mount& mount) {
    // Now: when it is answered another head may be forgotten, with what it has not committed.
    before = through_head(file, file.model->snapshot());
    Waiting<void> waiting;
    mount.commit(file.handle, waiting.callback());
    status = waiting.get();
  });
  if (reply != Reply::kAnswered) return;
  if (*status) {
    file.model->committed(before);
    trace("client %d: file %llu committed", index_,
          static_cast<unsigned long long>(file.model->id()));
  } else if (status->error().code != ErrorCode::kNoSpace &&
             status->error().code != ErrorCode::kIo) {
    must("commit: " + status->error().message);
  }
}

void Client::getattr(const Target& file) {
  const FileModel::Snapshot before = file.model->snapshot();
  const std::uint64_t activity = file.model->activity();
  const std::uint64_t round = use_of(file).round;
  std::optional<Result<fs::Attributes>> got;
  const Reply reply = call([&](Mount& mount) { got = mount.getattr(file.handle); });
  if (reply != Reply::kAnswered) return;
  if (!*got && may_refuse(got->error().code)) return;
  if (!*got) must("getattr: " + got->error().message);
  const bool judged = sound(file, round);
  if (judged) must(file.model->check_size((*got)->size_bytes, before));
  trace("client %d: file %llu change %llu ctime %lld", index_,
        static_cast<unsigned long long>(file.model->id()),
        static_cast<unsigned long long>((*got)->change), static_cast<long long>((*got)->ctime_ns));
  if (file.last_mtime_ns != nullptr) {
    const std::pair head_and_ino(head_, file.handle.ino.value());
    std::uint64_t& last_change = last_change_[head_and_ino];
    if ((*got)->change < last_change) must("the change of a file went back");
    last_change = (*got)->change;
    std::int64_t& last_ctime_ns = last_ctime_ns_[head_and_ino];
    if ((*got)->ctime_ns < last_ctime_ns) must("the ctime of a file went back");
    last_ctime_ns = (*got)->ctime_ns;
    *file.last_mtime_ns = (*got)->mtime_ns;
    if (judged) must(file.model->check_mtime((*got)->mtime_ns));
  }
  if (judged && file.model->activity() == activity)
    must(file.model->note_change(head_, (*got)->change));
}

void Client::set_size(const Target& file) {
  if (file.shared != nullptr) return;
  std::uint64_t size = below(workload_.file_cells_max) * FileModel::kCell;
  if (below(3) == 0) size = 0;
  if (below(3) == 0) size = file.model->size() / 2 / FileModel::kCell * FileModel::kCell;
  fs::SetAttributes changes;
  changes.size_bytes = size == 0 ? 0 : file.model->base() + size;
  if (below(3) == 0) changes.mtime_ns = pick_mtime_ns(file);
  trace("client %d: file %llu size %llu", index_, static_cast<unsigned long long>(file.model->id()),
        static_cast<unsigned long long>(*changes.size_bytes));
  uses(file);
  const std::uint64_t round = use_of(file).round;
  std::optional<Result<fs::Attributes>> got;
  const Reply reply = call([&](Mount& mount) { got = mount.setattr(kRoot, file.handle, changes); });
  if (reply == Reply::kMoved) return;
  trace("client %d: file %llu size: %s", index_, static_cast<unsigned long long>(file.model->id()),
        reply == Reply::kLost ? "no answer"
        : *got                ? "ok"
                              : to_string(got->error().code).data());
  if (reply == Reply::kAnswered && *got) {
    file.model->set_size(size);
    if (changes.mtime_ns) file.model->set_mtime(*changes.mtime_ns, (*got)->ctime_ns);
    if (sound(file, round)) must(file.model->check_mtime((*got)->mtime_ns));
    if ((*got)->size_bytes != *changes.size_bytes) must("setattr answers another size");
    return;
  }
  if (reply == Reply::kAnswered && got->error().code != ErrorCode::kNoSpace &&
      got->error().code != ErrorCode::kIo) {
    must("setattr: " + got->error().message);
  }
  file.model->unsure_size(size);
  if (changes.mtime_ns) file.model->unsure_mtime(*changes.mtime_ns);
}

std::int64_t Client::pick_mtime_ns(const Target& file) {
  constexpr std::int64_t kFuture = 4'000'000'000'000'000'000;
  if (below(3) == 0 && file.last_mtime_ns != nullptr && *file.last_mtime_ns != 0)
    return *file.last_mtime_ns;  // the same value: then nothing in the record shows that it was set
  return static_cast<std::int64_t>(1 + below(1'000'000)) + (below(4) == 0 ? kFuture : 0);
}

// Other clients write to a shared file meanwhile: there only its data is checked.
void Client::set_mtime(const Target& file) {
  fs::SetAttributes changes;
  changes.mtime_ns = pick_mtime_ns(file);
  if (below(4) == 0) changes.atime_ns = changes.mtime_ns;
  trace("client %d: file %llu mtime %lld", index_,
        static_cast<unsigned long long>(file.model->id()),
        static_cast<long long>(*changes.mtime_ns));
  uses(file);
  const std::uint64_t round = use_of(file).round;
  std::optional<Result<fs::Attributes>> got;
  const Reply reply = call([&](Mount& mount) { got = mount.setattr(kRoot, file.handle, changes); });
  if (reply == Reply::kMoved) return;
  trace("client %d: file %llu mtime: %s", index_, static_cast<unsigned long long>(file.model->id()),
        reply == Reply::kLost ? "no answer"
        : *got                ? "ok"
                              : to_string(got->error().code).data());
  if (reply == Reply::kAnswered && *got) {
    if (file.shared != nullptr) return;
    file.model->set_mtime(*changes.mtime_ns, (*got)->ctime_ns);
    if (sound(file, round)) must(file.model->check_mtime((*got)->mtime_ns));
    return;
  }
  if (reply == Reply::kAnswered && got->error().code != ErrorCode::kNoSpace &&
      got->error().code != ErrorCode::kIo) {
    must("setattr: " + got->error().message);
  }
  file.model->unsure_mtime(*changes.mtime_ns);
}

// A file without a name lives until its last close.
void Client::open_unlinked() {
  const auto found = std::find_if(files_.begin(), files_.end(), [this](const auto& entry) {
    return tree_.nlink(entry.first) == 1 && !entry.second->must_resolve() &&
           sound({entry.second.get(), {}, nullptr, nullptr});
  });
  if (found == files_.end()) return;
  const Id id = found->first;
  const fs::Handle handle = handles_[id];
  for (Id dir = 0; dir < tree_.size(); ++dir) {
    if (tree_.type(dir) != fs::FileType::kDirectory || tree_.nlink(dir) == 0) continue;
    for (const auto& [name, node] : tree_.entries(dir)) {
      if (node != id) continue;
      if (call([&](Mount& mount) { mount.opened(handle); }) != Reply::kAnswered) return;
      const std::unique_ptr<FileModel> model = std::move(found->second);
      files_.erase(found);
      fs::NamespaceModel after = tree_;
      const OpError expected = after.unlink(dir, name);
      const fs::Handle at = handles_[dir];
      const std::string entry = name;
      was_open_.insert(id);
      const auto opener = std::pair(head_, epoch_);
      if (heads_.size() > 1) choose_instance();  // the name is removed through another head
      change_tree("unlink while open", after, expected, [&](Mount& mount) -> Told {
        const auto done = mount.unlink(kRoot, at, entry);
        return {done ? OpError() : OpError(done.error().code), std::nullopt};
      });
      std::tie(head_, epoch_) = opener;
      if (heads_.size() > 1 && below(2) == 0) {
        sleep_ns(static_cast<std::int64_t>(below(5'000'000'000)));  // others look at the orphan
      }
      const Target target{model.get(), handle, nullptr, nullptr};
      if (tree_.nlink(id) == 0) {
        read(target);
        write(target);
        read(target);
      }
      call([&](Mount& mount) { mount.closed(handle); });
      if (tree_.nlink(id) > 0 || maybe_) files_[id] = std::make_unique<FileModel>(*model);
      return;
    }
  }
}

}  // namespace symnas::sim
