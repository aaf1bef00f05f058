// Client: ALLOCATE, DEALLOCATE and SEEK, on files that nobody else changes.
#include <algorithm>
#include <optional>

#include "tests/sim/client.h"

namespace symnas::sim {

using fs::Mount;

bool Client::change_space(const char* what, const Target& file,
                          const std::function<Status(fs::Mount&)>& change) {
  uses(file);
  std::optional<Status> status;
  const Reply reply = call([&](Mount& mount) { status = change(mount); });
  const bool good = reply == Reply::kAnswered && status->has_value();
  trace("client %d: file %llu %s: %s", index_, static_cast<unsigned long long>(file.model->id()),
        what,
        good                        ? "ok"
        : reply == Reply::kAnswered ? to_string(status->error().code).data()
                                    : "no answer");
  if (reply == Reply::kAnswered && !good && status->error().code != ErrorCode::kNoSpace &&
      status->error().code != ErrorCode::kIo) {
    must(std::string(what) + ": " + status->error().message);
  }
  return good;
}

void Client::allocate(const Target& file) {
  if (file.shared != nullptr) return;
  const auto [begin, end] = pick_cells(file);
  if (begin >= end) return;
  const FileOffset offset{file.model->base() + begin * FileModel::kCell};
  const std::uint64_t bytes = (end - begin) * FileModel::kCell;
  const std::uint64_t round = use_of(file).round;
  const bool good = change_space(
      "allocate", file, [&](Mount& mount) { return mount.allocate(file.handle, offset, bytes); });
  if (good) {
    // It records what is there before it; what an instance had that has ended meanwhile is not.
    file.model->allocated(
        end, sound(file, round) ? FileModel::Before::kIsThere : FileModel::Before::kMayBeLost);
  } else {
    file.model->unsure_allocated(end);
  }
}

void Client::deallocate(const Target& file) {
  if (file.shared != nullptr) return;
  const auto [begin, end] = pick_cells(file);
  if (begin >= end) return;
  const FileOffset offset{file.model->base() + begin * FileModel::kCell};
  const std::uint64_t bytes = (end - begin) * FileModel::kCell;
  const bool good = change_space("deallocate", file, [&](Mount& mount) {
    return mount.deallocate(file.handle, offset, bytes);
  });
  const bool behind = begin * FileModel::kCell >= file.model->size();  // then nothing changes
  if (good && !behind) {
    file.model->deallocated(begin, end);
  } else if (!good) {
    file.model->unsure_deallocated(begin, end);
  }
}

void Client::seek(const Target& file) {
  if (file.shared != nullptr) return;
  const std::uint64_t round = use_of(file).round;
  const std::uint64_t size = file.model->size();
  const std::uint64_t begin = below(size / FileModel::kCell + 1) * FileModel::kCell;
  std::optional<Result<std::optional<fs::Sought>>> got;
  const Reply reply = call([&](Mount& mount) {
    got = mount.seek(file.handle, FileOffset{file.model->base() + begin}, fs::Content::kData);
  });
  if (reply != Reply::kAnswered || !sound(file, round)) return;
  if (!*got && may_refuse(got->error().code)) return;
  if (!*got) must("seek: " + got->error().message);
  const std::optional<fs::Sought>& found = **got;
  if (!found && begin < size) must("seek: no file there");
  if (found) must(file.model->check_data_from(begin, found->offset - file.model->base()));
}

}  // namespace symnas::sim
