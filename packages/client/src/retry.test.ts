import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, VirtualClock } from "@konverge/core";
import { failure, json, type Step, scripted, stream, Widget, widget } from "../test/scripted-server.ts";
import { Client, type ClientOptions } from "./client.ts";
import { TransportError } from "./errors.ts";

const ok = json(widget("a", "1"));
const unreachable: Step = () => {
  throw new TransportError("unreachable", "connect ECONNREFUSED", { unknownOutcome: false });
};
const reset: Step = () => {
  throw new TransportError("closed", "socket hang up", { unknownOutcome: true });
};
const busy = (seconds?: number) =>
  failure(429, "TooManyRequests", "busy", seconds ? { "retry-after": String(seconds) } : {});

/** Reads or creates, and returns the outcome, the number of requests and the virtual time it took. */
async function attempt(verb: "get" | "create", steps: Step[], options: ClientOptions & { deadline?: number } = {}) {
  const clock = new VirtualClock();
  const { transport, requests } = scripted(...steps);
  const client = new Client(transport, { clock, ...options });
  let took = 0;
  const call = options.deadline === undefined ? {} : { timeout: options.deadline };
  const outcome = (
    verb === "get" ? client.get(Widget, "a", call) : client.create(Widget, { metadata: { name: "a" } }, call)
  )
    .then(
      () => "done",
      (error: ApiError | TransportError) => error.code,
    )
    .finally(() => {
      took = clock.monotonic();
    });
  await clock.advance(600_000);
  return { outcome: await outcome, requests: requests.length, took };
}

test("an access review is repeated like a read: it changes nothing", async () => {
  const clock = new VirtualClock();
  const allowed = json({ kind: "SelfSubjectAccessReview", metadata: {}, status: { allowed: true } } as never);
  const { transport, requests } = scripted(reset, failure(503, "ServiceUnavailable"), allowed);
  const answer = new Client(transport, { clock }).canI({ verb: "list", kind: Widget });
  await clock.advance(60_000);
  assert.equal((await answer).allowed, true);
  assert.equal(requests.length, 3);
});

test("a server that asks to come back later is obeyed, for reads and for writes", async () => {
  for (const verb of ["get", "create"] as const) {
    const { outcome, requests, took } = await attempt(verb, [busy(7), busy(3), ok]);
    assert.deepEqual({ outcome, requests, took }, { outcome: "done", requests: 3, took: 10_000 });
  }
});

test("a refusal that names no time is not repeated for a write", async () => {
  assert.deepEqual(await attempt("create", [busy()]), { outcome: 429, requests: 1, took: 0 });
  assert.deepEqual(await attempt("create", [failure(503, "ServiceUnavailable")]), {
    outcome: 503,
    requests: 1,
    took: 0,
  });
});

test("a write that cannot have been sent is repeated; one with an unknown outcome is not", async () => {
  assert.equal((await attempt("create", [unreachable, ok])).outcome, "done");
  assert.deepEqual(await attempt("create", [reset]), { outcome: "closed", requests: 1, took: 0 });
});

test("a read is repeated when its answer was lost or cut short, or a gateway failed", async () => {
  const steps = [reset, stream(['{"kind'], "break"), failure(502, "BadGateway"), ok];
  assert.equal((await attempt("get", steps)).outcome, "done");
});

test("an error that is an answer is not repeated", async () => {
  for (const code of [400, 401, 403, 404, 409, 410, 422, 500]) {
    assert.deepEqual(await attempt("get", [failure(code, "No")]), { outcome: code, requests: 1, took: 0 });
  }
});

test("attempts are counted, and the last error is thrown", async () => {
  const many = Array.from({ length: 9 }, () => unreachable);
  assert.deepEqual((await attempt("get", many)).requests, 5);
  assert.deepEqual((await attempt("get", many, { retry: { tries: 2 } })).requests, 2);
  assert.deepEqual((await attempt("get", many, { retry: false })).requests, 1);
});

test("an attempt after the deadline is not waited for", async () => {
  assert.deepEqual(await attempt("get", [busy(30)], { deadline: 10_000 }), { outcome: 429, requests: 1, took: 0 });
});

test("an abort during a delay has a known outcome: no request was in progress", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const { transport } = scripted(busy(30));
  const outcome = new Client(transport, { clock })
    .create(Widget, { metadata: { name: "a" } }, { signal: controller.signal })
    .catch((error: unknown) => error);
  await clock.advance(1000);
  controller.abort();
  const error = (await outcome) as TransportError;
  assert.deepEqual({ code: error.code, unknown: error.unknownOutcome }, { code: "aborted", unknown: false });
});

test("Retry-After in the status counts like the header", async () => {
  const status = { kind: "Status", status: "Failure", code: 429, details: { retryAfterSeconds: 2 } };
  const { outcome, took } = await attempt("create", [json(status, 429), ok]);
  assert.deepEqual({ outcome, took }, { outcome: "done", took: 2000 });
  assert.equal(new ApiError({ code: 429, details: { retryAfterSeconds: 2 } }).retryAfter, 2000);
});

test("a client with a limit sends its burst at once and the rest at its rate", async () => {
  const clock = new VirtualClock();
  const sent: number[] = [];
  const client = new Client(
    async () => {
      sent.push(clock.monotonic());
      return { status: 200, headers: {}, body: JSON.stringify(widget("a", "1")) };
    },
    { clock, limit: { qps: 10, burst: 3 } },
  );
  const all = Promise.all(Array.from({ length: 6 }, () => client.get(Widget, "a")));
  await clock.advance(1000);
  await all;
  assert.deepEqual(sent, [0, 0, 0, 100, 200, 300]);
  const later = client.get(Widget, "a");
  await clock.advance(0);
  await later;
  assert.equal(sent.at(-1), 1000);
});
