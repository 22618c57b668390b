/**
 * Writes small MaxMind DB files, by https://maxmind.github.io/MaxMind-DB/: records of 24 bits, maps, texts, doubles and
 * unsigned integers. Test data only.
 */
type Value = string | number | bigint | readonly Value[] | { readonly [name: string]: Value };

const types = { text: 2, double: 3, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;

function control(type: number, size: number): Buffer {
  if (size >= 29 + 256) throw new Error('not needed by the tests');
  const short = Math.min(size, 29);
  const rest = size >= 29 ? [size - 29] : [];
  return type <= 7 ? Buffer.of((type << 5) | short, ...rest) : Buffer.of(short, type - 7, ...rest);
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([control(types.text, bytes.length), bytes]);
  }
  if (typeof value === 'bigint') {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(value);
    return Buffer.concat([control(types.uint64, 8), bytes]);
  }
  if (typeof value === 'number') {
    const isWhole = Number.isInteger(value) && value >= 0;
    const bytes = Buffer.alloc(isWhole ? 4 : 8);
    if (isWhole) bytes.writeUInt32BE(value);
    else bytes.writeDoubleBE(value);
    return Buffer.concat([control(isWhole ? types.uint32 : types.double, bytes.length), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(types.array, value.length), ...value.map(encode)]);
  const entries = Object.entries(value as { readonly [name: string]: Value });
  return Buffer.concat([
    control(types.map, entries.length),
    ...entries.flatMap(([name, part]) => [encode(name), encode(part)]),
  ]);
}

/** A node has a child or an entry on each side; null: nothing. */
type Node = { sides: [Node | number | null, Node | number | null] };

const bitsOf = (network: string): string => {
  const [address = '', length] = network.split('/');
  const bits = address
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return bits.slice(0, Number(length));
};

/** Returns a database of IPv4 networks such as `81.2.69.0/24`, which must not overlap. */
export function mmdbFile(networks: Readonly<Record<string, Value>>): Buffer {
  const root: Node = { sides: [null, null] };
  const nodes: Node[] = [root];
  const data: Buffer[] = [];
  let dataBytes = 0;
  for (const [network, value] of Object.entries(networks)) {
    let node = root;
    const bits = bitsOf(network);
    for (const [index, bit] of [...bits].entries()) {
      const side = Number(bit);
      if (index === bits.length - 1) {
        node.sides[side] = dataBytes;
        break;
      }
      let next = node.sides[side];
      if (next === null || typeof next !== 'object') {
        next = { sides: [null, null] };
        nodes.push(next);
        node.sides[side] = next;
      }
      node = next as Node;
    }
    const bytes = encode(value);
    data.push(bytes);
    dataBytes += bytes.length;
  }
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const tree = Buffer.alloc(6 * nodes.length);
  for (const [number, { sides }] of nodes.entries()) {
    for (const [side, to] of sides.entries()) {
      const record = to === null ? nodes.length : typeof to === 'number' ? nodes.length + 16 + to : numbers.get(to)!;
      tree.writeUIntBE(record, 6 * number + 3 * side, 3);
    }
  }
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: 4,
    database_type: 'Test-City',
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000n,
    description: { en: 'test' },
  });
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    ...data,
    Buffer.from('abcdef', 'hex'),
    Buffer.from('MaxMind.com'),
    metadata,
  ]);
}

/** London, as City databases have it. */
export const londonEntry = {
  city: { names: { en: 'London', de: 'London' } },
  country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
  location: { accuracy_radius: 10, latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
  postal: { code: 'EC2V' },
  subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
};
