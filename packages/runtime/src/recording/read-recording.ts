import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseJson } from "@konverge/core";
import { HEADER, type RecordedReconcile, type RecordingHeader } from "./recording.ts";

/** The reconciles in a recording, one after the other. An incomplete last line is skipped. */
export async function* readRecording(file: string): AsyncGenerator<RecordedReconcile, void, void> {
  const lines = createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  let broken: string | undefined;
  for await (const line of lines) {
    number++;
    if (broken) throw new SyntaxError(broken);
    if (line === "") continue;
    let value: RecordedReconcile | RecordingHeader;
    try {
      value = parseJson(line) as RecordedReconcile | RecordingHeader;
    } catch {
      broken = `${file}:${number} is not a line of a recording`;
      continue;
    }
    if ("konverge" in value) checkVersion(file, value);
    else yield value;
  }
  if (broken && number === 1) throw new SyntaxError(broken);
}

function checkVersion(file: string, { version }: RecordingHeader): void {
  if (version === HEADER.version) return;
  throw new Error(`${file} is a recording of version ${version}, and this program reads version ${HEADER.version}`);
}
