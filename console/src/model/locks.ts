// Locks, gathered by file.
import type { Lock, LockRange } from "../api/schema";

export interface LockedFile {
  name: string; // filesystem and path, or inode number where the path is not known
  filesystem: string;
  ino: number;
  locks: Lock[];
}

export function fileOf(lock: Lock): string {
  return lock.path ? `${lock.filesystem}:${lock.path}` : `${lock.filesystem}: inode ${lock.ino}`;
}

export function locksByFile(locks: readonly Lock[]): LockedFile[] {
  const files = new Map<string, LockedFile>();
  for (const lock of locks) {
    const key = `${lock.filesystem} ${lock.ino}`;
    const file = files.get(key);
    if (file) file.locks.push(lock);
    else {
      files.set(key, {
        name: fileOf(lock),
        filesystem: lock.filesystem,
        ino: lock.ino,
        locks: [lock],
      });
    }
  }
  return [...files.values()].sort((a, b) => b.locks.length - a.locks.length);
}

// "write 0-99", "read from 100": the last byte is in it.
export function rangeText(range: LockRange): string {
  if (range.length === undefined) {
    return range.start === 0 ? `${range.type} all` : `${range.type} from ${range.start}`;
  }
  return `${range.type} ${range.start}-${range.start + range.length - 1}`;
}
