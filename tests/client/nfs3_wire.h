// Conversions between Nfs3Client's types and libnfs' XDR structures. Pure functions.
//
// The structures point into the arguments, which must outlive them.
#pragma once

#include <cstring>

#include "tests/client/nfs3_client.h"

namespace symnas::nfs3 {

inline nfs_fh3 fh(const Handle& handle) {
  nfs_fh3 f{};
  f.data.data_len = static_cast<u_int>(handle.size());
  f.data.data_val = const_cast<char*>(handle.data());
  return f;
}

inline Handle handle_of(const nfs_fh3& f) { return Handle(f.data.data_val, f.data.data_len); }

inline Handle handle_of(const post_op_fh3& f) {
  return f.handle_follows ? handle_of(f.post_op_fh3_u.handle) : Handle();
}

inline Attributes attributes_of(const post_op_attr& a) {
  if (!a.attributes_follow) return std::nullopt;
  return a.post_op_attr_u.attributes;
}

inline Wcc wcc_of(const wcc_data& w) {
  Wcc wcc;
  if (w.before.attributes_follow) wcc.before = w.before.pre_op_attr_u.attributes;
  wcc.after = attributes_of(w.after);
  return wcc;
}

inline diropargs3 where(const Handle& directory, const std::string& name) {
  return {fh(directory), const_cast<char*>(name.c_str())};
}

inline sattr3 to_sattr(const NewAttributes& n) {
  sattr3 s{};
  s.mode.set_it = n.mode.has_value();
  s.mode.set_mode3_u.mode = n.mode.value_or(0);
  s.uid.set_it = n.uid.has_value();
  s.uid.set_uid3_u.uid = n.uid.value_or(0);
  s.gid.set_it = n.gid.has_value();
  s.gid.set_gid3_u.gid = n.gid.value_or(0);
  s.size.set_it = n.size.has_value();
  s.size.set_size3_u.size = n.size.value_or(0);
  s.atime.set_it = n.atime_how;
  s.atime.set_atime_u.atime = n.atime;
  s.mtime.set_it = n.mtime_how;
  s.mtime.set_mtime_u.mtime = n.mtime;
  return s;
}

inline std::uint64_t load_u64(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace symnas::nfs3
