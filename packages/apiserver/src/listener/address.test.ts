import assert from "node:assert/strict";
import { test } from "node:test";
import { authority, http1, tls } from "../../test/clients.ts";
import { ApiServer } from "../server.ts";
import { listen } from "./listen.ts";

test("the server publishes the address on which it listens", async () => {
  const server = new ApiServer();
  await using listener = await listen(server.guard, { tls });
  const client = http1(listener.url, authority.client("admin", ["system:masters"]));
  const read = async (path: string) => JSON.parse((await client.ask({ path })).body.toString());
  const { serverAddressByClientCIDRs } = await read("/api");
  assert.deepEqual(serverAddressByClientCIDRs, [
    { clientCIDR: "0.0.0.0/0", serverAddress: `127.0.0.1:${listener.port}` },
  ]);
  const { jwks_uri: keys } = await read("/.well-known/openid-configuration");
  assert.equal(keys, `${listener.url}/openid/v1/jwks`);
  client.close();
  server.close();
});
