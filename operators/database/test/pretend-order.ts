/** The topology as pods read it. */
export interface Order {
  readonly term: number;
  readonly primary: string;
  readonly upstream: string;
  readonly members: readonly string[];
  readonly synchronous: number;
  readonly fresh: boolean;
  readonly checkpoint: string;
  readonly restart: string;
  readonly fenced: readonly string[];
  readonly source: string;
}

/** Reads the file of the topology as `server.sh` does. */
export function parsedOrder(text: string): Order | undefined {
  const field = (name: string) => new RegExp(`^${name}='?([^'\n]*)'?$`, "m").exec(text)?.[1] ?? "";
  if (!field("term")) return undefined;
  return {
    term: Number(field("term")),
    primary: field("primary"),
    upstream: field("upstream"),
    members: field("members")
      .split(" ")
      .map((member) => member.split("=")[0]!),
    synchronous: Number(field("synchronous")),
    fresh: field("fresh") === "yes",
    checkpoint: field("checkpoint"),
    restart: field("restart"),
    fenced: field("fenced").split(" "),
    source: field("source"),
  };
}
