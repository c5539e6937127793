import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type ExploreProgramOptions, exploreProgram, faultText, readScenario } from "@konverge/testing";
import { exploredOperator } from "./catalogue.ts";
import { findPeer } from "./peer.ts";

interface Pattern {
  /** What went wrong in public operators. */
  readonly mistake: string;
  readonly faults: ExploreProgramOptions["faults"] & object;
  /** Which oracle finds it, with which fault. */
  readonly found: RegExp;
}

const PATTERNS: Record<string, Pattern> = {
  resize: {
    mistake: "progress is inferred from an object that was deleted before a crash",
    faults: ["crash"],
    found: /^end state: ConfigMap web-volume differs: .*: crash after the request, at delete statefulsets\.apps\/web$/,
  },
  duplicate: {
    mistake: "a cache that does not show the last write yet makes a duplicate with a generated name",
    faults: ["stale"],
    found: /^leak: Pod web-\* \(2\) should not be there: stale cache/,
  },
  status: {
    mistake: "a status update that fails is not retried",
    faults: ["error"],
    found: /^status: the status of Widget web is not that of its last generation: error (409|500)/,
  },
};

const peer = findPeer(exploredOperator);
const skip = peer.available ? false : peer.why;

describe("an operator on controller-runtime as a black box", { skip, concurrency: true }, () => {
  for (const [pattern, { mistake, faults, found }] of Object.entries(PATTERNS)) {
    const explore = (arguments_: string) =>
      exploreProgram({
        command: `exec '${peer.available && peer.program}' -pattern ${pattern} ${arguments_}`,
        scenario: readScenario(join(import.meta.dirname, "explored-scenarios", `${pattern}.yaml`)),
        faults,
        findings: 100,
        workers: 4,
      });

    test(`${mistake}: found`, async () => {
      const { findings } = await explore("");
      // Runs are parallel: which of the faults that show a mistake is the first one is chance.
      const texts = findings.flatMap(({ oracle, message, faults: first, also = [] }) =>
        [first, ...also].map((some) => `${oracle}: ${message}: ${some.map(faultText).join()}`),
      );
      assert.ok(
        texts.some((text) => found.test(text)),
        texts.join("\n") || "nothing was found",
      );
    });

    test(`${mistake}: no findings once it is fixed`, async () => {
      const { findings, covered } = await explore("-fixed");
      assert.deepEqual(
        findings.map(({ oracle, message, faults: some }) => `${oracle}: ${message}: ${some.map(faultText).join()}`),
        [],
      );
      assert.ok(covered > 5, `only ${covered} faults happened`);
    });
  }
});
