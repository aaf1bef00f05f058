// The operations of ModelRun on the bytes of a file: WRITE, COMMIT, READ, and SETATTR of the size.
#include <algorithm>

#include "tests/client/model/model_run.h"

namespace symnas::model {

void ModelRun::op_truncate() {
  Node& file = any_file();
  nfs3::NewAttributes attributes;
  attributes.size = one_in(3) ? 0 : any_offset(file);
  note("SETATTR size " + std::to_string(*attributes.size) + " of " + std::to_string(file.fileid));
  busy_ = {&file};
  const nfs3::AttributesReply got = client().setattr(file.handle, attributes);
  if (!check_status(got.status, {NFS3_OK})) return;
  file.bytes.resize(*attributes.size);
  file.uncommitted.resize(*attributes.size);
  file.mtime.reset();
  check_attributes(file, got.attributes);
}

void ModelRun::op_read() {
  Node& file = any_file();
  const std::uint64_t offset = any_offset(file);
  verify_bytes(file, offset, any_length());
}

void ModelRun::op_write() {
  Node& file = any_file();
  const std::uint64_t offset = any_offset(file);
  const std::string data = any_bytes(any_length());
  const stable_how stable = static_cast<stable_how>(below(3));
  note("WRITE " + std::to_string(offset) + "+" + std::to_string(data.size()) + " of " +
       std::to_string(file.fileid) + " stable_how " + std::to_string(stable));
  busy_ = {&file};
  writing_ = {&file, offset, data};
  const nfs3::WriteReply got = client().write(file.handle, offset, data, stable);
  writing_.reset();
  if (!check_status(got.status, {NFS3_OK})) return;
  check(got.count == data.size(), "WRITE took " + std::to_string(got.count) + " bytes");
  check(got.committed >= stable, "WRITE is less stable than was asked");
  check(!verifier_known_ || clients_.size() > 1 || got.verifier == write_verifier_,
        "the write verifier changed");
  write_verifier_ = got.verifier;
  verifier_known_ = true;
  if (rides_outages_ && got.committed == UNSTABLE) {
    file.uncommitted.unstable_write(file.bytes, offset, data, got.verifier);
  } else if (rides_outages_) {
    file.uncommitted.stable_write(offset, data);
    recent_writes_.push_back({&file, offset, data.size()});
  }
  file.bytes.write(offset, data);
  file.mtime.reset();
  check_attributes(file, got.attributes);
}

void ModelRun::op_commit() {
  Node& file = any_file();
  note("COMMIT of " + std::to_string(file.fileid));
  const nfs3::WriteReply got = client().commit(file.handle, 0, 0);
  if (!check_status(got.status, {NFS3_OK})) return;
  check(!verifier_known_ || clients_.size() > 1 || got.verifier == write_verifier_,
        "COMMIT shows another write verifier");
  if (!file.uncommitted.empty()) {
    check(got.verifier == file.uncommitted.verifier(), "COMMIT shows another write verifier");
    for (const auto& [offset, length] : file.uncommitted.ranges())
      recent_writes_.push_back({&file, offset, length});
    file.uncommitted.committed();
  }
  check_attributes(file, got.attributes);
}

void ModelRun::verify_bytes(Node& file, std::uint64_t offset, std::uint32_t count) {
  note("READ of file " + std::to_string(file.fileid) + " " + std::to_string(offset) + "+" +
       std::to_string(count));
  check_read(file, offset, count, client().read(file.handle, offset, count));
}

void ModelRun::check_read(Node& file, std::uint64_t offset, std::uint32_t count,
                          const nfs3::ReadReply& got) {
  if (!check_status(got.status, {NFS3_OK})) return;
  file.atime.reset();
  const std::string should = file.bytes.read(offset, count);
  check(got.data.size() == should.size(), "READ gave " + std::to_string(got.data.size()) +
                                              " bytes, should be " + std::to_string(should.size()));
  const auto at = std::mismatch(got.data.begin(), got.data.end(), should.begin());
  check(at.first == got.data.end(),
        "READ differs at offset " +
            std::to_string(offset + static_cast<std::uint64_t>(at.first - got.data.begin())));
  check(got.eof == (offset + got.data.size() >= file.bytes.size()),
        std::string("READ says eof ") + (got.eof ? "true" : "false"));
  check_attributes(file, got.attributes);
}

}  // namespace symnas::model
