// All that lives as long as the page: what was read, the event stream, what the user may do, what he
// has changed, and the samples of load.
import { sendPath, type Change, type Role } from "./api/change";
import { Feed } from "./api/feed";
import type { Done, Job, JobReply, Load, VnfsList } from "./api/schema";
import { Store } from "./api/store";
import { ApiError, type Transport } from "./api/transport";
import { withSample, type Sample } from "./model/load";
import { Observable } from "./observable";

// vnfsd's answers: since when there is none, and why.
export interface Link {
  lostSinceMs: number; // 0: it answers
  error?: ApiError;
}

// A change that was asked for on this page.
export interface Asked {
  id: number;
  change: Change;
  atMs: number;
  lines: string[];
  error: string; // "" if it was accepted
  outcome: "accepted" | "refused" | "unknown"; // unknown: no answer came, it may have been done
  jobId?: number;
  epoch: number; // of the VNFS that it moves, before
}

const LOAD_INTERVAL_MS = 5000;
const LOAD_DELAY_MS = 1000;
const REFRESH_GAP_MS = 150;
const REMEMBERED = 3;
const LAST_REVISION = "9007199254740991"; // events after it: none

function causeOf(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError(0, "unreadable", String(thrown));
}

export class Console {
  readonly store: Store;
  readonly feed: Feed;
  readonly link = new Observable<Link>({ lostSinceMs: 0 });
  readonly role = new Observable<Role | undefined>(undefined);
  readonly asked = new Observable<readonly Asked[]>([]);
  readonly samples = new Observable<readonly Sample[]>([]);
  // The way back from the last edit of each export that was made on this page.
  readonly editsOfExports = new Observable<ReadonlyMap<string, Change>>(new Map());
  private nextId = 1;
  private refreshing?: ReturnType<typeof setTimeout>;
  private refreshedMs = 0;

  constructor(readonly transport: Transport) {
    this.store = new Store(transport);
    this.feed = new Feed(transport, () => this.refreshSoon());
  }

  start(): void {
    this.store.observe(() => this.followLink());
    this.feed.start();
    void this.learnRole();
    const take = () => {
      const seen = this.store.seen<Load>("/v1/load");
      if (seen.data && !seen.error)
        this.samples.set(withSample(this.samples.get(), seen.data, seen.readAt));
    };
    // Not at once: what is shown first comes first.
    setTimeout(() => this.store.watch("/v1/load", LOAD_INTERVAL_MS, take), LOAD_DELAY_MS);
  }

  async read<T>(path: string): Promise<T> {
    return JSON.parse(await this.transport.send("GET", path)) as T;
  }

  // Asks for the change without doing it: what would be done. Throws ApiError.
  async lines(method: Change["method"], path: string, body: unknown): Promise<string[]> {
    return (JSON.parse(await this.transport.send(method, path, body)) as Done).done;
  }

  // Sends the change; how it went is in `asked`.
  async send(change: Change): Promise<Asked> {
    const epoch = await this.epochOf(change.moves);
    const asked: Asked = {
      id: this.nextId++,
      change,
      atMs: Date.now(),
      lines: [],
      error: "",
      outcome: "accepted",
      epoch,
    };
    try {
      const text = await this.transport.send(change.method, sendPath(change), change.body);
      const reply = JSON.parse(text) as Partial<Done & JobReply>;
      asked.lines = reply.done ?? [];
      asked.jobId = reply.job?.id;
      this.rememberEdit(change);
    } catch (thrown) {
      const error = causeOf(thrown);
      asked.error = error.message;
      asked.outcome = error.status === 0 ? "unknown" : "refused";
      if (error.status === 403) void this.learnRole();
    }
    // What was undone needs no way back any more.
    const others = this.asked
      .get()
      .filter((one) => asked.error !== "" || one.change.undo !== change);
    this.asked.set([asked, ...others].slice(0, REMEMBERED));
    this.store.refresh();
    return asked;
  }

  // 0: it moves nothing, or the epoch is not known.
  private async epochOf(vnfs: string | undefined): Promise<number> {
    if (vnfs === undefined) return 0;
    const list = await this.read<VnfsList>("/v1/vnfs").catch(() => undefined);
    return list?.vnfs.find((one) => one.name === vnfs)?.epoch ?? 0;
  }

  private rememberEdit(change: Change): void {
    const name = /^\/v1\/exports\/([^/]+)\/set$/.exec(change.path)?.[1];
    if (name === undefined) return;
    const edits = new Map(this.editsOfExports.get());
    if (change.undo) edits.set(decodeURIComponent(name), change.undo);
    else edits.delete(decodeURIComponent(name));
    this.editsOfExports.set(edits);
  }

  forget(id: number): void {
    this.asked.set(this.asked.get().filter((one) => one.id !== id));
  }

  job(id: number): Promise<Job> {
    return this.read<JobReply>(`/v1/jobs/${id}`).then((reply) => reply.job);
  }

  // At once, but once only for events that come together: at the beginning there are hundreds.
  private refreshSoon(): void {
    if (this.refreshing !== undefined) return;
    const wait = Math.max(0, this.refreshedMs + REFRESH_GAP_MS - Date.now());
    this.refreshing = setTimeout(() => {
      this.refreshing = undefined;
      this.refreshedMs = Date.now();
      this.store.refresh();
    }, wait);
  }

  private followLink(): void {
    const error = this.store.trouble();
    const { lostSinceMs, error: before } = this.link.get();
    if (error) {
      if (error.message === before?.message) return;
      this.link.set({ lostSinceMs: lostSinceMs || Date.now(), error });
    } else if (lostSinceMs !== 0) {
      this.link.set({ lostSinceMs: 0 });
      void this.learnRole();
      this.store.refresh();
    }
  }

  // No request says who is asking: the least of what admins and operators may read does.
  private async learnRole(): Promise<void> {
    const asks: [string, Role][] = [
      ["/v1/api-tokens", "admin"],
      [`/v1/events?after=${LAST_REVISION}`, "operator"],
    ];
    for (const [path, role] of asks) {
      try {
        await this.transport.send("GET", path);
        return this.role.set(role);
      } catch (thrown) {
        const error = causeOf(thrown);
        if (error.status !== 403 && error.problem !== "access-denied") return; // asked again later
      }
    }
    this.role.set("viewer");
  }
}
