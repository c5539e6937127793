import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { listeningHost } from "./listening-host.ts";

test("a server that is reached at an address of this machine listens there alone", () => {
  for (const address of ["127.0.0.1", "127.3.2.1", "localhost"]) assert.equal(listeningHost(address), address);
  for (const one of Object.values(networkInterfaces()).flat()) assert.equal(listeningHost(one!.address), one!.address);
});

test("a server that is reached through something else listens everywhere", () => {
  for (const address of ["host.docker.internal", "192.0.2.1", "2001:db8::1", "127.0.0.1.example.com"])
    assert.equal(listeningHost(address), undefined, address);
});
