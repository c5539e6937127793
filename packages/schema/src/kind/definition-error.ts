/**
 * A definition says something that a CustomResourceDefinition cannot express. Thrown while the definition is read, so
 * that it is a mistake in the program and never a rejection by a server.
 */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
  readonly code = "KONVERGE_DEFINITION";
  /** Where in the definition: `spec.replicas`. */
  readonly path: string;
  readonly #problem: string;

  constructor(path: string, problem: string, place?: string) {
    super(`${path}: ${problem}${place === undefined ? "" : `; in ${place}`}`);
    this.path = path;
    this.#problem = problem;
  }

  /** Reads a part of a definition: errors in it name the place, `defineKind("LLMModel") at v1`. */
  static at<R>(place: string, read: () => R): R {
    try {
      return read();
    } catch (error) {
      throw error instanceof DefinitionError ? new DefinitionError(error.path, error.#problem, place) : error;
    }
  }
}
