#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::fs::test {

namespace {

namespace keys = kv::keys;

records::ReverseMap reverse_record(Ino ino, std::uint64_t file_block, std::uint32_t blocks) {
  records::ReverseMap record;
  record.set_ino(ino.value());
  record.set_file_block(file_block);
  record.set_blocks(blocks);
  return record;
}

}  // namespace

std::vector<Damage> map_damages() {
  return {
      {"MissingReverseMapEntry", [](Keys& k) { k.erase(k.reverse(k.block_of(kSmall))); },
       "reverse_map inode 19: file block 0 lies at volume block "},
      {"ReverseMapDisagrees",
       [](Keys& k) {
         k.edit<records::ReverseMap>(k.reverse(k.block_of(kSmall)),
                                     [](records::ReverseMap& r) { r.set_file_block(7); });
       },
       "reverse_map inode 19: its map has 3 blocks at volume block "},
      {"LostSpaceOfALivingFile",
       [](Keys& k) { k.put(k.reverse(kFreeBlock), reverse_record(kSmall, 9, 4)); },
       "lost_space inode 19: volume blocks 15367 to 15370 are marked as its file block 9 (map "
       "generation 0), its map does not have them"},
      {"LostSpaceOfAMissingFile",
       [](Keys& k) { k.put(k.reverse(kFreeBlock), reverse_record(kNobody, 0, 1)); },
       "lost_space inode 9999: volume blocks 15367 to 15367 are marked as its file block 0 (map "
       "generation 0), but it does not exist"},
      {"TwoOwnersOfABlock",
       [](Keys& k) {
         const auto extent = k.record<records::Inode>(keys::inode(k.fs, kSmall)).extents(0);
         k.edit_inode(kEmpty, [&](records::Inode& inode) {
           *inode.add_extents() = extent;
           inode.set_size_bytes(10'000);
           inode.set_used_blocks(extent.blocks());
         });
       },
       "two_owners inode 22: volume blocks "},
      {"ReverseMapOverlaps",
       [](Keys& k) { k.put(k.reverse(k.block_of(kSmall) + 1), reverse_record(kSmall, 1, 1)); },
       "two_owners inode 19: the reverse-map entry of volume block "},
      {"ReverseMapInAnotherGroup",
       [](Keys& k) { k.put(keys::reverse_map(k.fs, 3, kFreeBlock), reverse_record(kSmall, 9, 4)); },
       "reverse_map inode 19: reverse-map entry of 4 blocks at volume block 15367: not in its "
       "allocation group 3"},
      {"ReverseMapBeyondTheVolume",
       [](Keys& k) { k.put(k.reverse(1 << 24), reverse_record(kSmall, 9, 4)); },
       "size inode 19: reverse-map entry of 4 blocks at volume block 16777216: outside the volume"},
      {"ExtentBeyondTheVolume",
       [](Keys& k) {
         k.edit_inode(kSmall, [](records::Inode& inode) {
           inode.mutable_extents(0)->set_volume_block(1 << 24);
         });
       },
       "size inode 19: extent of 3 blocks at file block 0, volume block 16777216: outside the "
       "volume"},
      {"ExtentOverTwoGroups",
       [](Keys& k) {
         k.edit_inode(kSmall, [](records::Inode& inode) {
           inode.mutable_extents(0)->set_volume_block(2 * CheckWorld::kGroupBlocks - 1);
         });
       },
       "map inode 19: extent of 3 blocks at file block 0, volume block 2047: crosses the end of an "
       "allocation group"},
      {"ExtentsOverlapInTheFile",
       [](Keys& k) {
         k.edit_inode(kSmall, [](records::Inode& inode) {
           *inode.add_extents() = inode.extents(0);
           inode.mutable_extents(1)->set_volume_block(kFreeBlock - 8);  // not of another damage
         });
       },
       "map inode 19: extent of 3 blocks at file block 0, volume block 15359: overlaps the extent "
       "before it in the file"},
      {"BitmapOfExtent",
       [](Keys& k) {
         k.edit_inode(kSmall,
                      [](records::Inode& inode) { inode.mutable_extents(0)->set_written("\xff"); });
       },
       "map inode 19: extent of 3 blocks at file block 0, volume block "},
      {"MapBehindTheEnd",
       [](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_size_bytes(100); }); },
       "size inode 19: 100 bytes long, but blocks 0 to 2 of the file are mapped"},
      {"CountOfBlocks",
       [](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_used_blocks(9); }); },
       "map inode 19: its record counts 6 blocks more than its map has"},
      {"MapOfADirectory",
       [](Keys& k) { k.edit_inode(kDirB, [](records::Inode& i) { i.set_used_blocks(9); }); },
       "map inode 17: has a map, but is no regular file"},
      {"MapGenerationOfTheFuture", [](Keys& k) { k.move(k.chunk(kLarge), k.chunk(kLarge, 0, 5)); },
       "map inode 20: a map chunk is of map generation 5, the inode of 0"},
      {"DeadMapThatNobodyFrees",
       [](Keys& k) { k.edit_inode(kLarge, [](records::Inode& i) { i.set_map_generation(1); }); },
       "lost_space inode 20: map generation 0 is dead, and no orphan record frees it"},
      {"MapOfAMissingFile", [](Keys& k) { k.erase(keys::inode(k.fs, kLarge)); },
       "lost_space inode 20: map chunk 0 of map generation 0, but the inode does not exist"},
      {"MapThatItsOrphanRecordKeeps",
       [](Keys& k) {
         k.erase(keys::inode(k.fs, kLarge));
         k.erase(k.bucket(kDirB, "large"));
         records::Orphan orphan;
         orphan.set_map_generation(UINT32_MAX);  // none is dead
         k.put(keys::orphan(k.fs, kLarge), orphan);
       },
       "lost_space inode 20: map chunk 0 of map generation 0, but the inode does not exist"},
      {"MapChunkOfAnInlineFile",
       [](Keys& k) { k.edit_inode(kLarge, [](records::Inode& i) { i.set_chunked(false); }); },
       "map inode 20: its record says that there are no map chunks, there are"},
      {"EmptyMapChunk", [](Keys& k) { k.put(k.chunk(kLarge, 3), records::MapChunk()); },
       "record inode 20: map chunk 3 is empty"},
      {"MissingMapChunk", [](Keys& k) { k.erase(k.chunk(kHoles, 1)); },
       "lost_space inode 21: volume blocks "},
      {"WatermarkThatNobodySweeps",
       [](Keys& k) { k.edit_inode(kLarge, [](records::Inode& i) { i.set_trim_block(0); }); },
       "lost_space inode 20: has a watermark above which its map is dead"},
      {"OrphanOfAMissingFile", [](Keys& k) { k.erase(keys::inode(k.fs, kOpen)); },
       "orphan inode 26: its orphan record says that it is open, but it is gone"},
      {"OrphanOfALinkedFile",
       [](Keys& k) {
         records::Orphan orphan;
         orphan.set_generation(1);
         k.put(keys::orphan(k.fs, kSmall), orphan);
       },
       "orphan inode 19: its orphan record says removed, but the inode is there"},
      {"OrphanOfAnotherGeneration",
       [](Keys& k) {
         k.edit<records::Orphan>(keys::orphan(k.fs, kOpen),
                                 [](records::Orphan& orphan) { orphan.set_generation(8); });
       },
       "orphan inode 26: its orphan record is of generation 8, it is of 1"},
  };
}

}  // namespace symnas::fs::test
