// The calls of Nfs3Client that make, remove and list names, and those about a whole filesystem.
#include "tests/client/nfs3_client.h"
#include "tests/client/nfs3_wire.h"

namespace symnas::nfs3 {
namespace {

// CREATE, MKDIR, SYMLINK and MKNOD have the same form of answer.
template <class Resok>
void take_object(ObjectReply& reply, int status, const Resok& ok) {
  reply.status = status;
  if (status != NFS3_OK) return;
  reply.handle = handle_of(ok.obj);
  reply.attributes = attributes_of(ok.obj_attributes);
}

template <class Entry>
DirectoryEntry common_entry(const Entry& e) {
  return {e.fileid, e.name, e.cookie, std::nullopt, {}};
}

}  // namespace

ObjectReply Nfs3Client::create(const Handle& directory, const std::string& name, createmode3 mode,
                               const NewAttributes& attributes, std::uint64_t verifier) {
  ObjectReply reply;
  CREATE3args args{where(directory, name), {}};
  args.how.mode = mode;
  if (mode == EXCLUSIVE) {
    std::memcpy(args.how.createhow3_u.verf, &verifier, sizeof verifier);
  } else {
    args.how.createhow3_u.obj_attributes = to_sattr(attributes);
  }
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_create_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<CREATE3res*>(data);
         wcc_ = wcc_of(r->status == NFS3_OK ? r->CREATE3res_u.resok.dir_wcc
                                            : r->CREATE3res_u.resfail.dir_wcc);
         take_object(reply, r->status, r->CREATE3res_u.resok);
       });
  return reply;
}

ObjectReply Nfs3Client::mkdir(const Handle& directory, const std::string& name,
                              const NewAttributes& attributes) {
  ObjectReply reply;
  MKDIR3args args{where(directory, name), to_sattr(attributes)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_mkdir_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<MKDIR3res*>(data);
         take_object(reply, r->status, r->MKDIR3res_u.resok);
       });
  return reply;
}

ObjectReply Nfs3Client::symlink(const Handle& directory, const std::string& name,
                                const std::string& target, const NewAttributes& attributes) {
  ObjectReply reply;
  SYMLINK3args args{where(directory, name),
                    {to_sattr(attributes), const_cast<char*>(target.c_str())}};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_symlink_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<SYMLINK3res*>(data);
         take_object(reply, r->status, r->SYMLINK3res_u.resok);
       });
  return reply;
}

ObjectReply Nfs3Client::mknod(const Handle& directory, const std::string& name, ftype3 type,
                              const NewAttributes& attributes, specdata3 device) {
  ObjectReply reply;
  MKNOD3args args{where(directory, name), {}};
  args.what.type = type;
  if (type == NF3CHR || type == NF3BLK) {
    args.what.mknoddata3_u.chr_device = {to_sattr(attributes), device};
  } else {
    args.what.mknoddata3_u.pipe_attributes = to_sattr(attributes);
  }
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_mknod_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<MKNOD3res*>(data);
         take_object(reply, r->status, r->MKNOD3res_u.resok);
       });
  return reply;
}

int Nfs3Client::remove(const Handle& directory, const std::string& name) {
  int status = kNoReply;
  REMOVE3args args{where(directory, name)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_remove_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<REMOVE3res*>(data);
         status = r->status;
         wcc_ = wcc_of(status == NFS3_OK ? r->REMOVE3res_u.resok.dir_wcc
                                         : r->REMOVE3res_u.resfail.dir_wcc);
       });
  return status;
}

int Nfs3Client::rmdir(const Handle& directory, const std::string& name) {
  int status = kNoReply;
  RMDIR3args args{where(directory, name)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_rmdir_async(rpc, cb, &args, p); },
       [&](void* data) { status = static_cast<RMDIR3res*>(data)->status; });
  return status;
}

int Nfs3Client::rename(const Handle& from_directory, const std::string& from_name,
                       const Handle& to_directory, const std::string& to_name) {
  int status = kNoReply;
  RENAME3args args{where(from_directory, from_name), where(to_directory, to_name)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_rename_async(rpc, cb, &args, p); },
       [&](void* data) { status = static_cast<RENAME3res*>(data)->status; });
  return status;
}

int Nfs3Client::link(const Handle& file, const Handle& directory, const std::string& name) {
  int status = kNoReply;
  LINK3args args{fh(file), where(directory, name)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_link_async(rpc, cb, &args, p); },
       [&](void* data) { status = static_cast<LINK3res*>(data)->status; });
  return status;
}

DirectoryPage Nfs3Client::readdir(const Handle& directory, std::uint64_t cookie,
                                  std::uint64_t verifier, std::uint32_t count) {
  DirectoryPage page;
  READDIR3args args{fh(directory), cookie, {}, count};
  std::memcpy(args.cookieverf, &verifier, sizeof verifier);
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_readdir_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<READDIR3res*>(data);
         page.status = r->status;
         if (r->status != NFS3_OK) return;
         const READDIR3resok& ok = r->READDIR3res_u.resok;
         for (const entry3* e = ok.reply.entries; e != nullptr; e = e->nextentry) {
           page.entries.push_back(common_entry(*e));
         }
         page.eof = ok.reply.eof != 0;
         page.verifier = load_u64(ok.cookieverf);
       });
  return page;
}

