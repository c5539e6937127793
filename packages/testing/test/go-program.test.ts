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
