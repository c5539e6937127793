import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { after, before, test } from "node:test";
import { type Cluster, startCluster } from "@konverge/cluster";
import { type Console, startConsole } from "./console.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

let cluster: Cluster;
let served: Console;
let readOnly: Console;

before(async () => {
  cluster = await startCluster();
  served = await startConsole({ client: cluster.client, title: "test" });
  readOnly = await startConsole({ client: cluster.client, title: "test", readOnly: true });
});

after(async () => {
  await served.close();
  await readOnly.close();
  await cluster.stop();
});

/** `fetch` sets Host and Origin itself, which is what is tested here. */
function send(
  target: Console,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = "GET", headers = {}, body } = options;
    const request = httpRequest({ host: "127.0.0.1", port: target.port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function cookieOf(target: Console): Promise<string> {
  const { pathname, search } = new URL(target.url);
  const { headers } = await send(target, pathname + search);
  return String(headers["set-cookie"]).split(";")[0]!;
}

test("without the token of the link every request is refused with 401", async () => {
  for (const path of ["/", "/?token=wrong", "/console.js", "/console/stream", "/console/state", "/k8s/api/v1/pods"]) {
    const { status, body, headers } = await send(served, path);
    assert.equal(status, 401, path);
    assert.match(body, /open the link that the command printed/);
    assert.equal(headers["set-cookie"], undefined);
  }
  for (const path of ["/console/controls", "/console/exec", "/console/forward"]) {
    assert.equal((await send(served, path, { method: "POST", body: "{}" })).status, 401, path);
  }
});

test("the link sets a cookie that scripts and other sites cannot use, and leads to an address without the token", async () => {
  const { pathname, search } = new URL(served.url);
  const { status, headers } = await send(served, pathname + search);
  assert.equal(status, 303);
  assert.equal(headers["location"], "/");
  assert.match(String(headers["set-cookie"]), /; HttpOnly; SameSite=Strict$/);
  assert.doesNotMatch(String(headers["set-cookie"]), new RegExp(search.slice("?token=".length)));
});

test("the page has a policy by which only its own script runs and nothing is loaded from elsewhere", async () => {
  const cookie = await cookieOf(served);
  const { status, headers, body } = await send(served, "/", { headers: { cookie } });
  assert.equal(status, 200);
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.doesNotMatch(body, /<script(?! type="module" src="\/)|https?:\/\/|<style/);
  const script = await send(served, "/console.js", { headers: { cookie } });
  assert.match(String(script.headers["content-type"]), /^text\/javascript/);
});

test("a name that resolves to this machine but is not its own is refused, cookie or not", async () => {
  const cookie = await cookieOf(served);
  for (const host of ["evil.example", `evil.example:${served.port}`, "127.0.0.1", `127.0.0.1.nip.io:${served.port}`]) {
    const { status } = await send(served, "/console/state", { headers: { cookie, host } });
    assert.equal(status, 403, host);
  }
  const { search } = new URL(served.url);
  const { status } = await send(served, `/${search}`, { headers: { host: `evil.example:${served.port}` } });
  assert.equal(status, 403);
});

test("requests of pages of other origins are refused, also of other ports of this machine", async () => {
  const cookie = await cookieOf(served);
  const write = { method: "POST", body: "{}" };
  for (const origin of ["https://evil.example", "http://127.0.0.1:1", "null", `https://127.0.0.1:${served.port}`]) {
    const { status } = await send(served, "/k8s/api/v1/namespaces", { ...write, headers: { cookie, origin } });
    assert.equal(status, 403, origin);
    for (const path of ["/console/controls", "/console/exec", "/console/forward"])
      assert.equal((await send(served, path, { ...write, headers: { cookie, origin } })).status, 403, origin);
  }
  for (const site of ["cross-site", "same-site"]) {
    const { status } = await send(served, "/console/state", { headers: { cookie, "sec-fetch-site": site } });
    assert.equal(status, 403, site);
    // A link opens the page, and nothing else.
    const link = { cookie, "sec-fetch-site": site, "sec-fetch-dest": "document" };
    assert.equal((await send(served, "/", { headers: link })).status, 200, site);
    assert.equal((await send(served, "/console/state", { headers: link })).status, 403, site);
    assert.equal((await send(served, "/", { headers: { ...link, "sec-fetch-dest": "iframe" } })).status, 403, site);
  }
  const origin = `http://127.0.0.1:${served.port}`;
  const { status } = await send(served, "/k8s/version", {
    headers: { cookie, origin, "sec-fetch-site": "same-origin" },
  });
  assert.equal(status, 200);
});

test("a read-only console refuses what writes, dry runs included, and answers what the user may do", async () => {
  const cookie = await cookieOf(readOnly);
  const json = { cookie, "content-type": "application/json" };
  const namespace = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "made" } });
  for (const [method, path] of [
    ["POST", "/k8s/api/v1/namespaces"],
    ["POST", "/k8s/api/v1/namespaces?dryRun=All"],
    ["POST", "/console/exec"],
    ["POST", "/console/controls"],
    ["POST", "/console/forward"],
    ["DELETE", "/k8s/api/v1/namespaces/default"],
  ] as const) {
    const { status, body } = await send(readOnly, path, {
      method,
      headers: json,
      ...(method === "POST" && { body: namespace }),
    });
    assert.equal(status, 403, `${method} ${path}`);
    assert.match(body, /the console is read-only/);
  }
  const review = JSON.stringify({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb: "get", resource: "pods" } },
  });
  const path = "/k8s/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const { status } = await send(readOnly, path, { method: "POST", headers: json, body: review });
  assert.equal(status, 200);
});

