import type { Interference } from "./stage.ts";

/** Watches of these objects are cut off: nothing new is heard of them. */
export const deafTo =
  (plural: string): Interference =>
  async (request, next) => {
    const response = await next(request);
    if (!request.path.includes("watch=true") || !request.path.includes(plural)) return response;
    return { ...response, body: onlyTheListing(response.body as AsyncIterable<string | Uint8Array>) };
  };

async function* onlyTheListing(body: AsyncIterable<string | Uint8Array>) {
  let listed = false;
  for await (const chunk of body) {
    if (!listed) yield chunk;
    listed ||= String(chunk).includes("initial-events-end");
  }
}
