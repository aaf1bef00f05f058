#include "fsal_cluster/ops/create.h"

#include <utility>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/directory_change.h"
#include "fsal_cluster/ops/new_node.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/setattr.h"

namespace symnas::fs {
namespace {

Error exists(const Place& place) {
  return Error{ErrorCode::kAlreadyExists, place.name + ": exists already"};
}

// Whether CREATE may answer with the file that is there.
Status check_existing(const Credentials& who, const Place& place, const Node& file, CreateMode mode,
                      std::uint64_t verifier) {
  SYMNAS_TRY(check_access(who, place.record(), kMayExecute));
  switch (mode) {
    case CreateMode::kUnchecked:
      if (file.is_directory())
        return fail(ErrorCode::kIsDirectory, place.name + ": is a directory");
      break;
    case CreateMode::kGuarded: return tl::unexpected<Error>(exists(place));
    case CreateMode::kExclusive:
      if (!file.record.has_exclusive_verifier() || file.record.exclusive_verifier() != verifier)
        return tl::unexpected<Error>(exists(place));
      break;
  }
  return file.is_regular() ? Status() : Status(tl::unexpected<Error>(exists(place)));
}

Result<Created> use_existing(Context& context, const Credentials& who, const Place& place,
                             const Node& file, const SetAttributes& wanted) {
  Created out;
  out.existed = true;
  out.directory = no_change(context, place.directory);
  if (wanted.size_bytes) {
    SetAttributes size;
    size.size_bytes = wanted.size_bytes;
    SYMNAS_ASSIGN(out.attributes, setattr(context, who, handle_of(context, file), size));
  } else {
    SYMNAS_ASSIGN(out.attributes, current_attributes(context, file));
  }
  return out;
}

}  // namespace

Result<Created> create(Context& context, const Credentials& who, const Handle& directory,
                       const std::string& name, CreateMode mode, std::uint64_t verifier,
                       const NewNode& node) {
  std::optional<std::uint64_t> kept;
  if (mode == CreateMode::kExclusive) kept = verifier;
  const NewNodeRequest request{who, directory, name, FileType::kRegular, node, kept};
  return retry_in_directory(context, directory.ino,
                            [&](int attempt, const DirectoryTurn& turn) -> Result<Created> {
                              SYMNAS_ASSIGN(Place place, read_place(context, directory, name));
                              if (place.entry() != nullptr && !is_current(context, turn.stay)) {
                                // No transaction will confirm that the name is still there.
                                SYMNAS_TRY(context.session.barrier());
                                SYMNAS_ASSIGN(place, read_place(context, directory, name));
                              }
                              if (place.entry() == nullptr)
                                return try_add_node(context, request, place, attempt, turn);
                              SYMNAS_ASSIGN(const Node file, read_target(context, place));
                              SYMNAS_TRY(check_existing(who, place, file, mode, verifier));
                              SetAttributes wanted;
                              // An existing file takes no other attributes: they are for a new one
                              // (RFC 7530, 16.16.4).
                              const bool empties = node.attributes.size_bytes == 0;
                              if (mode == CreateMode::kUnchecked && empties) wanted.size_bytes = 0;
                              return use_existing(context, who, place, file, wanted);
                            });
}

}  // namespace symnas::fs
