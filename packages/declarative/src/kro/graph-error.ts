/** A mistake in a ResourceGraphDefinition, and where it is. */
export interface GraphMistake {
  /** As in messages of API servers: `spec.resources[0].template.spec.replicas`. */
  readonly path: string;
  readonly message: string;
}

/** A ResourceGraphDefinition that cannot work, with everything that is wrong with it. */
export class GraphError extends Error {
  override readonly name = "GraphError";
  readonly mistakes: readonly GraphMistake[];

  constructor(mistakes: readonly GraphMistake[]) {
    super(mistakes.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.mistakes = mistakes;
  }
}
