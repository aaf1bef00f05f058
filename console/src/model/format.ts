// Values as people read them. Times are of the browser's zone.

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytesText(bytes: number): string {
  let value = bytes;
  let at = 0;
  while (value >= 1024 && at < SIZES.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${SIZES[at]}`;
}

export function numberText(value: number): string {
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : value.toFixed(1);
}

export function microsText(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`;
  return us < 1_000_000 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1_000_000).toFixed(1)} s`;
}

export function millisText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

export function clockText(ms: number): string {
  if (!ms) return "-";
  const when = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
}

export function timeText(ns: number): string {
  if (!ns) return "-";
  const when = new Date(ns / 1e6);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
  return `${day} ${clockText(when.getTime())}`;
}

// "5 min", for how long something has been so.
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

// Commas or spaces between words.
export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

// "1 client", "2 clients".
export function countText(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
