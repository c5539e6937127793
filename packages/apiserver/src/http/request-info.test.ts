import assert from "node:assert/strict";
import { test } from "node:test";
import { encodedPath, requestInfo, subpathOf } from "./request-info.ts";

const read = (path: string, method = "GET") => {
  const { isResource, verb, group, version, namespace, resource, name, subresource, rest } = requestInfo({
    method,
    path,
  });
  if (!isResource) return `${verb} ${requestInfo({ method, path }).path}`;
  return `${verb} ${group}/${version} ${namespace} ${[resource, name, subresource, rest].join(" ")}`.trimEnd();
};

test("a path is decoded before it is split: an encoded slash is a slash", () => {
  const plain = "get metrics.example.com/v1 a samples one status";
  for (const path of ["samples/one/status", "samples/one%2Fstatus", "samples%2fone%2Fstatus", "s%61mples/one/stat%75s"])
    assert.equal(read(`/apis/metrics.example.com/v1/namespaces/a/${path}`), plain, path);
  assert.equal(read("/api/v1/namespaces/a%2Fpods"), "list /v1 a pods");
  assert.equal(read("/api/v1/pods%3Fwatch=1"), "get /v1  pods?watch=1".replace("get", "list"));
});

test("a path is decoded once", () => {
  assert.equal(read("/api/v1/namespaces/a/pods/x%252Flog"), "get /v1 a pods x%2Flog");
});

test("slashes at both ends are left out, those in between separate empty segments", () => {
  assert.equal(read("//api/v1/pods//"), "list /v1  pods");
  assert.equal(read("/api//v1/pods"), "get /  v1 pods");
  assert.equal(read("/api/v1/namespaces/a/pods//log"), "list /v1 a pods  log");
  assert.equal(read("//"), "get //");
  assert.equal(read("/%2F"), "get //");
});

test("segments of dots are names like others: nothing is cleaned", () => {
  assert.equal(read("/api/v1/namespaces/../pods"), "list /v1 .. pods");
  assert.equal(read("/api/v1/namespaces/%2e%2e/pods/%2E/log"), "get /v1 .. pods . log");
});

test("paths with very many slashes or segments are parsed in linear time", { timeout: 20_000 }, () => {
  assert.match(read(`/api/v1/pods/x${"/".repeat(1_000_000)}y`), /^get \/v1 {2}pods x {2}\/+y$/);
  assert.equal(read(`/${"a/".repeat(500_000)}`).length, 1_000_005);
});

test("a method that is none of HTTP's is a verb in lower case, also one that every object has", () => {
  assert.equal(read("/api/v1/pods", "constructor"), "constructor /v1  pods");
  assert.equal(read("/api/v1/pods", "__proto__"), "__proto__ /v1  pods");
  assert.equal(read("/healthz", "toString"), "tostring /healthz");
});

test("the older paths of watches are watches, whatever the method", () => {
  assert.equal(read("/api/v1/watch/namespaces/a/pods"), "watch /v1 a pods");
  assert.equal(read("/api/v1/watch/namespaces/a/pods", "DELETE"), "watch /v1 a pods");
});

test("what a proxy request asks of the one behind the proxy goes over the wire as it was read", () => {
  const subpath = (path: string) => subpathOf(requestInfo({ method: "GET", path: `/api/v1/nodes/n/proxy${path}` }));
  for (const [path, expected] of [
    ["", ""],
    ["/", "/"],
    ["/a/b", "/a/b"],
    ["/a/b/", "/a/b/"],
    ["//a//b", "/a//b"],
    ["/a%2Fb%3Fc%23d%20é%25", "/a/b%3Fc%23d%20%C3%A9%25"],
    ["/../x", "/../x"],
  ] as const)
    assert.equal(subpath(path), expected, path);
  assert.equal(encodedPath("/a:b/c=d/\ud800"), "/a:b/c=d/%EF%BF%BD");
});

test("a query has a limited number of parameters", () => {
  const info = (count: number) => requestInfo({ method: "GET", path: `/version?${"a&".repeat(count - 1)}a` });
  assert.equal(info(10_000).query.size, 10_000);
  assert.throws(() => info(10_001), /has 10001 parameters: send 10000 or fewer/);
});
