/** What a module says of a metric. The process that runs it makes a counter, gauge or histogram of it. */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Name of the metric's only label, if any. */
  readonly label?: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}
