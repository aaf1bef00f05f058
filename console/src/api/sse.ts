// Reads server-sent events from pieces of a stream that may end anywhere.

export interface ServerEvent {
  id: string; // "" if it has none
  name: string; // "message" unless the stream says otherwise
  data: string;
}

const MAX_LINE = 1 << 20; // an event of vnfsd has some hundred bytes

export class SseReader {
  private rest = "";
  private id = "";
  private name = "";
  private data: string[] = [];

  constructor(private readonly onEvent: (event: ServerEvent) => void) {}

  feed(piece: string): void {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    if (this.rest.length > MAX_LINE) this.rest = "";
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  private line(line: string): void {
    if (line === "") return this.dispatch();
    if (line.startsWith(":")) return; // a comment: the stream lives
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    if (field === "event") this.name = value;
    if (field === "data") this.data.push(value);
  }

  private dispatch(): void {
    if (this.data.length > 0) {
      this.onEvent({ id: this.id, name: this.name || "message", data: this.data.join("\n") });
    }
    this.id = "";
    this.name = "";
    this.data = [];
  }
}
