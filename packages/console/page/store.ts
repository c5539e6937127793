import { computed, signal } from "@preact/signals";
import type { Entry, EventEntry, Hello, ObjectSummary, Sample, StreamMessage } from "../src/protocol.ts";
import { clockTime } from "./format.ts";
import { byName } from "./references.ts";

/** More entries of a live cluster than these are not kept. */
const KEPT_ENTRIES = 20_000;
const KEPT_SAMPLES = 1800;

export const hello = signal<Hello | undefined>(undefined);
export const connected = signal(false);
/** The time that is shown, in milliseconds since 1970; undefined: the present. */
export const shownTime = signal<number | undefined>(undefined);

const present = new Map<string, ObjectSummary>();
const entryList: Entry[] = [];
const sampleList: Sample[] = [];
/** Lists and maps are changed in place; these numbers grow with each change. */
const objectVersion = signal(0);
const entryVersion = signal(0);
const sampleVersion = signal(0);
const past = signal<ReadonlyMap<string, ObjectSummary> | undefined>(undefined);

/** A time of the timeline: of the day, or since the start of an explored run. */
export function timeText(at: number): string {
  return hello.value?.mode === "exploration" ? `${(at / 1000).toFixed(3)} s` : clockTime(at);
}

/** All objects: as they are, or as they were at {@link shownTime}. */
export function objects(): ReadonlyMap<string, ObjectSummary> {
  objectVersion.value;
  return past.value ?? present;
}
export const entries = computed<readonly Entry[]>(() => {
  entryVersion.value;
  return entryList.slice();
});
export const samples = computed<readonly Sample[]>(() => {
  sampleVersion.value;
  return sampleList.slice();
});
export const latestSample = computed<Sample | undefined>(() => {
  sampleVersion.value;
  return sampleList.at(-1);
});

/** The children of each object. */
export const children = computed<ReadonlyMap<string, readonly ObjectSummary[]>>(() => {
  const found = new Map<string, ObjectSummary[]>();
  for (const object of objects().values()) {
    const owner = object.owners[0];
    if (owner === undefined) continue;
    const list = found.get(owner);
    if (list) list.push(object);
    else found.set(owner, [object]);
  }
  return found;
});

/** All objects by their names. */
export const names = computed(() => byName(objects().values()));

/** The newest Warning event of each object. */
export const warnings = computed<ReadonlyMap<string, EventEntry>>(() => {
  entryVersion.value;
  const found = new Map<string, EventEntry>();
  for (const entry of entryList) if (entry.type === "event" && entry.warning) found.set(entry.object.id, entry);
  return found;
});

/** Controllers that are known to be at work: of Konverge's runtime. */
export const controllers = computed<ReadonlySet<string>>(() => {
  sampleVersion.value;
  const names = new Set<string>();
  for (const one of sampleList.at(-1)?.controllers ?? []) names.add(one.controller);
  return names;
});

function take(message: StreamMessage): void {
  if (message.reset) {
    present.clear();
    entryList.length = 0;
    sampleList.length = 0;
  }
  if (message.hello) hello.value = message.hello;
  for (const object of message.objects ?? []) present.set(object.id, object);
  for (const id of message.removed ?? []) present.delete(id);
  if (message.entries) {
    for (const entry of message.entries) entryList.push(entry);
    if (entryList.length > KEPT_ENTRIES * 1.1 && hello.value?.mode === "cluster")
      entryList.splice(0, entryList.length - KEPT_ENTRIES);
    entryVersion.value++;
  }
  if (message.samples) {
    for (const sample of message.samples) sampleList.push(sample);
    if (sampleList.length > KEPT_SAMPLES) sampleList.splice(0, sampleList.length - KEPT_SAMPLES);
    sampleVersion.value++;
  }
  if (message.objects || message.removed || message.reset) objectVersion.value++;
}

/** Messages that came since the last frame. A page in the background draws none, so it takes them on a timer as well. */
let waiting: StreamMessage[] = [];
let scheduled = false;

function takeAll(): void {
  if (!scheduled) return;
  scheduled = false;
  const messages = waiting;
  waiting = [];
  for (const message of messages) take(message);
}

/** Receives changes for as long as the page is open. */
export function openStream(): void {
  const source = new EventSource("/console/stream");
  source.onopen = () => {
    connected.value = true;
  };
  source.onerror = () => {
    connected.value = false;
  };
  source.onmessage = ({ data }: MessageEvent<string>) => {
    waiting.push(JSON.parse(data) as StreamMessage);
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(takeAll);
    setTimeout(takeAll, 1000);
  };
}

let asked = 0;

/** Shows the state at a time, or the present. */
export async function showTime(at: number | undefined): Promise<void> {
  shownTime.value = at;
  const request = ++asked;
  if (at === undefined) {
    past.value = undefined;
    return;
  }
  const response = await fetch(`/console/state?at=${at}`);
  const list = (await response.json()) as ObjectSummary[];
  if (request === asked) past.value = new Map(list.map((one) => [one.id, one]));
}