DirectoryPage Nfs3Client::readdirplus(const Handle& directory, std::uint64_t cookie,
                                      std::uint64_t verifier, std::uint32_t dircount,
                                      std::uint32_t maxcount) {
  DirectoryPage page;
  READDIRPLUS3args args{fh(directory), cookie, {}, dircount, maxcount};
  std::memcpy(args.cookieverf, &verifier, sizeof verifier);
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_readdirplus_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<READDIRPLUS3res*>(data);
         page.status = r->status;
         if (r->status != NFS3_OK) return;
         const READDIRPLUS3resok& ok = r->READDIRPLUS3res_u.resok;
         for (const entryplus3* e = ok.reply.entries; e != nullptr; e = e->nextentry) {
           page.entries.push_back(common_entry(*e));
           page.entries.back().attributes = attributes_of(e->name_attributes);
           page.entries.back().handle = handle_of(e->name_handle);
         }
         page.eof = ok.reply.eof != 0;
         page.verifier = load_u64(ok.cookieverf);
       });
  return page;
}

SpaceReply Nfs3Client::fsstat(const Handle& root) {
  SpaceReply reply;
  FSSTAT3args args{fh(root)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_fsstat_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<FSSTAT3res*>(data);
         reply.status = r->status;
         if (r->status == NFS3_OK) reply.space = r->FSSTAT3res_u.resok;
       });
  return reply;
}

LimitsReply Nfs3Client::fsinfo(const Handle& root) {
  LimitsReply reply;
  FSINFO3args args{fh(root)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_fsinfo_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<FSINFO3res*>(data);
         reply.status = r->status;
         if (r->status == NFS3_OK) reply.limits = r->FSINFO3res_u.resok;
       });
  return reply;
}

NamesReply Nfs3Client::pathconf(const Handle& object) {
  NamesReply reply;
  PATHCONF3args args{fh(object)};
  call([&](auto* rpc, auto cb, void* p) { return rpc_nfs3_pathconf_async(rpc, cb, &args, p); },
       [&](void* data) {
         const auto* r = static_cast<PATHCONF3res*>(data);
         reply.status = r->status;
         if (r->status == NFS3_OK) reply.names = r->PATHCONF3res_u.resok;
       });
  return reply;
}

std::string status_name(int status) {
  switch (status) {
    case kNoReply: return "no reply";
    case NFS3_OK: return "NFS3_OK";
    case NFS3ERR_PERM: return "NFS3ERR_PERM";
    case NFS3ERR_NOENT: return "NFS3ERR_NOENT";
    case NFS3ERR_IO: return "NFS3ERR_IO";
    case NFS3ERR_ACCES: return "NFS3ERR_ACCES";
    case NFS3ERR_EXIST: return "NFS3ERR_EXIST";
    case NFS3ERR_XDEV: return "NFS3ERR_XDEV";
    case NFS3ERR_NOTDIR: return "NFS3ERR_NOTDIR";
    case NFS3ERR_ISDIR: return "NFS3ERR_ISDIR";
    case NFS3ERR_INVAL: return "NFS3ERR_INVAL";
    case NFS3ERR_FBIG: return "NFS3ERR_FBIG";
    case NFS3ERR_NOSPC: return "NFS3ERR_NOSPC";
    case NFS3ERR_ROFS: return "NFS3ERR_ROFS";
    case NFS3ERR_MLINK: return "NFS3ERR_MLINK";
    case NFS3ERR_NAMETOOLONG: return "NFS3ERR_NAMETOOLONG";
    case NFS3ERR_NOTEMPTY: return "NFS3ERR_NOTEMPTY";
    case NFS3ERR_STALE: return "NFS3ERR_STALE";
    case NFS3ERR_BADHANDLE: return "NFS3ERR_BADHANDLE";
    case NFS3ERR_NOT_SYNC: return "NFS3ERR_NOT_SYNC";
    case NFS3ERR_BAD_COOKIE: return "NFS3ERR_BAD_COOKIE";
    case NFS3ERR_NOTSUPP: return "NFS3ERR_NOTSUPP";
    case NFS3ERR_TOOSMALL: return "NFS3ERR_TOOSMALL";
    case NFS3ERR_SERVERFAULT: return "NFS3ERR_SERVERFAULT";
    case NFS3ERR_BADTYPE: return "NFS3ERR_BADTYPE";
    case NFS3ERR_JUKEBOX: return "NFS3ERR_JUKEBOX";
    default: return "nfsstat3 " + std::to_string(status);
  }
}

}  // namespace symnas::nfs3
