// Transport through Cockpit: HTTP on vnfsd's socket of this head, as root where the user may be that.
import { errorOf, type ApiError, type Method, type Transport } from "./transport";

const SOCKET = "/run/symnas/vnfsd.sock";
const OVERRIDE = "symnas.socket"; // in localStorage: another socket, as of a lab's head

const DEADLINE_MS = 15_000; // of reads; vnfsd answers within 8 s, also without etcd

function socketPath(): string {
  try {
    return localStorage.getItem(OVERRIDE) || SOCKET;
  } catch {
    return SOCKET; // storage is switched off in this browser
  }
}

function open(): CockpitHttp {
  return cockpit.http({ unix: socketPath(), superuser: "try" });
}

export class CockpitTransport implements Transport {
  private readonly http = open();

  send(method: Method, path: string, body?: unknown): Promise<string> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers: Record<string, string> =
      body === undefined ? {} : { "Content-Type": "application/json" };
    return new Promise((resolve, reject) => {
      const request = this.http.request({ method, path, body: text, headers });
      // What changes something may take as long as it takes: its outcome is wanted.
      const late =
        method === "GET" ? setTimeout(() => request.close("timeout"), DEADLINE_MS) : undefined;
      request.then(
        (data) => {
          clearTimeout(late);
          resolve(data);
        },
        (problem, data) => {
          clearTimeout(late);
          reject(errorOf(problem, data));
        },
      );
    });
  }

  follow(path: string, data: (piece: string) => void, ended: (why: ApiError) => void): () => void {
    let wanted = true;
    let received = "";
    const end = (problem: CockpitProblem, body?: string) => {
      if (wanted) ended(errorOf(problem, body || received));
      wanted = false;
    };
    const request = this.http.request({ method: "GET", path, body: "" }).stream((piece) => {
      received = piece;
      if (wanted) data(piece);
    });
    request.then(() => end({ problem: "disconnected", message: "the stream ended" }), end);
    return () => {
      wanted = false;
      request.close("cancelled");
    };
  }
}
