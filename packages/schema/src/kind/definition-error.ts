/**
 * A definition contains something that a CustomResourceDefinition cannot express. It is thrown when the kind is
 * defined, not when the CRD is installed.
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

  /** Calls `read`; errors in it name the place: `defineKind("LLMModel") at v1`. */
  static at<R>(place: string, read: () => R): R {
    try {
      return read();
    } catch (error) {
      throw error instanceof DefinitionError ? new DefinitionError(error.path, error.#problem, place) : error;
    }
  }
}
