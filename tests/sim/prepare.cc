#include "tests/sim/prepare.h"

#include <string>
#include <utility>

#include "tests/sim/data_calls.h"

namespace symnas::sim {

std::vector<std::unique_ptr<Client>> prepare_clients(Heads& heads, Shared& shared,
                                                     const Workload& workload) {
  std::vector<std::unique_ptr<Client>> clients;
  shared.clients = static_cast<int>(2 + below(3));
  std::vector<fs::Handle> handles;
  MountWorld& world = heads.first();
  if (workload.register_weight > 0) shared.registers = std::make_unique<Registers>();
  world.call(world.epoch(), [&](fs::Mount& mount) {
    const fs::Credentials root;
    fs::NewNode node;
    node.attributes.mode = 0755;
    shared.directory = mount.mkdir(root, world.root(), "shared", node)->attributes.handle;
    for (const SharedTree::Node dir : {SharedTree::kFirst, SharedTree::kSecond}) {
      const std::string name = "names" + std::to_string(dir);
      shared.names.directories[dir] =
          mount.mkdir(root, shared.directory, name, node)->attributes.handle;
    }
    for (int i = 0; i < 2; ++i) {
      handles.push_back(mount
                            .create(root, shared.directory, "f" + std::to_string(i),
                                    fs::CreateMode::kGuarded, 0, node)
                            ->attributes.handle);
    }
    if (shared.registers == nullptr) return;
    shared.registers->handle =
        mount.create(root, shared.directory, "registers", fs::CreateMode::kGuarded, 0, node)
            ->attributes.handle;
    const std::string zeros(Registers::kSectors * Registers::kSectorBytes, '\0');
    for (bool written = false; !written;) {  // the LUN may return errors
      Waiting<fs::WriteResult> waiting;
      mount.write(shared.registers->handle, FileOffset{0}, std::as_bytes(std::span(zeros)),
                  fs::WriteStability::kFileSync, waiting.callback());
      written = waiting.get().has_value();
    }
  });
  for (const fs::Handle& handle : handles) {
    SharedFile file;
    file.handle = handle;
    file.model = std::make_unique<FileModel>(shared.next_file++, 0);
    constexpr std::uint64_t kPieces[] = {1, 4, 8, 24, 64, 128};
    file.piece_cells = kPieces[below(6)];
    file.cells_max = 512;
    shared.files.push_back(std::move(file));
  }
  for (int i = 0; i < shared.clients; ++i) {
    clients.push_back(std::make_unique<Client>(heads, shared, i, workload));
    clients.back()->prepare();
  }
  return clients;
}

}  // namespace symnas::sim
