/** A small line of counts over time. What it says stands beside it as text. */
interface Props {
  readonly counts: readonly number[];
}

const [width, height] = [120, 28];

export function Sparkline({ counts }: Props) {
  const most = Math.max(1, ...counts);
  const points = counts.map((count, index) => {
    const x = (index / Math.max(1, counts.length - 1)) * width;
    return `${x.toFixed(1)},${(height - 2 - (count / most) * (height - 4)).toFixed(1)}`;
  });
  return (
    <svg className="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline className="sparkline-area" points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline className="sparkline-line" points={points.join(' ')} />
    </svg>
  );
}
