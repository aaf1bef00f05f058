// symnas fs check, fs dump, capacity: what looks into filesystems and changes nothing.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/commands_repair.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/progress_bar.h"
#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

// Many millions of records take minutes; a vnfsd that goes away is noticed at once all the same.
constexpr int kLongWaitS = 3600;

std::string number(const json& row, const char* key) {
  return std::to_string(row.value(key, std::uint64_t{0}));
}
std::string bytes(const json& row, const char* key) {
  return approximate_byte_size(row.value(key, std::uint64_t{0}));
}

// It becomes part of a request's path; vnfsd applies the rules of names.
Status check_in_path(const std::string& name) {
  if (!name.empty() && name.find_first_of("/?#% ") == std::string::npos) return {};
  return fail(ErrorCode::kInvalidArgument, "'" + name + "': not a name");
}

// --- fs check

void print_check(std::ostream& out, const json& report) {
  const json findings = report.value("findings", json::array());
  for (const json& finding : findings) out << finding.value("text", "") << "\n";
  const std::uint64_t total = report.value("findings_total", std::uint64_t{0});
  if (total > findings.size()) out << "... and " << total - findings.size() << " more\n";
  out << fmt::format(
      "fs {}: {} {}; {} files, {} directories, {} others, {} extents, {} of {} used, "
      "revision {}, {:.1f} s\n",
      report.value("filesystem", ""), total, total == 1 ? "finding" : "findings",
      number(report, "files"), number(report, "directories"), number(report, "others"),
      number(report, "extents"), bytes(report, "bytes_used"), bytes(report, "bytes_total"),
      number(report, "revision"),
      static_cast<double>(report.value("took_ms", std::int64_t{0})) / 1000.0);
}

Status check(Context& context, const std::string& name) {
  context.client.wait_at_most(kLongWaitS);
  SYMNAS_ASSIGN(const json report,
                request_long(context, "/v1/filesystems/" + name + "/check", json::object()));
  if (context.output == Output::kJson) {
    context.out << report.dump(2) << "\n";
  } else {
    print_check(context.out, report);
  }
  if (report.value("findings_total", std::uint64_t{0}) > 0) context.exit_code = kExitFindings;
  return {};
}

// --- fs dump

void print_inode(std::ostream& out, const json& inode) {
  out << fmt::format("inode {}  {}  mode {:04o}  owner {}:{}  nlink {}  generation {}\n",
                     number(inode, "ino"), inode.value("type", ""), inode.value("mode", 0U),
                     number(inode, "uid"), number(inode, "gid"), number(inode, "nlink"),
                     number(inode, "generation"));
  out << fmt::format("size {}  used {}", number(inode, "size_bytes"), number(inode, "used_bytes"));
  if (inode.contains("parent")) out << "  parent " << number(inode, "parent");
  if (inode.contains("symlink_target"))
    out << "  target " << inode["symlink_target"].get<std::string>();
  out << "\n";
  for (const char* key : {"atime", "mtime", "ctime"})
    out << key << " " << local_time(inode.value(std::string(key) + "_ns", std::int64_t{0})) << "  ";
  out << "revision " << number(inode, "revision") << "\n";
}

void print_extents(std::ostream& out, const json& inode) {
  if (!inode.contains("extents")) return;
  out << fmt::format("map generation {}, in {}\n", number(inode, "map_generation"),
                     inode.value("map_in", "") == "chunks" ? "map chunks" : "the inode record");
  json pieces = json::array();
  for (const json& extent : inode["extents"]) {
    bool first = true;
    for (json piece : extent.value("pieces", json::array())) {
      if (std::exchange(first, false))
        piece["written"] = fmt::format("{} of {} blocks", number(extent, "written_blocks"),
                                       number(extent, "blocks"));
      pieces.push_back(std::move(piece));
    }
  }
  if (pieces.empty()) return;
  out << render_table(
      {plain("FILE BYTE", "file_byte"), plain("BYTES", "bytes"),
       plain("VOLUME BYTE", "volume_byte"), plain("LUN", "lun"), plain("LUN BYTE", "lun_byte"),
       plain("DEVICE", "lun_path"), plain("WRITTEN", "written")},
      pieces);
  if (inode.value("more_extents", false)) out << "... and more\n";
}

struct DumpOptions {
  std::string name, path;
  std::uint64_t ino = 0;
};

