import type { Random } from "@konverge/core";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];
const END_STREAM = 1;
const END_HEADERS = 4;

function frame(type: number, flags: number, stream: number, payload: Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

const word = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

/** A header in HPACK, as a literal that no table keeps. */
function literal(name: string, value: string): Buffer {
  const text = (one: string) => {
    const bytes = Buffer.from(one, "latin1");
    const length = bytes.length < 127 ? [bytes.length] : [127, ...continued(bytes.length - 127)];
    return Buffer.concat([Buffer.from(length), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function continued(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}

function head(path: string, extra: readonly (readonly [string, string])[] = []): Buffer {
  const pseudo = [
    [":method", "GET"],
    [":scheme", "https"],
    [":authority", "localhost"],
    [":path", path],
  ] as const;
  return Buffer.concat([...pseudo, ...extra].map(([name, value]) => literal(name, value)));
}

/** A connection of HTTP/2 with frames that are wrong, too many, or nothing but a burden. */
export function badFrames(random: Random): Buffer[] {
  const many = 2 ** random.below(11);
  const noise = Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256)));
  const open = (stream: number, path = "/healthz", flags = END_STREAM | END_HEADERS) =>
    frame(HEADERS!, flags, stream, head(path));
  const each = (make: (i: number) => Buffer) => Buffer.concat(Array.from({ length: many }, (_, i) => make(i)));
  const body: Buffer = random.pick([
    () => frame(random.below(20), random.below(256), random.below(5), noise),
    () => frame(random.below(12), random.below(256), random.below(5), noise, random.below(2 ** 24)),
    () => frame(DATA!, 0, 0, noise),
    () => frame(HEADERS!, END_HEADERS, 1, noise),
    () => frame(HEADERS!, END_HEADERS, 2, head("/")),
    () =>
      Buffer.concat([
        open(1, "/api/v1/pods", 0),
        each(() => frame(CONTINUATION!, 0, 1, literal("x", "y".repeat(100)))),
      ]),
    () => each((i) => Buffer.concat([open(2 * i + 1, "/api/v1/pods"), frame(RST_STREAM!, 0, 2 * i + 1, word(8))])),
    () => each((i) => open(2 * i + 1, "/api/v1/pods?watch=1")),
    () =>
      Buffer.concat([
        frame(SETTINGS!, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
        each((i) => open(2 * i + 1, "/openapi/v2")),
      ]),
    () => each(() => frame(SETTINGS!, 0, 0, Buffer.from([0, 3, 0, 0, 0, 1]))),
    () => each(() => frame(PING!, 0, 0, Buffer.alloc(8))),
    () => each((i) => frame(PRIORITY!, 0, i + 1, Buffer.concat([word(i + 1), Buffer.from([255])]))),
    () => each(() => frame(DATA!, 0, 1, Buffer.alloc(0))),
    () =>
      Buffer.concat([
        open(1, "/", END_HEADERS),
        frame(WINDOW_UPDATE!, 0, 1, word(0)),
        frame(WINDOW_UPDATE!, 0, 0, word(2 ** 31 - 1)),
      ]),
    () => Buffer.concat([open(1), frame(PUSH!, END_HEADERS, 1, Buffer.concat([word(2), head("/")])), open(1)]),
    () => Buffer.concat([open(3), open(1), frame(GOAWAY!, 0, 0, Buffer.concat([word(0), word(99)])), open(5)]),
    () =>
      frame(
        HEADERS!,
        END_HEADERS | END_STREAM,
        1,
        head("/", [
          ["Upper", "x"],
          ["connection", "close"],
          [":path", "/2"],
          ["te", "x"],
        ]),
      ),
    () =>
      frame(
        HEADERS!,
        END_HEADERS | END_STREAM,
        1,
        head("no-slash", [
          ["content-length", "5"],
          ["a\nb", "c\r\nd"],
        ]),
      ),
    () =>
      frame(
        HEADERS!,
        END_HEADERS | END_STREAM,
        1,
        Buffer.concat(Array.from({ length: many }, () => literal("cookie", "x".repeat(30)))),
      ),
  ])();
  const preface = random.below(10) === 0 ? PREFACE.subarray(0, random.below(PREFACE.length)) : PREFACE;
  const settings = random.below(10) === 0 ? Buffer.alloc(0) : frame(SETTINGS!, 0, 0, Buffer.alloc(0));
  return [Buffer.concat([preface, settings]), body];
}
