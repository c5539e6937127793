/** The default name of the image: a container of it runs `konverge`. */
export const DEFAULT_IMAGE = "konverge/operators:0.1.0";

/** The default namespace of operators. */
export const DEFAULT_NAMESPACE = "default";
