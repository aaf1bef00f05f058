#include "vnfsd/daemon/scrub/file_paths.h"

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/check/view.h"
#include "fsal_cluster/types/types.h"

namespace symnas::vnfsd::daemon {
namespace {

struct Name {
  std::uint64_t directory = 0;
  std::string name;
};

std::string path_of(const std::map<std::uint64_t, Name>& names, std::uint64_t ino) {
  std::string path;
  for (int depth = 0; Ino{ino} != fs::kRootIno; ++depth) {
    const auto name = names.find(ino);
    if (name == names.end() || depth >= fs::check::kPathDepthMax) return "";
    path = "/" + fs::check::printable(name->second.name) + path;
    ino = name->second.directory;
  }
  return path.empty() ? "/" : path;
}

}  // namespace

Result<std::map<std::uint64_t, std::string>> find_paths(kv::Store& store,
                                                        const std::string& filesystem,
                                                        const std::set<std::uint64_t>& inos) {
  SYMNAS_ASSIGN(fs::check::View view, fs::check::View::open(store, filesystem));
  const std::string table = kv::keys::table(view.context().fs(), 'w', 'D');
  std::map<std::uint64_t, Name> names;
  SYMNAS_TRY(view.read(kv::prefix_range(table), [&](const kv::KeyValue& kv) {
    fs::records::DirentBucket bucket;
    if (kv.key.size() != table.size() + 16 || !bucket.ParseFromString(kv.value)) return;
    for (const fs::records::Dirent& entry : bucket.entries()) {
      const bool directory = entry.type() == static_cast<std::uint32_t>(fs::FileType::kDirectory);
      if (directory || inos.contains(entry.ino()))
        names[entry.ino()] = {read_be64(kv.key, table.size()), entry.name()};
    }
  }));
  std::map<std::uint64_t, std::string> out;
  for (const std::uint64_t ino : inos)
    if (std::string path = path_of(names, ino); !path.empty()) out[ino] = std::move(path);
  return out;
}

}  // namespace symnas::vnfsd::daemon
