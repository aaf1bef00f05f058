// How requests reach vnfsd. The only implementation that is shipped goes through Cockpit's bridge
// (cockpit_transport.ts); tests have their own.

export type Method = "GET" | "POST" | "DELETE";

// status: of HTTP, 0 if there was no answer. problem: then why, a word of Cockpit's.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problem = "",
  ) {
    super(message);
  }
}

export interface Transport {
  // The reply as text. Throws ApiError.
  send(method: Method, path: string, body?: unknown): Promise<string>;
  // Calls `data` with each piece of an endless reply, and `ended` once. The result ends it.
  follow(path: string, data: (piece: string) => void, ended: (why: ApiError) => void): () => void;
}

const SILENCE: Record<string, string> = {
  "access-denied": "only root may ask vnfsd: turn on administrative access (top of Cockpit's page)",
  "not-found": "vnfsd does not run on this head (systemctl status vnfsd)",
  disconnected: "Cockpit's connection to this head is lost",
  terminated: "Cockpit's bridge on this head ended: log in again",
  timeout: "vnfsd did not answer in time (symnas status on this head)",
};

function detail(text: string | undefined): { code: string; message: string } | undefined {
  try {
    const error = (JSON.parse(text ?? "") as { error?: { code: string; message: string } }).error;
    return error && typeof error.message === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

// Of what a request failed with: an error that vnfsd has written, or that it was not reached.
export function errorOf(problem: CockpitProblem, body?: string): ApiError {
  const status = problem.status ?? 0;
  const word = problem.problem ?? "";
  const told = detail(body);
  if (status >= 400) {
    return new ApiError(
      status,
      told?.code ?? `http_${status}`,
      told?.message ?? `vnfsd answered ${status}`,
    );
  }
  const why =
    SILENCE[word] ?? `vnfsd was not reached (${problem.message || word || "no reason given"})`;
  return new ApiError(0, "unreachable", why, word || "unknown");
}

// `path` with parameters; those that are undefined or "" are left out.
export function withQuery(
  path: string,
  query: Record<string, string | number | boolean | undefined>,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return path;
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `${path}?${text.join("&")}`;
}
