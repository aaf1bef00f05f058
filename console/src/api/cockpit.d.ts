// What this plug-in uses of Cockpit's base1/cockpit.js, which the bridge serves beside it.
interface CockpitProblem {
  problem?: string | null; // of the channel: "not-found", "access-denied", "disconnected", ...
  status?: number; // of HTTP
  message?: string;
}

interface CockpitRequest extends PromiseLike<string> {
  then<A, B>(
    done?: ((data: string) => A) | null,
    failed?: ((problem: CockpitProblem, data?: string) => B) | null,
  ): PromiseLike<A | B>;
  stream(callback: (data: string) => void): CockpitRequest;
  close(problem?: string): void;
}

interface CockpitHttp {
  request(options: {
    method: string;
    path: string;
    body?: string;
    headers?: Record<string, string>;
  }): CockpitRequest;
  close(problem?: string): void;
}

declare const cockpit: {
  // Reloads the page when the user turns administrative access on or off.
  permission(options: { admin: true }): unknown;
  http(options: { unix: string; superuser?: "try" | "require" }): CockpitHttp;
};
