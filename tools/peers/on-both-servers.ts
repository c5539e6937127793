import { after, before, describe, test } from "node:test";
import { findControlPlane } from "@konverge/real";
import { type FoundPeer, findPeer, type Peer } from "./peer.ts";
import { embeddedStage, realStage, type Stage } from "./stage.ts";

/** What a story works with: the cluster, and where the peer has been built. */
export interface Scene {
  readonly stage: Stage;
  readonly peer: Extract<FoundPeer, { available: true }>;
}

/** Tests of a peer: what it does, as a sentence, and the test function. */
export type Stories = Record<string, (scene: Scene) => Promise<void>>;

/** Tests that cannot run on a real control plane without machines, and why. */
export interface EmbeddedOnly {
  readonly why: string;
  readonly stories: Stories;
}

/**
 * Runs the tests of a peer on the embedded cluster and on a real control plane: what fails only on the former is our bug.
 * Tests share one cluster per server, each in a separate namespace.
 */
export function onBothServers(peer: Peer, stories: Stories, embeddedOnly?: EmbeddedOnly): void {
  const found = findPeer(peer);
  const missing = found.available ? undefined : found.why;
  play(`${peer.name} on the embedded cluster`, missing, embeddedStage);
  play(`${peer.name} on a real control plane`, missing ?? noRealPlane(), realStage);

  function play(title: string, why: string | undefined, open: () => Promise<Stage>): void {
    describe(title, () => {
      let stage: Stage | undefined;
      before(async () => {
        if (!why) stage = await open();
      });
      after(() => stage?.[Symbol.asyncDispose]());
      const add = (name: string, run: Stories[string], skip: string | false) =>
        test(name, { skip }, () => run({ stage: stage!, peer: found as Scene["peer"] }));
      for (const [name, run] of Object.entries(stories)) add(name, run, why ?? false);
      const here = open === embeddedStage ? undefined : embeddedOnly?.why;
      for (const [name, run] of Object.entries(embeddedOnly?.stories ?? {})) add(name, run, why ?? here ?? false);
    });
  }
}

function noRealPlane(): string | undefined {
  const plane = findControlPlane();
  if (!plane.available) return plane.why;
  const lacking = plane.absent.filter((name) => name !== "e2e.test");
  return lacking.length > 0 ? `${plane.folder} lacks ${lacking.join(", ")}` : undefined;
}
