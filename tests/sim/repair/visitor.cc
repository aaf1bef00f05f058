#include "tests/sim/repair/visitor.h"

#include <memory>
#include <span>

#include "fsal_cluster/ops/rename.h"
#include "tests/sim/data_calls.h"
#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::sim {

using fs::test::kSuper;

fs::Handle Visitor::pick_directory() const {
  constexpr Ino kDirectories[] = {fs::test::kDirA, fs::test::kDirB, fs::test::kDirC,
                                  fs::test::kHere};
  return {heads_.first().fs(), kDirectories[below(std::size(kDirectories))], Generation{1}};
}

std::string Visitor::pick_name() const {
  constexpr const char* kNames[] = {"small", "again", "large",   "holes", "empty",
                                    "soft",  "fifo",  "nothing", "hard",  "here"};
  if (below(3) == 0) return kNames[below(std::size(kNames))];
  return "v" + std::to_string(below(5));
}

void Visitor::write(fs::Mount& mount, const fs::Handle& file, std::uint64_t offset) {
  const std::string payload(1 + below(20'000), 'v');
  Waiting<fs::WriteResult> waiting;
  mount.write(file, FileOffset{offset}, std::as_bytes(std::span(payload)),
              below(2) == 0 ? fs::WriteStability::kFileSync : fs::WriteStability::kUnstable,
              waiting.callback());
  static_cast<void>(waiting.get());
}

void Visitor::one(fs::Mount& mount) {
  const fs::Handle dir = pick_directory();
  const std::string name = pick_name();
  switch (below(11)) {
    case 0:
    case 1: {
      const auto made = mount.create(kSuper, dir, name, fs::CreateMode::kUnchecked, 0, {});
      // What was there before, under whatever name by now, may have a damaged map: its blocks may
      // be another file's.
      if (made && made->attributes.handle.ino.value() > fs::test::kHere.value())
        write(mount, made->attributes.handle, 0);
      break;
    }
    case 2: static_cast<void>(mount.unlink(kSuper, dir, name)); break;
    case 3: {
      const fs::Handle small{dir.fs, fs::test::kSmall, Generation{1}};
      static_cast<void>(mount.link(kSuper, small, dir, name));
      break;
    }
    case 4:
    case 5:
      static_cast<void>(mount.rename(kSuper, dir, name, pick_directory(), pick_name()));
      break;
    case 6: static_cast<void>(mount.rmdir(kSuper, dir, name)); break;
    case 7: static_cast<void>(mount.mkdir(kSuper, dir, name, {})); break;
    case 8: {
      // Chunks that the damages of maps are about.
      const bool large = below(2) == 0;
      const fs::Handle file{dir.fs, large ? fs::test::kLarge : fs::test::kHoles, Generation{1}};
      static_cast<void>(mount.getattr(file));
      static_cast<void>(read_bytes(mount, file, large ? 0 : std::uint64_t{70} << 20, 4096));
      break;
    }
    case 9: {
      fs::SetAttributes changes;
      changes.mode = static_cast<std::uint32_t>(below(01000));
      const fs::Handle small{dir.fs, fs::test::kSmall, Generation{1}};
      static_cast<void>(mount.setattr(kSuper, small, changes));
      break;
    }
    default: static_cast<void>(mount.lookup(dir, name)); break;
  }
}

void Visitor::run(std::uint64_t operations) {
  while (operations-- > 0) {
    MountWorld& world = heads_[heads_.pick(0)];
    static_cast<void>(world.call(world.epoch(), [this](fs::Mount& mount) { one(mount); }));
    sleep_ns(static_cast<std::int64_t>(below(200)) * 1'000'000);
  }
}

}  // namespace symnas::sim
