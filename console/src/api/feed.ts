// Follows the event stream for as long as the page lives, and begins again when it ends.
import type { Event } from "./schema";
import { SseReader } from "./sse";
import { withQuery, type ApiError, type Transport } from "./transport";

const KEPT = 500; // events that the page remembers
const SILENT_MS = 12_000; // vnfsd sends something every 5 s
const PAUSE_MS = 1000;
const PAUSE_REFUSED_MS = 15_000; // no right to it, or too many readers

export interface FeedState {
  live: boolean; // the stream is open: changes are seen as they happen
  error?: ApiError;
  events: readonly Event[]; // the newest first
}

export class Feed {
  private state: FeedState = { live: false, events: [] };
  private readonly listeners = new Set<() => void>();
  private lastId = "";
  private fresh: Event[] = []; // of the piece that is being read
  private stop?: () => void;
  private silence?: ReturnType<typeof setTimeout>;

  constructor(
    private readonly transport: Transport,
    private readonly onEvent: () => void,
  ) {}

  get = (): FeedState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  start(): void {
    const reader = new SseReader(({ id, name, data }) => this.take(id, name, data));
    const path = withQuery("/v1/events/stream", { after: this.lastId });
    this.stop = this.transport.follow(
      path,
      (piece) => {
        this.heard();
        reader.feed(piece);
        this.show();
      },
      (why) => this.ended(why),
    );
    this.watchSilence();
  }

  private watchSilence(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.stop?.();
      this.ended();
    }, SILENT_MS);
  }

  private heard(): void {
    this.watchSilence();
    if (this.state.live) return;
    this.set({ ...this.state, live: true, error: undefined });
    this.onEvent(); // something may have happened while nobody listened
  }

  private take(id: string, name: string, data: string): void {
    if (id !== "") this.lastId = id;
    if (name !== "message") return;
    try {
      this.fresh.push(JSON.parse(data) as Event);
    } catch {
      return; // not an event: the next one may be one
    }
  }

  // At the beginning a piece has hundreds of them.
  private show(): void {
    if (this.fresh.length === 0) return;
    const events = [...this.fresh.reverse(), ...this.state.events].slice(0, KEPT);
    this.fresh = [];
    this.set({ ...this.state, events });
    this.onEvent();
  }

  private ended(error?: ApiError): void {
    clearTimeout(this.silence);
    this.set({ ...this.state, live: false, error });
    const refused = error !== undefined && error.status >= 400;
    setTimeout(() => this.start(), refused ? PAUSE_REFUSED_MS : PAUSE_MS);
  }

  private set(state: FeedState): void {
    this.state = state;
    for (const listener of [...this.listeners]) listener();
  }
}