test("what pods and Services answer is not served from the console's origin", async () => {
  const cookie = await cookieOf(served);
  for (const path of [
    "/k8s/api/v1/namespaces/default/pods/web/proxy/",
    "/k8s/api/v1/namespaces/default/services/web/proxy",
    "/k8s/api/v1/namespaces/default/pods/web/%70roxy/x",
    "/k8s/api/v1/nodes/node-1/proxy/logs",
    "/k8s/logs/",
    "/k8s/api/../metrics",
    "/k8s/api/v1/namespaces/default/pods//web/proxy/",
    "/k8s//api/v1/namespaces/default/pods/web/proxy/",
    "/k8s//127.0.0.1:1/api/v1/namespaces/default/pods/web/proxy/",
    "/k8s/api/v1/namespaces/default/pods/web%2Fproxy%2Fx",
    "/k8s/api/v1/namespaces/default/pods%2fweb%2fproxy",
    "/k8s/api/v1/namespaces/default/pods/./web/proxy",
    "/k8s/api/v1/namespaces/default/x/../pods/web/proxy",
    "/k8s/api/v1/namespaces/default/x/%2e%2e/pods/web/proxy",
    "/k8s/api/v1/proxy/namespaces/default/pods/web/x",
    "/k8s/api/v1/namespaces/default/pods/%zz/proxy",
    "/k8s/apis/example.com/v1/namespaces/default/things/one/proxy/x",
  ]) {
    for (const target of [served, readOnly]) {
      const { status } = await send(target, path, { headers: { cookie: await cookieOf(target) } });
      assert.equal(status, 403, path);
    }
  }
  assert.equal((await send(served, "/k8s/api/v1/namespaces/proxy/pods", { headers: { cookie } })).status, 200);
});

test("a read-only console reaches no pod, whatever the path and however it is written", async () => {
  const cookie = await cookieOf(readOnly);
  for (const part of ["exec", "attach", "portforward", "proxy", "proxy/x", "%65xec", "exec/"]) {
    const { status } = await send(readOnly, `/k8s/api/v1/namespaces/default/pods/web/${part}`, { headers: { cookie } });
    assert.equal(status, 403, part);
  }
  for (const pod of ["web/proxy/x", "web%2Fproxy%2Fx", "..", "web%252Fproxy"]) {
    const { status, body } = await send(readOnly, `/console/logs?namespace=default&pod=${pod}`, {
      headers: { cookie },
    });
    assert.equal(status, 400, pod);
    assert.match(body, /invalid resource name/, pod);
  }
});

test("the page cannot ask for watches, which would stay open, in any way of writing them", async () => {
  const cookie = await cookieOf(served);
  for (const query of [
    "watch=1",
    "%77atch=1",
    "wat%63h=true",
    "limit=1&watch",
    "a=%26watch=0&watch=true",
    "f%6Fllow=1",
  ]) {
    const { status } = await send(served, `/k8s/api/v1/pods?${query}`, { headers: { cookie } });
    assert.equal(status, 400, query);
  }
  for (const path of [
    "/api/v1/watch/pods",
    "/api/v1/w%61tch/pods",
    "/apis/apps/v1/watch/namespaces/default/deployments",
  ]) {
    const { status } = await send(served, `/k8s${path}`, { headers: { cookie } });
    assert.equal(status, 403, path);
  }
  assert.equal((await send(served, "/k8s/api/v1/pods?labelSelector=watch%3D1", { headers: { cookie } })).status, 200);
});

test("a body that is no JSON object is a bad request, with what is expected", async () => {
  const cookie = await cookieOf(served);
  for (const path of ["/console/exec", "/console/forward"]) {
    for (const text of ["null", "[]", "1", '"x"', "{"]) {
      const { status, body } = await send(served, path, { method: "POST", headers: { cookie }, body: text });
      assert.equal(status, 400, `${path} ${text}`);
      assert.match(body, /the body is a JSON object|JSON at position/);
    }
  }
});

test("a path that is no URL is refused without the token as any other", async () => {
  for (const path of ["//", "///", "//[", "/\\", "//?token=x", "/%zz?token=%zz", "http://[/"]) {
    const { status } = await send(served, path);
    assert.equal(status, 401, path);
  }
  const cookie = await cookieOf(served);
  assert.equal((await send(served, "//", { headers: { cookie } })).status, 404);
});

test("the API server's refusal reaches the page word for word", async () => {
  const cookie = await cookieOf(served);
  const { status, body, headers } = await send(served, "/k8s/api/v1/namespaces/default/pods/absent", {
    headers: { cookie },
  });
  assert.equal(status, 404);
  assert.equal((JSON.parse(body) as { message: string }).message, 'pods "absent" not found');
  assert.match(String(headers["content-type"]), /^application\/json/);
});
