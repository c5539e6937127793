/** The name that the image goes by where nobody gives another: a container of it runs `konverge`. */
export const DEFAULT_IMAGE = "konverge/operators:0.1.0";

/** Where operators run when nobody says where. */
export const DEFAULT_NAMESPACE = "default";
