import { kubectlFolder, playOnEmbedded, type RealStages } from "@konverge/operator-suite";
import type { Scenario } from "@konverge/testing";
import type { Case, ChecklistDocument, Story } from "./form.ts";

/** How a line went, in one place. */
export interface LineResult {
  readonly document: string;
  readonly line: string;
  readonly title: string;
  readonly where: "embedded" | "real";
  readonly result: "passed" | "failed" | "skipped";
  /** With how many names and values it passed, what went wrong, or why it was skipped. */
  readonly detail: string;
}

/** Where stories are played. */
export interface Places {
  readonly embedded: boolean;
  /** A real control plane, or why there is none. */
  readonly real: RealStages | { readonly why: string } | undefined;
}

/** Plays a story with each case of its document, on the embedded cluster and on the real one as far as there is one. */
export async function* playStory(
  document: ChecklistDocument,
  story: Story,
  places: Places,
): AsyncGenerator<LineResult> {
  const { where = "both" } = story;
  if (places.embedded && where !== "real") {
    const kubectl = story.kubectl ? kubectlFolder() : { folder: "" };
    if ("why" in kubectl) yield* skipped(document, story, "embedded", kubectl.why);
    else
      yield* everyCase(document, story, "embedded", (one, scenario) =>
        playOnEmbedded(scenario, optionsFor(story, one)),
      );
  }
  const { real } = places;
  if (real && where !== "embedded") {
    if ("why" in real) yield* skipped(document, story, "real", real.why);
    else yield* everyCase(document, story, "real", (one, scenario) => real.play(one.namespace, scenario));
  }
}

/** The documents' objects are applied as they are, with their images, in namespaces that enforce no Pod Security Standard. */
export const POD_SECURITY = "privileged";

function optionsFor({ kubectl = false }: Story, { namespace }: Case) {
  return { namespace, kubectl, podSecurity: POD_SECURITY, strictImages: false } as const;
}

async function* everyCase(
  document: ChecklistDocument,
  story: Story,
  where: LineResult["where"],
  play: (one: Case, scenario: Scenario) => Promise<void>,
): AsyncGenerator<LineResult> {
  const failures = new Map<string, string>();
  for (const [index, one] of document.cases.entries()) {
    const checked = new Set<string>();
    const fail = (number: string, error: unknown) => {
      const how = error instanceof Error ? error.message : String(error);
      if (!failures.has(number)) failures.set(number, `${index === 0 ? "" : `(with ${JSON.stringify(one)}) `}${how}`);
    };
    let end: unknown = new Error("the story ended before it came to this line");
    try {
      await play(one, (stage) =>
        story.play(stage, one, async (number, check) => {
          if (!(number in story.lines)) throw new Error(`${story.title}: ${number} is not among its lines`);
          checked.add(number);
          await check().catch((error: unknown) => fail(number, error));
        }),
      );
    } catch (error) {
      end = error;
    }
    for (const number of Object.keys(story.lines)) if (!checked.has(number)) fail(number, end);
  }
  for (const [number, title] of Object.entries(story.lines)) {
    const failure = failures.get(number);
    yield {
      document: document.id,
      line: number,
      title,
      where,
      result: failure === undefined ? "passed" : "failed",
      detail: failure ?? `${document.cases.length} ways`,
    };
  }
}

function* skipped(
  document: ChecklistDocument,
  story: Story,
  where: LineResult["where"],
  why: string,
): Generator<LineResult> {
  for (const [number, title] of Object.entries(story.lines)) {
    yield { document: document.id, line: number, title, where, result: "skipped", detail: why };
  }
}
