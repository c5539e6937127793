import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { seededRandom, sleep, VirtualClock } from "@konverge/core";
import { parseScenario } from "../src/black-box/scenario-file.ts";
import { faultText } from "../src/explorer/fault.ts";
import { findingText } from "../src/explorer/report-text.ts";
import { exploreGo } from "../src/go/explore-go.ts";
import { buildGoProgram } from "../src/go/go-build.ts";
import { GoModule, GoProgramError } from "../src/go/go-module.ts";
import { type GoExit, GoProcess } from "../src/go/go-process.ts";
import type { GoSnapshot } from "../src/go/go-snapshot.ts";
import { MemoryFiles } from "../src/go/memory-files.ts";
import { certifiedWebhooks } from "../src/go/webhook-certificates.ts";

const hasGo = spawnSync("go", ["version"]).status === 0;
const sources = join(import.meta.dirname, "go-operator");

const scenario = parseScenario(`
name: two children
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, labels: {parent: "yes"}}
- wait: {for: configmap/web-first, expression: "object.kind == 'ConfigMap'"}
`);

const admitted = parseScenario(`
steps:
- wait: {for: configmap/web, expression: "object.metadata.labels.admitted == 'yes'"}
`);

const webhook = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "labels" },
  webhooks: [
    {
      name: "labels.example.com",
      clientConfig: { service: { name: "hooks", namespace: "default", path: "/label" } },
      objectSelector: { matchLabels: { parent: "yes" } },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
    },
  ],
};

