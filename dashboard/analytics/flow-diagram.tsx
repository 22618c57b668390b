/** The largest flows as ribbons, from places that were left to places that were entered next. */
import { useMemo } from 'react';
import { grouped } from '../components/counts';

interface Flow {
  /** Identify places. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

interface Node {
  readonly place: string;
  readonly total: number;
  readonly y: number;
  readonly height: number;
}

const width = 640;
const gap = 8;
const barWidth = 6;
const labelWidth = 168;
const minHeight = 14;
const pixelsPerNode = 34;

/** Stacks one side of the diagram, the largest at the top. */
function stack(flows: readonly Flow[], end: 'from' | 'to', height: number): Node[] {
  const totals = new Map<string, number>();
  for (const flow of flows) totals.set(flow[end], (totals.get(flow[end]) ?? 0) + flow.count);
  const sum = flows.reduce((total, { count }) => total + count, 0);
  const free = height - gap * (totals.size - 1) - minHeight * totals.size;
  let y = 0;
  return [...totals]
    .sort(([, one], [, other]) => other - one)
    .map(([place, total]) => {
      const node = { place, total, y, height: minHeight + (free * total) / sum };
      y += node.height + gap;
      return node;
    });
}

interface Ribbon extends Flow {
  readonly path: string;
}

/** Lays out both sides and the ribbons between them. Ribbons of a node lie in the order of the nodes they lead to. */
export function layOut(flows: readonly Flow[]) {
  const sides = Math.max(new Set(flows.map(({ from }) => from)).size, new Set(flows.map(({ to }) => to)).size);
  const height = Math.max(120, sides * pixelsPerNode);
  const [lefts, rights] = [stack(flows, 'from', height), stack(flows, 'to', height)];
  const used = new Map<Node, number>();
  const take = (node: Node, count: number): readonly [number, number] => {
    const top = node.y + (used.get(node) ?? 0);
    const part = (node.height * count) / node.total;
    used.set(node, (used.get(node) ?? 0) + part);
    return [top, top + part];
  };
  const ribbons: Ribbon[] = [];
  const [x0, x1] = [labelWidth + barWidth, width - labelWidth - barWidth];
  const middle = (x0 + x1) / 2;
  for (const left of lefts) {
    for (const right of rights) {
      const flow = flows.find(({ from, to }) => from === left.place && to === right.place);
      if (!flow) continue;
      const [a0, a1] = take(left, flow.count);
      const [b0, b1] = take(right, flow.count);
      const top = `M${x0} ${a0}C${middle} ${a0} ${middle} ${b0} ${x1} ${b0}`;
      const path = `${top}V${b1}C${middle} ${b1} ${middle} ${a1} ${x0} ${a1}Z`;
      ribbons.push({ ...flow, path });
    }
  }
  return { height, lefts, rights, ribbons };
}

/** Letters are larger on small screens, so fewer fit. */
function shortened(name: string): string {
  const letters = matchMedia('(max-width: 480px)').matches ? 13 : 24;
  return name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
}

interface Props {
  readonly label: string;
  readonly flows: readonly Flow[];
  nameOf(place: string): string;
}

export function FlowDiagram({ label, flows, nameOf }: Props) {
  const { height, lefts, rights, ribbons } = useMemo(() => layOut(flows), [flows]);
  return (
    <figure className="chart">
      <svg className="flows" viewBox={`0 -18 ${width} ${height + 22}`} role="img" aria-label={label}>
        <text className="side" x={labelWidth - 8} y="-6" textAnchor="end">
          Left
        </text>
        <text className="side" x={width - labelWidth + 8} y="-6">
          Entered next
        </text>
        {ribbons.map(({ from, to, count, path }) => (
          <path key={`${from}\n${to}`} className={from === to ? 'ribbon same' : 'ribbon'} d={path}>
            <title>{`${nameOf(from)} to ${nameOf(to)}: ${grouped(count)}`}</title>
          </path>
        ))}
        {lefts.map(({ place, y, height, total }) => (
          <g key={place}>
            <rect className="node" x={labelWidth} y={y} width={barWidth} height={height} rx="2" />
            <text x={labelWidth - 8} y={y + height / 2} dy="0.34em" textAnchor="end">
              {shortened(nameOf(place))} <tspan className="quiet">{grouped(total)}</tspan>
            </text>
          </g>
        ))}
        {rights.map(({ place, y, height, total }) => (
          <g key={place}>
            <rect className="node" x={width - labelWidth - barWidth} y={y} width={barWidth} height={height} rx="2" />
            <text x={width - labelWidth + 8} y={y + height / 2} dy="0.34em">
              <tspan className="quiet">{grouped(total)}</tspan> {shortened(nameOf(place))}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}
