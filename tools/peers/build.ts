// node tools/peers/build.ts [NAME …]
// Builds the peers' programs from their registries into a cache folder, those whose toolchain is there.
import { realClock } from "@konverge/core";
import { PEERS } from "./catalogue.ts";
import { buildPeer, findPeer } from "./peer.ts";

const names = process.argv.slice(2);
const unknown = names.filter((name) => !PEERS.some((peer) => peer.name === name));
if (unknown.length > 0) {
  console.error(`no peer is called ${unknown.join(", ")}; there are ${PEERS.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const clock = realClock();
let failed = 0;
for (const peer of PEERS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const found = findPeer(peer);
  if (found.available) {
    console.log(`${peer.name}: is there`);
  } else if (!found.toolchain) {
    console.log(`${peer.name}: left out, ${found.why}`);
  } else {
    const begun = clock.monotonic();
    try {
      buildPeer(peer);
      console.log(`${peer.name}: built in ${Math.round((clock.monotonic() - begun) / 1000)} s`);
    } catch (error) {
      failed++;
      console.error(`${peer.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
process.exit(failed === 0 ? 0 : 1);
