/**
 * Stacked bars on a canvas. Screen readers get `label`, and the view has a table with the same numbers. Colours are the
 * theme's, which colour-blind readers can distinguish.
 */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { grouped } from './counts';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../state/use-theme';

/** Parts of the bars that belong together and have one colour. */
export interface Series {
  readonly name: string;
  /** One for each bar. */
  readonly values: readonly number[];
}

interface Props {
  readonly label: string;
  /** Under the bars; as many as fit are shown. */
  readonly names: readonly string[];
  /** In full, in the tip of a bar. */
  readonly longNames?: readonly string[];
  readonly series: readonly Series[];
  readonly height?: number;
}

/** As many colours as `--chart-1` and so on in the tokens. */
export const chartColors = 6;
const pixelsPerLetter = 6.4;
const nameGapPixels = 10;
const tipWidthPixels = 200;

const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Returns for each series the sums of itself and all after it, as the bars are drawn from the tallest. */
function stacked(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series.toReversed())
    sums.unshift(values.map((value, index) => value + (sums[0]?.[index] ?? 0)));
  return sums;
}

/** A bar of nothing would have an edge, which cuts the axis. */
const drawn = (sums: readonly number[]) => sums.map((sum) => sum || null);

/** Returns the positions of as many names as fit side by side. */
function shownNames(names: readonly string[], widthPixels: number): number[] {
  const longest = names.reduce((length, name) => Math.max(length, name.length), 0);
  const needed = names.length * (longest * pixelsPerLetter + nameGapPixels);
  const step = Math.max(1, Math.ceil(needed / Math.max(1, widthPixels)));
  return Array.from({ length: Math.ceil(names.length / step) }, (_, index) => index * step);
}

function fillTip(tip: HTMLElement, { names, longNames = names, series }: Props, index: number): void {
  const line = (name: string, value: string, className = '') => {
    const row = document.createElement('div');
    const [left, right] = [document.createElement('span'), document.createElement('strong')];
    left.textContent = name;
    left.className = className;
    right.textContent = value;
    row.append(left, right);
    return row;
  };
  const title = document.createElement('p');
  title.textContent = longNames[index] ?? '';
  const rows = series.map(({ name, values }, place) =>
    line(name, grouped(values[index] ?? 0), `key chart-${(place % chartColors) + 1}`),
  );
  const total = series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
  tip.replaceChildren(title, ...rows, ...(series.length > 1 ? [line('Total', grouped(total))] : []));
}

function optionsOf(props: Props, tip: HTMLElement): Omit<uPlot.Options, 'width' | 'height'> {
  const { names, series } = props;
  const [quiet, grid, surface] = [colorOf('--text-quiet'), colorOf('--border'), colorOf('--surface')];
  const axis = { stroke: quiet, font: `11px ${colorOf('--font')}`, ticks: { show: false } };
  return {
    legend: { show: false },
    padding: [10, 8, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.55, names.length - 0.45] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.06)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        gap: 4,
        size: 26,
        splits: (plot) => shownNames(names, plot.over.clientWidth),
        values: (_plot, splits) => splits.map((index) => names[index] ?? ''),
      },
      {
        ...axis,
        size: 44,
        gap: 6,
        grid: { stroke: grid, width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7],
        space: 34,
        // As everywhere else, unless that is wider than the axis.
        values: (_plot, splits) =>
          splits.map(
            (splits.at(-1) ?? 0) < 100_000 ? grouped : (value) => value.toLocaleString('en', { notation: 'compact' }),
          ),
      },
    ],
    series: [
      {},
      ...series.map((_, place) => ({
        fill: colorOf(`--chart-${(place % chartColors) + 1}`),
        stroke: surface,
        width: series.length > 1 ? 1 : 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.72, 46], ...(series.length === 1 && { radius: 0.08 }) }),
      })),
    ],
    hooks: {
      setCursor: [
        (plot) => {
          const { idx, left = -1 } = plot.cursor;
          const isShown = idx !== null && idx !== undefined && left >= 0;
          tip.hidden = !isShown;
          if (!isShown) return;
          fillTip(tip, props, idx);
          const lastLeft = plot.over.clientWidth - tipWidthPixels;
          const x = plot.over.offsetLeft + plot.valToPos(idx, 'x');
          tip.style.left = `${left > lastLeft ? x - tip.offsetWidth - 14 : x + 14}px`;
        },
      ],
    },
  };
}

export function BarChart(props: Props) {
  const { label, names, series, height = 250 } = props;
  const place = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const content = JSON.stringify([names, series]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: themes differ in colours, and equal data is not redrawn
  useEffect(() => {
    const [box, bubble] = [place.current!, tip.current!];
    const data: uPlot.AlignedData = [names.map((_, index) => index), ...stacked(series).map(drawn)];
    const plot = new uPlot({ ...optionsOf(props, bubble), width: box.clientWidth, height }, data, box);
    const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      plot.destroy();
      bubble.hidden = true;
    };
  }, [content, theme, height]);
  return (
    <figure className="chart">
      {series.length > 1 && (
        <ul className="chart-keys">
          {series.map(({ name }, index) => (
            <li key={name} className={`key chart-${(index % chartColors) + 1}`}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <div className="chart-box">
        <div ref={place} className="chart-plot" style={{ height }} role="img" aria-label={label} />
        <div ref={tip} className="chart-tip" hidden />
      </div>
    </figure>
  );
}
