// Keep something going for as long as an object is there: one daemon for each object, wherever it runs.
import { controller, defineKind, z } from "konverge";

export const Feed = defineKind({
  group: "examples.konverge.dev",
  kind: "Feed",
  versions: {
    v1: {
      spec: z.object({ channel: z.string() }),
      status: z.object({ channel: z.string().optional(), latest: z.int().optional() }),
    },
  },
});

/** Stands for something that is followed: a stream, a socket, a device. */
export interface Channels {
  messages(channel: string, signal: AbortSignal): AsyncIterable<number>;
}

export function feeds(channels: Channels) {
  // What a daemon has seen is no state to rely on: it is lost in a restart, and then seen again.
  const latest = new Map<string, number>();
  return controller(Feed, {
    daemons: {
      follow: {
        // A new channel needs a new daemon; any other change leaves this one alone.
        basis: ({ spec }) => spec.channel,
        async run({ metadata, spec }, { signal, requeue }) {
          for await (const message of channels.messages(spec.channel, signal)) {
            latest.set(metadata.uid ?? "", message);
            // What shall be is still the reconciler's to say.
            requeue();
          }
        },
      },
    },
    reconcile: ({ metadata, spec }) => ({ status: { channel: spec.channel, latest: latest.get(metadata.uid ?? "") } }),
  });
}
