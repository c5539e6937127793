import { performServerHandshake, type ServerHttp2Stream } from "node:http2";
import type { Process } from "@konverge/cluster";
import { flagsOf, forEver } from "./serve.ts";

const [SERVING, NOT_SERVING] = [1, 2];

/** `agnhost grpc-health-checking`: the health service of gRPC, which may turn ill after a while. */
export async function grpcHealth(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const delay = Number(flags.get("delay-unhealthy-sec") ?? -1) * 1000;
  const started = process.clock.monotonic();
  process.network.listen(Number(flags.get("port") ?? 5000), (connection) => {
    const session = performServerHandshake(connection as never);
    session.on("error", () => connection.destroy());
    session.on("stream", (stream) => {
      const isIll = delay >= 0 && process.clock.monotonic() - started >= delay;
      answer(stream, isIll ? NOT_SERVING : SERVING);
    });
  });
  return forEver(process);
}

function answer(stream: ServerHttp2Stream, status: number): void {
  stream.on("error", () => {});
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  // A message: not compressed, two bytes long, field 1 is the status.
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]));
}
