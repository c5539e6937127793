// What a container runs in the tests: it prints what it was given, listens, and ends as its arguments say.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import { join } from "node:path";

const [mode] = process.argv.slice(2);
const account = process.env.KONVERGE_SERVICE_ACCOUNT;

if (mode === "tell") {
  console.log(`args ${process.argv.slice(2).join(" ")}`);
  console.log(`env ${process.env.COLOUR}`);
  console.log(`file ${readFileSync(join(process.env.KONVERGE_ROOT, "/etc/settings/mode"), "utf8")}`);
  writeFileSync(join(process.env.KONVERGE_ROOT, "/scratch/note"), "kept for this run");
  console.error("to stderr");
  process.exit(7);
}

if (mode === "environment") {
  console.log(JSON.stringify({ ...process.env, "kubeconfig text": readFileSync(process.env.KUBECONFIG, "utf8") }));
}

if (mode === "who") {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const outgoing = request(
    {
      host: process.env.KUBERNETES_SERVICE_HOST,
      port: process.env.KUBERNETES_SERVICE_PORT,
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      method: "POST",
      ca: readFileSync(join(account, "ca.crt")),
      headers: {
        authorization: `Bearer ${readFileSync(join(account, "token"), "utf8")}`,
        "content-type": "application/json",
      },
    },
    async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      console.log(JSON.parse(text).status.userInfo.username);
      console.log(readFileSync(join(account, "namespace"), "utf8"));
    },
  );
  outgoing.end(body);
}

if (mode === "serve") {
  const server = createServer((incoming, response) => response.end(`you asked ${incoming.url}\n`));
  server.listen(Number(process.env.KONVERGE_PORT_8080), "127.0.0.1", () => console.log("listening"));
  process.on("SIGTERM", () => {
    console.log("going");
    server.close(() => process.exit(3));
    server.closeAllConnections();
  });
}

if (mode === "stubborn") {
  process.on("SIGTERM", () => console.log("not yet"));
  console.log("here to stay");
  setInterval(() => {}, 1000);
}
