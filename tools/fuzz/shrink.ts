import type { FuzzRequest } from "./requests.ts";

const MOST_TRIES = 200;

/** A smaller request that still fails. Each try sends one; `fails` says whether it did. */
export async function shrink(
  request: FuzzRequest,
  fails: (candidate: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest> {
  let [best, tries] = [request, 0];
  const attempt = async (candidate: FuzzRequest) => {
    if (tries++ >= MOST_TRIES || !(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  if (best.framing !== "length") await attempt({ ...best, framing: "length" });
  if (best.body.length > 0) await attempt({ ...best, body: Buffer.alloc(0) });
  for (const header of best.headers) {
    await attempt({ ...best, headers: best.headers.filter((one) => one !== header) });
  }
  for (const parameter of best.target.split("?")[1]?.split("&") ?? []) {
    const [path, query = ""] = best.target.split("?");
    const left = query.split("&").filter((one) => one !== parameter);
    await attempt({ ...best, target: left.length > 0 ? `${path}?${left.join("&")}` : path! });
  }
  await shrinkJson(best, attempt);
  await shrinkBytes(() => best, attempt);
  return best;
}

/** Leaves out members of the JSON in a body, the outer ones first. */
async function shrinkJson(request: FuzzRequest, attempt: (candidate: FuzzRequest) => Promise<boolean>): Promise<void> {
  let value: unknown;
  try {
    value = JSON.parse(request.body.toString());
  } catch {
    return;
  }
  const works = (candidate: unknown) => attempt({ ...request, body: Buffer.from(JSON.stringify(candidate)) });
  // Numbers and duplicate names do not survive: then the bytes are all there is to shrink.
  if (!(await works(value))) return;
  const visit = async (path: readonly (string | number)[]): Promise<void> => {
    const here = path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)?.[step], value);
    if (here === null || typeof here !== "object") return;
    const steps = Array.isArray(here) ? here.map((_, i) => i).reverse() : Object.keys(here);
    for (const step of steps) {
      const smaller = without(value, [...path, step]);
      if (await works(smaller)) value = smaller;
      else await visit([...path, step]);
    }
  };
  await visit([]);
}

function without(value: unknown, [step, ...rest]: readonly (string | number)[]): unknown {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >;
  if (rest.length > 0) copy[step!] = without(copy[step!], rest);
  else if (Array.isArray(copy)) copy.splice(step as number, 1);
  else delete copy[step!];
  return copy;
}

/** Leaves out ever smaller pieces of a body. */
async function shrinkBytes(
  best: () => FuzzRequest,
  attempt: (candidate: FuzzRequest) => Promise<boolean>,
): Promise<void> {
  for (let size = best().body.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < best().body.length; ) {
      const { body } = best();
      const smaller = Buffer.concat([body.subarray(0, at), body.subarray(at + size)]);
      if (!(await attempt({ ...best(), body: smaller }))) at += size;
    }
  }
}

/** A request as a person can repeat it. */
export function requestText({ protocol, method, target, headers, body, framing }: FuzzRequest): string {
  const shown = body.toString("utf8");
  const isText = Buffer.from(shown).equals(body) && !/\p{Cc}/u.test(shown.replaceAll(/\s/g, ""));
  const content = isText ? shown : `base64 ${body.toString("base64")}`;
  const cut = content.length > 2000 ? `${content.slice(0, 2000)}… (${body.length} bytes)` : content;
  const lines = [`${method} ${target}`, ...headers.map(([name, value]) => `${name}: ${value.slice(0, 200)}`)];
  if (body.length > 0) lines.push(`body, ${framing}: ${cut}`);
  return lines.map((line, i) => (i === 0 ? `${protocol} ${line}` : `  ${line}`)).join("\n");
}
