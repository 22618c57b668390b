/** What older and foreign brokers answer. A real Kafka of both releases: test/cluster/kafka/permissions.test.ts. */
import { expect, it } from 'vitest';
import { oldestMetadataLevel, quorumRequest, releaseOf, supportRequest } from './describe-requests.js';

const int16 = (value: number) => [value >> 8, value & 0xff];
const noThrottle = [0, 0, 0, 0];
/** One API, 18, and tagged fields. */
const support = (...tags: number[]) =>
  supportRequest.parse(
    Buffer.from([...int16(0), 2, ...int16(18), ...int16(0), ...int16(4), 0, ...noThrottle, ...tags]),
  );

it.each([
  [3, 'older than 3.3'],
  [7, '3.3'],
  [14, '3.6'],
  [oldestMetadataLevel, '3.9'],
  [25, '4.0'],
  [27, '4.1'],
  [40, 'newer than 4.1'],
])('brokers that support metadata.version up to %i are of release %s', (level, release) => {
  expect(releaseOf(level)).toBe(release);
});

it('a broker that does not know the version of the request reports nothing', () => {
  const unsupportedVersion = Buffer.from([...int16(35), 0, 0, 0, 1, ...int16(18), ...int16(0), ...int16(2)]);
  expect(supportRequest.parse(unsupportedVersion)).toMatchObject({ metadataLevel: undefined, describesQuorum: false });
});

it('a broker without metadata.version, or with other tagged fields, is read to the end', () => {
  const name = [...Buffer.from('kraft.version')];
  const feature = [name.length + 1, ...name, ...int16(0), ...int16(1), 0];
  const epoch = [1, 8, 0, 0, 0, 0, 0, 0, 0, 9];
  const features = [0, feature.length + 1, 2, ...feature];
  expect(support(0)).toMatchObject({ metadataLevel: undefined });
  expect(support(2, ...epoch, ...features)).toMatchObject({ metadataLevel: undefined, describesQuorum: false });
});

it('a refused request for the quorum has an error code and no time', () => {
  const noTopics = 1;
  expect(quorumRequest.parse(Buffer.from([0, ...int16(31), noTopics, 0]))).toMatchObject({
    errorCode: 31,
    controllerTimeMs: undefined,
  });
});
