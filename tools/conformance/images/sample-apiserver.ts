import { X509Certificate } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { ApiServer, requestInfo } from "@konverge/apiserver";
import type { Image, Process } from "@konverge/cluster";
import { type ApiRequest, type HeaderMap, headerOf, headerValues, readText, sleep } from "@konverge/core";
import { askAsAccount } from "./pod-account.ts";
import { bodyOf, flagsOf, forEver, serveHttp } from "./serve.ts";

const GROUP = "wardle.example.com";
const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const TRUSTED = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/**
 * The sample API server: Flunders of wardle.example.com, behind the aggregator. It believes only the front proxy that
 * the main server names, and lets the main server decide what a user may do.
 */
export const sampleApiServer: Image = {
  entrypoint: ["/sample-apiserver"],
  commands: {
    "/sample-apiserver": async (process) => {
      const flags = flagsOf(process.argv.slice(1));
      const read = (flag: string) => process.files.readText(flags.get(flag) ?? "");
      const proxy = await frontProxy(process);
      const server = await flunders(process);
      const answer = async (request: IncomingMessage, response: ServerResponse) => {
        const { status, headers = {}, text } = await answerTo(process, server, proxy, request);
        response.writeHead(status, headers as Record<string, string | string[]>).end(text);
      };
      serveHttp(
        process,
        443,
        (request, response) =>
          void answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error))),
        { cert: read("tls-cert-file"), key: read("tls-private-key-file"), clientCa: proxy.ca },
      );
      return forEver(process);
    },
  },
};

/** The authority that signs the certificates of the front proxy, and their allowed names. */
interface FrontProxy {
  readonly ca: string;
  readonly names: readonly string[];
}

/** Who hands requests on. The account may read it only after a while: its binding is made after the pod. */
async function frontProxy(process: Process): Promise<FrontProxy> {
  for (;;) {
    const { data } = (await askAsAccount<{ data: Record<string, string> }>(process, TRUSTED)) ?? {};
    const ca = data?.["requestheader-client-ca-file"];
    if (ca) return { ca, names: JSON.parse(data["requestheader-allowed-names"] ?? "[]") as string[] };
    await sleep(process.clock, 1000, { signal: process.signal, label: process.label });
  }
}

/** A server with one kind, which keeps its objects for as long as the process runs. Namespaces are the main server's. */
async function flunders({ clock, signal }: Process): Promise<ApiServer> {
  const server = new ApiServer({ clock, admission: { disable: ["NamespaceLifecycle"] } });
  signal.addEventListener("abort", () => server.close(), { once: true });
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const { status, body } = await server.transport({
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      metadata: { name: `flunders.${GROUP}` },
      spec: {
        group: GROUP,
        scope: "Namespaced",
        names: { plural: "flunders", singular: "flunder", kind: "Flunder", listKind: "FlunderList" },
        versions: [{ name: "v1alpha1", served: true, storage: true, schema }],
      },
    }),
  });
  if (status !== 201) throw new Error(`the definition of Flunders is refused: ${await readText(body)}`);
  return server;
}

interface Answer {
  readonly status: number;
  readonly headers?: HeaderMap;
  readonly text: string;
}

async function answerTo(
  process: Process,
  server: ApiServer,
  proxy: FrontProxy,
  incoming: IncomingMessage,
): Promise<Answer> {
  const { method = "GET", url: path = "/" } = incoming;
  if (path === "/readyz") return { status: 200, text: "ok" };
  if (!path.startsWith(`/apis/${GROUP}`)) return { status: 404, text: "404 page not found\n" };
  if (!isFrontProxy(incoming.socket as TLSSocket, proxy))
    return { status: 401, text: "only the front proxy may ask\n" };
  const body = await bodyOf(incoming);
  const request = { method, path, headers: incoming.headersDistinct as HeaderMap, ...(body && { body }) };
  if (!(await isAllowed(process, request))) return { status: 403, text: "the main server does not allow it\n" };
  const answer = await server.transport(request);
  return { status: answer.status, headers: answer.headers, text: await readText(answer.body) };
}

function isFrontProxy(socket: TLSSocket, { ca, names }: FrontProxy): boolean {
  const certificate = socket.getPeerX509Certificate();
  const authority = new X509Certificate(ca);
  if (!certificate?.checkIssued(authority) || !certificate.verify(authority.publicKey)) return false;
  return names.includes(String(certificate.toLegacyObject().subject.CN));
}

/** Asks the main server whether the user, in whose name the front proxy hands the request on, may do it. */
async function isAllowed(process: Process, request: ApiRequest): Promise<boolean> {
  const { verb, isResource, group, version, resource, namespace, name } = requestInfo(request);
  const [path = ""] = request.path.split("?");
  const what = isResource
    ? { resourceAttributes: { verb, group, version, resource, namespace, name } }
    : { nonResourceAttributes: { verb, path } };
  const user = headerOf(request.headers, "x-remote-user");
  const spec = { user, groups: headerValues(request.headers, "x-remote-group"), ...what };
  const review = await askAsAccount<{ status: { allowed: boolean } }>(process, REVIEWS, { spec });
  return review?.status.allowed === true;
}
