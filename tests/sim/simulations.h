// The simulations, each one run of one seed.
#pragma once

#include <cstdint>

namespace symnas::sim {

// The kv session alone: every fault of etcd, several mounts, ends in the middle.
void run_session(std::uint64_t seed);

// The end of a mount, restart in place, reuse of space.
void run_mount(std::uint64_t seed);

// Data commit: halves of blocks, edges, COMMIT and verifier, power loss.
void run_data(std::uint64_t seed);

// Several mounts at the same time: tokens, barriers, membership, space reuse, orphans.
void run_heads(std::uint64_t seed);

// What clients hold over moves of VNFSs: locks of NLM and NFSv4, repeated operations.
void run_moves(std::uint64_t seed);

// A VNFS on two heads: lifecycle, claims, fences, moves.
void run_service(std::uint64_t seed);

// Damages that are planted and repaired while mounts work.
void run_repair(std::uint64_t seed);

// Makes what the runs of a program share. To be called before the first of them. kLarge: as
// `repair` needs it; else as the others do.
enum class DiskSize { kUsual, kLarge };
void prepare_disks(DiskSize size);

}  // namespace symnas::sim
