import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";

/**
 * Ends a session whose client has vanished: one that has been silent for a while, and then does not answer a ping within as long.
 *
 * Node does not always see that a client has closed its connection: while it writes to one that leaves with many streams open, it
 * stops reading, and that write never ends. As with TCP's keep-alive, this is a matter of real time, whatever the clock says.
 */
export function endWhenDead(session: ServerHttp2Session, silence: number): void {
  // A session's own destroy() waits for that write, and Node hides the socket, except as what `on` returns.
  const socket: Socket = session.socket.on("error", () => {});
  let isAsked = false;
  session.setTimeout(silence);
  session.on("timeout", () => {
    // What has arrived in the meantime is read before this process, which may have been stopped itself, judges its client.
    if (isAsked) setImmediate(() => isAsked && socket.destroy());
    else {
      isAsked = true;
      session.ping((error) => {
        isAsked = error !== null;
      });
    }
    session.setTimeout(silence);
  });
}
