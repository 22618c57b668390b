/**
 * Encodes the requests that ask brokers for their release and the active controller's clock, and parses the responses.
 * kafkajs has neither. Both use Kafka's flexible encoding: compact lengths, and tagged fields at the end. Pure.
 */
import type { Exchange } from './kafkajs-internals.js';

/** What a broker says of itself: its level of features, and which requests it answers. */
export interface SupportAnswer {
  readonly throttleMs: number;
  /** The highest level of `metadata.version`; undefined if the broker reports none. */
  readonly metadataLevel: number | undefined;
  /** Whether the broker answers {@link quorumRequest}. */
  readonly describesQuorum: boolean;
}

interface QuorumAnswer {
  readonly throttleMs: number;
  /** Kafka's error code; 0 is success. */
  readonly errorCode: number;
  /** The active controller's time, in Unix milliseconds; undefined if the response has none. */
  readonly controllerTimeMs: number | undefined;
}

const noTags = 0;
const describeQuorumKey = 55;
/** The oldest version with times (Kafka 3.3). */
const quorumVersion = 1;
const quorumTopic = '__cluster_metadata';
const unknownTime = -1;

/** Asks one broker what it supports: ApiVersions, version 3 (Kafka 2.4 and later). */
export const supportRequest: Exchange<SupportAnswer> = {
  apiKey: 18,
  apiVersion: 3,
  apiName: 'ApiVersions',
  // The end of the header, the client's name and version, and the end of the body.
  body: Buffer.concat([Buffer.of(noTags), compact('fenceline'), compact('1'), Buffer.of(noTags)]),
  parse: parseSupport,
};

/**
 * Asks the active controller, through any broker, for the state of its quorum: DescribeQuorum, version 1. The
 * controller reports its own time as the time of its own last fetch.
 */
export const quorumRequest: Exchange<QuorumAnswer> = {
  apiKey: describeQuorumKey,
  apiVersion: quorumVersion,
  apiName: 'DescribeQuorum',
  // A compact list of one has length 2. The partition is number 0.
  body: Buffer.concat([Buffer.of(noTags, 2), compact(quorumTopic), Buffer.of(2, 0, 0, 0, 0, noTags, noTags, noTags)]),
  parse: parseQuorum,
};

/** The first level of each release, newest first, as Kafka 4.1 defines them in `MetadataVersion`. */
const releases: readonly (readonly [level: number, release: string])[] = [
  [28, 'newer than 4.1'],
  [26, '4.1'],
  [22, '4.0'],
  [21, '3.9'],
  [20, '3.8'],
  [15, '3.7'],
  [12, '3.6'],
  [9, '3.5'],
  [8, '3.4'],
  [4, '3.3'],
];

/** The level of Kafka 3.9, the oldest release that Fenceline is tested with. */
export const oldestMetadataLevel = 21;

/** Returns the release whose brokers support `metadata.version` up to this level. */
export const releaseOf = (metadataLevel: number): string =>
  releases.find(([level]) => metadataLevel >= level)?.[1] ?? 'older than 3.3';

function parseSupport(bytes: Buffer): SupportAnswer {
  const reader = new FlexibleReader(bytes);
  // An older broker refuses the version, with the response of version 0.
  if (reader.int16() !== 0) return { throttleMs: 0, metadataLevel: undefined, describesQuorum: false };
  const apis = reader.list(() => ({ key: reader.int16(), oldest: reader.int16(), newest: reader.int16() }));
  const throttleMs = reader.int32();
  let features: readonly { readonly name: string; readonly newest: number }[] = [];
  const supportedFeatures = 0;
  reader.tags((tag) => {
    if (tag !== supportedFeatures) return;
    features = reader.list(() => {
      const name = reader.text();
      reader.int16();
      return { name, newest: reader.int16() };
    });
  });
  return {
    throttleMs,
    metadataLevel: features.find(({ name }) => name === 'metadata.version')?.newest,
    describesQuorum: apis.some(({ key, newest }) => key === describeQuorumKey && newest >= quorumVersion),
  };
}

function parseQuorum(bytes: Buffer): QuorumAnswer {
  const reader = new FlexibleReader(bytes);
  reader.tags();
  const errorCode = reader.int16();
  const partitions = reader.list(() => {
    reader.text();
    return reader.list(() => readPartition(reader));
  });
  const partition = partitions.flat()[0];
  const timeMs = partition?.voters.find(({ id }) => id === partition.leader)?.lastFetchMs ?? unknownTime;
  return {
    throttleMs: 0,
    errorCode: errorCode === 0 ? (partition?.errorCode ?? 0) : errorCode,
    controllerTimeMs: timeMs > 0 ? timeMs : undefined,
  };
}

function readPartition(reader: FlexibleReader) {
  reader.int32();
  const errorCode = reader.int16();
  const leader = reader.int32();
  // The leader's epoch and the high watermark.
  reader.int32();
  reader.int64();
  const replica = () => {
    const id = reader.int32();
    // The end of its log.
    reader.int64();
    const lastFetchMs = reader.int64();
    // When it last had everything.
    reader.int64();
    return { id, lastFetchMs };
  };
  const voters = reader.list(replica);
  reader.list(replica);
  return { errorCode, leader, voters };
}

/** Encodes a text of fewer than 127 bytes: the length plus one, then the bytes. */
function compact(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.of(bytes.length + 1), bytes]);
}

/** Reads Kafka's flexible encoding from the start to the end. */
class FlexibleReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  int16(): number {
    this.at += 2;
    return this.bytes.readInt16BE(this.at - 2);
  }

  int32(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  int64(): number {
    this.at += 8;
    return Number(this.bytes.readBigInt64BE(this.at - 8));
  }

  text(): string {
    const length = this.unsigned() - 1;
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }

  /** Reads a compact list whose elements end with tagged fields. */
  list<Element>(element: () => Element): Element[] {
    const elements: Element[] = [];
    for (let left = this.unsigned() - 1; left > 0; left--) {
      elements.push(element());
      this.tags();
    }
    return elements;
  }

  /** Calls `read` at the start of each tagged field, and goes on at its end. */
  tags(read: (tag: number) => void = () => {}): void {
    for (let left = this.unsigned(); left > 0; left--) {
      const tag = this.unsigned();
      const end = this.unsigned() + this.at;
      read(tag);
      this.at = end;
    }
  }

  /** Reads an unsigned number of variable length, least significant bits first. */
  private unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes.readUInt8(this.at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
}
