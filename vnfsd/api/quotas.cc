#include "vnfsd/api/quotas.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// Far above what a volume can hold; sums of two stay in 64 bits.
constexpr std::uint64_t kLimitMax = std::uint64_t{1} << 62;
constexpr std::size_t kPathBytesMax = 4096;  // PATH_MAX of Linux

const char* name_of(fs::SubjectKind kind) {
  switch (kind) {
    case fs::SubjectKind::kFilesystem: return "filesystem";
    case fs::SubjectKind::kUser: return "user";
    case fs::SubjectKind::kGroup: return "group";
    case fs::SubjectKind::kTree: return "tree";
    case fs::SubjectKind::kEachUser: return "each_user";
    case fs::SubjectKind::kEachGroup: return "each_group";
  }
  return "";
}

std::optional<fs::SubjectKind> kind_of(const std::string& name) {
  for (const fs::SubjectKind kind :
       {fs::SubjectKind::kFilesystem, fs::SubjectKind::kUser, fs::SubjectKind::kGroup,
        fs::SubjectKind::kTree, fs::SubjectKind::kEachUser, fs::SubjectKind::kEachGroup}) {
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

const char* name_of(fs::records::QuotaMode::State state) {
  switch (state) {
    case fs::records::QuotaMode::ARMING:
    case fs::records::QuotaMode::COUNTING: return "counting";
    case fs::records::QuotaMode::ON: return "on";
    default: return "off";
  }
}

Error refused(const std::string& why) {
  return Error{ErrorCode::kInvalidArgument, "quota: " + why};
}

Status read_limit(const json& body, const char* key, std::optional<std::uint64_t>& into) {
  const auto it = body.find(key);
  if (it == body.end()) return {};
  if (!it->is_number_unsigned() || it->get<std::uint64_t>() > kLimitMax)
    return tl::unexpected<Error>(refused(fmt::format("'{}' must be a whole number", key)));
  into = it->get<std::uint64_t>();
  return {};
}

Result<std::string> read_path(const json& value) {
  const auto* path = value.get_ptr<const json::string_t*>();
  if (path == nullptr) return tl::unexpected<Error>(refused("'path' must be text"));
  if (path->size() > kPathBytesMax)
    return tl::unexpected<Error>(
        refused(fmt::format("the path has more than {} bytes", kPathBytesMax)));
  if (path->empty() || path->front() != '/')
    return tl::unexpected<Error>(refused(
        "the path of a directory begins at the root of the filesystem: write it as /dir/below"));
  return *path;
}

Status check_keys(const json& body, std::initializer_list<std::string_view> known) {
  if (!body.is_object()) return tl::unexpected<Error>(refused("the request is not an object"));
  for (const auto& [key, value] : body.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return tl::unexpected<Error>(refused(fmt::format("'{}' is not known", key)));
  }
  return {};
}

bool has_number(fs::SubjectKind kind) {
  return kind == fs::SubjectKind::kUser || kind == fs::SubjectKind::kGroup ||
         kind == fs::SubjectKind::kTree;
}

// Of the request's kind.
Status read_subject(const json& body, QuotaRequest& into) {
  const bool whole = !has_number(into.subject.kind);
  const bool tree = into.subject.kind == fs::SubjectKind::kTree;
  std::optional<std::uint64_t> id;
  SYMNAS_TRY(read_limit(body, "id", id));
  const auto path = body.find("path");
  if (path != body.end()) {
    SYMNAS_ASSIGN(into.path, read_path(*path));
    if (!tree) return tl::unexpected<Error>(refused("only a tree has a 'path'"));
  }
  if (tree && id.has_value() == (path != body.end()))
    return tl::unexpected<Error>(refused("a tree has either a 'path' or an 'id'"));
  if ((!tree && id.has_value() == whole) || id.value_or(0) > UINT32_MAX)
    return tl::unexpected<Error>(refused(
        whole ? "this kind has no 'id'" : "'id' must be the number of a user, group or tree"));
  into.subject.id = static_cast<std::uint32_t>(id.value_or(0));
  return {};
}

json limits_document(const fs::records::QuotaLimit& limit) {
  return {{"bytes_hard", limit.bytes_hard()},       {"bytes_soft", limit.bytes_soft()},
          {"inodes_hard", limit.inodes_hard()},     {"inodes_soft", limit.inodes_soft()},
          {"bytes_grace_s", limit.bytes_grace_s()}, {"inodes_grace_s", limit.inodes_grace_s()}};
}

// Seconds that are left of a grace, 0 when it is over.
void add_left(json& row, const char* key, std::int64_t since_ns, std::uint64_t grace_s,
              std::int64_t now_ns) {
  if (since_ns == 0) return;
  const std::int64_t gone_s = std::max<std::int64_t>((now_ns - since_ns) / 1'000'000'000, 0);
  const auto grace = static_cast<std::int64_t>(std::min(grace_s, kLimitMax));
  row[key] = std::max<std::int64_t>(grace - gone_s, 0);
}

}  // namespace

Result<QuotaRequest> quota_request(const json& body, QuotaBody what) {
  if (what == QuotaBody::kSubject) {
    SYMNAS_TRY(check_keys(body, {"kind", "id", "path"}));
  } else {
    SYMNAS_TRY(check_keys(body, {"kind", "id", "path", "bytes_hard", "bytes_soft", "inodes_hard",
                                 "inodes_soft", "bytes_grace_s", "inodes_grace_s"}));
  }
  QuotaRequest out;
  SYMNAS_TRY(read_limit(body, "bytes_hard", out.edit.bytes_hard));
  SYMNAS_TRY(read_limit(body, "bytes_soft", out.edit.bytes_soft));
  SYMNAS_TRY(read_limit(body, "inodes_hard", out.edit.inodes_hard));
  SYMNAS_TRY(read_limit(body, "inodes_soft", out.edit.inodes_soft));
  SYMNAS_TRY(read_limit(body, "bytes_grace_s", out.edit.bytes_grace_s));
  SYMNAS_TRY(read_limit(body, "inodes_grace_s", out.edit.inodes_grace_s));
  const auto kind = body.find("kind");
  if (kind == body.end()) return tl::unexpected<Error>(refused("'kind' is missing"));
  if (!kind->is_string() || !kind_of(kind->get<std::string>()))
    return tl::unexpected<Error>(
        refused("'kind' must be filesystem, user, group, tree, each_user or each_group"));
  out.subject.kind = *kind_of(kind->get<std::string>());
  SYMNAS_TRY(read_subject(body, out));
  if (what == QuotaBody::kSubject) return out;
  if (body.size() <= (has_number(out.subject.kind) ? 2U : 1U))
    return tl::unexpected<Error>(refused("nothing is to be set: give a limit of bytes or inodes"));
  return out;
}

Result<std::string> quota_tree_path(const json& body) {
  SYMNAS_TRY(check_keys(body, {"path"}));
  const auto path = body.find("path");
  if (path == body.end()) return tl::unexpected<Error>(refused("'path' is missing"));
  return read_path(*path);
}

Result<QuotaRequest> quota_tree_request(const json& body) {
  SYMNAS_TRY(check_keys(body, {"path", "id"}));
  QuotaRequest out;
  out.subject.kind = fs::SubjectKind::kTree;
  SYMNAS_TRY(read_subject(body, out));
  return out;
}

Result<fs::QuotaSwitch> quota_switch(const json& body) {
  SYMNAS_TRY(check_keys(body, {"state"}));
  const auto state = body.find("state");
  if (state == body.end()) return tl::unexpected<Error>(refused("'state' is missing"));
  if (*state == "on") return fs::QuotaSwitch::kOn;
  if (*state == "off") return fs::QuotaSwitch::kOff;
  return tl::unexpected<Error>(refused("'state' must be on or off"));
}

json quotas_document(const std::string& filesystem, std::uint32_t block_bytes,
                     const fs::QuotaReport& report, std::int64_t now_ns) {
  json rows = json::array();
  for (const auto& [subject, row] : report.rows) {
    json one = {
        {"kind", name_of(subject.kind)},
        {"id", subject.id},
        {"used_bytes", std::max<std::int64_t>(row.used.blocks, 0) * std::int64_t{block_bytes}},
        {"used_inodes", std::max<std::int64_t>(row.used.inodes, 0)}};
    if (const auto tree = report.trees.find(subject.id);
        subject.kind == fs::SubjectKind::kTree && tree != report.trees.end()) {
      one["path"] = tree->second.path();
      one["marking"] = tree->second.state() != fs::records::QuotaTree::READY;
    }
    if (row.limit) {
      one["limit"] = limits_document(*row.limit);
      if (row.by_each) one["limit_of_each"] = true;
      add_left(one, "bytes_grace_left_s", row.grace.bytes_since_ns(), row.limit->bytes_grace_s(),
               now_ns);
      add_left(one, "inodes_grace_left_s", row.grace.inodes_since_ns(), row.limit->inodes_grace_s(),
               now_ns);
    }
    rows.push_back(std::move(one));
  }
  return {{"filesystem", filesystem},
          {"state", name_of(report.mode.state())},
          {"quotas", std::move(rows)}};
}

}  // namespace symnas::vnfsd::api
