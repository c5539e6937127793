import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeGoPattern, verdict } from "./run-spec.ts";

test("a spec has passed when it ran, passed, and the process says so too", () => {
  const output = "Ran 1 of 7460 Specs in 3.1 seconds\nSUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 7459 Skipped\n";
  assert.deepEqual(verdict({ code: 0, output }, 60), { passed: true, reason: "" });
  assert.equal(verdict({ code: 1, output }, 60).passed, false);
});

test("a run in which no spec ran has not passed", () => {
  const output = "Ran 0 of 7460 Specs in 0.1 seconds\nSUCCESS! -- 0 Passed | 0 Failed | 0 Pending | 7460 Skipped\n";
  assert.equal(verdict({ code: 0, output }, 60).passed, false);
});

test("a failure is reported by its first message and location, in one line", () => {
  const output = [
    "• [FAILED] [3.2 seconds]\n[sig-apps] Deployment [It] works",
    "  [FAILED] in [It] - k8s.io/kubernetes/test/e2e/apps/deployment.go:42 @ now",
    "  [FAILED] expected replicas\n      <int>: 1\n  to equal 2",
    "  In [It] at: k8s.io/kubernetes/test/e2e/apps/deployment.go:42 @ 11/15/26 18:00:00.1",
    "  [FAILED] a later one\n  In [AfterEach] at: x.go:1 @ now",
  ].join("\n");
  assert.equal(
    verdict({ code: 1, output }, 60).reason,
    "expected replicas <int>: 1 to equal 2 (test/e2e/apps/deployment.go:42)",
  );
});

test("a spec that runs out of time says where it was", () => {
  const output = "  [TIMEDOUT] A suite timeout occurred\n  In [It] at: k8s.io/kubernetes/test/e2e/apps/job.go:7 @ now";
  assert.equal(verdict({ code: 1, output }, 60).reason, "no end within 60 s (test/e2e/apps/job.go:7)");
  assert.match(verdict({ code: null, output: "" }, 60).reason, /nor after cleaning up/);
});

test("a skipped spec says why", () => {
  const output = "  [SKIPPED] Not enough nodes\n  In [It] at: a.go:1\nSUCCESS! -- 0 Passed | 0 Failed | 0 Pending";
  assert.equal(verdict({ code: 0, output }, 60).reason, "skipped: Not enough nodes");
});

test("a skipped spec is distinguished from a failed one also where Ginkgo prints no reason", () => {
  const output =
    "SSSSSS\nRan 0 of 7579 Specs in 3.4 seconds\nSUCCESS! -- 0 Passed | 0 Failed | 0 Pending | 7579 Skipped";
  assert.match(verdict({ code: 0, output }, 60).reason, /^skipped: /);
});

test("a spec's name as a pattern matches that name alone", () => {
  const name = "[sig-apps] Job should (really) work. [Conformance]";
  const pattern = new RegExp(`${escapeGoPattern(name)}$`);
  assert.match(`Kubernetes e2e suite ${name}`, pattern);
  assert.doesNotMatch(name.replace(".", "x"), pattern);
});
