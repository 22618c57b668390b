/**
 * Which IP addresses may be connected to: those of the public Internet, and those of networks that the operator has
 * allowed.
 *
 * Flows in: addresses and CIDR blocks as text. Flows out: yes or no, or which block is wrong. Pure.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { invalid, type Validated } from '../schemas/errors.js';

/** A set of addresses. */
export interface Networks {
  /** Version 4 or 6, in any form that `node:net` reads. Text that isn't an address is in no network. */
  has(address: string): boolean;
}

/** All addresses that share their first bits with this one. */
interface Block {
  readonly address: string;
  readonly bits: number;
}

const maxNetworks = 256;

/** Everything that {@link carriers} may answer. */
const carrying = new BlockList();
for (const { address, bits } of carriers({ address: '0.0.0.0', bits: 0 })) carrying.addSubnet(address, bits, 'ipv6');

/**
 * Addresses that aren't ordinary hosts of the public Internet: the special-purpose registries of IANA (RFC 6890), and
 * all of version 6 that has not been handed out for global unicast. Version 6 addresses that carry a version 4 address
 * are judged by that one, see {@link carriers}.
 */
const reserved = compile(
  [
    '0.0.0.0/8', // this network, RFC 791
    '10.0.0.0/8', // private, RFC 1918
    '100.64.0.0/10', // shared by carriers, RFC 6598
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
    // Global unicast is 2000::/3 alone (RFC 4291 2.4). These three hold unspecified, loopback, version 4 compatible,
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

/** No connection may be made to the address. True for text that isn't one. */
export function isRefused(address: string, allowed: Networks): boolean {
  return isIP(address) === 0 || (reserved.has(address) && !allowed.has(address));
}

/**
 * CIDR blocks or single addresses of version 4 or 6; a version 4 block holds the version 6 addresses that carry its
 * addresses, too.
 * The problem names the first entry that is neither.
 */
export function parseNetworks(param: string, list: readonly string[]): Validated<Networks> {
  if (list.length > maxNetworks) return invalid(param, `must have at most ${maxNetworks} networks`);
  const blocks: Block[] = [];
  for (const entry of list) {
    const block = parseBlock(entry);
    const shown = JSON.stringify(entry.slice(0, 60));
    if (block === undefined)
      return invalid(param, `must be addresses or CIDR blocks such as 10.0.0.0/8; ${shown} is none`);
    if (carries4(block.address)) return invalid(param, `must name the version 4 network itself, not as ${shown}`);
    blocks.push(block);
  }
  return { ok: true, value: compile(blocks) };
}

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
  const version4 = new BlockList();
  const version6 = new BlockList();
  const carried = new BlockList();
  for (const block of blocks) {
    if (isIPv4(block.address)) {
      version4.addSubnet(block.address, block.bits, 'ipv4');
      for (const { address, bits } of carriers(block)) carried.addSubnet(address, bits, 'ipv6');
    } else {
      version6.addSubnet(block.address, block.bits, 'ipv6');
    }
  }
  return {
    has(text) {
      const address = withoutZone(text);
      if (isIPv4(address)) return version4.check(address, 'ipv4');
      return isIP(address) === 6 && (carries4(address) ? carried : version6).check(address, 'ipv6');
    },
  };
}

/**
 * The version 6 blocks that carry the addresses of a version 4 block: mapped (RFC 4291 2.5.5.2), NAT64 (RFC 6052), 6to4
 * (RFC 3056).
 */
function carriers({ address, bits }: Block): Block[] {
  const [a, b, c, d] = address.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'));
  return [
    { address: `::ffff:${address}`, bits: 96 + bits },
    { address: `64:ff9b::${address}`, bits: 96 + bits },
    { address: `2002:${a}${b}:${c}${d}::`, bits: 16 + bits },
  ];
}

function carries4(address: string): boolean {
  return isIP(address) === 6 && carrying.check(address, 'ipv6');
}

/** fe80::1%eth0 without its %eth0. */
const withoutZone = (address: string): string => address.replace(/%.*$/, '');
