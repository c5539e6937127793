// Stands where envtest expects etcd: the embedded API server keeps its own state, so this only says that it is well.
// Importing node:http would load all that it exports, which takes longer than all the rest.
const { createServer } = process.getBuiltinModule("node:http");

// envtest reads the flags that this etcd knows from its help before it starts it.
if (process.argv.includes("--help")) {
  console.log(
    "Usage:\n  etcd [flags]\n\n  --listen-client-urls 'http://localhost:2379'\n  --data-dir 'default.etcd'\n  --unsafe-no-fsync 'false'",
  );
  process.exit(0);
}

const flag = process.argv.find((argument) => argument.startsWith("--listen-client-urls="));
const url = new URL(flag ? flag.slice("--listen-client-urls=".length).split(",")[0] : "http://127.0.0.1:2379");
const server = createServer((_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end('{"health":"true","reason":""}');
});
server.listen(Number(url.port), url.hostname);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
