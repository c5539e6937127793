/** The client's transport over the network. It loads an HTTP client, which importing the client does not. */
export { type SocketTransport, socketTransport } from "./socket-transport.ts";
