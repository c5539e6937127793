import { existsSync, readFileSync } from "node:fs";

/** A request as the server saw it. */
export interface AuditedRequest {
  verb: string;
  uri: string;
  userAgent: string;
  code: number;
  received: number;
  answered: number;
}

/** The requests in a kube-apiserver's audit log (level Metadata) that have been answered, in the order of their arrival. */
export function readAuditLog(file: string): AuditedRequest[] {
  if (!existsSync(file)) return [];
  const requests: AuditedRequest[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "") continue;
    const event = JSON.parse(line) as {
      stage: string;
      verb: string;
      requestURI: string;
      userAgent?: string;
      responseStatus?: { code: number };
      requestReceivedTimestamp: string;
      stageTimestamp: string;
    };
    if (event.stage !== "ResponseComplete" && !(event.stage === "ResponseStarted" && event.verb === "watch")) continue;
    requests.push({
      verb: event.verb,
      uri: event.requestURI,
      userAgent: event.userAgent ?? "",
      code: event.responseStatus?.code ?? 0,
      received: micros(event.requestReceivedTimestamp),
      answered: micros(event.stageTimestamp),
    });
  }
  return requests.sort((a, b) => a.received - b.received);
}

const micros = (time: string) => Date.parse(time) * 1000 + Number(time.slice(-4, -1));
