#include "vnfsd/records/load.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace symnas::vnfsd {
namespace {

using fs::LoadCounters;
using fs::LoadOperations;

// What a client's row takes beside its message: tag and length.
constexpr std::size_t kFieldBytes = 4;

void add_client(records::LoadVnfs& vnfs, const std::string& client, std::uint16_t export_id,
                const LoadOperations& operations) {
  records::LoadClient row;
  row.set_client(client);
  row.set_export_id(export_id);
  for (const auto& [operation, counted] : operations) {
    if (counted.requests == 0) continue;
    records::LoadOperation& one = *row.add_operations();
    one.set_operation(fs::text_of(operation));
    one.set_requests(counted.requests);
    one.set_errors(counted.errors);
    one.set_read_bytes(counted.bytes_read);
    one.set_written_bytes(counted.bytes_written);
    one.set_time_us(counted.time_ns / 1000);
    one.set_worst_us(counted.worst_ns / 1000);
  }
  if (row.operations_size() != 0) *vnfs.add_clients() = std::move(row);
}

std::uint64_t busyness(const records::LoadClient& client) {
  std::uint64_t sum = 0;
  for (const records::LoadOperation& one : client.operations())
    sum += one.requests() + (one.read_bytes() + one.written_bytes()) / fs::kLoadBytesPerOperation;
  return sum;
}

void add_operation(records::LoadClient& to, const records::LoadOperation& more) {
  for (records::LoadOperation& one : *to.mutable_operations()) {
    if (one.operation() != more.operation()) continue;
    one.set_requests(one.requests() + more.requests());
    one.set_errors(one.errors() + more.errors());
    one.set_read_bytes(one.read_bytes() + more.read_bytes());
    one.set_written_bytes(one.written_bytes() + more.written_bytes());
    one.set_time_us(one.time_us() + more.time_us());
    one.set_worst_us(std::max(one.worst_us(), more.worst_us()));
    return;
  }
  *to.add_operations() = more;
}

void add_to_others(records::LoadVnfs& vnfs, const records::LoadClient& client) {
  for (records::LoadClient& one : *vnfs.mutable_clients()) {
    if (!one.client().empty() || one.export_id() != client.export_id()) continue;
    for (const records::LoadOperation& more : client.operations()) add_operation(one, more);
    return;
  }
  records::LoadClient& others = *vnfs.add_clients();
  others = client;
  others.clear_client();
}

}  // namespace

records::LoadVnfs load_between(const fs::LoadReport& before, const fs::LoadReport& now) {
  using Key = std::tuple<std::string, std::uint16_t, std::uint64_t>;
  std::map<Key, const LoadOperations*> old;
  for (const fs::LoadRow& row : before.rows)
    old[{row.client, row.export_id, row.serial}] = &row.operations;
  // What was known before, of clients that are among the others now.
  std::map<std::uint16_t, LoadOperations> known = before.others;
  records::LoadVnfs out;
  const auto since = [](const LoadOperations& all, const LoadOperations& than) {
    LoadOperations grown;
    for (const auto& [operation, counted] : all) {
      const auto at = than.find(operation);
      grown[operation] = at == than.end() ? counted : counted.since(at->second);
    }
    return grown;
  };
  for (const fs::LoadRow& row : now.rows) {
    const auto found = old.find({row.client, row.export_id, row.serial});
    add_client(out, row.client, row.export_id,
               found == old.end() ? row.operations : since(row.operations, *found->second));
    if (found != old.end()) old.erase(found);
  }
  for (const auto& [key, operations] : old) {
    for (const auto& [operation, counted] : *operations)
      known[std::get<1>(key)][operation].add(counted);
  }
  for (const auto& [export_id, operations] : now.others)
    add_client(out, "", export_id, since(operations, known[export_id]));
  return out;
}

void bound_load(records::LoadRecord& record, std::size_t bytes_max) {
  if (record.ByteSizeLong() <= bytes_max) return;
  struct Row {
    std::uint64_t busyness;
    records::LoadVnfs* vnfs;
    records::LoadClient client;
  };
  std::vector<Row> rows;
  for (records::LoadVnfs& vnfs : *record.mutable_vnfses()) {
    google::protobuf::RepeatedPtrField<records::LoadClient> clients;
    clients.Swap(vnfs.mutable_clients());
    for (records::LoadClient& client : clients) {
      if (client.client().empty()) {
        *vnfs.add_clients() = std::move(client);
      } else {
        rows.push_back({busyness(client), &vnfs, std::move(client)});
      }
    }
  }
  std::ranges::sort(rows, std::greater<>(), &Row::busyness);
  // What stays out makes the sums grow, by a row for each VNFS and export at most.
  std::set<std::pair<const records::LoadVnfs*, std::uint32_t>> sums;
  std::size_t sum_bytes = 0;
  for (const Row& row : rows) {
    if (sums.emplace(row.vnfs, row.client.export_id()).second)
      sum_bytes += 2 * row.client.ByteSizeLong();
  }
  std::size_t bytes = record.ByteSizeLong() + sum_bytes;
  for (Row& row : rows) {
    const std::size_t more = row.client.ByteSizeLong() + kFieldBytes;
    if (bytes + more <= bytes_max) {
      bytes += more;
      *row.vnfs->add_clients() = std::move(row.client);
    } else {
      bytes = bytes_max;  // a less busy one does not take the place of a busier one
      add_to_others(*row.vnfs, row.client);
    }
  }
}

}  // namespace symnas::vnfsd
