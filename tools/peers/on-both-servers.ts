import { after, before, describe, test } from "node:test";
import { findControlPlane } from "@konverge/real";
import { type FoundPeer, findPeer, type Peer } from "./peer.ts";
import { embeddedStage, realStage, type Stage } from "./stage.ts";

/** What a story works with: the cluster, and where the peer has been built. */
export interface Scene {
  readonly stage: Stage;
  readonly peer: Extract<FoundPeer, { available: true }>;
}

/** Stories about a peer: what it does, as a sentence, and the telling. */
export type Stories = Record<string, (scene: Scene) => Promise<void>>;

/** Stories that a real control plane without machines cannot play, and why. */
export interface EmbeddedOnly {
  readonly why: string;
  readonly stories: Stories;
}

/**
 * Plays the stories of a peer on the embedded cluster and on a real control plane: what fails here and not there is ours.
 * Stories share one cluster per server, and keep to namespaces of their own.
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
      const add = (name: string, tell: Stories[string], skip: string | false) =>
        test(name, { skip }, () => tell({ stage: stage!, peer: found as Scene["peer"] }));
      for (const [name, tell] of Object.entries(stories)) add(name, tell, why ?? false);
      const here = open === embeddedStage ? undefined : embeddedOnly?.why;
      for (const [name, tell] of Object.entries(embeddedOnly?.stories ?? {})) add(name, tell, why ?? here ?? false);
    });
  }
}

function noRealPlane(): string | undefined {
  const plane = findControlPlane();
  if (!plane.available) return plane.why;
  const lacking = plane.absent.filter((name) => name !== "e2e.test");
  return lacking.length > 0 ? `${plane.folder} lacks ${lacking.join(", ")}` : undefined;
}
