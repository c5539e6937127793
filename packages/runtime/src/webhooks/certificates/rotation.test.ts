import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { certificatesIn, factsOf } from "./certificate-facts.ts";
import { type CertificateMaterial, rotated } from "./rotation.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const trusted = ({ bundle, serving }: CertificateMaterial) =>
  certificatesIn(bundle).some((authority) => factsOf(serving.cert).signedBy(authority));

test("the first certificates are for the hosts, and signed by the authority in the bundle", async () => {
  const clock = new VirtualClock();
  const options = { clock, name: "hooks", hosts: ["hooks.ai.svc", "127.0.0.1"] };
  const material = rotated(undefined, options);
  assert.equal(certificatesIn(material.bundle).length, 1);
  assert.deepEqual(factsOf(material.serving.cert).hosts, ["hooks.ai.svc", "127.0.0.1"]);
  assert.ok(trusted(material));
  assert.equal(rotated(material, options), material);
});

test("other hosts need another certificate, not another authority", async () => {
  const clock = new VirtualClock();
  const first = rotated(undefined, { clock, name: "hooks", hosts: ["a.ai.svc"] });
  const second = rotated(first, { clock, name: "hooks", hosts: ["b.ai.svc"] });
  assert.equal(second.bundle, first.bundle);
  assert.deepEqual(factsOf(second.serving.cert).hosts, ["b.ai.svc"]);
});

test("over the years, callers who lag by less than the overlap always trust what is served", async () => {
  const clock = new VirtualClock();
  const options = {
    clock,
    name: "hooks",
    hosts: ["hooks.ai.svc"],
    authorityLifetime: 60 * DAY,
    servingLifetime: 12 * DAY,
    overlap: 2 * DAY,
  };
  let now: CertificateMaterial | undefined;
  const history: { at: number; material: CertificateMaterial }[] = [];
  const authorities = new Set<string>();
  let most = 0;
  for (let hour = 0; hour < 130 * 24; hour += 12) {
    now = rotated(now, options);
    history.push({ at: clock.now(), material: now });
    for (const one of certificatesIn(now.bundle)) authorities.add(one);
    most = Math.max(most, certificatesIn(now.bundle).length);
    const { from, until } = factsOf(now.serving.cert);
    assert.ok(from <= clock.now() && clock.now() < until);
    // Clients that last read the bundle up to 1.5 days ago.
    for (const { at, material } of history.slice(-4)) {
      if (clock.now() - at < 2 * DAY) assert.ok(trusted({ ...material, serving: now.serving }), `${hour}`);
    }
    // And clients that still get the previous certificate.
    for (const { material } of history.slice(-4)) assert.ok(trusted({ ...now, serving: material.serving }), `${hour}`);
    await clock.advance(12 * HOUR);
  }
  assert.equal(authorities.size, 4);
  assert.equal(most, 2);
});

test("an authority that expired unnoticed is replaced at once", async () => {
  const clock = new VirtualClock();
  const options = { clock, name: "hooks", hosts: ["hooks.ai.svc"], authorityLifetime: DAY };
  const first = rotated(undefined, options);
  await clock.advance(2 * DAY);
  const second = rotated(first, options);
  assert.notEqual(second.bundle, first.bundle);
  assert.ok(trusted(second));
});