Status dump(Context& context, const DumpOptions& o) {
  SYMNAS_TRY(check_in_path(o.name));
  json body = json::object();
  if (!o.path.empty()) body["path"] = o.path;
  if (o.ino != 0) body["ino"] = o.ino;
  SYMNAS_ASSIGN(const json inode,
                context.client.request("POST", "/v1/filesystems/" + o.name + "/dump", body));
  if (context.output == Output::kJson) {
    context.out << inode.dump(2) << "\n";
    return {};
  }
  print_inode(context.out, inode);
  print_extents(context.out, inode);
  return {};
}

// --- capacity

void print_capacity(std::ostream& out, const json& capacity) {
  out << render_table(
      {plain("FS", "name"), plain("FILES", "files"), plain("DIRECTORIES", "directories"),
       size("SIZE", "bytes_total"), size("USED", "bytes_used"), size("FREE", "bytes_free"),
       size("ETCD", "etcd_bytes"), plain("ETCD/FILE", "etcd_bytes_per_file"),
       plain("FILES FIT", "files_fit")},
      capacity.value("filesystems", json::array()));
  const json etcd = capacity.value("etcd", json::object());
  out << fmt::format("\netcd: {} of {} used ({:.1f} %), {} of that in use{}\n",
                     bytes(etcd, "db_size_bytes"), bytes(etcd, "quota_bytes"),
                     etcd.value("share_used", 0.0) * 100, bytes(etcd, "db_in_use_bytes"),
                     etcd.value("no_space", false) ? ", FULL: only deletes work" : "");
  out << "\n"
      << render_table(
             {plain("INSTANCE", "vnfs"), plain("PID", "pid"), size("MEMORY", "resident_bytes"),
              plain("INODES", "cached_inodes"), plain("BYTES/INODE", "bytes_per_cached_inode")},
             capacity.value("instances", json::array()));
}

Status show_capacity(Context& context) {
  context.client.wait_at_most(kLongWaitS);
  SYMNAS_ASSIGN(const json capacity, context.client.request("GET", "/v1/capacity", {}));
  if (context.output == Output::kJson) {
    context.out << capacity.dump(2) << "\n";
  } else {
    print_capacity(context.out, capacity);
  }
  return {};
}

}  // namespace

void add_inspection(CommandLine& line, CLI::App* filesystem) {
  auto checked = std::make_shared<RepairOptions>();
  CLI::App* verb = filesystem->add_subcommand(
      "check", "Is everything consistent? Clients go on; ends with 8 when something is found");
  verb->add_option("NAME", checked->name, "Name of the filesystem")->required();
  CLI::Option* repair =
      verb->add_flag("--repair", checked->repair, "Say what can be repaired, ask, and do it");
  verb->add_flag("--yes", checked->yes, "Do not ask")->needs(repair);
  verb->add_flag("--dry-run", checked->dry_run, "Only say what would be done")->needs(repair);
  verb->callback([&line, checked] {
    line.action = [checked](Context& context) -> Status {
      SYMNAS_TRY(check_in_path(checked->name));
      return checked->repair ? repair_filesystem(context, *checked) : check(context, checked->name);
    };
  });

  auto name = std::make_shared<std::string>();
  verb = filesystem->add_subcommand("repairs", "What fs check --repair has repaired");
  verb->add_option("NAME", *name, "Name of the filesystem")->required();
  verb->callback([&line, name] {
    line.action = [name](Context& context) -> Status {
      SYMNAS_TRY(check_in_path(*name));
      return show_repairs(context, *name);
    };
  });

  auto o = std::make_shared<DumpOptions>();
  verb = filesystem->add_subcommand("dump", "One inode, and where its bytes lie on the LUNs");
  verb->add_option("NAME", o->name, "Name of the filesystem")->required();
  CLI::Option* path = verb->add_option("PATH", o->path, "Path from the filesystem's root");
  verb->add_option("--ino", o->ino, "Inode number, instead of a path")
      ->check(CLI::PositiveNumber)
      ->excludes(path);
  verb->callback([&line, o] { line.action = [o](Context& context) { return dump(context, *o); }; });
}

void add_capacity(CommandLine& line) {
  line.app.add_subcommand("capacity", "What there is, what it takes, and what still fits")
      ->callback([&line] { line.action = show_capacity; });
}

}  // namespace symnas::vnfsd::ctl
