import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { readText } from "@konverge/core";
import { proxiedLink, rewrittenPage, throughProxy } from "./proxied-pages.ts";

const from = { prefix: "/api/v1/namespaces/a/services/web/proxy", address: "10.0.0.1:80", requested: "localhost:6443" };

test("absolute paths of the host behind the proxy lead through it, other links stay", () => {
  const through = (link: string) => proxiedLink(link, from);
  assert.equal(through("/x?y=1#z"), `${from.prefix}/x?y=1#z`);
  assert.equal(through("http://10.0.0.1:80/x/"), `${from.prefix}/x/`);
  assert.equal(through("http://localhost:6443/x"), `http://localhost:6443${from.prefix}/x`);
  assert.equal(through(`${from.prefix}/x`), `${from.prefix}/x`);
  for (const link of ["x", "../x", "#x", "", "mailto:a@b", "https://example.com/x", "//example.com/x"])
    assert.equal(through(link), link);
});

test("links of a page are those of its markup: not of comments, scripts or text", () => {
  const page = `<!-- <a href="/c"> --><A class=x HREF='/a'>/t</a><img src=/i alt="/n"><p title="/p">
<script src="/s">if (1 < 2) x = '<a href="/js">'</script><a href="b">`;
  assert.equal(
    rewrittenPage(page, from),
    `<!-- <a href="/c"> --><A class=x HREF='${from.prefix}/a'>/t</a><img src="${from.prefix}/i" alt="/n"><p title="/p">
<script src="${from.prefix}/s">if (1 < 2) x = '<a href="/js">'</script><a href="b">`,
  );
});

test("pages are rewritten in the coding in which they come, and nothing else is", async () => {
  const page = '<a href="/x">';
  const rewritten = `<a href="${from.prefix}/x">`;
  const answer = (headers: Record<string, string>, body: string | Buffer) =>
    throughProxy({ status: 200, headers, body }, from);
  const plain = await answer({ "content-type": "text/html; charset=utf-8", "access-control-allow-origin": "*" }, page);
  assert.equal(await readText(plain.body), rewritten);
  assert.deepEqual(Object.keys(plain.headers), ["content-type"]);
  const zipped = await answer({ "content-type": "text/html", "content-encoding": "gzip" }, gzipSync(page));
  assert.equal(gunzipSync(zipped.body as Buffer).toString(), rewritten);
  assert.equal((await answer({ "content-type": "text/plain" }, page)).body, page);
  assert.equal((await answer({ "content-type": "text/html", "content-encoding": "br" }, page)).body, page);
});

test("a redirection within the host is one within the proxy", async () => {
  const { headers } = await throughProxy({ status: 302, headers: { location: "/login" }, body: "" }, from);
  assert.equal(headers["location"], `${from.prefix}/login`);
});

test("a page that a pod has crafted to be slow to parse is scanned in linear time", { timeout: 20_000 }, () => {
  const link = '<a href="/x">';
  for (const [hard, isRewritten] of [
    ["<!--".repeat(700_000), true],
    ["<script>".repeat(300_000), true],
    ["</script ".repeat(300_000), true],
    ["<a ".repeat(900_000), true],
    [`<a ${"b".repeat(2_000_000)}>`, true],
    [`<a ${"b ".repeat(1_000_000)}>`, true],
    ['<a "'.repeat(700_001), false],
    ["<constructor href=/x>".repeat(100_000), true],
  ] as const) {
    const page = rewrittenPage(hard + link, from);
    assert.equal(page.endsWith(`<a href="${from.prefix}/x">`), isRewritten, hard.slice(0, 20));
  }
});

test("what is longer than a page passes as it comes, without being kept", async () => {
  const html = { "content-type": "text/html" };
  let given = 0;
  async function* endless() {
    for (;;) yield Buffer.alloc(1024 * 1024, ++given);
  }
  const { body } = await throughProxy({ status: 200, headers: html, body: endless() }, from);
  assert.equal(given, 5);
  for await (const chunk of body as AsyncIterable<Buffer>) if (chunk[0] === 7) break;
  assert.equal(given, 7);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const zipped = await throughProxy(
    { status: 200, headers: { ...html, "content-encoding": "gzip" }, body: bomb },
    from,
  );
  assert.ok(bomb.equals(zipped.body as Buffer));
});
