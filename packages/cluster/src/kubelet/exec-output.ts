import { noInput, type Streams } from "../userland/process.ts";

/** As much of the output of a probe or hook as a kubelet keeps, in characters. */
const LONGEST = 10 * 1024;

/** Takes what a command writes, and keeps the beginning of it. */
export class ExecOutput implements Streams {
  readonly stdin = noInput();
  text = "";

  readonly stdout = (data: string | Uint8Array): void => {
    const room = LONGEST - this.text.length;
    if (room > 0) this.text += (typeof data === "string" ? data : Buffer.from(data).toString("utf8")).slice(0, room);
  };

  readonly stderr = this.stdout;
}
