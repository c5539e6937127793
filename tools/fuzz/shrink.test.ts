import assert from "node:assert/strict";
import { test } from "node:test";
import type { FuzzRequest } from "./requests.ts";
import { requestText, shrink } from "./shrink.ts";

const request: FuzzRequest = {
  protocol: "h2",
  method: "POST",
  target: "/api?a=1&bad=2&c=3",
  headers: [
    ["accept", "x"],
    ["content-type", "application/json"],
  ],
  body: Buffer.from('{"keep":{"a":1,"bad":[1,2,3]},"drop":"x"}'),
  framing: "chunked",
};

test("all that the failure does not need is left out", async () => {
  const smallest = await shrink(
    request,
    async ({ target, headers, body }) =>
      target.includes("bad=2") &&
      headers.some(([name]) => name === "content-type") &&
      /"bad":\[.*3/.test(body.toString()),
  );
  assert.equal(smallest.target, "/api?bad=2");
  assert.deepEqual(smallest.headers, [["content-type", "application/json"]]);
  assert.equal(smallest.framing, "length");
  assert.match(smallest.body.toString(), /^.{0,4}"bad":\[3.{0,3}$/);
});

test("a body that is no text is shown in base64", () => {
  assert.match(requestText({ ...request, body: Buffer.from([255, 0]) }), /body, chunked: base64 \/wA=/);
  assert.match(requestText(request), /^h2 POST \/api\?a=1&bad=2&c=3\n {2}accept: x\n/);
});
