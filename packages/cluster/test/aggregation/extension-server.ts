import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { createAuthority } from "@konverge/apiserver";
import { realClock } from "@konverge/core";

/** The group that the extension server serves. */
export const GROUP = "weather.example.com";

const DOCUMENTS: Record<string, object> = {
  [`/apis/${GROUP}/v1`]: {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: `${GROUP}/v1`,
    resources: [
      { name: "reports", singularName: "report", namespaced: true, kind: "Report", verbs: ["get", "list"] },
      { name: "reports/status", singularName: "", namespaced: true, kind: "Report", verbs: ["get"] },
    ],
  },
  "/openapi/v3": {
    paths: { [`apis/${GROUP}/v1`]: { serverRelativeURL: `/openapi/v3/apis/${GROUP}/v1?hash=1` } },
  },
  [`/openapi/v3/apis/${GROUP}/v1`]: { openapi: "3.0.0", info: { title: "weather", version: "1" }, paths: {} },
};

const REPORTS = {
  kind: "ReportList",
  apiVersion: `${GROUP}/v1`,
  metadata: {},
  items: [{ metadata: { name: "sunny" } }],
};

/** A request as the extension server received it. */
export interface ReceivedRequest {
  readonly url: string;
  /** The name in the client's certificate. */
  readonly proxy: string;
  readonly headers: IncomingHttpHeaders;
}

/** An API server of a few lines: it serves one group, to clients with a certificate that the given authority signed. */
export async function extensionServer(frontProxyCa?: string) {
  const authority = createAuthority(realClock(), { name: "extension-ca" });
  const { cert, key } = authority.server("extension", ["extension.default.svc"]);
  const requests: ReceivedRequest[] = [];
  const identified = frontProxyCa === undefined ? {} : { ca: frontProxyCa, requestCert: true };
  const server = createServer({ cert, key, ...identified }, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate() ?? {};
    requests.push({ url: request.url ?? "", proxy: String(subject?.CN), headers: request.headers });
    const path = request.url?.split("?")[0] ?? "";
    const answer = DOCUMENTS[path] ?? (path.endsWith("/reports") ? REPORTS : undefined);
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caBundle: Buffer.from(authority.cert).toString("base64"),
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
