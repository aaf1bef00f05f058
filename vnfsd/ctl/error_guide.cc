#include "vnfsd/ctl/error_guide.h"

#include <fmt/core.h>

#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/near.h"

namespace symnas::vnfsd::ctl {
namespace {

std::string codes_of(int status) {
  std::string out;
  for (const CodeGuide& one : code_guides()) {
    if (exit_code(one.code) != status) continue;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", to_string(one.code));
  }
  return out;
}

std::vector<std::string> known_words() {
  std::vector<std::string> words;
  for (const CodeGuide& one : code_guides()) words.emplace_back(to_string(one.code));
  return words;
}

}  // namespace

const std::vector<CodeGuide>& code_guides() {
  static const std::vector<CodeGuide> kGuides = {
      {ErrorCode::kInvalidArgument, "The request itself is wrong. The same again cannot help.",
       "Correct the option or value that the message names; --help has examples."},
      {ErrorCode::kNotFound, "The named object does not exist.",
       "Look for its name with the ls command of its kind, as the message says."},
      {ErrorCode::kAlreadyExists, "An object of that name exists already.",
       "Take another name, or change the object that is there."},
      {ErrorCode::kConflict, "Somebody else has changed the same thing meanwhile.",
       "Look at what is so now, and give the command again if it is still wanted."},
      {ErrorCode::kBusy, "The object is in use; the message says by whom.",
       "End that use first. Where the message names --yes, that takes it away from its users."},
      {ErrorCode::kNoSpace, "A volume, a LUN or etcd's quota is used up.",
       "symnas capacity says which. Grow the volume (symnas volume grow), delete files, or raise "
       "etcd.quota_bytes (docs/operations/etcd_quota.md)."},
      {ErrorCode::kQuotaExceeded,
       "A limit of what a user, a group or a filesystem may use is reached.",
       "symnas quota ls FILESYSTEM says which. Delete files, or raise it (symnas quota set)."},
      {ErrorCode::kOutOfRange, "A number is beyond the object or a limit of symnas.",
       "Take one within the range that the message gives (docs/limits.md)."},
      {ErrorCode::kTooLarge, "The request is larger than etcd takes at once.",
       "Divide it into several commands."},
      {ErrorCode::kUnavailable,
       "It was not done, and will not be by itself: what it needs is away now.",
       "symnas status says whether etcd, a head or a LUN is away. Give the command again when that "
       "is back."},
      {ErrorCode::kUnknownOutcome, "It may have been done or not: the answer was lost.",
       "Look at what is so now (ls, status, events) before giving the command again."},
      {ErrorCode::kCompacted, "What was asked for is no longer in etcd's history.",
       "Ask again without --after, or for what is newer."},
      {ErrorCode::kEnded, "The mount or owner record of an instance was ended by others.",
       "Nothing: the instance ends and another one serves. If it lasts: symnas vnfs why, and the "
       "instance's log."},
      {ErrorCode::kFenced, "A LUN refuses this head: the head was fenced.",
       "Boot the head; its next boot serves again (docs/operations/fencing.md)."},
      {ErrorCode::kIo, "A LUN, a device or a file could not be read or written.",
       "symnas status names LUNs in trouble; look at the path, the array and the kernel's log."},
      {ErrorCode::kCorrupt, "Bytes that were read cannot be what symnas has written.",
       "Change nothing. symnas fs check says what is wrong; make a symnas support-bundle."},
      {ErrorCode::kForeign, "A label, a record or this head belongs to another cluster.",
       "Check that it is the right device or head. symnas head invite lets a removed head in."},
      {ErrorCode::kPermission, "The caller, or this head, may not do this.",
       "Be root on a head, or have a role that may; a fenced head has to boot first."},
      {ErrorCode::kNotOwner, "Only the owner of the object may do this.",
       "Do it as its owner, or as root."},
      {ErrorCode::kStale, "The object behind a handle is gone.",
       "Look the object up again by its name."},
      {ErrorCode::kNotDirectory, "A part of the path is no directory.", "Correct the path."},
      {ErrorCode::kIsDirectory, "The path is a directory, where a file is wanted.",
       "Correct the path."},
      {ErrorCode::kNotEmpty, "It still holds something.", "Remove what it holds first."},
      {ErrorCode::kNameTooLong, "The name is longer than names may be.", "Take a shorter one."},
      {ErrorCode::kCrossDevice, "Source and target lie in different filesystems or exports.",
       "Copy it instead."},
      {ErrorCode::kTooManyLinks, "The file has as many names as a file may have.",
       "Remove one of its names, or copy the file."},
      {ErrorCode::kBadHandle, "A handle is not one of symnas.", "Mount the export again."},
      {ErrorCode::kBadCookie, "A listing cannot go on where it was.", "Begin the listing again."},
      {ErrorCode::kNotSupported,
       "This vnfsd, or this configuration, does not know or allow the request.",
       "Compare symnas --version with symnas head ls; a level may be needed (symnas cluster "
       "raise-level), or a means of fencing."},
      {ErrorCode::kShutdown, "vnfsd does not answer, or is ending.",
       "systemctl status vnfsd, and its log; be root; --socket or SYMNAS_SOCKET may name another "
       "socket."},
      {ErrorCode::kInternal, "A defect of symnas, or an answer that cannot be.",
       "Look at vnfsd's log, make a symnas support-bundle and report it."},
  };
  return kGuides;
}

const std::vector<ExitGuide>& exit_guides() {
  static const std::vector<ExitGuide> kGuides = {
      {0, "Done; with --dry-run: would be done.", "Nothing."},
      {kExitFailed, "Failed; a drill: worse than its budget.",
       "The message says why; symnas explain tells more of the error's code (-o json shows it)."},
      {kExitUsage, "Usage: a command, an option or a value is wrong, or consent is missing.",
       "Correct it; --help of the command has examples."},
      {kExitNotFound, "A named object does not exist.", "Look for its name with the ls command."},
      {kExitConflict, "Exists already, in use, or changed by somebody else meanwhile.",
       "Look at what is so now; the message says who uses it."},
      {kExitUnreachable, "vnfsd cannot be reached, or it cannot reach etcd, or it took too long.",
       "systemctl status vnfsd; symnas status. A script may try again later."},
      {kExitNoSpace, "No space left: LUN, volume or etcd's quota.", "symnas capacity says which."},
      {kExitNotPermitted, "Not permitted, or a device or head of another cluster.",
       "Be root on a head of the cluster, or have a role that may."},
      {kExitFindings, "A check has worked and has found something.",
       "Mend what it lists: fs check, head check, ha pacemaker check."},
  };
  return kGuides;
}

Result<std::string> explain_code(const std::string& word) {
  for (const CodeGuide& one : code_guides()) {
    if (to_string(one.code) != word) continue;
    return fmt::format("{} (exit code {})\n  meaning: {}\n  next: {}\n", word, exit_code(one.code),
                       one.meaning, one.next);
  }
  for (const ExitGuide& one : exit_guides()) {
    if (std::to_string(one.status) != word) continue;
    const std::string codes = codes_of(one.status);
    return fmt::format("exit code {}\n  meaning: {}\n  next: {}\n{}", word, one.meaning, one.next,
                       codes.empty() ? "" : fmt::format("  error codes: {}\n", codes));
  }
  const std::string meant = nearest(word, known_words());
  return fail(ErrorCode::kNotFound,
              fmt::format("explain {}: no such code{} (symnas explain lists all)", word,
                          meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

std::string guide_as_markdown() {
  std::string out = "| exit code | meaning | what to do next | error codes |\n|---|---|---|---|\n";
  for (const ExitGuide& one : exit_guides()) {
    const std::string codes = codes_of(one.status);
    out += fmt::format("| {} | {} | {} | {} |\n", one.status, one.meaning, one.next,
                       codes.empty() ? "-" : codes);
  }
  out += "\n| error code | exit code | meaning | what to do next |\n|---|---|---|---|\n";
  for (const CodeGuide& one : code_guides()) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", to_string(one.code), exit_code(one.code),
                       one.meaning, one.next);
  }
  return out;
}

}  // namespace symnas::vnfsd::ctl
