import type { Process } from "@konverge/cluster";
import { sleep } from "@konverge/core";
import { bodyOf, flagsOf, forEver, serveHttp } from "./serve.ts";

interface Reviewed {
  metadata?: { name?: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec?: { containers?: { name: string }[] };
  stdin?: boolean;
  container?: string;
}

interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; name?: string; operation: string; object: Reviewed | null; oldObject: Reviewed | null };
}

interface Verdict {
  allowed: boolean;
  status?: { message?: string; reason?: string };
  patch?: readonly unknown[];
}

type Judge = (review: Review["request"]) => Verdict | Promise<Verdict>;

const UNWANTED = "webhook-disallow";
const MARK = "webhook-e2e-test";

/** `agnhost webhook`: the webhooks that admission is tried with. */
export async function webhook(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const judges: Record<string, Judge> = {
    "/always-allow-delay-5s": async () => {
      await sleep(process.clock, 5000, { signal: process.signal });
      return { allowed: true, status: { message: "this webhook allows all requests" } };
    },
    "/always-deny": () => ({ allowed: false, status: { message: "this webhook denies all requests" } }),
    "/add-label": ({ object }) => addLabel(object?.metadata?.labels ?? {}),
    "/pods": ({ object }) =>
      object?.metadata?.labels?.[MARK] === "wait-forever" ? forEver(process) : admitPod(object ?? {}),
    "/pods/attach": ({ name, object }) =>
      name === "to-be-attached-pod" && object?.stdin && object.container === "container1"
        ? { allowed: false, status: { message: "attaching to pod 'to-be-attached-pod' is not allowed" } }
        : { allowed: true },
    "/mutating-pods": ({ object }) =>
      object?.metadata?.name === "webhook-to-be-mutated"
        ? { allowed: true, patch: [{ op: "add", path: "/spec/initContainers", value: [ADDED] }] }
        : { allowed: true },
    "/configmaps": (request) => admitData(request, "configmap"),
    "/custom-resource": (request) => admitData(request, "custom resource"),
    "/mutating-configmaps": ({ object }) => mutateData(object?.data ?? {}),
    "/mutating-custom-resource": ({ object }) => mutateData(object?.data ?? {}),
    "/crd": ({ object }) =>
      object?.metadata?.labels?.[MARK] === UNWANTED
        ? { allowed: false, status: { message: "the crd contains unwanted label" } }
        : { allowed: true },
  };
  serveReviews(process, flags, (path, review) => {
    const judge = judges[path];
    return judge && answerTo(review as Review, judge);
  });
  return forEver(process);
}

const ADDED = { image: "webhook-added-image", name: "webhook-added-init-container", resources: {} };

/** Serves reviews over TLS with the certificate of the command line. */
export function serveReviews(
  process: Process,
  flags: ReadonlyMap<string, string>,
  answer: (path: string, review: unknown) => Promise<unknown> | undefined,
): void {
  const read = (flag: string) => process.files.readText(flags.get(flag) ?? "");
  const certificate = { cert: read("tls-cert-file"), key: read("tls-private-key-file") };
  serveHttp(
    process,
    Number(flags.get("port") ?? 443),
    (request, response) => {
      const { pathname } = new URL(request.url ?? "/", "https://pod");
      if (pathname === "/readyz") {
        response.end("ok");
        return;
      }
      void (async () => {
        const answered = await answer(pathname, JSON.parse(await bodyOf(request)));
        if (answered === undefined) response.writeHead(404).end();
        else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answered));
      })().catch((error: unknown) => response.writeHead(500).end(String(error)));
    },
    certificate,
  );
}

async function answerTo({ apiVersion, kind, request }: Review, judge: Judge): Promise<unknown> {
  const { allowed, status, patch } = await judge(request);
  const encoded = patch && { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  return { apiVersion, kind, response: { uid: request.uid, allowed, ...(status && { status }), ...encoded } };
}

function addLabel(labels: Record<string, string>): Verdict {
  if (Object.keys(labels).length === 0)
    return { allowed: true, patch: [{ op: "add", path: "/metadata/labels", value: { "added-label": "yes" } }] };
  if (labels["added-label"] === "yes") return { allowed: true };
  const op = labels["added-label"] === undefined ? "add" : "replace";
  return { allowed: true, patch: [{ op, path: "/metadata/labels/added-label", value: "yes" }] };
}

function admitPod({ metadata, spec }: Reviewed): Verdict {
  const problems: string[] = [];
  if (metadata?.labels?.[MARK] === UNWANTED) problems.push("the pod contains unwanted label;");
  for (const { name } of spec?.containers ?? [])
    if (name.includes(UNWANTED)) problems.push("the pod contains unwanted container name;");
  return problems.length === 0 ? { allowed: true } : { allowed: false, status: { message: problems.join(" ") } };
}

function admitData({ operation, object, oldObject }: Review["request"], what: string): Verdict {
  const mark = (operation === "DELETE" ? oldObject : object)?.data?.[MARK];
  if (mark === UNWANTED && operation !== "DELETE") {
    const content = what === "configmap" ? "key and value" : "data";
    return { allowed: false, status: { reason: `the ${what} contains unwanted ${content}` } };
  }
  if (mark === "webhook-nondeletable" && operation === "DELETE") {
    const reason = `the ${what} cannot be deleted because it contains unwanted key and value`;
    return { allowed: false, status: { reason } };
  }
  return { allowed: true };
}

function mutateData(data: Record<string, string>): Verdict {
  const stage = data["mutation-stage-1"] === "yes" ? 2 : data["mutation-start"] === "yes" ? 1 : undefined;
  if (stage === undefined) return { allowed: true };
  return { allowed: true, patch: [{ op: "add", path: `/data/mutation-stage-${stage}`, value: "yes" }] };
}
