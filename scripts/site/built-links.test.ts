import assert from "node:assert/strict";
import { test } from "node:test";
import { checkBuiltLinks } from "./built-links.ts";

function problemsOf(pages: Record<string, string>, { base = "/", files = [] as string[] } = {}): string[] {
  return checkBuiltLinks(new Map(Object.entries(pages)), (path) => files.includes(path), base).problems;
}

test("a link to a page, a folder, a heading or another file is followed", () => {
  const pages = {
    "index.html":
      '<a href="/guide/a.html#two">a</a> <a href="/guide/">b</a> <img src="/logo.svg"> <a href="#top">c</a><p id="top">',
    "guide/a.html": '<h2 id="two" tabindex="-1">Two</h2> <a href="../index.html">up</a>',
    "guide/index.html": '<a href="https://kubernetes.io/">elsewhere</a>',
  };
  assert.deepEqual(problemsOf(pages, { files: ["logo.svg"] }), []);
});

test("a missing page, a missing heading and a missing file are reported", () => {
  const pages = { "a/b.html": '<a href="/c.html">c</a><a href="#d">d</a><img src="/e.svg">' };
  assert.deepEqual(problemsOf(pages), [
    "a/b.html: /c.html does not exist",
    "a/b.html: #d: no heading has this anchor",
    "a/b.html: /e.svg does not exist",
  ]);
});

test("an image without a source is reported", () => {
  assert.deepEqual(problemsOf({ "a.html": '<img alt="a diagram">' }), ["a.html: <img> has no src"]);
});

test("anchors are compared without their encoding", () => {
  assert.deepEqual(problemsOf({ "a.html": '<h2 id="größe">x</h2><a href="#gr%C3%B6%C3%9Fe">y</a>' }), []);
});

test("what a page loads from another host is reported, a link to it is not", () => {
  const pages = {
    "a.html":
      '<script src="https://cdn.example.com/x.js"></script><link rel="stylesheet" href="//fonts.example.com/y"><a href="https://example.com/">z</a>',
  };
  assert.deepEqual(problemsOf(pages), [
    "a.html: <script> loads https://cdn.example.com/x.js",
    "a.html: <link> loads //fonts.example.com/y",
  ]);
});

test("a link that leaves the path the site is served from is reported", () => {
  const pages = { "index.html": '<a href="/konverge/a.html">a</a><a href="/b.html">b</a>', "a.html": "" };
  assert.deepEqual(problemsOf(pages, { base: "/konverge/" }), ["index.html: /b.html is outside /konverge/"]);
});

test("markup in code and in scripts is text", () => {
  const pages = { "a.html": '<code>&lt;a href="/b.html"&gt;</code><script>x = \'<a href="/c.html">\'</script>' };
  assert.deepEqual(problemsOf(pages), []);
});
