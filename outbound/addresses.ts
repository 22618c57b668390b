/**
 * Decides which IP addresses may be connected to: those of the public Internet, and networks that the operator allowed.
 *
 * Input: addresses and CIDR blocks as text. Output: a decision, or the invalid block. Pure.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { invalid, type Validated } from '../schemas/errors.js';

/** A set of addresses. */
export interface Networks {
  /** Accepts IPv4 and IPv6 in any form that `node:net` reads. Other text is in no network. */
  has(address: string): boolean;
}

/** All addresses that share the first `bits` bits of `address`. */
interface Block {
  readonly address: string;
  readonly bits: number;
}

const maxNetworks = 256;

/** All blocks that {@link embeddings} may return. */
const embedding = new BlockList();
for (const { address, bits } of embeddings({ address: '0.0.0.0', bits: 0 })) embedding.addSubnet(address, bits, 'ipv6');

/**
 * Addresses that aren't ordinary hosts of the public Internet: the special-purpose registries of IANA (RFC 6890), and
 * all IPv6 space not allocated for global unicast. IPv6 addresses that embed an IPv4 address are decided by the IPv4
 * address, see {@link embeddings}.
 */
const reserved = compile(
  [
    '0.0.0.0/8', // this network, RFC 791
    '10.0.0.0/8', // private, RFC 1918
    '100.64.0.0/10', // shared behind the NAT of carriers, RFC 6598
    '127.0.0.0/8', // loopback, RFC 1122
    '169.254.0.0/16', // link-local, RFC 3927; cloud metadata
    '172.16.0.0/12', // private
    '192.0.0.0/24', // protocol assignments, RFC 6890
    '192.0.2.0/24', // documentation, RFC 5737
    '192.31.196.0/24', // AS112, RFC 7535
    '192.52.193.0/24', // multicast tunnels, RFC 7450
    '192.88.99.0/24', // 6to4 relays, RFC 7526
    '192.168.0.0/16', // private
    '192.175.48.0/24', // AS112, RFC 7534
    '198.18.0.0/15', // benchmarks, RFC 2544
    '198.51.100.0/24', // documentation
    '203.0.113.0/24', // documentation
    '224.0.0.0/4', // multicast, RFC 5771
    '240.0.0.0/4', // reserved, RFC 1112; broadcast
    // Global unicast is only 2000::/3 (RFC 4291 2.4). These three hold unspecified, loopback, IPv4-compatible,
    // local NAT64, discard-only, segment routing, unique local, link-local, site-local and multicast addresses.
    '::/3',
    '4000::/2',
    '8000::/1',
    '2001::/23', // protocol assignments, RFC 2928; Teredo
    '2001:db8::/32', // documentation, RFC 3849
    '2620:4f:8000::/48', // AS112
    '3fff::/20', // documentation, RFC 9637
  ].map(parseBlock) as Block[],
);

/** Returns whether connections to the address are refused. True for text that isn't an address. */
export function isRefused(address: string, allowed: Networks): boolean {
  return isIP(address) === 0 || (reserved.has(address) && !allowed.has(address));
}

/**
 * Parses CIDR blocks and single addresses, IPv4 or IPv6. An IPv4 block includes the IPv6 addresses that embed its
 * addresses. The problem names the first invalid entry.
 */
export function parseNetworks(param: string, list: readonly string[]): Validated<Networks> {
  if (list.length > maxNetworks) return invalid(param, `must have at most ${maxNetworks} networks`);
  const blocks: Block[] = [];
  for (const entry of list) {
    const block = parseBlock(entry);
    const shown = JSON.stringify(entry.slice(0, 60));
    if (block === undefined)
      return invalid(param, `must be addresses or CIDR blocks such as 10.0.0.0/8; ${shown} is not one`);
    if (embedsIpv4(block.address)) return invalid(param, `must be the IPv4 network itself instead of ${shown}`);
    blocks.push(block);
  }
  return { ok: true, value: compile(blocks) };
}

/** Compiles networks that were checked before. Throws if one is invalid, which is a fault of the program. */
export function networksOf(list: readonly string[]): Networks {
  const networks = parseNetworks('networks', list);
  if (!networks.ok) throw new Error(networks.problem.rule);
  return networks.value;
}

/** For addresses that the operator chose, which may be in any network. */
export const allNetworks = networksOf(['0.0.0.0/0', '::/0']);

function parseBlock(entry: string): Block | undefined {
  const match = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(entry);
  const address = match?.[1] ?? '';
  const version = isIP(address);
  if (version === 0) return undefined;
  const size = version === 4 ? 32 : 128;
  const bits = Number(match?.[2] ?? size);
  return bits <= size ? { address, bits } : undefined;
}

function compile(blocks: readonly Block[]): Networks {
  const ipv4 = new BlockList();
  const ipv6 = new BlockList();
  const embedded = new BlockList();
  for (const block of blocks) {
    if (isIPv4(block.address)) {
      ipv4.addSubnet(block.address, block.bits, 'ipv4');
      for (const { address, bits } of embeddings(block)) embedded.addSubnet(address, bits, 'ipv6');
    } else {
      ipv6.addSubnet(block.address, block.bits, 'ipv6');
    }
  }
  return {
    has(text) {
      const address = withoutZone(text);
      if (isIPv4(address)) return ipv4.check(address, 'ipv4');
      return isIP(address) === 6 && (embedsIpv4(address) ? embedded : ipv6).check(address, 'ipv6');
    },
  };
}

/**
 * Returns the IPv6 blocks that embed the addresses of an IPv4 block: mapped (RFC 4291 2.5.5.2), NAT64 (RFC 6052), 6to4
 * (RFC 3056).
 */
function embeddings({ address, bits }: Block): Block[] {
  const [a, b, c, d] = address.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'));
  return [
    { address: `::ffff:${address}`, bits: 96 + bits },
    { address: `64:ff9b::${address}`, bits: 96 + bits },
    { address: `2002:${a}${b}:${c}${d}::`, bits: 16 + bits },
  ];
}

function embedsIpv4(address: string): boolean {
  return isIP(address) === 6 && embedding.check(address, 'ipv6');
}

/** Removes the zone, such as %eth0 in fe80::1%eth0. */
const withoutZone = (address: string): string => address.replace(/%.*$/, '');