suite("a Go program on virtual time", { skip: hasGo ? false : "there is no Go on this machine" }, () => {
  let folder: string;
  let module: GoModule;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "konverge-go-"));
    module = await GoModule.read(buildGoProgram({ package: ".", folder: sources, output: join(folder, "out") }));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a process for two hours. */
  async function played(args: readonly string[], { seed = 1, files = {} } = {}) {
    const clock = new VirtualClock({ seed });
    const lines: string[] = [];
    const exits: GoExit[] = [];
    const go = new GoProcess({
      module,
      args: ["operator", ...args],
      env: { GREETING: "hello", TMPDIR: "/tmp" },
      files: new MemoryFiles(() => clock.now(), files),
      clock,
      random: seededRandom(seed),
      reach: () => undefined,
      printed: (line) => lines.push(line),
      ended: (exit) => exits.push(exit),
    });
    go.start();
    go.release();
    await clock.advance(2 * 3_600_000);
    return { lines, exits };
  }

  test("finds only what its host gives it, sleeps at no cost, and ends with its exit code", async () => {
    const { lines, exits } = await played(["report", "twice"], { files: { "/config/greeting": "welcome" } });
    assert.deepEqual(exits, [{ code: 3 }]);
    const [random] = lines.splice(3, 1);
    assert.match(random!, /^random [0-9a-f]{8}$/);
    assert.deepEqual(lines, [
      "args [report twice] env hello file welcome <nil>",
      "passwd true",
      "temporary written 7 false",
      "slept 1h30m0s 2026-01-01T00:00:00Z",
      `elsewhere Get "http://elsewhere.example.com/": net/http: fetch() failed: TypeError: dial tcp: lookup elsewhere.example.com: no such host`,
      "without a line feed",
    ]);
    const again = await played(["report"]);
    assert.equal(again.lines[3], random, "the same seed, the same randomness");
    assert.notEqual((await played(["report"], { seed: 2 })).lines[3], random);
  });

  test("answers its API server over TLS where it listens, is reached no more after it has ended, and receives signals", async () => {
    const clock = new VirtualClock();
    const lines: string[] = [];
    const exits: GoExit[] = [];
    const { objects, files } = certifiedWebhooks([webhook], clock);
    const go = new GoProcess({
      module,
      args: ["operator", "listen"],
      env: {},
      files: new MemoryFiles(() => clock.now(), files),
      clock,
      random: seededRandom(1),
      reach: () => undefined,
      printed: (line) => lines.push(line),
      ended: (exit) => exits.push(exit),
    });
    go.start();
    go.release();
    await clock.advance(100);
    const { webhooks } = objects[0] as unknown as typeof webhook & {
      webhooks: { clientConfig: { caBundle: string } }[];
    };
    const roots = Buffer.from(webhooks[0]!.clientConfig.caBundle, "base64").toString();
    const request = { port: 9443, host: "hooks.default.svc:443", roots, path: "/label", timeoutMs: 1000 };
    const body = JSON.stringify({ request: { uid: "1" } });
    const answered = async (changes: object) => {
      const answer = go.post({ ...request, body, ...changes }).catch((error: Error) => error);
      await clock.advance(2_000);
      return answer;
    };
    const { status, body: review } = (await answered({})) as { status: number; body: string };
    assert.equal(status, 200);
    assert.equal(JSON.parse(review).response.uid, "1");
    assert.match(
      String(await answered({ host: "other.default.svc:443" })),
      /certificate is valid for hooks.default.svc, not other/,
    );
    assert.match(String(await answered({ port: 9444 })), /^ConnectionRefused: .*connection refused/);
    assert.ok(go.terminate());
    await clock.advance(0);
    assert.match(lines[0]!, /TLS handshake error from \S+ remote error: tls: bad certificate/);
    assert.deepEqual(lines.slice(1), ["received SIGTERM true"]);
    assert.deepEqual(exits, [{ code: 0 }]);
    assert.ok(!go.terminate());
  });

  test("admits what its scenario creates, in two replicas and after each crash", async () => {
    const { findings, runs, deterministic } = await exploreGo({
      module,
      scenario: {
        ...scenario,
        setup: [webhook],
        program: { ...scenario.program, args: ["admitting"], replicas: 2 },
        steps: [...scenario.steps, ...admitted.steps],
      },
      faults: ["crash"],
    });
    assert.deepEqual(findings.map(findingText), []);
    assert.ok(deterministic);
    assert.ok(runs > 4, String(runs));
  });

  test("ends with its stack when it panics", async () => {
    const { lines, exits } = await played(["panic"]);
    assert.deepEqual(exits, [{ code: 2 }]);
    assert.match(
      lines.join("\n"),
      /^panic: runtime error: invalid memory address[\s\S]*main\.main\(\)\n\s+\S*main\.go:\d+/,
    );
  });

  test("continues from a snapshot as it would have from its start", async () => {
    const requests: Record<string, string[]> = {};
    let snapshot: GoSnapshot | undefined;
    for (const how of ["started", "resumed"]) {
      const clock = new VirtualClock();
      const sent: string[] = [];
      requests[how] = sent;
      const files = { "/kubeconfig": 'server: "http://server.test"' };
      const go = new GoProcess({
        module,
        args: ["operator", "correct"],
        env: { KUBECONFIG: "/kubeconfig" },
        files: snapshot?.files.copy(() => clock.now()) ?? new MemoryFiles(() => clock.now(), files),
        clock,
        random: seededRandom(1),
        reach: (host) => async (request) => {
          sent.push(`${clock.monotonic()} ${host} ${request.method} ${request.path}`);
          await sleep(clock, 100);
          return { status: 500, headers: {}, body: "no" };
        },
        printed() {},
        ended: ({ code }) => assert.fail(`it ended with ${code}`),
      });
      if (snapshot) go.resume(snapshot);
      else {
        go.start();
        snapshot = go.snapshot();
        assert.ok(snapshot, "it could be copied");
      }
      assert.deepEqual(sent, [], "nothing is sent before the process waits");
      go.release();
      await clock.advance(5_000);
      go.kill();
      await clock.advance(5_000);
    }
    assert.ok(requests["started"]!.length > 3, requests["started"]!.join("\n"));
    assert.deepEqual(requests["resumed"], requests["started"]);
  });

  const explored = (mode: string) =>
    exploreGo({
      module,
      scenario: { ...scenario, program: { ...scenario.program, args: [mode] } },
      faults: ["crash", "error", "stale"],
      findings: 20,
    });

  test("that takes its first write for a sign of both is found by a crash between them, with one timeline for one seed", async () => {
    const { findings, deterministic } = await explored("faulty");
    assert.ok(deterministic);
    const crash = findings.find(({ oracle, faults }) => oracle === "end state" && faults[0]?.type === "crash");
    assert.equal(crash?.message, "ConfigMap web-second is missing");
    assert.match(
      crash.faults.map(faultText).join(),
      /^crash (after the request, at create configmaps\/web-first|before the request, at create configmaps\/web-second)$/,
    );
    const lines = crash.timeline.map(({ who, what, process }) => `${who}${process ?? ""} ${what}`);
    assert.ok(lines.includes("operator1 killed"), lines.join("\n"));
    assert.ok(lines.includes("operator2 started"), lines.join("\n"));
  });

  test("is not blamed for what its scenario ignores", async () => {
    const ended = async (ignore: string) => {
      const ignoring = parseScenario(`ignore: [${ignore}]\nsteps: [{wait: idle}]`).ignore;
      const { findings } = await exploreGo({
        module,
        scenario: { ...scenario, ignore: ignoring, program: { ...scenario.program, args: ["faulty"] } },
        faults: ["crash"],
      });
      return findings.map(({ oracle, message }) => `${oracle}: ${message}`);
    };
    assert.deepEqual(await ended("{kind: ConfigMap, name: other}"), ["end state: ConfigMap web-second is missing"]);
    assert.deepEqual(await ended("{kind: ConfigMap, name: '*-second'}"), []);
    // Without the field that differs, it is there or not all the same.
    assert.deepEqual(await ended("{kind: ConfigMap, name: '*-second', fields: [data]}"), [
      "end state: ConfigMap web-second is missing",
    ]);
  });

  test("without the mistake passes", async () => {
    const { findings, deterministic, runs } = await explored("correct");
    assert.ok(deterministic);
    assert.deepEqual(findings.map(findingText), []);
    assert.ok(runs > 10, String(runs));
  });

  test("that panics again and again is found without a fault", async () => {
    const { findings } = await explored("panic");
    assert.match(findings.map(({ message }) => message).join("\n"), /panicked|exit code 2: panic: /);
  });

  test("is refused with the reason if it is no program, or does not exist", () => {
    const build = (name: string) => buildGoProgram({ package: name, folder: sources, output: join(folder, "none") });
    assert.throws(() => build("./none"), GoProgramError);
    assert.throws(() => build("errors"), /--go errors: it is package errors, not a program: pass its package main/);
  });
});
