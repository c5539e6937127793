import { isFailure, isTimed, isTooExpensive } from "./invariants.ts";
import { type LimitRequest, limitOf } from "./limits.ts";
import { type Answer, type Endpoint, Sender } from "./send.ts";
import type { ServerProcess } from "./server-process.ts";
import { requestText } from "./shrink.ts";

/** What requests at the limits have brought about. */
export interface LimitResult {
  readonly sent: number;
  readonly failures: readonly string[];
  readonly expensive: readonly string[];
  /** The most milliseconds of CPU that one took. */
  readonly most: string;
}

/**
 * Sends requests at the server's own bounds, one at a time, and measures what each costs its main thread: wall time would be
 * that of the machine, which others use.
 */
export async function runLimits(
  server: ServerProcess,
  endpoint: Endpoint,
  { seed, until }: { seed: number; until: number },
): Promise<LimitResult> {
  const { cert: _cert, key: _key, ...anonymous } = endpoint;
  const senders = { admin: new Sender(endpoint), anonymous: new Sender(anonymous) };
  const failures = new Map<string, string>();
  const expensive = new Map<string, string>();
  let most = { ms: 0, what: "" };
  let sent = 0;
  for (; performance.now() < until && server.exit === undefined; sent++) {
    const limit = limitOf(seed, sent);
    const sender = limit.anonymous ? senders.anonymous : senders.admin;
    const { answer, cpu } = await measured(server, sender, limit);
    const what = `${limit.anonymous ? "anonymous" : "administrator"}: ${limit.what}`;
    const shown = `number ${sent}, ${what}: ${cpu.toFixed(0)} ms of CPU, answered ${answer.status}\n${requestText(limit.request).slice(0, 300)}`;
    if (isFailure(answer)) failures.set(what, `${shown}\n${answer.text.slice(0, 300)}`);
    if (!isTimed(limit.request, answer)) continue;
    if (cpu > most.ms)
      most = { ms: cpu, what: `${what}, ${limit.request.body.length} bytes, answered ${answer.status}` };
    if (expensive.has(what) || !isTooExpensive(limit.request, answer, cpu)) continue;
    // What the server did at the same time for others, or to collect garbage, does not come again.
    const again = await measured(server, sender, limit);
    if (isTooExpensive(limit.request, again.answer, again.cpu))
      expensive.set(what, `${shown}; again ${again.cpu.toFixed(0)} ms`);
  }
  for (const sender of Object.values(senders)) sender.close();
  return {
    sent,
    failures: [...failures.values()],
    expensive: [...expensive.values()],
    most: `${most.ms.toFixed(0)} ms (${most.what})`,
  };
}

/** The answer to a request, and the milliseconds for which it held the server's main thread. */
export async function measured(
  server: ServerProcess,
  sender: Sender,
  { request }: Pick<LimitRequest, "request">,
): Promise<{ answer: Answer; cpu: number }> {
  const before = await server.ask("cpu", "cpu");
  const answer = await sender.send(request);
  const after = await server.ask("cpu", "cpu");
  return { answer, cpu: (after?.ms ?? 0) - (before?.ms ?? 0) };
}
