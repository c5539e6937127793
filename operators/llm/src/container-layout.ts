/** The port on which servers answer, and its name in pods and Services. */
export const PORT = { name: "http", containerPort: 8000 } as const;

/** The folder of the user whom servers run as. */
export const HOME = "/home/model";
/** Where downloads are kept. */
export const CACHE_FOLDER = `${HOME}/.cache/huggingface`;
/** The variable in which clients of Hugging Face expect a token. */
export const HF_TOKEN = "HF_TOKEN";
